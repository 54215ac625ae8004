//! Steps between source and sink: a batch in, batches out.

use std::sync::Arc;

use super::condition::Condition;
use super::first::First;
use super::pack::Packer;
use super::probe::Probe;
use super::rows::{Push, ROWS_MAX, Rows};
use super::source::Inner;
use super::target::Target;
use super::unpacked::Unpacked;
use super::value::Computed;
use crate::aggregate::Groups;
use crate::error::Result;
use crate::execution::joining::{Aside, RowForm};
use crate::execution::{Packed, State};
use crate::plan::{Pipeline, Source, Step};
use crate::table::Duplicates;

/// Rows whose duplicates are sought together: so few that their tuples are in the first cache when
/// they are hashed and compared, so many that their slots are prefetched in time.
const DISTINCT_ROWS: usize = 128;

/// A step with what it needs for a batch.
pub(super) enum Stage {
    Filter(Condition),
    Loop {
        inner: Box<Inner>,
        slot: usize,
        out: Rows,
    },
    First {
        first: Box<First>,
        out: Rows,
    },
    Probe {
        probe: Box<Probe>,
        aside: Option<Box<Aside>>,
        slot: usize,
        out: Rows,
    },
    ProbeGroups {
        groups: Arc<Groups>,
        keys: Vec<Computed>,
        slot: usize,
    },
    Distinct {
        packer: Packer,
        /// None once there are no more rows.
        seen: Option<Box<Duplicates>>,
        tuples: Vec<u8>,
        slot: usize,
        out: Rows,
    },
}

impl Stage {
    /// For the step of that number.
    ///
    /// # Errors
    ///
    /// That memory or a relation is not to be had.
    pub fn new(number: usize, pipeline: &Pipeline, state: &mut State<'_>) -> Result<Self> {
        let out = || Rows::new(pipeline.slots.len());
        Ok(match &pipeline.steps[number] {
            Step::Filter(condition) => Self::Filter(Condition::new(condition, state)),
            Step::Loop(Source::First { source, condition }) => {
                let inner = Inner::new(source, &pipeline.slots, state)?;
                let slots = pipeline.slots.len();
                let first = Box::new(First::new(inner, condition.as_ref(), slots, state));
                Self::First { first, out: out() }
            }
            Step::Loop(source) => {
                let inner = Box::new(Inner::new(source, &pipeline.slots, state)?);
                Self::Loop { slot: inner.slot(), inner, out: out() }
            }
            Step::Probe { table, slot, keys } => {
                let keys = keys.iter().map(|key| Computed::new(key, state)).collect();
                let probe = Box::new(Probe::new(state.table(*table), keys, state.simd));
                let away = state.away.remove(table);
                let form = || RowForm::new(pipeline, number);
                let aside = away.map(|away| Aside::new(away, form()).map(Box::new)).transpose()?;
                Self::Probe { probe, aside, slot: *slot, out: out() }
            }
            Step::ProbeGroups { aggregation, slot, keys } => {
                let keys = keys.iter().map(|key| Computed::new(key, state)).collect();
                Self::ProbeGroups { groups: state.aggregation(*aggregation), keys, slot: *slot }
            }
            Step::Distinct { pack, slot } => Self::Distinct {
                packer: Packer::new(&Packed::of_pack(pack), state),
                seen: Some(Box::new(Duplicates::new(&pack.layout, &state.spill, &state.share())?)),
                tuples: Vec::new(),
                slot: *slot,
                out: out(),
            },
        })
    }
}

