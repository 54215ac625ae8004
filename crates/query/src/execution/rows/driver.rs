//! The driver: takes rows from the source one by one, through the steps, to the sink.

use std::ops::Bound;

use loadstone_quel::error::Fault;
use lode::PageRead;

use super::frame::Frame;
use super::merge;
use super::stage::{From, Limit, Maker, Source, Stage, Target, with_values};
use crate::error::Result;
use crate::execution::evaluation::{Condition, Evaluation, Row};
use crate::execution::{Receiver, State};
use crate::plan::Pipeline;
use crate::relation::{Scan, TupleBatch};
use crate::temporary::Temporary;
use crate::tuple::Value;

/// Tuples that a scan gives at a time. They are looked at one by one.
const BATCH: usize = 1024;

/// Runs a pipeline with an executor's way to compute.
pub(super) fn run(
    evaluation: &dyn Evaluation,
    pipeline: &Pipeline,
    state: &mut State<'_>,
    receiver: &mut Receiver<'_>,
) -> Result<()> {
    let maker = Maker { evaluation, pipeline, state };
    let mut source = maker.source(&pipeline.source)?;
    let mut stages = maker.stages()?;
    let mut end = End { target: maker.target()?, receiver };
    let nothing = Frame::empty(pipeline.slots.len());
    each(&mut source, &mut stages, &mut end, state, &nothing.row())
}

/// Where rows end.
pub(super) struct End<'e, 'c> {
    target: Target,
    receiver: &'e mut Receiver<'c>,
}

/// A fault as an error that points into the program's text.
fn told<T>(state: &State<'_>, outcome: Result<T, Fault>) -> Result<T> {
    outcome.map_err(|fault| state.evaluation(fault))
}

/// Pushes the outer row on, once for each tuple of a source.
fn each(
    source: &mut Source,
    stages: &mut [Stage],
    end: &mut End<'_, '_>,
    state: &mut State<'_>,
    outer: &Row<'_>,
) -> Result<()> {
    let Source { slot, from, batch } = source;
    let through = Through { slot: *slot, outer, stages, end };
    match from {
        From::Once => push(through.stages, through.end, state, outer),
        From::Scan { relation, qualification } => {
            let scan = relation.scan(&*state.transaction)?;
            through.scan(scan, batch, qualification.as_deref_mut(), state)
        }
        From::Range { relation, access, low, high } => {
            let (low, high) = (bound(low, outer), bound(high, outer));
            let (low, high) = (told(state, low)?, told(state, high)?);
            let scan = relation.range(&*state.transaction, access, low, high)?;
            through.scan(scan, batch, None, state)
        }
        From::Lookup { relation, access, key } => {
            let key = told(state, key.value(outer))?;
            let scan = relation.lookup(&*state.transaction, access, key)?;
            through.scan(scan, batch, None, state)
        }
        From::Temporary(temporary) => through.temporary(temporary, state),
        From::Groups(groups) => through.temporary(groups.tuples(), state),
        From::Merge { left, right } => {
            let Through { outer, stages, end, .. } = through;
            merge::pairs(left, right, state, &mut |state, left, right| {
                let mut frame = Frame::of(outer);
                frame.set(0, left, 0);
                frame.set(1, right, 0);
                push(stages, end, state, &frame.row())
            })
        }
    }
}

fn bound<'r>(limit: &'r mut Limit, row: &Row<'r>) -> Result<Bound<Value<'r>>, Fault> {
    Ok(match limit {
        None => Bound::Unbounded,
        Some((value, true)) => Bound::Included(value.value(row)?),
        Some((value, false)) => Bound::Excluded(value.value(row)?),
    })
}

/// The way of a source's tuples.
struct Through<'t, 'e, 'c, 'o> {
    slot: usize,
    outer: &'t Row<'o>,
    stages: &'t mut [Stage],
    end: &'t mut End<'e, 'c>,
}

