//! Pages kept in place: latched for changing, pinned for writing out. Both let go at drop, whatever
//! happens.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Buffer;
use super::frame_budget::Slot;
use crate::page::{PageBytes, PageNumber};
use crate::page_mut::PageMut;

/// A page that nobody else reads, changes or evicts. A thread that requests it waits until this is
/// dropped. If it was lent out to be changed, the page is dirty then and has a new version.
#[must_use]
pub struct Latched<'a> {
    buffer: &'a Buffer,
    page: PageNumber,
    changed: bool,
    _guard: Guard<'a>,
}

impl<'a> Latched<'a> {
    /// Take over a page whose latch the caller has just got.
    pub(super) fn take(buffer: &'a Buffer, page: PageNumber) -> Self {
        Self { buffer, page, changed: false, _guard: Guard::new(buffer) }
    }

    /// Its number.
    pub const fn page(&self) -> PageNumber {
        self.page
    }

    /// To be changed. Optimistic readers may look meanwhile: they find the state word latched or
    /// its version advanced, and throw away what they saw.
    #[inline]
    pub fn page_mut(&mut self) -> PageMut<'_> {
        self.changed = true;
        // SAFETY: the page lies within the reservation, since it has a state word, and stays there
        // while it is latched; so nobody else changes it, and others read it through views.
        #[expect(unsafe_code, reason = "a latched page is its owner's to change")]
        unsafe {
            PageMut::at(self.buffer.pages.page(self.page))
        }
    }
}

impl Deref for Latched<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: the page lies within the reservation, since it has a state word; it is latched,
        // so nobody else changes it, and `&self` keeps our own changes away.
        #[expect(unsafe_code, reason = "a latched page is a plain array")]
        unsafe {
            &*self.buffer.pages.page(self.page).cast()
        }
    }
}

impl Drop for Latched<'_> {
    fn drop(&mut self) {
        self.buffer.state_of(self.page).unlatch(self.changed);
    }
}

/// One more page that stays for as long as its user likes, counted for threads that need a frame.
pub(super) struct Guard<'a>(&'a AtomicUsize);

impl<'a> Guard<'a> {
    pub(super) fn new(buffer: &'a Buffer) -> Self {
        buffer.guards.0.fetch_add(1, Ordering::Relaxed);
        Self(&buffer.guards.0)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A page that nobody changes or evicts, and everybody may read.
pub(super) struct Pinned<'a> {
    buffer: &'a Buffer,
    page: PageNumber,
    written: bool,
}

impl<'a> Pinned<'a> {
    /// Hold a page that is readable and that nobody latches or holds now. Never waits.
    pub(super) fn try_pin(buffer: &'a Buffer, page: PageNumber) -> Option<Self> {
        let state = buffer.state_of(page);
        state.pin(state.load()).then(|| Self { buffer, page, written: false })
    }

    pub(super) const fn page(&self) -> PageNumber {
        self.page
    }

    /// The page is on disk now as it is in memory.
    pub(super) const fn set_written(&mut self) {
        self.written = true;
    }

    /// Evict the page that was written, unless the tactic has changed its mind: then `false`. Its
    /// room is the caller's.
    pub(super) fn evict(self, slot: Slot) -> bool {
        let state = self.buffer.state_of(self.page);
        if !self.written || !state.latch_pinned(self.buffer.tactic.is_clock()) {
            return false;
        }
        let (buffer, page) = (self.buffer, self.page);
        std::mem::forget(self);
        buffer.drop_latched(slot, page);
        true
    }
}

impl Deref for Pinned<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: the page lies within the reservation, since it has a state word; it is pinned, so
        // nobody latches it, and only who has latched it changes it.
        #[expect(unsafe_code, reason = "a pinned page is a plain array")]
        unsafe {
            &*self.buffer.pages.page(self.page).cast()
        }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        self.buffer.state_of(self.page).unpin(self.written);
    }
}
