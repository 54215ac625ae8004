//! Steps between source and sink: a batch in, batches out.

use std::sync::Arc;

use super::condition::Condition;
use super::pack::Packer;
use super::probe::Probe;
use super::rows::{ROWS_MAX, Rows};
use super::source::Inner;
use super::target::Target;
use super::value::Computed;
use crate::aggregate::Groups;
use crate::error::Result;
use crate::execution::{Packed, State};
use crate::plan::{Pipeline, Step};
use crate::table::DistinctTable;

/// A step with what it needs for a batch.
pub(super) enum Stage {
    Filter(Condition),
    Loop { inner: Box<Inner>, slot: usize, out: Rows },
    Probe { probe: Box<Probe>, slot: usize, out: Rows },
    ProbeGroups { groups: Arc<Groups>, keys: Vec<Computed>, slot: usize },
    Distinct { packer: Packer, table: DistinctTable, tuples: Vec<u8>, slot: usize, out: Rows },
}

impl Stage {
    /// For a step of that pipeline.
    ///
    /// # Errors
    ///
    /// That memory or a relation is not to be had.
    pub fn new(step: &Step, pipeline: &Pipeline, state: &State<'_>) -> Result<Self> {
        let out = || Rows::new(pipeline.slots.len());
        Ok(match step {
            Step::Filter(condition) => Self::Filter(Condition::new(condition, state)),
            Step::Loop(source) => {
                let inner = Box::new(Inner::new(source, &pipeline.slots, state)?);
                Self::Loop { slot: inner.slot(), inner, out: out() }
            }
            Step::Probe { table, slot, keys } => {
                let keys = keys.iter().map(|key| Computed::new(key, state)).collect();
                let probe = Box::new(Probe::new(state.table(*table), keys));
                Self::Probe { probe, slot: *slot, out: out() }
            }
            Step::ProbeGroups { aggregation, slot, keys } => {
                let keys = keys.iter().map(|key| Computed::new(key, state)).collect();
                Self::ProbeGroups { groups: state.aggregation(*aggregation), keys, slot: *slot }
            }
            Step::Distinct { pack, slot } => Self::Distinct {
                packer: Packer::new(&Packed::of_pack(pack), state),
                table: DistinctTable::new(&pack.layout, &state.memory)?,
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
/// What computing, reading or receiving says.
pub(super) fn push(
    all: &mut [Stage],
    rows: &mut Rows,
    target: &mut Target<'_, '_>,
    state: &mut State<'_>,
) -> Result<()> {
    if rows.selection.is_empty() {
        return Ok(());
    }
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
        Stage::Probe { probe, slot, out } => {
            state.work.hash_probes += rows.selection.len() as u64;
            probe.find(rows).map_err(|fault| state.evaluation(fault))?;
            for (pairs, entries) in probe.rows.chunks(ROWS_MAX).zip(probe.entries.chunks(ROWS_MAX))
            {
                out.clear();
                out.gather(rows, pairs);
                out.slots[*slot].tuples.extend_from_slice(entries);
                out.select_all(pairs.len());
                push(rest, out, target, state)?;
            }
            Ok(())
        }
        Stage::ProbeGroups { groups, keys, slot } => {
            state.work.hash_probes += rows.selection.len() as u64;
            probe_groups(groups, keys, rows, *slot).map_err(|fault| state.evaluation(fault))?;
            push(rest, rows, target, state)
        }
        Stage::Distinct { packer, table, tuples, slot, out } => {
            packer.pack(rows, &rows.selection, tuples).map_err(|fault| state.evaluation(fault))?;
            state.work.hash_probes += rows.selection.len() as u64;
            out.clear();
            table.insert_many(tuples, rows.selection.len(), &mut out.slots[*slot].tuples)?;
            out.select_all(out.slots[*slot].tuples.len());
            push(rest, out, target, state)
        }
    }
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
