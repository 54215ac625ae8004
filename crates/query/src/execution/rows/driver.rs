//! The driver: takes rows from the source one by one, through the steps, to the sink.

use std::ops::Bound;

use loadstone_quel::error::Fault;
use lode::PageRead;

use super::frame::Frame;
use super::stage::{First, From, Limit, Source, Stage, Target, with_values};
use crate::error::Result;
use crate::execution::evaluation::Row;
use crate::execution::merging::Pairs;
use crate::execution::vectorised::Accelerator;
use crate::execution::{Receiver, State};
use crate::plan::Access;
use crate::relation::{Scan, TupleBatch};
use crate::temporary::Temporary;
use crate::tuple::Value;

/// Tuples that a scan gives at a time. They are looked at one by one.
const BATCH: usize = 1024;

/// The place where rows end.
pub(super) struct End<'e, 'c> {
    pub(super) target: Target,
    pub(super) receiver: &'e mut Receiver<'c>,
    /// The lengths of the slots' tuples.
    pub(super) slot_bytes: Vec<usize>,
}

/// A fault as an error that points into the program's text.
pub(super) fn reported<T>(state: &State<'_>, outcome: Result<T, Fault>) -> Result<T> {
    outcome.map_err(|fault| state.evaluation(fault))
}

/// Pushes the outer row on, once for each tuple of a source.
pub(super) fn each(
    source: &mut Source,
    stages: &mut [Stage],
    end: &mut End<'_, '_>,
    state: &mut State<'_>,
    outer: &Row<'_>,
) -> Result<()> {
    let Source { slot, from, batch, first } = source;
    let through = Through { slot: *slot, outer, stages, end, first: first.as_mut() };
    match from {
        From::Once => push(through.stages, through.end, state, outer),
        From::Scan { relation, accelerator } => {
            let scan = state.begin_scan(|pages| relation.scan(pages))?;
            through.scan(scan, batch, accelerator.as_mut(), state)
        }
        From::Range { relation, access, low, high } => {
            let (low, high) = (bound(low, outer), bound(high, outer));
            let (low, high) = (reported(state, low)?, reported(state, high)?);
            let scan = state.begin_scan(|pages| relation.range(pages, access, low, high))?;
            through.scan(scan, batch, None, state)
        }
        From::Lookup { relation, access, key } => {
            let key = reported(state, key.value(outer))?;
            state.work.hash_probes += u64::from(matches!(access, Access::Hashed { .. }));
            let scan = state.begin_scan(|pages| relation.lookup(pages, access, key))?;
            through.scan(scan, batch, None, state)
        }
        From::End { relation, access, side } => {
            let scan = state.begin_scan(|pages| relation.end(pages, access, *side))?;
            through.scan(scan, batch, None, state)
        }
        From::Temporary(temporary) => through.temporary(temporary, state),
        From::Groups(groups) => through.temporary(groups.tuples(), state),
        From::Merge(merge) => {
            let Through { outer, stages, end, .. } = through;
            let lengths = [0, 1].map(|slot| end.slot_bytes[slot]);
            merge.run(&mut OneByOne { outer, stages, end, lengths }, state)
        }
    }
}

/// Pairs of a merge, each pushed on at once.
struct OneByOne<'t, 'e, 'c, 'o> {
    outer: &'t Row<'o>,
    stages: &'t mut [Stage],
    end: &'t mut End<'e, 'c>,
    /// Of a left tuple and a right one.
    lengths: [usize; 2],
}

impl Pairs for OneByOne<'_, '_, '_, '_> {
    fn take(&mut self, left: *const u8, right: *const u8, state: &mut State<'_>) -> Result<()> {
        let (left, right) = (tuple_at(left, self.lengths[0]), tuple_at(right, self.lengths[1]));
        let mut frame = Frame::of(self.outer);
        frame.set(0, left, 0);
        frame.set(1, right, 0);
        push(self.stages, self.end, state, &frame.row())
    }

    fn settle(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
    }
}

