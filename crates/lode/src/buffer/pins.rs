//! Pages that readers have pinned: each stays in memory as it is, to be read as a plain slice, for
//! as long as its reader likes.
//!
//! At most half of the cache (of what is never lent: [`super::lending`]) can be pinned, so that a
//! thread that needs a frame finds one, and nobody waits for a pin: a thread that would have to is
//! reported so. Which transaction may read a page, and that nobody who may change it waits for a
//! reader, is the caller's ([`crate::transaction`]).

use std::sync::atomic::Ordering;

use super::Buffer;
use super::state::State;
use crate::error::{LodeError, Result};
use crate::page::{PageBytes, PageNumber};

/// Of the frames that are never lent this part can be pinned.
const PINNED_DIVISOR: usize = 2;

impl Buffer {
    /// Pin a page; `false` if as many readers have pinned it as can be counted. Brings it to memory
    /// where it is not there.
    ///
    /// # Errors
    ///
    /// [`LodeError::PinsFull`] where as many other pages are pinned as may be.
    #[inline]
    pub(crate) fn pin(&self, page: PageNumber) -> Result<bool> {
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
            if !word.has_readers() {
                self.note_pinned(page)?;
            }
            return Ok(true);
        }
    }

    /// One more page is pinned, unless there are too many.
    #[inline]
    fn note_pinned(&self, page: PageNumber) -> Result<()> {
        let pages_max = self.budget.pages_retained() / PINNED_DIVISOR;
        if self.pinned.0.fetch_add(1, Ordering::Relaxed) < pages_max {
            return Ok(());
        }
        self.unpin(page);
        Err(LodeError::PinsFull { pages_max, cache_bytes: self.cache_bytes })
    }

    /// Let go of a page that the caller has pinned.
    #[inline]
    pub(crate) fn unpin(&self, page: PageNumber) {
        if self.state_of(page).remove_reader() {
            self.pinned.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The place where a page lies that the caller has pinned, until it lets go of it.
    #[inline]
    pub(crate) fn pinned_bytes(&self, page: PageNumber) -> *const PageBytes {
        debug_assert!(self.state_of(page).load().has_readers(), "the caller has pinned it");
        self.pages.page(page).cast()
    }

    /// The number of pages that readers have pinned.
    pub(super) fn pages_pinned(&self) -> usize {
        self.pinned.0.load(Ordering::Relaxed)
    }
}
