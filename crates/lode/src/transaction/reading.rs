//! A transaction that only reads.

use std::sync::Arc;

use super::interrupt::Interrupt;
use super::local_locks::LocalLocks;
use super::lock_set::{LockSet, LockSource};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::lock::{Mode, TransactionNumber};
use crate::page::PageNumber;
use crate::pages::{PageRead, Pinned, Version};
use crate::shared::Shared;
use crate::superblock;
use crate::tactics::{Prefetch, Swizzle, Tactics};
use crate::view::View;

/// A transaction that reads what was committed. It ends when it is dropped; nothing it has seen
/// changes before. It owns a share of its database.
///
/// It is compiled for each source of locks, so that neither pays for the other. Under
/// `locks=database` the first operation locks, and each later one costs a test of one byte; at a
/// page server the first one asks there, and pages in memory cost nothing more. Under `locks=page`
/// each page is locked once.
pub struct ReadTransaction<S: LockSource> {
    pub(super) buffer: Arc<Buffer>,
    pub(super) lock_set: LockSet<S>,
    pub(super) salt: u64,
    pub(super) swizzles: bool,
    pub(super) prefetches: bool,
}

/// A transaction that reads a database which this process has open.
pub type Reading = ReadTransaction<LocalLocks>;

impl<S: LockSource> ReadTransaction<S> {
    /// Over that buffer, with locks from there.
    pub(crate) fn over(
        buffer: &Arc<Buffer>,
        source: S,
        identity: [u8; 16],
        tactics: &Tactics,
    ) -> Self {
        Self {
            buffer: Arc::clone(buffer),
            lock_set: LockSet::empty(source),
            salt: superblock::salt(identity),
            swizzles: tactics.swizzle == Swizzle::On,
            prefetches: tactics.prefetch == Prefetch::On,
        }
    }

    /// Lock a page, or what it belongs to.
    #[inline]
    pub(crate) fn lock(&self, page: PageNumber) -> Result<()> {
        if self.lock_set.has_all() { Ok(()) } else { self.lock_page(page) }
    }

    #[inline(never)]
    fn lock_page(&self, page: PageNumber) -> Result<()> {
        self.lock_set.lock(page, Mode::Shared)
    }
}

impl Reading {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        let source = LocalLocks::new(shared, Mode::Shared);
        Self::over(&shared.buffer, source, shared.superblock.identity, &shared.tactics)
    }

    /// Another handle to this transaction, for another thread: it sees the same, under the same
    /// locks, which last until the last handle is dropped. No thread that has one waits in another
    /// transaction meanwhile, or a deadlock may go unseen.
    #[must_use]
    pub fn share(&self) -> Self {
        let (buffer, lock_set) = (Arc::clone(&self.buffer), self.lock_set.share());
        Self { buffer, lock_set, ..*self }
    }

    /// The handle by which another thread ends it: all of its handles.
    pub fn interrupt(&self) -> Interrupt {
        self.lock_set.source().interrupt()
    }

    /// Its number in the lock table.
    pub(crate) fn number(&self) -> TransactionNumber {
        self.lock_set.source().transaction()
    }
}

impl<S: LockSource> PageRead for ReadTransaction<S> {
    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page)?;
        self.buffer.read(page, inspect)
    }

    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        // Why the lock is not to be had is said by the read that follows.
        self.lock(page).ok()?;
        self.buffer.try_read(page, inspect)
    }

    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        // Why the lock is not to be had is said by the read that follows.
        self.lock(page).ok()?;
        self.buffer.try_read_version(page, version, inspect)
    }

    #[inline]
    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        self.lock(page)?;
        self.buffer.read_with_version(page, inspect)
    }

    #[inline]
    fn pin(&self, page: PageNumber) -> Result<Pinned> {
        self.lock(page)?;
        if let Some(pinned) = self.lock_set.pin(page)? {
            return Ok(pinned);
        }
        let copy = self.buffer.read(page, |view| Arc::new(view.aligned_copy()))?;
        Ok(Pinned::copy(page, copy))
    }

    #[inline]
    fn salt(&self) -> u64 {
        self.salt
    }

    #[inline]
    fn swizzles(&self) -> bool {
        self.swizzles
    }

    #[inline]
    fn prefetches(&self) -> bool {
        self.prefetches
    }

    #[inline]
    fn prefetch(&self, page: PageNumber, at: usize) {
        self.buffer.prefetch(page, at);
    }

    fn read_ahead(&self, page: PageNumber) {
        self.buffer.expect(page);
    }

    fn note_prefetches(&self, count: u64) {
        self.buffer.note_prefetches(count);
    }
}
