//! The cap: how many pages may be in memory, and which ones are.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::page::PageNumber;
use crate::sync::Mutex;

/// A place in the list of resident pages.
pub(super) type Slot = u32;

const VACANT: PageNumber = PageNumber::MAX;

/// Room for so many pages. Who brings a page to memory takes room for it
/// first; so the cap holds at any moment.
pub(super) struct Room {
    pages_max: usize,
    pages_free: AtomicUsize,
    /// The resident pages, for the replacement tactic to walk. A page's slot changes only while it
    /// is latched.
    slots: Box<[AtomicU32]>,
    vacant: Mutex<Vec<Slot>>,
}

impl Room {
    pub(super) fn new(pages_max: usize) -> Self {
        Self {
            pages_max,
            pages_free: AtomicUsize::new(pages_max),
            slots: (0..pages_max).map(|_| AtomicU32::new(VACANT)).collect(),
            vacant: Mutex::new((0..pages_max as Slot).rev().collect()),
        }
    }

    pub(super) const fn pages_max(&self) -> usize {
        self.pages_max
    }

    pub(super) fn pages_taken(&self) -> usize {
        self.pages_max - self.pages_free.load(Ordering::Relaxed)
    }

    /// Room for one page, if there is any.
    pub(super) fn take(&self) -> Option<Taken<'_>> {
        let one_less = |free: usize| free.checked_sub(1);
        // Acquire: whoever gave the room back has left its slot before.
        let taken =
            self.pages_free.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_less).ok();
        taken.map(|_| Taken { room: self, pages: 1 })
    }

    /// Room that an eviction made and nobody else has seen yet.
    pub(super) const fn taken(&self, pages: usize) -> Taken<'_> {
        Taken { room: self, pages }
    }

    /// Note that a page is in memory; the caller has taken room for it and latched it.
    pub(super) fn settle(&self, page: PageNumber) -> Slot {
        let slot = self
            .vacant
            .lock()
            .expect("nothing panics under this lock")
            .pop()
            .expect("there is a slot for each page of room");
        self.slots[slot as usize].store(page, Ordering::Release);
        slot
    }

    /// Note that the page in the slot is going; the caller has latched it.
    pub(super) fn leave(&self, slot: Slot) {
        self.slots[slot as usize].store(VACANT, Ordering::Release);
        self.vacant.lock().expect("nothing panics under this lock").push(slot);
    }

    /// The page in a slot.
    pub(super) fn page_in(&self, slot: Slot) -> Option<PageNumber> {
        let page = self.slots[slot as usize].load(Ordering::Acquire);
        (page != VACANT).then_some(page)
    }

    /// How many slots there are.
    pub(super) const fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Every resident page with its slot.
    pub(super) fn resident(&self) -> impl Iterator<Item = (Slot, PageNumber)> {
        (0..self.slots.len() as Slot).filter_map(|slot| Some((slot, self.page_in(slot)?)))
    }

    /// How many pages are resident.
    pub(super) fn settled(&self) -> usize {
        self.slots.len() - self.vacant.lock().expect("nothing panics under this lock").len()
    }
}

/// Room for pages that are not there yet; what is not used goes back at drop.
pub(super) struct Taken<'a> {
    room: &'a Room,
    pages: usize,
}

impl Taken<'_> {
    pub(super) const fn pages(&self) -> usize {
        self.pages
    }

    /// The room of one page becomes the caller's to give back.
    pub(super) fn spend(&mut self) {
        self.pages -= 1;
    }

    pub(super) fn join(&mut self, other: Self) {
        self.pages += other.pages;
        std::mem::forget(other);
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.room.pages_free.fetch_add(self.pages, Ordering::Release);
    }
}
