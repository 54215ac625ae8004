//! Locks of a transaction from the lock table of a database that this process has open.

use std::sync::Arc;

use super::lock_set::LockSource;
use crate::error::Result;
use crate::lock::{Mode, Resource, TransactionNumber};
use crate::owner::Owner;
use crate::page::PageNumber;
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

impl LockSource for LocalLocks {
    #[inline]
    fn is_here(&self) -> bool {
        self.owner.is_here()
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
