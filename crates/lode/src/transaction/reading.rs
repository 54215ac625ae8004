//! A transaction that only looks.

use super::held::Held;
use crate::buffer::Buffer;
use crate::database::Database;
use crate::error::Result;
use crate::heap;
use crate::lock::{Mode, TransactionNumber};
use crate::page::PageNumber;
use crate::pages::{Pages, Stamp};
use crate::tactics::Swizzle;
use crate::view::View;

/// A transaction that looks at what was committed. It ends when it is dropped; nothing it has seen
/// changes before. Writing through it answers [`crate::LodeError::ReadOnly`].
///
/// Under `locks=table` the first operation locks, and each later one costs a test of one byte.
pub struct Reading<'a> {
    buffer: &'a Buffer,
    database: &'a Database,
    held: Held<'a>,
    label_key: u64,
    swizzles: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn begin(database: &'a Database) -> Self {
        let tactics = database.tactics();
        let (locks, owner) = (database.locks(), database.changes().owner());
        let held = Held::nothing(locks, owner, database.number(), tactics.locks, Mode::Shared);
        Self {
            buffer: database.buffer(),
            database,
            held,
            label_key: heap::label_key(database.identity()),
            swizzles: tactics.swizzle == Swizzle::On,
        }
    }

    /// Its number in the lock table.
    pub(crate) const fn number(&self) -> TransactionNumber {
        self.held.transaction()
    }

    /// Lock a page, or what it belongs to.
    #[inline]
    pub(crate) fn lock(&self, page: PageNumber) -> Result<()> {
        if self.held.all() { Ok(()) } else { self.lock_page(page) }
    }

    #[inline(never)]
    fn lock_page(&self, page: PageNumber) -> Result<()> {
        self.held.lock(page, Mode::Shared)?;
        // Only now: whoever had the lock may have failed to take its changes back. Who holds a lock
        // is not asked again, so it is not kept.
        self.database.changes().check_usable().inspect_err(|_| self.held.release())
    }
}

impl Pages for Reading<'_> {
    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    fn read<R>(&self, page: PageNumber, look: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page)?;
        self.buffer.read(page, look)
    }

    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    fn glance<R>(&self, page: PageNumber, look: impl FnMut(View<'_>) -> R) -> Option<R> {
        // What keeps the lock from being had is told by the read that follows.
        self.lock(page).ok()?;
        self.buffer.glance(page, look)
    }

    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    fn read_stamped<R>(
        &self,
        page: PageNumber,
        stamp: Stamp,
        look: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        // What keeps the lock from being had is told by the read that follows.
        self.lock(page).ok()?;
        self.buffer.read_stamped(page, stamp, look)
    }

    #[inline]
    fn read_and_stamp<R>(
        &self,
        page: PageNumber,
        look: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Stamp)> {
        self.lock(page)?;
        self.buffer.read_and_stamp(page, look)
    }

    #[inline]
    fn fetch(&self, page: PageNumber, at: usize) {
        self.buffer.fetch(page, at);
    }

    #[inline]
    fn label_key(&self) -> u64 {
        self.label_key
    }

    #[inline]
    fn swizzles(&self) -> bool {
        self.swizzles
    }
}
