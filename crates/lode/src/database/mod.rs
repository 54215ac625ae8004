//! A database: a volume, its log, and what holds them together while they are open.
//!
//! What is done to it is done within transactions ([`Reading`], [`Writing`]); how its files become
//! a whole again after a crash is [`crate::recovery`]'s, when changed pages are written to their
//! places [`crate::checkpoint`]'s.

mod opening;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::buffer::{self, Buffer, Prefetcher};
use crate::error::{LodeError, Result};
use crate::lock::{LockCounters, Locks};
use crate::log;
use crate::recovery::Recovery;
use crate::shared::{Changes, Shared};
use crate::tactics::Tactics;
use crate::transaction::{Reading, Writing};

pub(crate) use opening::{Files, PAGES_MAX, create_files, remove_files};

/// An open database, for all threads.
///
/// Its transactions own shares of it. Dropping the last share closes the files as well as that can
/// be done; [`Database::close`] says whether it went well. In a child made by `fork` it does
/// nothing and ends without a trace: the files are the parent's.
pub struct Database {
    /// Only where the database is in files: what reads ahead by itself, reads at any time.
    prefetcher: Option<Prefetcher>,
    shared: Arc<Shared>,
    recovery: Option<Recovery>,
}

/// What has happened since a database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// In the buffer.
    pub buffer: buffer::Counters,
    /// In the log.
    pub log: log::Counters,
    /// In the lock table.
    pub locks: LockCounters,
}

impl Database {
    /// A transaction that reads what is committed.
    pub fn reading(&self) -> Reading {
        Reading::begin(&self.shared)
    }

    /// A transaction that changes pages.
    pub fn writing(&self) -> Writing {
        Writing::begin(&self.shared)
    }

    /// The tactics that it was opened with; `extent` is what it was created with.
    pub fn tactics(&self) -> &Tactics {
        &self.shared.tactics
    }

    /// Pages of an extent, as the space map counts them.
    pub fn extent_pages(&self) -> u32 {
        self.shared.superblock.extent_pages
    }

    /// 16 bytes that no other volume has.
    pub fn identity(&self) -> [u8; 16] {
        self.shared.superblock.identity
    }

    /// What opening had to mend; `None` if the database had been closed.
    pub const fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// What has happened since it was opened.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in a child of the process that opened it.
    pub fn counters(&self) -> Result<Counters> {
        self.shared.changes.check_owner()?;
        Ok(Counters {
            buffer: self.shared.buffer.counters(),
            log: self.shared.changes.log().counters(),
            locks: self.shared.locks.counters(),
        })
    }

    /// Write everything to its place and drop it from memory: what comes next is cold for the
    /// engine. Pages that somebody uses meanwhile may stay.
    pub fn forget(&self) -> Result<()> {
        self.shared.changes.check_owner()?;
        if !self.shared.read_only {
            self.checkpoint()?;
        }
        self.shared.buffer.forget();
        Ok(())
    }

    /// Write all changed pages to their places.
    ///
    /// # Errors
    ///
    /// What the log or the volume say; the database must be opened again then.
    pub fn checkpoint(&self) -> Result<()> {
        self.shared.checkpoint()
    }

    /// Whether a transaction has a share of it, which keeps it from being closed.
    pub fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.shared) > 1
    }

    /// # Errors
    ///
    /// [`LodeError::Busy`] while a transaction has not ended.
    pub(crate) fn check_idle(&self) -> Result<()> {
        if self.is_in_use() { Err(LodeError::Busy) } else { Ok(()) }
    }

    /// Write everything to its place and begin the log anew, so that opening has nothing to do.
    ///
    /// # Errors
    ///
    /// [`LodeError::Busy`] if a transaction has not ended: the files are closed when it has. What
    /// the log or the volume say.
    pub fn close(self) -> Result<()> {
        self.shared.changes.check_owner()?;
        self.check_idle()?;
        self.shared.finish()
    }

    /// Let go of the files as they are, as a crash would: the next opening recovers them. For
    /// tests.
    pub fn abandon(self) {
        self.shared.changes.abandon();
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.shared.buffer
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.shared.changes
    }

    pub(crate) fn locks(&self) -> &Locks {
        &self.shared.locks
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.shared.read_only
    }
}
