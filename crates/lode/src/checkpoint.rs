//! Checkpoints: changed pages go to their places, so that a restart needs nothing older.
//!
//! While nobody changes anything, the log begins anew afterwards. Otherwise the checkpoint is
//! fuzzy: pages are written as they are, changes of running transactions among them (what takes
//! those back is logged before), and recovery will begin where the oldest of these transactions
//! did, or the checkpoint, whatever was first.

use std::sync::atomic::Ordering;
use std::sync::{PoisonError, TryLockError};

use crate::error::Result;
use crate::lock::TransactionNumber;
use crate::log::{Body, Sync as LogSync};
use crate::shared::Shared;

/// A log of so many times the tactic's size makes new transactions stand back, until there is a
/// moment without any.
const LOG_LENGTHS_MAX: u64 = 2;

/// A checkpoint record names so many transactions at most: for people, recovery does not need them.
const NAMED_MAX: usize = 1_000;

impl Shared {
    /// Write all changed pages to their places.
    ///
    /// # Errors
    ///
    /// The error of the log or the volume; the database must be opened again then.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        // Before the lock: in a child of the process nobody may be there to release it.
        self.changes.check_owner()?;
        let _one_at_a_time = self.checkpointing.lock().unwrap_or_else(PoisonError::into_inner);
        self.make_checkpoint()
    }

    /// After a transaction: a checkpoint if the log has become long and nobody makes one. A failure
    /// is reported by what is done next, because the transaction has ended well.
    pub(crate) fn checkpoint_if_due(&self) {
        let end = self.changes.log().end().0;
        let due = end.saturating_sub(self.checkpoint_end.load(Ordering::Relaxed));
        if due < self.tactics.checkpoint.0 || self.changes.is_broken() {
            return;
        }
        let _one_at_a_time = match self.checkpointing.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        // `Changes` has noted a failure, and every operation asks it.
        let _ = self.make_checkpoint();
    }

    fn make_checkpoint(&self) -> Result<()> {
        self.changes.check_usable()?;
        let outcome = match self.begin_log_anew() {
            Ok(true) => Ok(()),
            Ok(false) => self.checkpoint_among_others(),
            Err(error) => Err(error),
        };
        let end = self.changes.log().end().0;
        self.checkpoint_end.store(end, Ordering::Relaxed);
        outcome.inspect_err(|error| self.changes.set_broken(error))
    }

    /// If no transaction runs that may change something; whether that was so. None begins
    /// meanwhile. Those that only read may drive pages out, but when all are written nothing of
    /// that is logged any more.
    fn begin_log_anew(&self) -> Result<bool> {
        let mut writers = self.active.writers();
        if !writers.begun.is_empty() {
            return Ok(false);
        }
        self.buffer.write_dirty()?;
        self.changes.log().begin_anew()?;
        self.changes.forget_bases(self.changes.log().first());
        writers.wanted_none = false;
        Ok(true)
    }

    fn checkpoint_among_others(&self) -> Result<()> {
        let log = self.changes.log();
        // Before a page is written, because of the transactions that run now something may be
        // logged meanwhile that takes it back. All that it logs must be read then, from its
        // beginning to its end, which may be close: its writer may know that it is committed when
        // the pages are there.
        let writers = self.active.writers();
        // Whatever was logged before this is in pages that are written now.
        let start = log.end();
        let oldest = writers.begun.values().copied().min();
        let needed_from = oldest.map_or(start, |oldest| oldest.min(start));
        let transactions: Vec<TransactionNumber> =
            writers.begun.keys().copied().take(NAMED_MAX).collect();
        drop(writers);
        self.changes.retire_bases(needed_from);
        self.buffer.write_dirty()?;
        let length = log.end().0 - log.first().0;
        self.active.writers().wanted_none = length > LOG_LENGTHS_MAX * self.tactics.checkpoint.0;
        // How the transactions ended that are not among these must be durable before what takes
        // them back is forgotten; the record makes it so.
        let lsn = log.append(&Body::Checkpoint { needed_from, transactions }, 0)?;
        log.make_durable(lsn, LogSync::Group)?;
        log.set_checkpoint(needed_from)?;
        self.changes.forget_bases(needed_from);
        Ok(())
    }
}
