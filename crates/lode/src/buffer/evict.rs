//! Making room.

use std::sync::atomic::Ordering;

use super::frame_budget::{Permit, Slot};
use super::latched::Pinned;
use super::replacement::Tactic;
use super::state::Word;
use super::write_back::{BATCH_PAGES_MAX, Occasion};
use super::{Buffer, Wait};
use crate::error::{LodeError, Result};
use crate::page::PageNumber;

/// Dirty pages written together by one eviction are at most this part of the cache.
const BATCH_DIVISOR: usize = 8;

/// Clean pages evicted together at most, and the part of the cache that they are at most.
const TOGETHER_MAX: usize = 16;
const TOGETHER_DIVISOR: usize = 64;

/// Candidates examined for each page that a batch may have, before it is written as it is.
const CANDIDATES_FOR_EACH: usize = 4;

/// Rounds in which every page in memory was latched, until it is believed that this will not end.
/// Each lets other threads run; a latch is for less time than that.
const ROUNDS_ALL_LATCHED_MAX: u32 = 10_000;

/// The outcome for a page that should go.
pub(super) enum Outcome<'a> {
    /// It stays: in use, or used since the clock passed.
    Stays,
    /// It is latched, and may go as it is.
    Clean,
    /// It has to be written first.
    Dirty(Pinned<'a>),
}

/// Candidates that were examined and stay: back to the tactic at drop, whatever happens.
struct Staying<'a> {
    tactic: &'a Tactic,
    pages: Vec<(Slot, PageNumber)>,
}

impl Staying<'_> {
    fn add(&mut self, slot: Slot, page: PageNumber) {
        if self.tactic.is_list() {
            self.pages.push((slot, page));
        }
    }
}

impl Drop for Staying<'_> {
    fn drop(&mut self) {
        for &(slot, page) in &self.pages {
            self.tactic.stays(slot, page);
        }
    }
}

