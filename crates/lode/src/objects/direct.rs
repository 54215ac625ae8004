//! A direct reference: where an object's header lies in its home page, for as long as the page is
//! as it was.
//!
//! It is one word beside the field that holds the OID, and that field may come to hold another OID,
//! or belong to another object, without the word being told. Stamps tell the versions of one page
//! apart and not those of two, so the word says which page it means:
//!
//! ```text
//! 63       32 31            9 8           0
//! | page     | stamp         | offset / 8  |
//! ```
//!
//! What it says was true of that page at that stamp, and the same stamp of the same page is the
//! same bytes: so at the offset there is a header still, and it tells whose. A page that became
//! other bytes more than 2²³ times since the database was opened has no direct references any
//! more; its objects are found through the slots.

use crate::page::{PAGE_BYTES, PageNumber};
use crate::pages::Stamp;
use crate::slotted;

const PAGE_SHIFT: u32 = 32;
const OFFSET_BITS: u32 = (PAGE_BYTES / slotted::ALIGNMENT_BYTES).ilog2();
const STAMP_BITS: u32 = PAGE_SHIFT - OFFSET_BITS;
pub(super) const STAMP_MAX: u64 = (1 << STAMP_BITS) - 1;

const _: () = assert!(OFFSET_BITS == 9 && STAMP_BITS == 23);

/// Where an object's header lies, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Direct {
    pub(super) stamp: Stamp,
    pub(super) at: usize,
}

impl Direct {
    /// As a word about that page; `None` for a stamp that it has no room for, and for none.
    #[inline]
    pub(super) fn to_u64(self, page: PageNumber) -> Option<u64> {
        if self.stamp.0 > STAMP_MAX || self.stamp == Stamp::default() {
            return None;
        }
        let offset = (self.at / slotted::ALIGNMENT_BYTES) as u64;
        Some(u64::from(page) << PAGE_SHIFT | self.stamp.0 << OFFSET_BITS | offset)
    }

    /// What a word says about that page, if it is about that page.
    #[inline]
    pub(super) fn of(word: u64, page: PageNumber) -> Option<Self> {
        if (word >> PAGE_SHIFT) as PageNumber != page {
            return None;
        }
        let at = (word as usize & ((1 << OFFSET_BITS) - 1)) * slotted::ALIGNMENT_BYTES;
        Some(Self { stamp: Stamp(word >> OFFSET_BITS & STAMP_MAX), at })
    }
}
