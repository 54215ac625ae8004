//! A transaction at a page server that only reads.

use super::Remote;
use super::lock_set::LockSet;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::heap;
use crate::lock::Mode;
use crate::page::PageNumber;
use crate::pages::{Pages, Version};
use crate::server::wire::Access;
use crate::tactics::Swizzle;
use crate::view::View;

/// A transaction that reads what was committed, at a page server. It ends when it is dropped;
/// nothing it has seen changes before. Writing through it answers [`crate::LodeError::ReadOnly`].
///
/// Under `locks=database` its first operation asks the server once, and pages in memory cost
/// nothing more; under `locks=page` each page asks once.
pub struct RemoteReading<'a> {
    buffer: &'a Buffer,
    lock_set: LockSet<'a>,
    tag_key: u64,
    swizzles: bool,
}

impl<'a> RemoteReading<'a> {
    pub(super) fn begin(remote: &'a Remote) -> Self {
        Self {
            buffer: &remote.buffer,
            lock_set: LockSet::empty(remote, Access::Reading),
            tag_key: heap::tag_key(remote.identity()),
            swizzles: remote.tactics().swizzle == Swizzle::On,
        }
    }

    #[inline]
    fn lock(&self, page: PageNumber) -> Result<()> {
        if self.lock_set.has_all() { Ok(()) } else { self.lock_page(page) }
    }

    #[inline(never)]
    fn lock_page(&self, page: PageNumber) -> Result<()> {
        self.lock_set.lock(page, Mode::Shared)
    }
}

impl Pages for RemoteReading<'_> {
    #[inline]
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page)?;
        self.buffer.read(page, inspect)
    }

    #[inline]
    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        // What keeps the lock from being had is told by the read that follows.
        self.lock(page).ok()?;
        self.buffer.try_read(page, inspect)
    }

    #[inline]
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
