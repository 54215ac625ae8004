//! Sources: where batches come from, at a pipeline's beginning and within loops.

use std::ops::Bound;
use std::sync::Arc;

use super::accelerator::Accelerator;
use super::found::{Found, cross};
use super::rows::{Push, ROWS_MAX, Rows};
use super::value::Computed;
use super::vector::Vector;
use crate::error::{QueryError, Result};
use crate::execution::State;
use crate::execution::merging::{Merge, Pairs};
use crate::expression::Expr;
use crate::plan::{Access, Side, Source, Step};
use crate::relation::{Near, Relation, TupleBatch};
use crate::temporary::Temporary;
use crate::tuple::{Layout, Value};

/// A source, ready to be run.
pub(super) enum Inner {
    Once,
    /// A stored relation from end to end, and what holds its tuples against its condition.
    Scan {
        relation: Relation,
        slot: usize,
        accelerator: Option<Accelerator>,
        near: Option<Near>,
    },
    /// The tuples of a stored relation between two bounds.
    Range {
        relation: Relation,
        slot: usize,
        access: Access,
        low: Limit,
        high: Limit,
    },
    /// The tuples of a stored relation with a key.
    Lookup {
        relation: Relation,
        slot: usize,
        access: Access,
        key: Computed,
    },
    /// The tuples of a stored relation at an end of an index.
    End {
        relation: Relation,
        slot: usize,
        access: Access,
        side: Side,
    },
    /// A temporary relation, or the results of an aggregation.
    Temporary {
        temporary: Kept,
        slot: usize,
    },
    Merge(Merge),
}

/// One end of a range: its value, and whether it is included.
pub(super) type Limit = Option<(Computed, bool)>;

/// Tuples that an earlier pipeline left.
pub(super) enum Kept {
    Temporary(Arc<Temporary>),
    Groups(Arc<crate::aggregate::Groups>),
}

impl Kept {
    pub fn tuples(&self) -> &Temporary {
        match self {
            Self::Temporary(temporary) => temporary,
            Self::Groups(groups) => groups.tuples(),
        }
    }
}

impl Inner {
    /// For a source of a pipeline with these slots.
    ///
    /// # Errors
    ///
    /// That there is no such relation.
    pub fn new(source: &Source, slots: &[Layout], state: &State<'_>) -> Result<Self> {
        let limit = |limit: &Option<(Expr, bool)>| -> Limit {
            limit.as_ref().map(|(expr, is_included)| (Computed::new(expr, state), *is_included))
        };
        Ok(match source {
            Source::Once => Self::Once,
            Source::Scan { relation, slot, qualification } => {
                let relation = state.relation(relation, *slot)?;
                let accelerator = match qualification {
                    Some(condition) => Some(Accelerator::new(condition, &relation, *slot, state)?),
                    None => None,
                };
                Self::Scan { relation, slot: *slot, accelerator, near: None }
            }
            Source::Range { relation, slot, access, low, high } => Self::Range {
                relation: state.relation(relation, *slot)?,
                slot: *slot,
                access: access.clone(),
                low: limit(low),
                high: limit(high),
            },
            Source::Lookup { relation, slot, access, key } => Self::Lookup {
                relation: state.relation(relation, *slot)?,
                slot: *slot,
                access: access.clone(),
                key: Computed::new(key, state),
            },
            Source::End { relation, slot, access, side } => Self::End {
                relation: state.relation(relation, *slot)?,
                slot: *slot,
                access: access.clone(),
                side: *side,
            },
            Source::Temporary { temporary, slot } => Self::Temporary {
                temporary: Kept::Temporary(state.temporary(*temporary)),
                slot: *slot,
            },
            Source::Groups { aggregation, slot } => Self::Temporary {
                temporary: Kept::Groups(state.aggregation(*aggregation)),
                slot: *slot,
            },
            Source::First { .. } => {
                let what = "the first of a source is sought for each row alone".to_owned();
                return Err(QueryError::Tactic { what });
            }
            Source::Merge { left, right, left_key, right_key } => Self::Merge(Merge::new(
                (state.temporary(*left), left_key, &slots[0]),
                (state.temporary(*right), right_key, &slots[1]),
            )),
        })
    }

    /// The part of each tuple of a scan to bring near.
    pub fn bring_near(&mut self, wanted: Option<Near>) {
        if let Self::Scan { near, .. } = self {
            *near = wanted;
        }
    }

    /// Take over the filters that a pipeline with this source begins with, where it is a relation
    /// by columns: it reads their columns first. How many there are.
    pub fn take_filters(&mut self, steps: &[Step]) -> usize {
        let Self::Scan { relation, slot, accelerator: accelerator @ None, .. } = self else {
            return 0;
        };
        let filters = steps.iter().map_while(|step| match step {
            Step::Filter(condition) => Some(condition.clone()),
            _ => None,
        });
        let conditions: Vec<Expr> = filters.collect();
        let taken = conditions.len();
        if !relation.is_by_columns() || taken == 0 {
            return 0;
        }
        *accelerator = Some(Accelerator::of_steps(conditions, *slot, steps.len()));
        taken
    }

    /// The slot that it fills.
    pub const fn slot(&self) -> usize {
        match self {
            Self::Once | Self::Merge(_) => 0,
            Self::Scan { slot, .. }
            | Self::Range { slot, .. }
            | Self::Lookup { slot, .. }
            | Self::End { slot, .. }
            | Self::Temporary { slot, .. } => *slot,
        }
    }

