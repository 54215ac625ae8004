//! A batch of rows: for each slot a pointer to a tuple, and the selection of those that qualify.

use crate::error::Result;
use crate::execution::State;

/// Rows at a time: so many that the work for a batch is nothing beside the work for its rows, so
/// few that vectors stay in the first cache (Boncz, Zukowski, Nes: MonetDB/X100, CIDR 2005).
pub(super) const ROWS_MAX: usize = 1024;

/// A function to which a pipeline or a loop gives a batch.
pub(super) type Push<'p> = dyn FnMut(&mut Rows, &mut State<'_>) -> Result<()> + 'p;

/// Positions of rows in a batch, ascending.
pub(super) type Selection = Vec<u16>;

/// Some rows of a pipeline.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By the slots' numbers; those of later steps are empty.
    pub slots: Vec<SlotRows>,
    /// The number of rows, qualified or not.
    pub len: usize,
    /// Those that qualify.
    pub selection: Selection,
}

/// The tuples of one slot.
#[derive(Debug, Default)]
pub(super) struct SlotRows {
    /// The first byte of each row's tuple.
    pub tuples: Vec<*const u8>,
    /// Its record id, where the slot's source is a stored relation.
    pub ids: Vec<u64>,
}

impl Rows {
    /// Without rows, for so many slots.
    pub fn new(slots: usize) -> Self {
        let mut rows = Self::default();
        rows.slots.resize_with(slots, SlotRows::default);
        rows
    }

    /// No rows.
    pub fn clear(&mut self) {
        for slot in &mut self.slots {
            slot.tuples.clear();
            slot.ids.clear();
        }
        self.len = 0;
        self.selection.clear();
    }

    /// So many rows, which all qualify so far.
    pub fn select_all(&mut self, len: usize) {
        self.len = len;
        self.selection.clear();
        self.selection.extend(0..len as u16);
    }

    /// The same rows as in another batch, at those positions, and nothing in its later slots.
    pub fn gather(&mut self, from: &Self, positions: &[u16]) {
        for (to, from) in self.slots.iter_mut().zip(&from.slots) {
            if !from.tuples.is_empty() {
                to.tuples.extend(positions.iter().map(|at| from.tuples[usize::from(*at)]));
            }
            if !from.ids.is_empty() {
                to.ids.extend(positions.iter().map(|at| from.ids[usize::from(*at)]));
            }
        }
    }

    /// The row at a position of another batch, so many times.
    pub fn repeat(&mut self, from: &Self, at: u16, times: usize) {
        for (to, from) in self.slots.iter_mut().zip(&from.slots) {
            if let Some(tuple) = from.tuples.get(usize::from(at)) {
                to.tuples.extend(std::iter::repeat_n(*tuple, times));
            }
            if let Some(id) = from.ids.get(usize::from(at)) {
                to.ids.extend(std::iter::repeat_n(*id, times));
            }
        }
    }
}

/// Keep the positions for which this holds, in order and without a branch on it: a mispredicted one
/// costs more than a store that is written over.
#[inline]
pub(super) fn retain(selection: &mut Selection, mut holds: impl FnMut(usize) -> bool) {
    let mut kept = 0;
    for at in 0..selection.len() {
        let row = selection[at];
        selection[kept] = row;
        kept += usize::from(holds(usize::from(row)));
    }
    selection.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_keeps_its_order() {
        let mut selection: Selection = (0..100).collect();
        retain(&mut selection, |row| row % 7 == 0);
        assert_eq!(selection, (0..100).step_by(7).collect::<Vec<_>>());
        retain(&mut selection, |_| false);
        assert!(selection.is_empty());
    }
}
