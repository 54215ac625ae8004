//! A transaction at a page server that only looks.

use super::Remote;
use super::held::Held;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::heap;
use crate::lock::Mode;
use crate::page::PageNumber;
use crate::pages::{Pages, Stamp};
use crate::server::wire::Access;
use crate::tactics::Swizzle;
use crate::view::View;

/// A transaction that looks at what was committed, at a page server. It ends when it is dropped;
/// nothing it has seen changes before. Writing through it answers [`crate::LodeError::ReadOnly`].
///
/// Under `locks=table` its first operation asks the server once, and pages in memory cost nothing
/// more; under `locks=page` each page asks once.
pub struct RemoteReading<'a> {
    buffer: &'a Buffer,
    held: Held<'a>,
    label_key: u64,
    swizzles: bool,
}

impl<'a> RemoteReading<'a> {
    pub(super) fn begin(remote: &'a Remote) -> Self {
        Self {
            buffer: &remote.buffer,
            held: Held::nothing(remote, Access::Reading),
            label_key: heap::label_key(remote.identity()),
            swizzles: remote.tactics().swizzle == Swizzle::On,
        }
    }

    #[inline]
    fn lock(&self, page: PageNumber) -> Result<()> {
        if self.held.all() { Ok(()) } else { self.lock_page(page) }
    }

    #[inline(never)]
    fn lock_page(&self, page: PageNumber) -> Result<()> {
        self.held.lock(page, Mode::Shared)
    }
}

impl Pages for RemoteReading<'_> {
    #[inline]
    fn read<R>(&self, page: PageNumber, look: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page)?;
        self.buffer.read(page, look)
    }

    #[inline]
    fn glance<R>(&self, page: PageNumber, look: impl FnMut(View<'_>) -> R) -> Option<R> {
        // What keeps the lock from being had is told by the read that follows.
        self.lock(page).ok()?;
        self.buffer.glance(page, look)
    }

    #[inline]
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