    /// Every batch of it, at the beginning of a pipeline.
    ///
    /// # Errors
    ///
    /// The error of reading, or of `push`.
    pub fn run(
        &mut self,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        if let Self::Merge(merge) = self {
            out.clear();
            return merge.run(&mut Batches { out, push }, state);
        }
        let mut once = Rows::new(0);
        once.select_all(1);
        self.each(&once, self.slot(), out, state, push)
    }

    /// One row for each selected row of a batch and each tuple of the source.
    ///
    /// # Errors
    ///
    /// The error of reading, or of `push`.
    pub fn each(
        &mut self,
        rows: &Rows,
        slot: usize,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        match self {
            Self::Once => {
                out.clear();
                out.gather(rows, &rows.selection);
                out.select_all(rows.selection.len());
                push(out, state)
            }
            Self::Scan { relation, accelerator, near, .. } => {
                accelerator.iter_mut().for_each(Accelerator::begin);
                let mut scan = state.begin_scan(|pages| relation.scan(pages))?;
                let mut batch = TupleBatch::new();
                batch.bring_near(*near);
                while match accelerator {
                    Some(accelerator) => accelerator.next_batch(&mut scan, &mut batch, state)?,
                    None => scan.next_batch(&*state.transaction, &mut batch, ROWS_MAX)?,
                } {
                    state.check_cancelled()?;
                    state.work.tuples += batch.len() as u64;
                    let tuples = (batch.tuples(), batch.record_ids());
                    cross(rows, slot, tuples, out, state, push)?;
                }
                state.work.pages += scan.reads().pages;
                Ok(())
            }
            Self::Temporary { temporary, .. } => {
                let (mut position, mut batch) = (state.begin_temporary(), Vec::new());
                while temporary.tuples().next_batch(&mut position, &mut batch, ROWS_MAX)? {
                    state.check_cancelled()?;
                    state.work.tuples += batch.len() as u64;
                    cross(rows, slot, (&batch, &[]), out, state, push)?;
                }
                Ok(())
            }
            Self::Lookup { .. } | Self::Range { .. } | Self::End { .. } => {
                self.each_found(rows, slot, out, state, push)
            }
            Self::Merge(_) => Err(QueryError::Tactic {
                what: "a merge of sorted relations cannot be run for each row".to_owned(),
            }),
        }
    }

    /// The same of a source that an index leads to.
    fn each_found(
        &mut self,
        rows: &Rows,
        slot: usize,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        let mut found = Found::new(slot);
        match self {
            Self::Lookup { relation, access, key, .. } => {
                let keys = key.compute(rows, &rows.selection);
                let keys = keys.map_err(|fault| state.evaluation(fault))?;
                for row in &rows.selection {
                    let key = keys.value(usize::from(*row));
                    state.work.hash_probes += u64::from(matches!(access, Access::Hashed { .. }));
                    let scan = state.begin_scan(|pages| relation.lookup(pages, access, key))?;
                    found.take(scan, rows, *row, out, state, push)?;
                }
            }
            Self::Range { relation, access, low, high, .. } => {
                let low = limits(low, rows, &rows.selection, state)?;
                let high = limits(high, rows, &rows.selection, state)?;
                for row in &rows.selection {
                    let bounds = (bound(low, *row), bound(high, *row));
                    let scan = state
                        .begin_scan(|pages| relation.range(pages, access, bounds.0, bounds.1))?;
                    found.take(scan, rows, *row, out, state, push)?;
                }
            }
            Self::End { relation, access, side, .. } => {
                for row in &rows.selection {
                    let scan = state.begin_scan(|pages| relation.end(pages, access, *side))?;
                    found.take(scan, rows, *row, out, state, push)?;
                }
            }
            Self::Once | Self::Scan { .. } | Self::Temporary { .. } | Self::Merge(_) => {}
        }
        found.flush(rows, out, state, push)
    }
}

/// Pairs of a merge, handed on as batches.
struct Batches<'b, 'p> {
    out: &'b mut Rows,
    push: &'b mut Push<'p>,
}

impl Pairs for Batches<'_, '_> {
    fn take(&mut self, left: *const u8, right: *const u8, state: &mut State<'_>) -> Result<()> {
        self.out.slots[0].tuples.push(left);
        self.out.slots[1].tuples.push(right);
        if self.out.slots[0].tuples.len() == ROWS_MAX { self.settle(state) } else { Ok(()) }
    }

    fn settle(&mut self, state: &mut State<'_>) -> Result<()> {
        self.out.select_all(self.out.slots[0].tuples.len());
        (self.push)(self.out, state)?;
        self.out.clear();
        Ok(())
    }
}

/// The values of a limit for some rows, and whether they are included.
pub(super) fn limits<'l>(
    limit: &'l mut Limit,
    rows: &Rows,
    selection: &[u16],
    state: &State<'_>,
) -> Result<Option<(&'l Vector, bool)>> {
    let Some((computed, is_included)) = limit else { return Ok(None) };
    let values = computed.compute(rows, selection);
    Ok(Some((values.map_err(|fault| state.evaluation(fault))?, *is_included)))
}

pub(super) fn bound(limit: Option<(&Vector, bool)>, row: u16) -> Bound<Value<'_>> {
    match limit {
        None => Bound::Unbounded,
        Some((values, true)) => Bound::Included(values.value(usize::from(row))),
        Some((values, false)) => Bound::Excluded(values.value(usize::from(row))),
    }
}
