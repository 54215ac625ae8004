//! A transaction that only reads.

use super::lock_set::LockSet;
use crate::buffer::Buffer;
use crate::database::Database;
use crate::error::Result;
use crate::heap;
use crate::lock::{Mode, TransactionNumber};
use crate::page::PageNumber;
use crate::pages::{Pages, Version};
use crate::tactics::Swizzle;
use crate::view::View;

/// A transaction that reads what was committed. It ends when it is dropped; nothing it has seen
/// changes before. Writing through it answers [`crate::LodeError::ReadOnly`].
///
/// Under `locks=database` the first operation locks, and each later one costs a test of one byte.
pub struct Reading<'a> {
    buffer: &'a Buffer,
    database: &'a Database,
    lock_set: LockSet<'a>,
    tag_key: u64,
    swizzles: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn begin(database: &'a Database) -> Self {
        let tactics = database.tactics();
        let (locks, owner) = (database.locks(), database.changes().owner());
        let lock_set = LockSet::empty(locks, owner, database.number(), tactics.locks, Mode::Shared);
        Self {
            buffer: database.buffer(),
            database,
            lock_set,
            tag_key: heap::tag_key(database.identity()),
            swizzles: tactics.swizzle == Swizzle::On,
        }
    }

    /// Its number in the lock table.
    pub(crate) const fn number(&self) -> TransactionNumber {
        self.lock_set.transaction()
    }

    /// Lock a page, or what it belongs to.
    #[inline]
    pub(crate) fn lock(&self, page: PageNumber) -> Result<()> {
        if self.lock_set.has_all() { Ok(()) } else { self.lock_page(page) }
    }

    #[inline(never)]
    fn lock_page(&self, page: PageNumber) -> Result<()> {
        self.lock_set.lock(page, Mode::Shared)?;
        // Only now: the last holder may have failed to take its changes back. A lock that is held
        // is not asked for again, so it is not kept.
        self.database.changes().check_usable().inspect_err(|_| self.lock_set.release())
    }
}

impl Pages for Reading<'_> {
    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page)?;
        self.buffer.read(page, inspect)
    }

    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        // What keeps the lock from being had is told by the read that follows.
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
        // What keeps the lock from being had is told by the read that follows.
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
    fn prefetch(&self, page: PageNumber, at: usize) {
        self.buffer.prefetch(page, at);
    }

    #[inline]
    fn tag_key(&self) -> u64 {
        self.tag_key
    }

    #[inline]
    fn swizzles(&self) -> bool {
        self.swizzles
    }
}
