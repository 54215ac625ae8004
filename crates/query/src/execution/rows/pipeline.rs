//! A pipeline from its first row to what stages have put aside, once there are no more rows.

use super::driver::{End, each, push, reported, tuple_at};
use super::frame::Frame;
use super::stage::{Maker, Stage, with_values};
use crate::error::Result;
use crate::execution::evaluation::Evaluation;
use crate::execution::{Receiver, State};
use crate::plan::Pipeline;

/// Runs a pipeline with an executor's way to compute.
pub(super) fn run(
    evaluation: &dyn Evaluation,
    pipeline: &Pipeline,
    state: &mut State<'_>,
    receiver: &mut Receiver<'_>,
) -> Result<()> {
    state.begin_counting(pipeline.steps.len());
    let mut maker = Maker { evaluation, pipeline, state };
    let mut source = maker.source(&pipeline.source)?;
    let mut stages = maker.stages()?;
    let slot_bytes = pipeline.slots.iter().map(|layout| layout.bytes).collect();
    let mut end = End { target: maker.target()?, receiver, slot_bytes };
    let nothing = Frame::empty(pipeline.slots.len());
    each(&mut source, &mut stages, &mut end, state, &nothing.row())?;
    finish(&mut stages, &mut end, state)
}

/// The rows that stages have put aside, one stage after another.
fn finish(stages: &mut [Stage], end: &mut End<'_, '_>, state: &mut State<'_>) -> Result<()> {
    for number in 0..stages.len() {
        let Some((first, rest)) = stages[number..].split_first_mut() else { break };
        match first {
            Stage::Probe { table, aside, slot, keys } => {
                let Some(aside) = aside.take() else { continue };
                state.let_go(table.take());
                let lengths = end.slot_bytes.clone();
                let mut tuples: Vec<_> = lengths.iter().map(|bytes| vec![0; *bytes]).collect();
                aside.finish(&mut |form, table, rows| {
                    state.check_cancelled()?;
                    for packed in rows.chunks_exact(form.bytes()) {
                        for &(slot, _) in &form.slots {
                            form.unpack(packed, slot, &mut tuples[slot]);
                        }
                        let mut frame = Frame::empty(lengths.len());
                        form.slots.iter().for_each(|&(slot, _)| frame.set(slot, &tuples[slot], 0));
                        form.ids(packed).for_each(|(slot, id)| frame.set_id(slot, id));
                        let row = frame.row();
                        let pushed = with_values(keys, &row, |keys| {
                            let mut frame = Frame::of(&row);
                            table.matches(keys).try_for_each(|entry| {
                                frame.set(*slot, entry, 0);
                                push(rest, end, state, &frame.row())
                            })
                        });
                        reported(state, pushed)??;
                    }
                    Ok(())
                })?;
            }
            Stage::Distinct { seen, slot, tuple, .. } => {
                let Some(seen) = seen.take() else { continue };
                let (bytes, slots) = (tuple.len(), end.slot_bytes.len());
                seen.finish(&mut |new| {
                    state.check_cancelled()?;
                    for tuple in new {
                        let mut frame = Frame::empty(slots);
                        frame.set(*slot, tuple_at(*tuple, bytes), 0);
                        push(rest, end, state, &frame.row())?;
                    }
                    Ok(())
                })?;
            }
            Stage::Filter(_) | Stage::Loop(_) | Stage::ProbeGroups { .. } => {}
        }
    }
    Ok(())
}
