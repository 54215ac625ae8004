//! A condition on the tuples of one slot, held against batches of them.

use loadstone_quel::error::Fault;

use super::condition::Condition;
use super::rows::Rows;
use crate::counters::Work;
use crate::relation::{Near, TupleBatch};

/// The condition, and the vectors that it is computed in.
pub(super) struct Judge {
    condition: Condition,
    slot: usize,
    /// The part of each tuple to bring near before it is looked at.
    pub near: Option<Near>,
    rows: Rows,
    qualified: Vec<u16>,
}

// SAFETY: the pointers in `rows` and in the condition's vectors are written and read within one
// call of `judge`, and lead into the batch of that call or into constants that the condition owns.
#[expect(unsafe_code, reason = "vectors hold pointers, which no thread shares")]
unsafe impl Send for Judge {}

impl Judge {
    pub(super) fn new(condition: Condition, slot: usize) -> Self {
        let (rows, qualified) = (Rows::new(slot + 1), Vec::new());
        Self { condition, slot, near: None, rows, qualified }
    }

    /// Drop the tuples that do not qualify, and count them all.
    pub(super) fn judge(&mut self, batch: &mut TupleBatch, work: &mut Work) -> Result<(), Fault> {
        work.tuples_judged += batch.len() as u64;
        work.pages_judged += batch.page_count() as u64;
        self.keep(batch, work)
    }

    /// Drop the tuples that do not qualify.
    pub(super) fn keep(&mut self, batch: &mut TupleBatch, work: &mut Work) -> Result<(), Fault> {
        let Self { condition, slot, rows, qualified, .. } = self;
        rows.clear();
        rows.slots[*slot].tuples.extend_from_slice(batch.tuples());
        rows.slots[*slot].ids.extend_from_slice(batch.record_ids());
        rows.len = batch.len();
        qualified.clear();
        qualified.extend(0..batch.len() as u16);
        condition.filter(rows, qualified, work)?;
        batch.select(qualified);
        Ok(())
    }
}