/// Put a batch through the stages and into the target.
///
/// # Errors
///
/// The error of computing, reading or receiving.
pub(super) fn push(
    all: &mut [Stage],
    rows: &mut Rows,
    target: &mut Target<'_, '_>,
    state: &mut State<'_>,
) -> Result<()> {
    if rows.selection.is_empty() {
        return Ok(());
    }
    state.count_rows(all.len(), rows.selection.len());
    let Some((first, rest)) = all.split_first_mut() else {
        return target.take(rows, state);
    };
    match first {
        Stage::Filter(condition) => {
            let mut selection = std::mem::take(&mut rows.selection);
            condition
                .filter(rows, &mut selection, &mut state.work)
                .map_err(|fault| state.evaluation(fault))?;
            rows.selection = selection;
            push(rest, rows, target, state)
        }
        Stage::Loop { inner, slot, out } => {
            inner.each(rows, *slot, out, state, &mut |out, state| push(rest, out, target, state))
        }
        Stage::First { first, out } => {
            first.each(rows, out, state, &mut |out, state| push(rest, out, target, state))
        }
        Stage::Probe { probe, aside, slot, out } => {
            state.work.hash_probes += rows.selection.len() as u64;
            if let Some(aside) = aside {
                probe.put_aside(rows, aside, state)?;
            }
            probed(probe, *slot, rows, out, state, &mut |out, state| push(rest, out, target, state))
        }
        Stage::ProbeGroups { groups, keys, slot } => {
            state.work.hash_probes += rows.selection.len() as u64;
            probe_groups(groups, keys, rows, *slot).map_err(|fault| state.evaluation(fault))?;
            push(rest, rows, target, state)
        }
        Stage::Distinct { packer, seen, tuples, slot, out } => {
            let Some(seen) = seen else { return Ok(()) };
            state.work.hash_probes += rows.selection.len() as u64;
            out.clear();
            let mut left = &rows.selection[..];
            while !left.is_empty() {
                let count = left.len().min(DISTINCT_ROWS);
                let packed = packer.pack_first(rows, left, count, tuples);
                packed.map_err(|fault| state.evaluation(fault))?;
                seen.insert_many(tuples, &mut out.slots[*slot].tuples)?;
                left = &left[count..];
            }
            out.select_all(out.slots[*slot].tuples.len());
            push(rest, out, target, state)
        }
    }
}

/// A row for each entry that one of the batch finds.
fn probed(
    probe: &mut Probe,
    slot: usize,
    rows: &Rows,
    out: &mut Rows,
    state: &mut State<'_>,
    push: &mut Push<'_>,
) -> Result<()> {
    probe.find(rows, &mut state.work).map_err(|fault| state.evaluation(fault))?;
    for (pairs, entries) in probe.rows.chunks(ROWS_MAX).zip(probe.entries.chunks(ROWS_MAX)) {
        out.clear();
        out.gather(rows, pairs);
        out.slots[slot].tuples.extend_from_slice(entries);
        out.select_all(pairs.len());
        push(out, state)?;
    }
    Ok(())
}

/// There are no more rows: those that stages have put aside, one stage after another.
///
/// # Errors
///
/// As of [`push`].
pub(super) fn finish(
    all: &mut [Stage],
    target: &mut Target<'_, '_>,
    state: &mut State<'_>,
) -> Result<()> {
    for number in 0..all.len() {
        let Some((first, rest)) = all[number..].split_first_mut() else { break };
        match first {
            Stage::Probe { probe, aside, slot, out } => {
                let Some(aside) = aside.take() else { continue };
                state.let_go(probe.take_table());
                let mut unpacked = Unpacked::new(out.slots.len());
                aside.finish(&mut |form, table, tuples| {
                    state.check_cancelled()?;
                    let rows = unpacked.rows(form, tuples);
                    probe.set_table(table);
                    let mut push =
                        |out: &mut Rows, state: &mut State<'_>| push(rest, out, target, state);
                    probed(probe, *slot, rows, out, state, &mut push)?;
                    drop(probe.take_table());
                    Ok(())
                })?;
            }
            Stage::Distinct { seen, slot, out, .. } => {
                let Some(seen) = seen.take() else { continue };
                seen.finish(&mut |new| {
                    state.check_cancelled()?;
                    out.clear();
                    out.slots[*slot].tuples.extend_from_slice(new);
                    out.select_all(new.len());
                    push(rest, out, target, state)
                })?;
            }
            Stage::Filter(_)
            | Stage::Loop { .. }
            | Stage::First { .. }
            | Stage::ProbeGroups { .. } => {}
        }
    }
    Ok(())
}

/// Give each row the result of its partition; a row without one goes.
fn probe_groups(
    groups: &Groups,
    keys: &mut [Computed],
    rows: &mut Rows,
    slot: usize,
) -> Result<(), loadstone_quel::error::Fault> {
    let mut selection = std::mem::take(&mut rows.selection);
    let mut found = vec![std::ptr::null(); rows.len];
    let mut vectors = Vec::with_capacity(keys.len());
    for key in keys {
        vectors.push(key.compute(rows, &selection)?);
    }
    let mut values = Vec::with_capacity(vectors.len());
    selection.retain(|row| {
        let row = usize::from(*row);
        values.clear();
        values.extend(vectors.iter().map(|vector| vector.value(row)));
        let result = groups.find(&values);
        found[row] = result.map_or(std::ptr::null(), <[u8]>::as_ptr);
        result.is_some()
    });
    rows.slots[slot].tuples = found;
    rows.selection = selection;
    Ok(())
}
