//! The name of a record: where it lies.

use std::fmt;

use crate::page::{self, PageNumber};

/// A record's place in the volume, for as long as the record lives. As a word (`to_u64`) it can
/// stand in a record; 0 stands for none there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// The page, never 0.
    pub page: PageNumber,
    /// The slot in the page.
    pub slot: u16,
}

impl RecordId {
    /// page × 2¹⁶ + slot: 48 bits.
    #[inline]
    pub const fn to_u64(self) -> u64 {
        (self.page as u64) << 16 | self.slot as u64
    }

    /// The id of this word; `None` for 0 and for a word that is no id.
    #[inline]
    pub const fn of(word: u64) -> Option<Self> {
        let page = (word >> 16) as PageNumber;
        if word >> 48 != 0 || page == page::NO_PAGE {
            return None;
        }
        Some(Self { page, slot: word as u16 })
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "record {} of page {}", self.slot, self.page)
    }
}
