//! Ending a transaction from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::lock::{Locks, TransactionNumber};

/// A handle by which another thread ends a transaction. It waits for no lock from then on, not even
/// for the one that it waits for already; what it would change, or commit, fails with
/// [`crate::LodeError::Interrupted`]. A commit that has begun is not stopped, and what is read
/// under locks that it has goes on: who reads for long looks at [`Interrupt::flag`].
///
/// It is no share of the database, and outlives the transaction without harm.
#[derive(Clone)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    locks: Arc<Locks>,
    transaction: TransactionNumber,
}

impl Interrupt {
    pub(super) fn new(
        flag: &Arc<AtomicBool>,
        locks: &Arc<Locks>,
        transaction: TransactionNumber,
    ) -> Self {
        Self { flag: Arc::clone(flag), locks: Arc::clone(locks), transaction }
    }

    /// Have the transaction end.
    pub fn interrupt(&self) {
        // Before the lock table's mutex, behind which a thread looks before it begins to wait.
        self.flag.store(true, Ordering::Relaxed);
        self.locks.end_wait(self.transaction);
    }

    /// Set once it is to end.
    pub const fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { flag, transaction, .. } = self;
        to.debug_struct("Interrupt")
            .field("flag", flag)
            .field("transaction", transaction)
            .finish_non_exhaustive()
    }
}
