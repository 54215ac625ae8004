//! The cap: how many pages may be in memory, and which ones are.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::page::PageNumber;
use crate::sync::Mutex;

/// A place in the list of resident pages.
pub(super) type Slot = u32;

const VACANT: PageNumber = PageNumber::MAX;

/// The number of pages that may be in memory. A thread acquires a permit before it brings a page
/// in, so the cap holds at any moment.
pub(super) struct FrameBudget {
    pages_max: usize,
    pages_free: AtomicUsize,
    /// Frames that may be lent, and those that are: [`super::lending`].
    lendable: AtomicUsize,
    pub(super) lent: AtomicUsize,
    pub(super) lent_max: AtomicUsize,
    /// The resident pages, for the replacement tactic to walk. A page's slot changes only while it
    /// is latched.
    slots: Box<[AtomicU32]>,
    vacant: Mutex<Vec<Slot>>,
}

impl FrameBudget {
    pub(super) fn new(pages_max: usize) -> Self {
        Self {
            pages_max,
            pages_free: AtomicUsize::new(pages_max),
            lendable: AtomicUsize::new(0),
            lent: AtomicUsize::new(0),
            lent_max: AtomicUsize::new(0),
            slots: (0..pages_max).map(|_| AtomicU32::new(VACANT)).collect(),
            vacant: Mutex::new((0..pages_max as Slot).rev().collect()),
        }
    }

    pub(super) const fn pages_max(&self) -> usize {
        self.pages_max
    }

    /// Frames that are neither free nor lent, but for a moment's doubt.
    pub(super) fn pages_in_use(&self) -> usize {
        let in_use = self.pages_max - self.pages_free.load(Ordering::Relaxed);
        in_use.saturating_sub(self.lent.load(Ordering::Relaxed))
    }

    pub(super) fn allow_lending(&self, frames: usize) {
        self.lendable.store(frames, Ordering::Relaxed);
    }

    /// Frames that are never lent.
    pub(super) fn pages_retained(&self) -> usize {
        self.pages_max - self.lendable.load(Ordering::Relaxed)
    }

    /// Count frames as lent, if so many may be; the caller gets a permit for them and spends it.
    /// Answers the number that is lent then.
    pub(super) fn count_lent(&self, frames: usize) -> Option<usize> {
        let lendable = self.lendable.load(Ordering::Relaxed);
        let more = |lent: usize| lent.checked_add(frames).filter(|&lent| lent <= lendable);
        let before = self.lent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        before.ok().map(|lent| lent + frames)
    }

    /// Frames that were counted as lent are.
    pub(super) fn note_lent(&self) {
        self.lent_max.fetch_max(self.lent.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(super) fn uncount_lent(&self, frames: usize) {
        self.lent.fetch_sub(frames, Ordering::Relaxed);
    }

    /// Frames that were lent are free.
    pub(super) fn take_back(&self, frames: usize) {
        self.uncount_lent(frames);
        drop(self.permit(frames));
    }

    /// A permit for one page, if a frame is free.
    pub(super) fn acquire(&self) -> Option<Permit<'_>> {
        let one_less = |free: usize| free.checked_sub(1);
        // Acquire: the thread that gave the frame back has vacated its slot before.
        let permit =
            self.pages_free.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_less).ok();
        permit.map(|_| Permit { budget: self, pages: 1 })
    }

    /// A permit for so many pages, or for as many as frames are free.
    pub(super) fn acquire_up_to(&self, pages: usize) -> Permit<'_> {
        let fewer = |free: usize| Some(free - free.min(pages));
        // As in `acquire`.
        let free = self.pages_free.fetch_update(Ordering::Acquire, Ordering::Relaxed, fewer);
        self.permit(free.map_or(0, |free| free.min(pages)))
    }

    /// A permit for frames that an eviction freed and nobody else has seen yet.
    pub(super) const fn permit(&self, pages: usize) -> Permit<'_> {
        Permit { budget: self, pages }
    }

    /// Note that a page is in memory; the caller holds a permit for it and has latched it.
    pub(super) fn add_resident(&self, page: PageNumber) -> Slot {
        let slot = self
            .vacant
            .lock()
            .expect("nothing panics under this lock")
            .pop()
            .expect("there is a slot for each frame");
        self.slots[slot as usize].store(page, Ordering::Release);
        slot
    }

    /// Note that the page in the slot is going; the caller has latched it.
    pub(super) fn remove_resident(&self, slot: Slot) {
        self.slots[slot as usize].store(VACANT, Ordering::Release);
        self.vacant.lock().expect("nothing panics under this lock").push(slot);
    }

    /// The page in a slot.
    pub(super) fn page_in(&self, slot: Slot) -> Option<PageNumber> {
        let page = self.slots[slot as usize].load(Ordering::Acquire);
        (page != VACANT).then_some(page)
    }

    /// The number of slots.
    pub(super) const fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Every resident page with its slot.
    pub(super) fn resident(&self) -> impl Iterator<Item = (Slot, PageNumber)> {
        (0..self.slots.len() as Slot).filter_map(|slot| Some((slot, self.page_in(slot)?)))
    }

    /// The number of pages that are resident.
    pub(super) fn pages_resident(&self) -> usize {
        self.slots.len() - self.vacant.lock().expect("nothing panics under this lock").len()
    }
}

/// Frames for pages that are not in memory yet; what is not used goes back at drop.
pub(super) struct Permit<'a> {
    budget: &'a FrameBudget,
    pages: usize,
}

impl Permit<'_> {
    pub(super) const fn pages(&self) -> usize {
        self.pages
    }

    /// The frame of one page becomes the caller's to give back.
    pub(super) fn spend(&mut self) {
        self.spend_many(1);
    }

    /// The frames of so many pages do.
    pub(super) fn spend_many(&mut self, pages: usize) {
        self.pages -= pages;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.pages += other.pages;
        std::mem::forget(other);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.budget.pages_free.fetch_add(self.pages, Ordering::Release);
    }
}
