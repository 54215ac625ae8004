//! Transactions that may change something, and have not ended.

use std::sync::PoisonError;
use std::time::Duration;

use crate::lock::TransactionNumber;
use crate::lock::numbers::NumberMap;
use crate::log::Lsn;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// The time for which a beginning transaction stands back for the log to begin anew: longer than
/// short transactions take. Bounded, because the transaction it waits for may in turn wait for this
/// thread.
const STAND_BACK: Duration = Duration::from_millis(20);

/// The running writers.
#[derive(Default)]
pub(crate) struct Active {
    writers: Mutex<Writers>,
    none_left: Condvar,
}

/// The transactions that run, and since when.
#[derive(Default)]
pub(crate) struct Writers {
    /// The place where the log ended when each began.
    pub(crate) begun: NumberMap<TransactionNumber, Lsn>,
    /// The log is so long that it should begin anew, for which nobody may run.
    pub(crate) wanted_none: bool,
}

impl Active {
    /// A transaction begins; it holds no lock yet.
    pub(crate) fn enter(&self, transaction: TransactionNumber, log_end: impl FnOnce() -> Lsn) {
        let mut writers = self.writers();
        if writers.wanted_none {
            let busy = |writers: &mut Writers| writers.wanted_none && !writers.begun.is_empty();
            writers = self
                .none_left
                .wait_timeout_while(writers, STAND_BACK, busy)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            // A transaction that did not end until now may run for long: nobody waits for it again
            // before the next checkpoint.
            writers.wanted_none = false;
        }
        writers.begun.insert(transaction, log_end());
    }

    /// A transaction has ended, and the log says how.
    pub(crate) fn leave(&self, transaction: TransactionNumber) {
        let mut writers = self.writers();
        writers.begun.remove(&transaction);
        if writers.begun.is_empty() {
            self.none_left.notify_all();
        }
    }

    /// Nobody begins or ends as long as this is kept.
    pub(crate) fn writers(&self) -> MutexGuard<'_, Writers> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
