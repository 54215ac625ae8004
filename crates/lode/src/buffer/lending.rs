//! Frames lent to what a program keeps beside pages, so that one cap bounds both.
//!
//! A frame that is lent holds no page: the memory is the borrower's own, and only counted here.
//! Pages make room for it as they do for other pages. A quarter of the frames is never lent, and at
//! most half of that can be pinned: so a thread that needs a frame for a page finds one.

use std::sync::{Arc, Weak};

use super::{Buffer, Wait};
use crate::page::PAGE_BYTES;

/// Of the cache this part is never lent.
const RETAINED_DIVISOR: usize = 4;

/// Rounds in which too few pages could go, until it is believed that this will not end. Each lets
/// other threads run.
const ROUNDS_MAX: u32 = 1_000;

/// A buffer's frames, to borrow. It keeps no database open: what has closed lends nothing.
#[derive(Debug, Clone)]
pub struct Frames {
    buffer: Weak<Buffer>,
    lendable: usize,
}

impl Frames {
    /// Have the frames of a buffer lent from now on.
    pub(crate) fn of(buffer: &Arc<Buffer>) -> Self {
        let lendable = buffer.budget.pages_max() - buffer.budget.pages_max() / RETAINED_DIVISOR;
        buffer.budget.allow_lending(lendable);
        Self { buffer: Arc::downgrade(buffer), lendable }
    }

    /// The number of frames that are lent at most.
    pub const fn lendable(&self) -> usize {
        self.lendable
    }

    /// The same as bytes.
    pub const fn lendable_bytes(&self) -> u64 {
        self.lendable as u64 * PAGE_BYTES as u64
    }

    /// Borrow so many frames, all or none. Pages that are in them go.
    #[must_use]
    pub fn borrow(&self, frames: usize) -> bool {
        self.buffer.upgrade().is_some_and(|buffer| buffer.lend(frames))
    }

    /// Give back so many of those that were borrowed.
    pub fn give_back(&self, frames: usize) {
        if let Some(buffer) = self.buffer.upgrade() {
            buffer.budget.take_back(frames);
        }
    }
}

impl Buffer {
    fn lend(&self, frames: usize) -> bool {
        let Some(lent) = self.budget.count_lent(frames) else { return false };
        self.limit_huge(lent);
        let mut permit = self.budget.acquire_up_to(frames);
        let mut wait = Wait::new(self);
        for _ in 0..ROUNDS_MAX {
            if permit.pages() >= frames {
                // What one eviction freed beyond that is free.
                permit.spend_many(frames);
                self.budget.note_lent();
                return true;
            }
            // An error of a page that had to be written is reported to the next who needs a frame.
            let Ok(evicted) = self.evict(frames - permit.pages()) else { break };
            let is_none = evicted.pages() == 0;
            permit.merge(evicted);
            permit.merge(self.budget.acquire_up_to(frames.saturating_sub(permit.pages())));
            if is_none {
                wait.once();
            }
        }
        drop(permit);
        self.budget.uncount_lent(frames);
        false
    }
}
