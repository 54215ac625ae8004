//! The state that an open database and its transactions share: pages, log, locks, and who is
//! running.
//!
//! It stands below both. A transaction owns a share of it, so a transaction may be kept wherever
//! its owner likes; the files are closed when the last share is given back.

mod active;
mod bases;
mod begun;
mod changes;
mod said;
mod shadow;
mod table;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use crate::buffer::Buffer;
use crate::error::Result;
use crate::lock::numbers::NumberMap;
use crate::lock::{Locks, TransactionNumber};
use crate::page::{FileNumber, PageNumber};
use crate::superblock::Superblock;
use crate::sync::Mutex;
use crate::tactics::Tactics;

pub(crate) use active::Active;
pub(crate) use changes::{BeforeImage, Changes};
pub(crate) use table::Changed;

/// The state of an open database.
pub(crate) struct Shared {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) locks: Arc<Locks>,
    pub(crate) active: Active,
    /// As it was opened; `extent` is what it was created with.
    pub(crate) tactics: Tactics,
    pub(crate) superblock: Superblock,
    pub(crate) read_only: bool,
    closed: AtomicBool,
    numbers: AtomicU64,
    pub(crate) allocation_hints: Mutex<NumberMap<FileNumber, PageNumber>>,
    /// Taken by the thread that makes a checkpoint.
    pub(crate) checkpointing: Mutex<()>,
    /// The place where the log ended after the last checkpoint.
    pub(crate) checkpoint_end: AtomicU64,
}

impl Shared {
    pub(crate) fn new(
        buffer: Arc<Buffer>,
        changes: Arc<Changes>,
        superblock: Superblock,
        tactics: Tactics,
    ) -> Self {
        Self {
            checkpoint_end: AtomicU64::new(changes.log().end().0),
            buffer,
            changes,
            locks: Arc::default(),
            active: Active::default(),
            tactics,
            superblock,
            read_only: false,
            closed: AtomicBool::new(false),
            numbers: AtomicU64::new(1),
            allocation_hints: Mutex::new(NumberMap::default()),
            checkpointing: Mutex::new(()),
        }
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
        self.allocation_hints.lock().unwrap_or_else(PoisonError::into_inner).get(&file).copied()
    }

    pub(crate) fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.allocation_hints.lock().unwrap_or_else(PoisonError::into_inner).insert(file, page);
    }

    /// Write everything to its place and begin the log anew, once.
    ///
    /// # Errors
    ///
    /// As of a checkpoint.
    pub(crate) fn finish(&self) -> Result<()> {
        self.changes.check_owner()?;
        if self.closed.swap(true, Ordering::Relaxed) || self.read_only {
            return Ok(());
        }
        self.checkpoint()?;
        // A log that stays long takes disk space and nothing else.
        _ = self.changes.log().shrink();
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.changes.is_broken() {
            // Call `Database::close` to observe errors. What was committed is in the log.
            let _ = self.finish();
        }
    }
}
