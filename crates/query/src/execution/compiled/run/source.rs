//! Sources of compiled functions: batches of tuples, from where all executors take them.

use std::ops::Bound;
use std::sync::Arc;

use super::call::Handle;
use super::{Evaluation, Scalar};
use crate::aggregate::Groups;
use crate::error::{QueryError, Result};
use crate::execution::State;
use crate::execution::merging::{Merge, Pairs};
use crate::execution::vectorised::Accelerator;
use crate::plan::{self, Access, Pipeline, Side};
use crate::relation::{Relation, Scan, TupleBatch};
use crate::temporary::Temporary;
use crate::tuple::Value;

/// Tuples of a batch.
const BATCH: usize = 1024;

/// The place where the rows of a function come from.
pub(super) enum Source {
    Once,
    Scan(Relation),
    /// Bounds, by their cells, and whether they are included.
    Range {
        relation: Relation,
        access: Access,
        low: Limit,
        high: Limit,
    },
    Lookup {
        relation: Relation,
        access: Access,
        key: usize,
    },
    End {
        relation: Relation,
        access: Access,
        side: Side,
    },
    Temporary(Arc<Temporary>),
    Groups(Arc<Groups>),
    /// The merge itself is kept beside its batches.
    Merge,
}

type Limit = Option<(usize, bool)>;

/// The buffers kept from one run of a source to the next.
#[derive(Default)]
pub(super) struct Kept {
    /// For its memory.
    batch: TupleBatch,
    /// The accelerator that holds the tuples of a scan against its condition.
    accelerator: Option<Accelerator>,
    merge: Option<Box<Merge>>,
}

impl Kept {
    /// For a source of the plan, of which nothing has run.
    pub fn new(source: &plan::Source, pipeline: &Pipeline, state: &State<'_>) -> Result<Self> {
        let mut kept = Self::default();
        match source {
            plan::Source::First { source, .. } => return Self::new(source, pipeline, state),
            plan::Source::Scan { relation, qualification: Some(condition), slot } => {
                let relation = state.relation(relation, *slot)?;
                kept.accelerator = Some(Accelerator::new(condition, &relation, *slot, state)?);
            }
            plan::Source::Merge { left, right, left_key, right_key } => {
                let left = (state.temporary(*left), &left_key[..], &pipeline.slots[0]);
                let right = (state.temporary(*right), &right_key[..], &pipeline.slots[1]);
                kept.merge = Some(Box::new(Merge::new(left, right)));
            }
            _ => {}
        }
        Ok(kept)
    }
}

impl Source {
    /// For a source of the plan; what it must know stands in cells from that one on.
    pub fn new(source: &plan::Source, cell: usize, state: &State<'_>) -> Result<Self> {
        use plan::Source as P;
        Ok(match source {
            // The condition that makes it the first is in the code.
            P::First { source, .. } => return Self::new(source, cell, state),
            P::Once => Self::Once,
            P::Scan { relation, slot, .. } => Self::Scan(state.relation(relation, *slot)?),
            P::Range { relation, slot, access, low, high } => {
                let relation = state.relation(relation, *slot)?;
                let above = cell + usize::from(low.is_some());
                let low = low.as_ref().map(|(_, is_included)| (cell, *is_included));
                let high = high.as_ref().map(|(_, is_included)| (above, *is_included));
                Self::Range { relation, access: access.clone(), low, high }
            }
            P::Lookup { relation, slot, access, .. } => {
                let relation = state.relation(relation, *slot)?;
                Self::Lookup { relation, access: access.clone(), key: cell }
            }
            P::End { relation, slot, access, side } => {
                let relation = state.relation(relation, *slot)?;
                Self::End { relation, access: access.clone(), side: *side }
            }
            P::Temporary { temporary, .. } => Self::Temporary(state.temporary(*temporary)),
            P::Groups { aggregation, .. } => Self::Groups(state.aggregation(*aggregation)),
            P::Merge { .. } => Self::Merge,
        })
    }
}

