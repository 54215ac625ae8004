//! Large pages behind the small ones, where the cap has room for all of the volume.
//!
//! A huge page is taken whole, at the first touch of any byte of it. So the kernel is requested
//! them only as far as memory for every page of the volume would be within the cap anyway. When the
//! volume outgrows that, or frames are lent that it would need, nothing more is taken so, and the
//! memory of pages that are not there goes back. What holds pages goes as it came, page by page:
//! the kernel splits a huge page of which a part is given back.
//!
//! That frames may be lent takes no huge page: a reader would pay for what nobody does.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Buffer;
use crate::page::{PAGE_BYTES, PageNumber};

/// Pages in a huge page.
const HUGE_PAGES: u64 = (2 << 20) / PAGE_BYTES as u64;

/// The extent to which the reservations are backed so.
pub(super) struct Huge {
    /// Memory pages that the cap has room for; 0 without the tactic.
    budget_pages: AtomicU64,
    pub(super) backed: AtomicU32,
}

impl Huge {
    /// `room_pages`: what the cap holds.
    pub(super) const fn new(budget_pages: u64) -> Self {
        Self { budget_pages: AtomicU64::new(budget_pages), backed: AtomicU32::new(0) }
    }
}

/// The number of pages from the first on that are to be backed: all of a volume, or none.
const fn backed(pages_total: PageNumber, budget_pages: u64) -> PageNumber {
    let whole = (pages_total as u64).next_multiple_of(HUGE_PAGES);
    if whole <= budget_pages { whole as PageNumber } else { 0 }
}

impl Buffer {
    /// So many frames are lent now: where those left have no room for all of the volume, it is
    /// backed by small pages, and stays so.
    pub(super) fn limit_huge(&self, lent: usize) {
        let remaining = self.frames_left(lent);
        if u64::from(self.huge.backed.load(Ordering::Relaxed)) > remaining {
            self.huge.budget_pages.fetch_min(remaining, Ordering::Relaxed);
            self.back_with_huge();
        }
    }

    /// Request huge pages, or for none any more, as the volume's length wants it.
    pub(super) fn back_with_huge(&self) {
        let remaining = self.frames_left(self.budget.lent.load(Ordering::Relaxed));
        let budget_pages = self.huge.budget_pages.load(Ordering::Relaxed).min(remaining);
        let backed = backed(self.pages_total(), budget_pages).min(self.pages_max);
        let before = self.huge.backed.swap(backed, Ordering::Relaxed);
        if backed > before {
            self.pages.prefer_huge(backed);
        } else if backed < before {
            self.pages.prefer_small(before);
            self.drop_vacant(before);
        }
    }

    fn frames_left(&self, lent: usize) -> u64 {
        (self.cache_bytes / PAGE_BYTES as u64).saturating_sub(lent as u64)
    }

    /// Give the memory of those of the first `count` pages back that are not there: neighbours in
    /// a huge page brought it.
    fn drop_vacant(&self, count: PageNumber) {
        let mut first = 0;
        while first < count {
            let claimed = |&page: &PageNumber| self.state_of(page).claim_vacant();
            let run = (first..count).take_while(claimed).count() as PageNumber;
            if run > 0 {
                // SAFETY: they lie within the reservation, since they have state words, and are
                // latched by us, who have no reference to them.
                #[expect(unsafe_code, reason = "memory behind no page goes back to the system")]
                let dropped = unsafe { self.pages.drop_pages(first, run) };
                self.note_dropped(dropped);
                (first..first + run).for_each(|page| self.state_of(page).vacate());
            }
            first += run + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HUGE_PAGES, backed};

    const HUGE: u32 = HUGE_PAGES as u32;

    #[test]
    fn all_of_a_volume_is_backed_or_nothing() {
        assert_eq!(backed(1, HUGE_PAGES), HUGE);
        assert_eq!(backed(HUGE, HUGE_PAGES), HUGE);
        assert_eq!(backed(HUGE + 1, HUGE_PAGES), 0);
        assert_eq!(backed(HUGE + 1, 2 * HUGE_PAGES), 2 * HUGE);
        assert_eq!(backed(1, HUGE_PAGES - 1), 0);
        assert_eq!(backed(1, 0), 0);
        assert_eq!(backed(u32::MAX, HUGE_PAGES), 0);
    }
}
