//! Locks of a transaction from the lock table of a database that this process has open.

use std::ptr::NonNull;
use std::sync::Arc;

use super::lock_set::{HeldLocks, LockSource};
use crate::error::Result;
use crate::lock::{Mode, Resource, TransactionNumber};
use crate::owner::Owner;
use crate::page::PageNumber;
use crate::pages::{Keeper, Pinned};
use crate::shared::Shared;
use crate::tactics::Grain;

/// A transaction's name at the lock table, and its share of the database.
pub struct LocalLocks {
    shared: Arc<Shared>,
    owner: Owner,
    transaction: TransactionNumber,
    grain: Grain,
    /// In which it locks the whole volume under `locks=database`.
    mode: Mode,
}

impl LocalLocks {
    /// For a new transaction, which reads or writes as the mode says.
    pub(super) fn new(shared: &Arc<Shared>, mode: Mode) -> Self {
        let (owner, transaction) = (shared.changes.owner(), shared.number());
        Self { owner, transaction, grain: shared.tactics.locks, mode, shared: Arc::clone(shared) }
    }

    pub(super) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) const fn transaction(&self) -> TransactionNumber {
        self.transaction
    }
}

impl Keeper for HeldLocks<LocalLocks> {
    #[inline]
    fn unpin(&self, page: PageNumber) {
        self.source().shared.buffer.unpin(page);
    }
}

impl LockSource for LocalLocks {
    fn owner(&self) -> Owner {
        self.owner
    }

    #[inline]
    fn pin(held: &Arc<HeldLocks<Self>>, page: PageNumber) -> Result<Option<Pinned>> {
        let buffer = &held.source().shared.buffer;
        if !buffer.pin(page)? {
            return Ok(None);
        }
        let at = buffer.pinned_bytes(page).cast_mut();
        let at = NonNull::new(at).expect("the buffer begins behind address 0");
        let keeper = Arc::clone(held) as Arc<dyn Keeper>;
        // SAFETY: the page lies within the reservation, which lives as long as the share of the
        // buffer that `keeper` has. As long as a reader has it pinned, its state word cannot be
        // latched (`State::latch`, `State::latch_pinned`), and only who has latched a page writes
        // to it or drops its memory. So no plain store meets the slice, under whatever `locks`;
        // optimistic readers and the thread that writes the page out only load.
        #[expect(unsafe_code, reason = "a page that is pinned is handed out as a slice")]
        let pinned = unsafe { Pinned::frame(keeper, page, at) };
        Ok(Some(pinned))
    }

    fn check_owner(&self) -> Result<()> {
        self.owner.check("the database")
    }

    fn grain(&self) -> Grain {
        self.grain
    }

    fn lock_all(&self) -> Result<()> {
        self.shared.locks.acquire(self.transaction, Resource::Volume, self.mode)
    }

    fn lock_page(&self, page: PageNumber, mode: Mode) -> Result<()> {
        self.shared.locks.acquire(self.transaction, Resource::Page(page), mode)
    }

    fn check_usable(&self) -> Result<()> {
        self.shared.changes.check_usable()
    }

    fn release(&self, whole: bool, pages: impl Iterator<Item = PageNumber>) {
        if whole {
            self.shared.locks.release(self.transaction, [Resource::Volume]);
        } else {
            self.shared.locks.release(self.transaction, pages.map(Resource::Page));
        }
    }
}
