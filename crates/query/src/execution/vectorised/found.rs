//! Rows of a batch beside the tuples that a source has for them.

use super::rows::{Push, ROWS_MAX, Rows};
use crate::error::Result;
use crate::execution::State;
use crate::relation::{Scan, TupleBatch};

/// Each row with each tuple of a batch, long vectors first: for each row all tuples, or for each
/// tuple all rows, whichever are more.
pub(super) fn cross(
    rows: &Rows,
    slot: usize,
    (tuples, ids): (&[*const u8], &[u64]),
    out: &mut Rows,
    state: &mut State<'_>,
    push: &mut Push<'_>,
) -> Result<()> {
    if tuples.len() < rows.selection.len() {
        for (at, tuple) in tuples.iter().enumerate() {
            out.clear();
            out.gather(rows, &rows.selection);
            let len = rows.selection.len();
            out.slots[slot].tuples.resize(len, *tuple);
            if let Some(id) = ids.get(at) {
                out.slots[slot].ids.resize(len, *id);
            }
            out.select_all(len);
            push(out, state)?;
        }
        return Ok(());
    }
    for row in &rows.selection {
        out.clear();
        out.repeat(rows, *row, tuples.len());
        out.slots[slot].tuples.extend_from_slice(tuples);
        out.slots[slot].ids.extend_from_slice(ids);
        out.select_all(tuples.len());
        push(out, state)?;
    }
    Ok(())
}

/// Tuples that look-ups found, copied until they are enough for a batch: the next look-up lets go
/// of the last one's pages.
pub(super) struct Found {
    slot: usize,
    tuple_bytes: usize,
    /// The row that each belongs to.
    rows: Vec<u16>,
    tuples: Vec<u8>,
    ids: Vec<u64>,
    batch: TupleBatch,
}

impl Found {
    pub fn new(slot: usize) -> Self {
        let (rows, tuples, ids) = (Vec::new(), Vec::new(), Vec::new());
        Self { slot, tuple_bytes: 0, rows, tuples, ids, batch: TupleBatch::new() }
    }

    pub fn take(
        &mut self,
        mut scan: Scan,
        outer: &Rows,
        row: u16,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        while scan.next_batch(&*state.transaction, &mut batch, ROWS_MAX)? {
            state.work.tuples += batch.len() as u64;
            self.tuple_bytes = batch.tuple_bytes();
            if batch.len() == ROWS_MAX && self.rows.is_empty() {
                // A long range needs no copy.
                state.check_cancelled()?;
                out.clear();
                out.repeat(outer, row, batch.len());
                out.slots[self.slot].tuples.extend_from_slice(batch.tuples());
                out.slots[self.slot].ids.extend_from_slice(batch.record_ids());
                out.select_all(batch.len());
                push(out, state)?;
                continue;
            }
            for at in 0..batch.len() {
                self.rows.push(row);
                self.tuples.extend_from_slice(batch.tuple(at));
                self.ids.push(batch.record_id(at));
                if self.rows.len() == ROWS_MAX {
                    self.flush(outer, out, state, push)?;
                }
            }
        }
        state.work.pages += scan.reads().pages;
        self.batch = batch;
        Ok(())
    }

    /// Add a tuple for a row, where there are fewer than a batch.
    pub fn keep(&mut self, row: u16, tuple: &[u8], id: Option<u64>) {
        self.tuple_bytes = tuple.len();
        self.rows.push(row);
        self.tuples.extend_from_slice(tuple);
        self.ids.extend(id);
    }

    /// Whether there are enough for a batch.
    pub fn is_full(&self) -> bool {
        self.rows.len() == ROWS_MAX
    }

    /// Push what there is.
    pub fn flush(
        &mut self,
        outer: &Rows,
        out: &mut Rows,
        state: &mut State<'_>,
        push: &mut Push<'_>,
    ) -> Result<()> {
        state.check_cancelled()?;
        if self.rows.is_empty() {
            return Ok(());
        }
        out.clear();
        out.gather(outer, &self.rows);
        let tuples = self.tuples.chunks_exact(self.tuple_bytes);
        out.slots[self.slot].tuples.extend(tuples.map(<[u8]>::as_ptr));
        out.slots[self.slot].ids.append(&mut self.ids);
        out.select_all(self.rows.len());
        self.rows.clear();
        let outcome = push(out, state);
        self.tuples.clear();
        outcome
    }
}