impl Through<'_, '_, '_, '_> {
    fn scan(
        self,
        mut scan: Scan,
        batch: &mut TupleBatch,
        mut qualification: Option<&mut (dyn Condition + 'static)>,
        state: &mut State<'_>,
    ) -> Result<()> {
        while next(&mut scan, &*state.transaction, batch)? {
            state.check_cancelled()?;
            let mut frame = Frame::of(self.outer);
            for at in 0..batch.len() {
                frame.set(self.slot, batch.tuple(at), batch.record_id(at));
                let row = frame.row();
                if let Some(condition) = &mut qualification {
                    state.work.comparisons += 1;
                    if !told(state, condition.holds(&row))? {
                        continue;
                    }
                }
                push(self.stages, self.end, state, &row)?;
            }
        }
        let reads = scan.reads();
        state.work.tuples += reads.tuples;
        state.work.pages += reads.pages;
        batch.clear();
        Ok(())
    }

    fn temporary(self, temporary: &Temporary, state: &mut State<'_>) -> Result<()> {
        let mut tuples = temporary.scan();
        let mut frame = Frame::of(self.outer);
        let mut count = 0;
        while let Some(tuple) = tuples.next_tuple()? {
            if count % BATCH as u64 == 0 {
                state.check_cancelled()?;
            }
            count += 1;
            frame.set(self.slot, tuple, 0);
            push(self.stages, self.end, state, &frame.row())?;
        }
        state.work.tuples += count;
        Ok(())
    }
}

/// Not generic where it is called: the transaction is a trait that has no objects.
fn next(scan: &mut Scan, pages: &impl PageRead, batch: &mut TupleBatch) -> Result<bool> {
    scan.next_batch(pages, batch, BATCH)
}

/// Pushes a row through the steps that are left.
fn push(
    stages: &mut [Stage],
    end: &mut End<'_, '_>,
    state: &mut State<'_>,
    row: &Row<'_>,
) -> Result<()> {
    let Some((first, rest)) = stages.split_first_mut() else { return end.take(state, row) };
    match first {
        Stage::Filter(conditions) => {
            for condition in conditions {
                state.work.comparisons += 1;
                if !told(state, condition.holds(row))? {
                    return Ok(());
                }
            }
            push(rest, end, state, row)
        }
        Stage::Loop(source) => each(source, rest, end, state, row),
        Stage::Probe { table, slot, keys } => {
            state.work.hash_probes += 1;
            let pushed = with_values(keys, row, |keys| {
                let mut frame = Frame::of(row);
                table.matches(keys).try_for_each(|entry| {
                    frame.set(*slot, entry, 0);
                    push(rest, end, state, &frame.row())
                })
            });
            told(state, pushed)?
        }
        Stage::ProbeGroups { groups, slot, keys } => {
            state.work.hash_probes += 1;
            let found = told(state, with_values(keys, row, |keys| groups.find(keys)))?;
            let Some(group) = found else { return Ok(()) };
            let mut frame = Frame::of(row);
            frame.set(*slot, group, 0);
            push(rest, end, state, &frame.row())
        }
        Stage::Distinct { seen, slot, packer, tuple } => {
            told(state, packer.pack(row, tuple))?;
            state.work.hash_probes += 1;
            if seen.insert(tuple)?.is_none() {
                return Ok(());
            }
            let mut frame = Frame::empty(row.tuples.len());
            frame.set(*slot, tuple, 0);
            push(rest, end, state, &frame.row())
        }
    }
}

impl End<'_, '_> {
    fn take(&mut self, state: &mut State<'_>, row: &Row<'_>) -> Result<()> {
        state.work.rows += 1;
        match (&mut self.target, &mut *self.receiver) {
            (Target::Tuple { packer, tuple }, Receiver::Tuples(sink)) => {
                told(state, packer.pack(row, tuple))?;
                sink.add(state, tuple)
            }
            (Target::Values { by, updates }, Receiver::Aggregation { partitions, .. }) => {
                let partition = with_values(by, row, |by| partitions.partition(by));
                let partition = told(state, partition)??;
                for update in updates {
                    if let Some(condition) = &mut update.condition
                        && !told(state, condition.holds(row))?
                    {
                        continue;
                    }
                    let value = told(state, update.argument.value(row))?;
                    partitions.update(partition, update.aggregate, value)?;
                }
                Ok(())
            }
            // Both are made of the same sink.
            _ => Ok(()),
        }
    }
}
