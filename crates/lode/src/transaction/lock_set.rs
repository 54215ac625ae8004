//! The locks that one transaction holds.

use std::cell::{Cell, RefCell};

use crate::error::Result;
use crate::lock::numbers::NumberMap;
use crate::lock::{Locks, Mode, Resource, TransactionNumber};
use crate::owner::Owner;
use crate::page::PageNumber;
use crate::tactics::Grain;

/// What a transaction has locked, so that it asks the lock table once for each thing.
pub(super) struct LockSet<'a> {
    locks: &'a Locks,
    owner: Owner,
    transaction: TransactionNumber,
    grain: Grain,
    /// The mode in which this transaction locks the whole volume under `locks=database`.
    mode: Mode,
    whole: Cell<bool>,
    pages: RefCell<NumberMap<PageNumber, Mode>>,
}

impl<'a> LockSet<'a> {
    /// For a transaction of a database that this process has opened, or the process of which it is
    /// a child: there nothing is to be had.
    pub(super) fn empty(
        locks: &'a Locks,
        owner: Owner,
        transaction: TransactionNumber,
        grain: Grain,
        mode: Mode,
    ) -> Self {
        let (whole, pages) = (Cell::new(false), RefCell::default());
        Self { locks, owner, transaction, grain, mode, whole, pages }
    }

    /// Whose locks these are.
    pub(super) const fn transaction(&self) -> TransactionNumber {
        self.transaction
    }

    /// Whether everything is locked that the transaction may ever need: all that reading a page
    /// costs under `locks=database`.
    #[inline]
    pub(super) fn has_all(&self) -> bool {
        self.whole.get() && self.owner.is_here()
    }

    /// Before any lock, latch or mutex: in a child of the process nobody may be there to release
    /// it.
    pub(super) fn check_owner(&self) -> Result<()> {
        self.owner.check("the database")
    }

    /// Lock a page, or what it belongs to.
    pub(super) fn lock(&self, page: PageNumber, mode: Mode) -> Result<()> {
        self.check_owner()?;
        if self.grain == Grain::Database {
            self.locks.acquire(self.transaction, Resource::Volume, self.mode)?;
            self.whole.set(true);
            return Ok(());
        }
        if self.pages.borrow().get(&page).is_some_and(|&held| held >= mode) {
            return Ok(());
        }
        self.locks.acquire(self.transaction, Resource::Page(page), mode)?;
        self.pages.borrow_mut().insert(page, mode);
        Ok(())
    }

    /// Give everything back.
    pub(super) fn release(&self) {
        if !self.owner.is_here() {
            return;
        }
        let pages = self.pages.take();
        if self.whole.replace(false) {
            self.locks.release(self.transaction, [Resource::Volume]);
        } else {
            self.locks.release(self.transaction, pages.into_keys().map(Resource::Page));
        }
    }
}

impl Drop for LockSet<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
