//! Which page is evicted when another needs its frame.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::frame_budget::{FrameBudget, Slot};
use super::reservation::Reservation;
use crate::error::Result;
use crate::page::PageNumber;
use crate::random;
use crate::sync::Mutex;
use crate::tactics::Replacement;

/// Uses of a page within so many uses of any page count as one for `Lru2`: one operation reads
/// the same page a few times in a row (the paper's correlated reference period). Chosen as more
/// than the pages on a path through the deepest index, and far less than a small cache.
const CORRELATED_USES: u64 = 8;

/// A tactic at work.
///
/// `clock` is second chance (vmcache, Leis et al. 2023, section 3.4): a hand passes over the pages,
/// sets their second-chance bit and evicts those that were not used since it passed last; a use
/// costs something only once after each passing. With `lru` and `lru-2` every use takes a number
/// from a counter that all threads share, and `lru-2` keeps the history of evicted pages for as
/// long as the database is open. `random` pays nothing at a use.
pub(super) enum Tactic {
    Clock { hand: AtomicUsize },
    Random { drawn: AtomicU64 },
    Recency(Recency),
}

impl Tactic {
    pub(super) fn new(replacement: Replacement, pages_max: PageNumber) -> Result<Self> {
        Ok(match replacement {
            Replacement::Clock => Self::Clock { hand: AtomicUsize::new(0) },
            Replacement::Random => Self::Random { drawn: AtomicU64::new(0) },
            Replacement::Lru => Self::Recency(Recency::new(pages_max, false)?),
            Replacement::Lru2 => Self::Recency(Recency::new(pages_max, true)?),
        })
    }

    /// Whether a page goes only when it was not used since its second-chance bit was set.
    pub(super) const fn is_clock(&self) -> bool {
        matches!(self, Self::Clock { .. })
    }

    /// Whether candidates come from a list, on which each page is once.
    pub(super) const fn is_list(&self) -> bool {
        matches!(self, Self::Recency(_))
    }

    /// Whether pages have their second-chance bit set as soon as they come. `ahead`: nobody has
    /// requested the page yet, and the clock takes it at its first passing if nobody does.
    pub(super) const fn starts_on_second_chance(&self, ahead: bool) -> bool {
        match self {
            Self::Clock { .. } => ahead,
            Self::Random { .. } => false,
            Self::Recency(_) => true,
        }
    }

    /// A page has come; its owner has it latched.
    pub(super) fn arrived(&self, slot: Slot, page: PageNumber, ahead: bool) {
        if let Self::Recency(recency) = self {
            recency.record(page, ahead);
            recency.enlist(slot, page);
        }
    }

    /// A page with its second-chance bit set is used, or one is changed.
    pub(super) fn used(&self, page: PageNumber) {
        if let Self::Recency(recency) = self {
            recency.record(page, false);
        }
    }

    /// The page that should go next, as far as it can be reported without its latch. `None` where a
    /// slot is vacant, and at a list's end.
    pub(super) fn candidate(&self, budget: &FrameBudget) -> Option<(Slot, PageNumber)> {
        match self {
            Self::Clock { hand } => {
                let slot = (hand.fetch_add(1, Ordering::Relaxed) % budget.slots()) as Slot;
                Some((slot, budget.page_in(slot)?))
            }
            Self::Random { drawn } => {
                let number = random::nth(drawn.fetch_add(1, Ordering::Relaxed));
                let slot = (number % budget.slots() as u64) as Slot;
                Some((slot, budget.page_in(slot)?))
            }
            Self::Recency(recency) => recency.candidate(budget),
        }
    }

    /// A candidate stays after all.
    pub(super) fn stays(&self, slot: Slot, page: PageNumber) {
        if let Self::Recency(recency) = self {
            recency.enlist(slot, page);
        }
    }

    /// Pages have gone that were no candidates.
    pub(super) fn forget_absent(&self, budget: &FrameBudget) {
        if let Self::Recency(recency) = self {
            let mut order = recency.order.lock().expect("nothing panics under this lock");
            order.retain(|&Reverse((_, slot, page))| budget.page_in(slot) == Some(page));
        }
    }
}

/// (last use but one, last use), or (last use, 0) where only one counts. It only grows.
type Rank = (u64, u64);

/// When pages were used, and the resident ones in that order.
pub(super) struct Recency {
    uses: AtomicU64,
    /// Of each page twice the number of its last use, and [`AHEAD`].
    last: Reservation,
    /// Of each page the last use but one, for `Lru2`.
    before: Option<Reservation>,
    /// The resident pages by a rank that they once had. The true rank is never lower, so the first
    /// whose rank is still true is the lowest of all. A thread that tries to evict a page takes it
    /// off.
    order: Mutex<BinaryHeap<Reverse<(Rank, Slot, PageNumber)>>>,
}

/// The last use was none: the page was read ahead.
const AHEAD: u64 = 1;

impl Recency {
    fn new(pages_max: PageNumber, two: bool) -> Result<Self> {
        Ok(Self {
            uses: AtomicU64::new(1),
            last: Reservation::words(pages_max)?,
            before: two.then(|| Reservation::words(pages_max)).transpose()?,
            order: Mutex::new(BinaryHeap::new()),
        })
    }

    fn record(&self, page: PageNumber, ahead: bool) {
        let now = self.uses.fetch_add(1, Ordering::Relaxed) << 1;
        let last = &self.last.as_words()[page as usize];
        if let Some(before) = &self.before {
            let previous = last.load(Ordering::Relaxed);
            if previous & AHEAD == 0 && now.saturating_sub(previous) > CORRELATED_USES << 1 {
                before.as_words()[page as usize].store(previous, Ordering::Relaxed);
            }
        }
        last.store(now | if ahead { AHEAD } else { 0 }, Ordering::Relaxed);
    }

    /// The number of places on the list.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.order.lock().expect("nothing panics under this lock").len()
    }

    fn rank(&self, page: PageNumber) -> Rank {
        let last = self.last.as_words()[page as usize].load(Ordering::Relaxed);
        match &self.before {
            Some(before) => (before.as_words()[page as usize].load(Ordering::Relaxed), last),
            None => (last, 0),
        }
    }

    fn enlist(&self, slot: Slot, page: PageNumber) {
        let rank = self.rank(page);
        self.order
            .lock()
            .expect("nothing panics under this lock")
            .push(Reverse((rank, slot, page)));
    }

    fn candidate(&self, budget: &FrameBudget) -> Option<(Slot, PageNumber)> {
        let mut order = self.order.lock().expect("nothing panics under this lock");
        while let Some(Reverse((listed, slot, page))) = order.pop() {
            if budget.page_in(slot) != Some(page) {
                continue;
            }
            let rank = self.rank(page);
            if rank == listed {
                return Some((slot, page));
            }
            order.push(Reverse((rank, slot, page)));
        }
        None
    }
}
