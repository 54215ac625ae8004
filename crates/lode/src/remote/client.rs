//! The state that the transactions of a page server's client share: its buffer, its connections,
//! and up to when they know of changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::connections::Connections;
use super::disk::RemoteDisk;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::lock::numbers::NumberMap;
use crate::page::{self, FileNumber, PageNumber};
use crate::tactics::Tactics;

/// A client of a page server.
pub struct Client {
    pub(super) buffer: Arc<Buffer>,
    pub(super) disk: Arc<RemoteDisk>,
    pub(super) connections: Arc<Connections>,
    pub(super) tactics: Tactics,
    /// Under `locks=database`: all changes up to this commit position have been taken note of.
    pub(super) known: AtomicU64,
    pub(super) allocation_hints: Mutex<NumberMap<FileNumber, PageNumber>>,
}

impl Client {
    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in a child of the process that connected: before any lock,
    /// which nobody may be there to release.
    pub(super) fn check_owner(&self) -> Result<()> {
        self.connections.check_owner()
    }

    /// Pages of an extent.
    pub(super) fn extent_pages(&self) -> u32 {
        self.connections.welcome().extent_pages
    }

    /// 16 bytes that no other volume has.
    pub(super) fn identity(&self) -> [u8; 16] {
        self.connections.welcome().identity
    }

    /// Take note of how long the volume is.
    pub(super) fn note_total(&self, pages_total: PageNumber) -> Result<()> {
        if pages_total <= self.buffer.pages_total() {
            return Ok(());
        }
        self.disk.note_total(pages_total);
        self.buffer.grow(pages_total)
    }

    /// Under `locks=database`: take note of what was changed up to a position. The caller holds a
    /// lock, so that nothing was changed since.
    pub(super) fn note_changes(&self, pages: Option<&[PageNumber]>, position: u64) {
        self.drop_before(pages, position);
        self.known.fetch_max(position, Ordering::Release);
    }

    /// Drop those of the pages that were sent as of an earlier position.
    pub(super) fn drop_before(&self, pages: Option<&[PageNumber]>, position: u64) {
        self.buffer.drop_stale(pages, |view| view.u64(page::offset::LSN) < position);
    }

    pub(super) fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber> {
        self.allocation_hints.lock().unwrap_or_else(PoisonError::into_inner).get(&file).copied()
    }

    pub(super) fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.allocation_hints.lock().unwrap_or_else(PoisonError::into_inner).insert(file, page);
    }
}