/// A tuple that lives at least until the row with it has been pushed on.
pub(super) fn tuple_at<'a>(tuple: *const u8, bytes: usize) -> &'a [u8] {
    // SAFETY: temporary relations give whole tuples of their length, good until their next batch.
    #[expect(unsafe_code, reason = "tuples are read through pointers")]
    unsafe {
        std::slice::from_raw_parts(tuple, bytes)
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
    first: Option<&'t mut First>,
}

impl Through<'_, '_, '_, '_> {
    /// Pushes a row on; whether no other tuple of the source counts.
    #[inline]
    fn take(&mut self, state: &mut State<'_>, row: &Row<'_>) -> Result<bool> {
        if let Some(Some(condition)) = &mut self.first {
            state.work.comparisons += 1;
            if !reported(state, condition.holds(row))? {
                return Ok(false);
            }
        }
        push(self.stages, self.end, state, row)?;
        Ok(self.first.is_some())
    }

    fn scan(
        mut self,
        mut scan: Scan,
        batch: &mut TupleBatch,
        mut accelerator: Option<&mut Accelerator>,
        state: &mut State<'_>,
    ) -> Result<()> {
        if let Some(accelerator) = &mut accelerator {
            accelerator.begin();
        }
        'tuples: while match &mut accelerator {
            Some(accelerator) => accelerator.next_batch(&mut scan, batch, state)?,
            None => next(&mut scan, &*state.transaction, batch)?,
        } {
            state.check_cancelled()?;
            let mut frame = Frame::of(self.outer);
            for at in 0..batch.len() {
                state.work.tuples += 1;
                frame.set(self.slot, batch.tuple(at), batch.record_id(at));
                if self.take(state, &frame.row())? {
                    break 'tuples;
                }
            }
        }
        state.work.pages += scan.reads().pages;
        batch.clear();
        Ok(())
    }

    fn temporary(mut self, temporary: &Temporary, state: &mut State<'_>) -> Result<()> {
        let (mut tuples, mut batch) = (temporary.scan_from(state.begin_temporary()), Vec::new());
        let bytes = temporary.tuple_bytes();
        while tuples.next_batch(&mut batch, BATCH)? {
            state.check_cancelled()?;
            let mut frame = Frame::of(self.outer);
            for tuple in &batch {
                frame.set(self.slot, tuple_at(*tuple, bytes), 0);
                state.work.tuples += 1;
                if self.take(state, &frame.row())? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Not generic where it is called: the transaction is a trait that has no objects.
fn next(scan: &mut Scan, pages: &impl PageRead, batch: &mut TupleBatch) -> Result<bool> {
    scan.next_batch(pages, batch, BATCH)
}

/// Pushes a row through the steps that are left.
pub(super) fn push(
    stages: &mut [Stage],
    end: &mut End<'_, '_>,
    state: &mut State<'_>,
    row: &Row<'_>,
) -> Result<()> {
    state.count_rows(stages.len(), 1);
    let Some((first, rest)) = stages.split_first_mut() else { return end.take(state, row) };
    match first {
        Stage::Filter(conditions) => {
            for condition in conditions {
                state.work.comparisons += 1;
                if !reported(state, condition.holds(row))? {
                    return Ok(());
                }
            }
            push(rest, end, state, row)
        }
        Stage::Loop(source) => each(source, rest, end, state, row),
        Stage::Probe { table, aside, slot, keys } => {
            state.work.hash_probes += 1;
            let pushed = with_values(keys, row, |keys| {
                if let Some((aside, hash)) =
                    aside.as_mut().and_then(|aside| aside.is_away(keys).map(|hash| (aside, hash)))
                {
                    return aside.put(hash, |slot| row.tuples[slot].as_ptr(), |slot| row.ids[slot]);
                }
                let Some(table) = table else { return Ok(()) };
                let mut frame = Frame::of(row);
                table.matches(keys).try_for_each(|entry| {
                    frame.set(*slot, entry, 0);
                    push(rest, end, state, &frame.row())
                })
            });
            reported(state, pushed)?
        }
        Stage::ProbeGroups { groups, slot, keys } => {
            state.work.hash_probes += 1;
            let found = reported(state, with_values(keys, row, |keys| groups.find(keys)))?;
            let Some(group) = found else { return Ok(()) };
            let mut frame = Frame::of(row);
            frame.set(*slot, group, 0);
            push(rest, end, state, &frame.row())
        }
        Stage::Distinct { seen, slot, packer, tuple } => {
            let Some(seen) = seen else { return Ok(()) };
            reported(state, packer.pack(row, tuple))?;
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
                reported(state, packer.pack(row, tuple))?;
                sink.add(state, tuple)
            }
            (Target::Values { by, updates }, Receiver::Aggregation { partitions, .. }) => {
                state.work.hash_probes += partitions.probes_of(1);
                let partition = with_values(by, row, |by| partitions.partition(by));
                let partition = reported(state, partition)??;
                for update in updates {
                    if let Some(condition) = &mut update.condition
                        && !reported(state, condition.holds(row))?
                    {
                        continue;
                    }
                    let value = reported(state, update.argument.value(row))?;
                    partitions.update(partition, update.aggregate, value)?;
                }
                Ok(())
            }
            // Both are made of the same sink.
            _ => Ok(()),
        }
    }
}