impl Buffer {
    /// Frames for at least one page: a permit to bring one in.
    pub(super) fn make_space(&self) -> Result<Permit<'_>> {
        let mut rounds_all_latched = 0;
        self.check_cap()?;
        let mut wait = Wait::new(self);
        loop {
            if let Some(permit) = self.budget.acquire() {
                return Ok(permit);
            }
            // The frames of the others are free for who comes next.
            let evicted = self.evict(self.pages_together())?;
            if evicted.pages() > 0 {
                return Ok(evicted);
            }
            // A thread that writes, reads or drops a page gets on without us. One that has latched
            // it may be waiting for a frame as we are, and may be this very thread.
            if self.guards.0.load(Ordering::Relaxed) + self.pages_pinned()
                < self.budget.pages_resident()
            {
                rounds_all_latched = 0;
            } else {
                rounds_all_latched += 1;
                if rounds_all_latched > ROUNDS_ALL_LATCHED_MAX {
                    return Err(LodeError::CacheTooSmall { cache_bytes: self.cache_bytes });
                }
            }
            wait.once();
        }
    }

    /// The number of clean pages that go at a time. Those that a scan brought one after another
    /// leave as neighbours, by one call of the system for all.
    fn pages_together(&self) -> usize {
        (self.budget.pages_max() / TOGETHER_DIVISOR).clamp(1, TOGETHER_MAX)
    }

    /// A page that stays in memory although it was evicted breaks the cap: no more come then.
    pub(super) fn note_dropped(&self, dropped: rustix::io::Result<()>) {
        if dropped.is_err() {
            self.memory_retained.store(true, Ordering::Relaxed);
        }
    }

    fn check_cap(&self) -> Result<()> {
        if !self.memory_retained.load(Ordering::Relaxed) {
            return Ok(());
        }
        let what = "the system does not take the memory of evicted pages back, so the cap of \
                    `cache=` cannot be kept: does the program lock its memory (mlockall)? Unlock \
                    it, then open the database again";
        Err(LodeError::Limit { what: what.to_owned() })
    }

    /// Evict the next pages, in the tactic's order, so many or less, and give their frames to the
    /// caller; none if there is no page that can go now. A dirty page ends that: it is written
    /// first, and with it the dirty ones that come soon after; all these go. Neighbours go by one
    /// call of the system.
    pub(super) fn evict(&self, pages_wanted: usize) -> Result<Permit<'_>> {
        let mut clean = Vec::new();
        let mut staying = Staying { tactic: &self.tactic, pages: Vec::new() };
        let mut dirty: Vec<(Slot, Pinned<'_>)> = Vec::new();
        let batch_pages = BATCH_PAGES_MAX.min(self.budget.pages_max() / BATCH_DIVISOR);
        // Twice round for the clock, which only gives second chances the first time.
        let mut candidates_left = 2 * self.budget.slots();
        while candidates_left > 0 && dirty.len() < batch_pages {
            candidates_left -= 1;
            let Some((slot, page)) = self.tactic.candidate(&self.budget) else {
                if self.tactic.is_list() {
                    break;
                }
                continue;
            };
            match self.try_evict(slot, page) {
                Outcome::Stays => staying.add(slot, page),
                Outcome::Clean => {
                    clean.push((page, slot));
                    if dirty.is_empty() && clean.len() >= pages_wanted {
                        break;
                    }
                }
                Outcome::Dirty(pinned) => {
                    dirty.push((slot, pinned));
                    candidates_left = candidates_left.min(batch_pages * CANDIDATES_FOR_EACH);
                }
            }
        }
        let mut permit = self.drop_all(clean);
        self.evict_dirty(dirty, &mut staying, &mut permit)?;
        Ok(permit)
    }

    fn evict_dirty<'a>(
        &'a self,
        dirty: Vec<(Slot, Pinned<'a>)>,
        staying: &mut Staying<'a>,
        permit: &mut Permit<'a>,
    ) -> Result<()> {
        let (slots, mut pinned): (Vec<Slot>, Vec<Pinned<'_>>) = dirty.into_iter().unzip();
        let clean = staying.pages.len();
        for (&slot, pinned) in slots.iter().zip(&pinned) {
            staying.add(slot, pinned.page());
        }
        let written = self.write_pinned(&mut pinned, Occasion::Other);
        staying.pages.truncate(clean);
        for (slot, pinned) in slots.into_iter().zip(pinned) {
            let page = pinned.page();
            if pinned.evict(slot) {
                permit.merge(self.budget.permit(1));
            } else {
                staying.add(slot, page);
            }
        }
        written
    }

    /// Whether that page may go from that slot: nobody uses it, and the tactic has not marked it as
    /// used.
    pub(super) fn try_evict(&self, slot: Slot, page: PageNumber) -> Outcome<'_> {
        let state = self.state_of(page);
        let word = state.load();
        if !word.is_readable() || word.is_pinned() || word.has_readers() {
            return Outcome::Stays;
        }
        if self.tactic.is_clock() && !word.is_on_second_chance() {
            state.give_second_chance(word);
            return Outcome::Stays;
        }
        if word.is_dirty() {
            // A page may have gone and come back since its slot was looked up; not any more.
            return match Pinned::try_pin(self, page) {
                Some(pinned) if self.budget.page_in(slot) == Some(page) => Outcome::Dirty(pinned),
                _ => Outcome::Stays,
            };
        }
        if self.latch_in_slot(slot, page, word) { Outcome::Clean } else { Outcome::Stays }
    }

    /// Latch a page that may go and need not be written.
    fn try_latch_clean(&self, slot: Slot, page: PageNumber) -> bool {
        let state = self.state_of(page);
        let word = state.load();
        if !word.is_readable() || word.is_pinned() || word.has_readers() || word.is_dirty() {
            return false;
        }
        if self.tactic.is_clock() && !word.is_on_second_chance() {
            state.give_second_chance(word);
            return false;
        }
        self.latch_in_slot(slot, page, word)
    }

    /// Latch a page if its word is still that, and the slot still its own.
    fn latch_in_slot(&self, slot: Slot, page: PageNumber, word: Word) -> bool {
        let state = self.state_of(page);
        let latched = state.latch(word, false);
        if latched && self.budget.page_in(slot) != Some(page) {
            state.unlatch(false);
            return false;
        }
        latched
    }

    /// Drop a page's bytes from memory; the caller has latched it, and its frame is the caller's.
    pub(super) fn drop_latched(&self, slot: Slot, page: PageNumber) {
        self.events.evictions.add(1);
        self.events.drops.add(1);
        // SAFETY: the page lies within the reservation, since it has a state word. It is latched by
        // us, who have no reference to it.
        #[expect(unsafe_code, reason = "an evicted page's memory goes back to the system")]
        let dropped = unsafe { self.pages.drop_page(page) };
        self.note_dropped(dropped);
        self.budget.remove_resident(slot);
        self.state_of(page).vacate();
    }

    /// Evict clean pages, up to so many, and give their frames to the caller, who reads ahead and
    /// does not write for that. Neighbours go by one call of the system.
    pub(super) fn evict_clean(&self, pages_max: usize) -> Permit<'_> {
        let mut staying = Staying { tactic: &self.tactic, pages: Vec::new() };
        let mut going = Vec::with_capacity(pages_max);
        // As in `evict`.
        let mut candidates_left = 2 * self.budget.slots();
        while candidates_left > 0 && going.len() < pages_max {
            candidates_left -= 1;
            let Some((slot, page)) = self.tactic.candidate(&self.budget) else {
                if self.tactic.is_list() {
                    break;
                }
                continue;
            };
            if self.try_latch_clean(slot, page) {
                going.push((page, slot));
            } else {
                staying.add(slot, page);
            }
        }
        self.drop_all(going)
    }

    /// Drop pages, which the caller has latched, and give their frames to the caller.
    fn drop_all(&self, mut going: Vec<(PageNumber, Slot)>) -> Permit<'_> {
        going.sort_unstable();
        let mut permit = self.budget.permit(0);
        for run in going.chunk_by(|(page, _), (next, _)| page + 1 == *next) {
            self.drop_run(run);
            permit.merge(self.budget.permit(run.len()));
        }
        permit
    }

    /// Drop consecutive pages, which the caller has latched, and whose frames are the caller's.
    fn drop_run(&self, run: &[(PageNumber, Slot)]) {
        self.events.evictions.add(run.len());
        self.events.drops.add(1);
        // SAFETY: as in `drop_latched`, for each of them.
        #[expect(unsafe_code, reason = "evicted pages' memory goes back to the system")]
        let dropped = unsafe { self.pages.drop_pages(run[0].0, run.len() as PageNumber) };
        self.note_dropped(dropped);
        for &(page, slot) in run {
            self.budget.remove_resident(slot);
            self.state_of(page).vacate();
        }
    }

    /// The same for a page that could not be brought; its frame is free again.
    pub(super) fn abandon_claimed(&self, slot: Slot, page: PageNumber) {
        // SAFETY: as above; the page is claimed, and who claimed it has no reference to it now.
        #[expect(unsafe_code, reason = "half a page's memory goes back to the system")]
        let dropped = unsafe { self.pages.drop_page(page) };
        self.note_dropped(dropped);
        self.budget.remove_resident(slot);
        self.state_of(page).vacate();
        drop(self.budget.permit(1));
    }

    /// Drop every page that is clean and that nobody uses now.
    pub fn forget(&self) {
        self.read_ahead.rest();
        for (slot, page) in self.budget.resident() {
            let state = self.state_of(page);
            let word = state.load();
            if word.is_dirty() || !state.latch(word, false) {
                continue;
            }
            if self.budget.page_in(slot) == Some(page) {
                self.drop_latched(slot, page);
                drop(self.budget.permit(1));
            } else {
                state.unlatch(false);
            }
        }
        self.tactic.forget_absent(&self.budget);
    }
}
