//! Of a source that is run for each row, the first tuple that fulfils a condition: the last step
//! of tuple substitution where a variable serves only as a qualification.

use super::condition::Condition;
use super::found::Found;
use super::rows::{Push, Rows};
use super::source::Inner;
use crate::error::Result;
use crate::execution::State;
use crate::expression::Expr;

/// A source, and what its first tuple that counts must fulfil.
pub(super) struct First {
    inner: Inner,
    condition: Option<Condition>,
    /// A row with one tuple after another.
    tried: Rows,
}

impl First {
    /// For a source of a pipeline with so many slots.
    pub fn new(inner: Inner, condition: Option<&Expr>, slots: usize, state: &State<'_>) -> Self {
        let condition = condition.map(|one| Condition::new(one, state));
        Self { inner, condition, tried: Rows::new(slots) }
    }

    /// The slot that it fills.
    pub const fn slot(&self) -> usize {
        self.inner.slot()
    }

    /// One row for each selected row of a batch for which there is such a tuple.
    ///
    /// # Errors
    ///
    /// The error of reading, of computing, or of `push`.
    pub fn each(
        &mut self,
        rows: &Rows,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        let slot = self.slot();
        let Self { inner, condition, tried } = self;
        let mut found = Found::new(slot);
        for row in &rows.selection {
            let mut tuples = inner.open(rows, *row, state)?;
            while tuples.next_batch(inner, state)? {
                state.check_cancelled()?;
                let (pointers, ids) = tuples.batch();
                state.work.tuples += pointers.len() as u64;
                tried.clear();
                tried.repeat(rows, *row, pointers.len());
                tried.slots[slot].tuples.extend_from_slice(pointers);
                tried.slots[slot].ids.extend_from_slice(ids);
                tried.select_all(pointers.len());
                if let Some(condition) = condition {
                    let mut selection = std::mem::take(&mut tried.selection);
                    condition
                        .filter(tried, &mut selection, &mut state.work)
                        .map_err(|fault| state.evaluation(fault))?;
                    tried.selection = selection;
                }
                if let Some(at) = tried.selection.first().map(|at| usize::from(*at)) {
                    found.keep(*row, tuples.tuple(at), ids.get(at).copied());
                    break;
                }
            }
            tuples.end(state);
            if found.is_full() {
                found.flush(rows, out, state, push)?;
            }
        }
        found.flush(rows, out, state, push)
    }
}
