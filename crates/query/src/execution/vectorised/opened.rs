//! The tuples of a source for one row, batch by batch, to be left when enough have been seen.

use super::rows::{ROWS_MAX, Rows};
use super::source::{Inner, bound, limits};
use crate::error::{QueryError, Result};
use crate::execution::State;
use crate::plan::Access;
use crate::relation::{Scan, TupleBatch};
use crate::temporary::Position;

/// A source that has been begun for one row.
pub(super) struct Opened {
    way: Way,
    tuple_bytes: usize,
    batch: TupleBatch,
    pointers: Vec<*const u8>,
}

enum Way {
    Scan(Scan),
    Temporary(Position),
}

impl Inner {
    /// Begin it for a row of a batch.
    ///
    /// # Errors
    ///
    /// The error of reading or computing, and of a source that has no tuples by themselves.
    pub fn open(&mut self, rows: &Rows, row: u16, state: &mut State<'_>) -> Result<Opened> {
        let one = [row];
        let way = match self {
            Self::Scan { relation, accelerator, .. } => {
                accelerator.iter_mut().for_each(super::Accelerator::begin);
                Way::Scan(relation.scan(&*state.transaction)?)
            }
            Self::Lookup { relation, access, key, .. } => {
                let keys = key.compute(rows, &one).map_err(|fault| state.evaluation(fault))?;
                state.work.hash_probes += u64::from(matches!(access, Access::Hashed { .. }));
                let key = keys.value(usize::from(row));
                Way::Scan(relation.lookup(&*state.transaction, access, key)?)
            }
            Self::Range { relation, access, low, high, .. } => {
                let (low, high) =
                    (limits(low, rows, &one, state)?, limits(high, rows, &one, state)?);
                let (low, high) = (bound(low, row), bound(high, row));
                Way::Scan(relation.range(&*state.transaction, access, low, high)?)
            }
            Self::End { relation, access, side, .. } => {
                Way::Scan(relation.end(&*state.transaction, access, *side)?)
            }
            Self::Temporary { .. } => Way::Temporary(Position::default()),
            Self::Once | Self::Merge(_) => {
                let what = "only of tuples by themselves there is a first".to_owned();
                return Err(QueryError::Tactic { what });
            }
        };
        let (batch, pointers) = (TupleBatch::new(), Vec::new());
        Ok(Opened { way, tuple_bytes: 0, batch, pointers })
    }
}

impl Opened {
    /// Go on to the next tuples of the source that was begun; whether there are any.
    ///
    /// # Errors
    ///
    /// The error of reading.
    pub fn next_batch(&mut self, inner: &mut Inner, state: &mut State<'_>) -> Result<bool> {
        match (&mut self.way, inner) {
            (Way::Scan(scan), Inner::Scan { accelerator: Some(accelerator), .. }) => {
                let more = accelerator.next_batch(scan, &mut self.batch, state)?;
                self.tuple_bytes = self.batch.tuple_bytes();
                Ok(more)
            }
            (Way::Scan(scan), _) => {
                let more = scan.next_batch(&*state.transaction, &mut self.batch, ROWS_MAX)?;
                self.tuple_bytes = self.batch.tuple_bytes();
                Ok(more)
            }
            (Way::Temporary(position), Inner::Temporary { temporary, .. }) => {
                let tuples = temporary.tuples();
                self.tuple_bytes = tuples.tuple_bytes();
                tuples.next_batch(position, &mut self.pointers, ROWS_MAX)
            }
            (Way::Temporary(_), _) => Ok(false),
        }
    }

    /// The first byte of each tuple, and their record ids where they have some.
    pub fn batch(&self) -> (&[*const u8], &[u64]) {
        match self.way {
            Way::Scan(_) => (self.batch.tuples(), self.batch.record_ids()),
            Way::Temporary(_) => (&self.pointers, &[]),
        }
    }

    /// One of them.
    #[expect(unsafe_code, reason = "tuples lie in memory that batch or temporary relation keep")]
    pub fn tuple(&self, at: usize) -> &[u8] {
        let start = self.batch().0[at];
        // SAFETY: it is the first byte of a tuple of that length, which the batch keeps until the
        // next one, and a temporary relation for as long as the pipeline that reads it runs.
        unsafe { std::slice::from_raw_parts(start, self.tuple_bytes) }
    }

    /// Count the pages that were read.
    pub fn end(&self, state: &mut State<'_>) {
        if let Way::Scan(scan) = &self.way {
            state.work.pages += scan.reads().pages;
        }
    }
}