/// The values that a pipeline's own source must know, ready to be computed.
pub(super) fn bounds(
    source: &plan::Source,
    evaluation: &dyn Evaluation,
) -> Result<Vec<Box<dyn Scalar>>> {
    match source {
        plan::Source::First { source, .. } => bounds(source, evaluation),
        plan::Source::Lookup { key, .. } => Ok(vec![evaluation.scalar(key)?]),
        plan::Source::Range { low, high, .. } => {
            low.iter().chain(high).map(|(bound, _)| evaluation.scalar(bound)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// Calls a function with all rows of its source.
///
/// # Errors
///
/// The error of reading, or the one that the function stopped for.
pub(super) fn each(handle: Handle, function: usize) -> Result<()> {
    let source = handle.with(|run, _| Arc::clone(&run.sources[function]));
    match &*source {
        Source::Once => handle.call(function, &[], &[], 1).map(drop),
        Source::Scan(relation) => {
            let scan = handle.with(|_, state| state.begin_scan(|pages| relation.scan(pages)))?;
            batches(handle, function, scan)
        }
        Source::Range { relation, access, low, high } => {
            let scan = handle.with(|_, state| {
                let (low, high) = (bound(handle, *low), bound(handle, *high));
                state.begin_scan(|pages| relation.range(pages, access, low, high))
            })?;
            batches(handle, function, scan)
        }
        Source::Lookup { relation, access, key } => {
            let key = handle.value(*key);
            let scan = handle.with(|_, state| {
                state.work.hash_probes += u64::from(matches!(access, Access::Hashed { .. }));
                state.begin_scan(|pages| relation.lookup(pages, access, key))
            })?;
            batches(handle, function, scan)
        }
        Source::End { relation, access, side } => {
            let scan = handle
                .with(|_, state| state.begin_scan(|pages| relation.end(pages, access, *side)))?;
            batches(handle, function, scan)
        }
        Source::Temporary(tuples) => temporary(handle, function, tuples),
        Source::Groups(groups) => temporary(handle, function, groups.tuples()),
        Source::Merge => {
            let Some(mut merge) = handle.with(|run, _| run.kept[function].merge.take()) else {
                return Ok(());
            };
            handle.lend(|state| merge.run(&mut OneByOne { handle, function }, state))
        }
    }
}

/// Pairs of a merge, each of which is a batch of one row.
struct OneByOne {
    handle: Handle,
    function: usize,
}

impl Pairs for OneByOne {
    fn take(&mut self, left: *const u8, right: *const u8, state: &mut State<'_>) -> Result<()> {
        let Self { handle, function } = *self;
        handle.set_frame(0, left);
        handle.set_frame(1, right);
        handle.lent(state, || handle.call(function, &[], &[], 1).map(drop))
    }

    fn settle(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
    }
}

fn bound<'v>(handle: Handle, limit: Limit) -> Bound<Value<'v>> {
    match limit {
        None => Bound::Unbounded,
        Some((cell, true)) => Bound::Included(handle.value(cell)),
        Some((cell, false)) => Bound::Excluded(handle.value(cell)),
    }
}

fn batches(handle: Handle, function: usize, mut scan: Scan) -> Result<()> {
    let Kept { mut batch, mut accelerator, merge } =
        handle.with(|run, _| std::mem::take(&mut run.kept[function]));
    accelerator.iter_mut().for_each(Accelerator::begin);
    while handle.with(|_, state| {
        state.check_cancelled()?;
        let more = match &mut accelerator {
            Some(accelerator) => accelerator.next_batch(&mut scan, &mut batch, state)?,
            None => scan.next_batch(&*state.transaction, &mut batch, BATCH)?,
        };
        state.work.tuples += if more { batch.len() as u64 } else { 0 };
        Ok::<_, QueryError>(more)
    })? {
        if !handle.call(function, batch.tuples(), batch.record_ids(), batch.len())? {
            break;
        }
    }
    batch.clear();
    handle.with(|run, state| {
        state.work.pages += scan.reads().pages;
        run.kept[function] = Kept { batch, accelerator, merge };
    });
    Ok(())
}

fn temporary(handle: Handle, function: usize, temporary: &Temporary) -> Result<()> {
    let position = handle.with(|_, state| state.begin_temporary());
    let (mut tuples, mut batch) = (temporary.scan_from(position), Vec::new());
    while tuples.next_batch(&mut batch, BATCH)? {
        handle.with(|_, state| {
            state.work.tuples += batch.len() as u64;
            state.check_cancelled()
        })?;
        if !handle.call(function, &batch, &[], batch.len())? {
            break;
        }
    }
    Ok(())
}
