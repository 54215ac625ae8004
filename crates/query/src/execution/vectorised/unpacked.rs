//! Rows that were put aside, as a batch again.

use super::rows::{Rows, SlotRows};
use crate::execution::joining::RowForm;

/// A batch, and the memory of its tuples.
pub(super) struct Unpacked {
    rows: Rows,
    /// The tuples of each slot, one after another.
    tuples: Vec<Vec<u8>>,
}

impl Unpacked {
    /// For rows of so many slots.
    pub fn new(slots: usize) -> Self {
        Self { rows: Rows::new(slots), tuples: vec![Vec::new(); slots] }
    }

    /// The rows in these tuples. Fields that nothing reads are zero.
    pub fn rows(&mut self, form: &RowForm, tuples: &[u8]) -> &Rows {
        let Self { rows, tuples: of_slots } = self;
        rows.clear();
        let count = tuples.len() / form.bytes();
        for &(slot, bytes) in &form.slots {
            let unpacked = &mut of_slots[slot];
            unpacked.resize(count * bytes, 0);
            for (tuple, into) in tuples.chunks_exact(form.bytes()).zip(unpacked.chunks_mut(bytes)) {
                form.unpack(tuple, slot, into);
            }
            let SlotRows { tuples, .. } = &mut rows.slots[slot];
            tuples.extend(unpacked.chunks_exact(bytes).map(<[u8]>::as_ptr));
        }
        for tuple in tuples.chunks_exact(form.bytes()) {
            for (slot, id) in form.ids(tuple) {
                rows.slots[slot].ids.push(id);
            }
        }
        rows.select_all(count);
        rows
    }
}
