//! Pages that readers have pinned: each stays in memory as it is, to be read as a plain slice, for
//! as long as its reader likes.
//!
//! At most half of the cache (of what is never lent: [`super::lending`]) can be pinned, so that a
//! thread that needs a frame finds one, and nobody waits for a pin: a thread that would have to is
//! reported so. Which transaction may read a page, and that nobody who may change it waits for a
//! reader, is the caller's ([`crate::transaction`]).

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Buffer;
use super::state::{Atomic, State};
use crate::error::{LodeError, Result};
use crate::page::{PageBytes, PageNumber};

/// Of the frames that are never lent this part can be pinned.
const PINNED_DIVISOR: usize = 2;

/// One thread may reserve this part of the pages that can be pinned: of a small cache none, so that
/// each page that can be pinned is there for the next reader.
const RESERVED_DIVISOR: usize = 1_024;

/// Pages that one thread reserves at a time at most: some of a batch of tuples.
const RESERVED_MAX: usize = 16;

/// The pages that one thread may still pin without asking: threads that pin each for itself would
/// otherwise change one count with every page, and wait for its line of memory.
#[derive(Debug, Default)]
pub(crate) struct Reserve(AtomicUsize);

impl Reserve {
    /// Take one of them, if there is any.
    #[inline]
    fn take(&self) -> bool {
        let mut left = self.0.load(Ordering::Relaxed);
        while left > 0 {
            let (order, less) = (Ordering::Relaxed, left - 1);
            match self.0.compare_exchange_weak(left, less, order, order) {
                Ok(_) => return true,
                Err(now) => left = now,
            }
        }
        false
    }
}

impl Buffer {
    /// Pin a page; `false` if as many readers have pinned it as can be counted. Brings it to memory
    /// where it is not there.
    ///
    /// # Errors
    ///
    /// [`LodeError::PinsFull`] where as many other pages are pinned as may be.
    #[inline]
    pub(crate) fn pin(&self, page: PageNumber, reserve: &Reserve) -> Result<bool> {
        loop {
            let word = match self.state(page).map(State::load) {
                Some(word) if word.is_open() => word,
                _ => self.open(page)?,
            };
            if word.has_readers_max() {
                return Ok(false);
            }
            if !self.state_of(page).add_reader(word) {
                continue;
            }
            if !word.has_readers() && !reserve.take() && !self.reserve_more(reserve) {
                if !self.state_of(page).remove_reader() {
                    // Who has pinned it meanwhile takes it for counted.
                    self.pinned.0.fetch_add(1, Ordering::Relaxed);
                }
                let (pages_max, cache_bytes) = (self.pages_pinned_max(), self.cache_bytes);
                return Err(LodeError::PinsFull { pages_max, cache_bytes });
            }
            return Ok(true);
        }
    }

    fn pages_pinned_max(&self) -> usize {
        self.budget.pages_retained() / PINNED_DIVISOR
    }

    /// The pages that a thread reserves at a time.
    fn reserved_together(&self) -> usize {
        (self.pages_pinned_max() / RESERVED_DIVISOR).clamp(1, RESERVED_MAX)
    }

    /// Reserve some pages, and take one; `false` if as many are pinned or reserved as may be.
    #[inline(never)]
    fn reserve_more(&self, reserve: &Reserve) -> bool {
        let pages_max = self.pages_pinned_max() as u64;
        [self.reserved_together(), 1].into_iter().any(|pages| {
            let has_room = add_within(&self.pinned.0, pages as u64, pages_max);
            if has_room {
                reserve.0.fetch_add(pages - 1, Ordering::Relaxed);
            }
            has_room
        })
    }

    /// Let go of a page that the caller has pinned. The thread keeps it reserved, if those are not
    /// too many.
    #[inline]
    pub(crate) fn unpin(&self, page: PageNumber, reserve: &Reserve) {
        if self.state_of(page).remove_reader() {
            let left = reserve.0.fetch_add(1, Ordering::Relaxed) + 1;
            let together = self.reserved_together();
            if left > 2 * (together - 1) {
                self.give_back(reserve, together);
            }
        }
    }

    /// Reserve so many pages less.
    #[inline(never)]
    fn give_back(&self, reserve: &Reserve, pages: usize) {
        let given = (0..pages).take_while(|_| reserve.take()).count();
        self.pinned.0.fetch_sub(given as u64, Ordering::Relaxed);
    }

    /// Reserve no page any more.
    pub(crate) fn give_back_all(&self, reserve: &Reserve) {
        self.give_back(reserve, usize::MAX);
    }

    /// The place where a page lies that the caller has pinned, until it lets go of it.
    #[inline]
    pub(crate) fn pinned_bytes(&self, page: PageNumber) -> *const PageBytes {
        debug_assert!(self.state_of(page).load().has_readers(), "the caller has pinned it");
        self.pages.page(page).cast()
    }

    /// The number of pages that readers have pinned, or reserved.
    pub(super) fn pages_pinned(&self) -> usize {
        self.pinned.0.load(Ordering::Relaxed) as usize
    }
}

/// Add to a count that may not exceed `most`; `false`, and nothing has changed, where it has no
/// room. To add first and look afterwards would show a full count to other threads while there is
/// room for them.
pub(super) fn add_within<A: Atomic>(count: &A, more: u64, most: u64) -> bool {
    loop {
        let now = count.load(Ordering::Relaxed);
        if now + more > most {
            return false;
        }
        if count.exchange(now, now + more, Ordering::Relaxed) {
            return true;
        }
    }
}
