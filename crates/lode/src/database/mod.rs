//! A database: a volume, its log, and what holds them together while they are open.
//!
//! What is done to it is done within transactions ([`Reading`], [`Writing`]); how its files become
//! a whole again after a crash is [`crate::recovery`]'s, when changed pages are written to their
//! places [`crate::checkpoint`]'s.

mod active;
mod opening;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use crate::buffer::{self, Buffer, Prefetcher};
use crate::error::Result;
use crate::lock::numbers::NumberMap;
use crate::lock::{LockCounters, Locks, TransactionNumber};
use crate::log;
use crate::page::{FileNumber, PageNumber};
use crate::recovery::Recovery;
use crate::superblock::Superblock;
use crate::sync::Mutex;
use crate::tactics::Tactics;
use crate::transaction::{Changes, Reading, Writing};

pub(crate) use active::Active;
pub(crate) use opening::{Files, PAGES_MAX, create_files, remove_files, replacement};

/// An open database, for all threads.
///
/// Dropping it closes it as well as it can; [`Database::close`] says whether that went well. In a
/// child made by `fork` it does nothing and ends without a trace: the files are the parent's.
pub struct Database {
    buffer: Arc<Buffer>,
    /// Only where the database is in files: what reads ahead by itself, reads at any time.
    prefetcher: Option<Prefetcher>,
    changes: Arc<Changes>,
    locks: Locks,
    active: Active,
    tactics: Tactics,
    superblock: Superblock,
    recovery: Option<Recovery>,
    read_only: bool,
    closed: AtomicBool,
    numbers: AtomicU64,
    allocation_hint: Mutex<NumberMap<FileNumber, PageNumber>>,
    /// Taken by who makes a checkpoint. Where the log ended after the last one.
    pub(crate) checkpointing: Mutex<()>,
    pub(crate) checkpoint_end: AtomicU64,
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
    pub fn reading(&self) -> Reading<'_> {
        Reading::begin(self)
    }

    /// A transaction that changes pages.
    pub fn writing(&self) -> Writing<'_> {
        Writing::begin(self)
    }

    /// The tactics that it was opened with; `extent` is what it was created with.
    pub const fn tactics(&self) -> &Tactics {
        &self.tactics
    }

    /// Pages of an extent, as [`crate::space`] wants to know it.
    pub const fn extent_pages(&self) -> u32 {
        self.superblock.extent_pages
    }

    /// 16 bytes that no other volume has.
    pub const fn identity(&self) -> [u8; 16] {
        self.superblock.identity
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
        self.changes.check_owner()?;
        Ok(Counters {
            buffer: self.buffer.counters(),
            log: self.changes.log().counters(),
            locks: self.locks.counters(),
        })
    }

    /// Write everything to its place and drop it from memory: what comes next is cold for the
    /// engine. Pages that somebody uses meanwhile may stay.
    pub fn forget(&self) -> Result<()> {
        self.changes.check_owner()?;
        if !self.read_only {
            self.checkpoint()?;
        }
        self.buffer.forget();
        Ok(())
    }

    /// Write everything to its place and begin the log anew, so that opening has nothing to do.
    pub fn close(self) -> Result<()> {
        self.finish()
    }

    /// Let go of the files as they are, as a crash would: the next opening recovers them. For
    /// tests.
    pub fn abandon(self) {
        self.changes.abandon();
    }

    fn finish(&self) -> Result<()> {
        self.changes.check_owner()?;
        if self.closed.swap(true, Ordering::Relaxed) || self.read_only {
            return Ok(());
        }
        self.checkpoint()?;
        // A log that stays long takes room and nothing else.
        _ = self.changes.log().shrink();
        Ok(())
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    pub(crate) const fn locks(&self) -> &Locks {
        &self.locks
    }

    pub(crate) const fn active(&self) -> &Active {
        &self.active
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// A number for a new transaction.
    pub(crate) fn number(&self) -> TransactionNumber {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A transaction that may change something begins.
    pub(crate) fn enter(&self, transaction: TransactionNumber) {
        self.active.enter(transaction, || self.changes.log().end());
    }

    /// It has ended.
    pub(crate) fn leave(&self, transaction: TransactionNumber) {
        self.active.leave(transaction);
    }

    /// The page that a file was given last, as far as it is known. Only a hint: the transaction
    /// may have been rolled back.
    pub(crate) fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber> {
        self.allocation_hint.lock().unwrap_or_else(PoisonError::into_inner).get(&file).copied()
    }

    pub(crate) fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.allocation_hint.lock().unwrap_or_else(PoisonError::into_inner).insert(file, page);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.changes.is_broken() {
            // Call `close` to observe errors. What was committed is in the log.
            let _ = self.finish();
        }
    }
}
