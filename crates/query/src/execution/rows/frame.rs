//! The slots of a row that grows: a copy of the outer row's, in which one more is filled.

use crate::execution::evaluation::Row;

/// Slots that need no memory of their own. Plans of the papers have four at most.
const INLINE: usize = 8;

/// A row that can be changed.
pub(super) struct Frame<'a> {
    count: usize,
    tuples: [&'a [u8]; INLINE],
    ids: [u64; INLINE],
    /// All slots instead, where there are more.
    more: Option<(Vec<&'a [u8]>, Vec<u64>)>,
}

impl<'a> Frame<'a> {
    /// So many slots, none of them filled.
    pub fn empty(count: usize) -> Self {
        let more = (count > INLINE).then(|| (vec![&[][..]; count], vec![0; count]));
        Self { count, tuples: [&[]; INLINE], ids: [0; INLINE], more }
    }

    /// The slots of that row.
    #[inline]
    pub fn of(row: &Row<'a>) -> Self {
        let count = row.tuples.len();
        let mut frame = Self { count, tuples: [&[]; INLINE], ids: [0; INLINE], more: None };
        if count > INLINE {
            frame.more = Some((row.tuples.to_vec(), row.ids.to_vec()));
        } else {
            frame.tuples[..count].copy_from_slice(row.tuples);
            frame.ids[..count].copy_from_slice(row.ids);
        }
        frame
    }

    /// Fills a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, tuple: &'a [u8], id: u64) {
        match &mut self.more {
            None => (self.tuples[slot], self.ids[slot]) = (tuple, id),
            Some((tuples, ids)) => (tuples[slot], ids[slot]) = (tuple, id),
        }
    }

    /// Sets the record id of a slot.
    pub fn set_id(&mut self, slot: usize, id: u64) {
        match &mut self.more {
            None => self.ids[slot] = id,
            Some((_, ids)) => ids[slot] = id,
        }
    }

    /// The row as it is now.
    #[inline]
    pub fn row(&self) -> Row<'_> {
        match &self.more {
            None => Row { tuples: &self.tuples[..self.count], ids: &self.ids[..self.count] },
            Some((tuples, ids)) => Row { tuples, ids },
        }
    }
}
