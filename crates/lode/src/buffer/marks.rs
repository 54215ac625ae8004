//! Where records were found: a word of memory for each, in the pages of hints (`swizzle=on`).
//!
//! A mark names an offset in a page and the page's stamp, and the same stamp of a page is the same
//! bytes: as long as the page has it, the record of that slot lies there, and neither the header
//! nor the slots have to be looked at. A mark has the stamp where a state word has it, so that one
//! comparison tells whether it holds:
//!
//! ```text
//! 63      16 15 12 11     3 2   0
//! | stamp  |   0  | offset |  0  |
//! ```
//!
//! This is indirect swizzling (Moss, "Working with Persistent Objects: To Swizzle or Not to
//! Swizzle", 1992): a reference leads to a word that leads to the object, the word being the
//! object's and not the reference's. So there are few, one visit from anywhere makes them, and
//! nothing has to be undone when a page goes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::state::{State, Word};
use super::{Buffer, WORDS_PER_PAGE};
use crate::page::PageNumber;
use crate::pages::Stamp;
use crate::view::View;

/// Of a processor's cache.
const WORDS_PER_LINE: usize = 8;
const LINES_PER_PAGE: usize = WORDS_PER_PAGE / WORDS_PER_LINE;
const _: () = assert!(WORDS_PER_PAGE.is_power_of_two());

impl Buffer {
    /// Look at the record of a slot where it was marked; `look` gets the page and the record's
    /// offset. `None` where there is no mark that holds.
    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    pub fn read_marked<R>(
        &self,
        page: PageNumber,
        slot: u16,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Option<R> {
        let (state, place) = self.mark_of(page, slot)?;
        let mut before = state.load();
        if !before.is_hinted() {
            // The word is not even there; to look would make the kernel map a page of zeros.
            return None;
        }
        let mark = place.load(Ordering::Relaxed);
        if !before.holds(mark) {
            before = self.open_marked(page, mark)?;
        }
        let seen = look(self.view(page), Word::marked_offset(mark));
        if state.is_as(before) { Some(seen) } else { None }
    }

    /// The same for an offset that the caller has already: `None` also where the mark has another.
    #[expect(clippy::inline_always, reason = "what is looked at should stay in registers")]
    #[inline(always)]
    pub fn read_guessed<R>(
        &self,
        page: PageNumber,
        slot: u16,
        at: usize,
        mut look: impl FnMut(View<'_>, usize) -> R,
    ) -> Option<R> {
        let (state, place) = self.mark_of(page, slot)?;
        let mut before = state.load();
        if !before.is_hinted() {
            return None;
        }
        let mark = place.load(Ordering::Relaxed);
        if !before.holds_at(mark, at) {
            if Word::marked_offset(mark) != at {
                return None;
            }
            before = self.open_marked(page, mark)?;
        }
        let seen = look(self.view(page), at);
        if state.is_as(before) { Some(seen) } else { None }
    }

    /// Let the processor fetch what lies there.
    #[inline]
    pub fn fetch(&self, page: PageNumber, at: usize) {
        if page < self.pages_max {
            self.view(page).fetch(at);
        }
    }

    /// Whether there are marks: the tactic `swizzle`.
    #[inline]
    pub const fn keeps_marks(&self) -> bool {
        self.hints.is_some()
    }

    /// Mark where the record of a slot lay in a page of that stamp. Nothing happens without
    /// `swizzle`, and where no room can be had.
    pub fn mark(&self, page: PageNumber, slot: u16, stamp: Stamp, at: usize) {
        let Some((state, place)) = self.mark_of(page, slot) else { return };
        if stamp == Stamp::default() {
            return;
        }
        if !state.load().is_hinted() && self.bring_hints(page).is_none() {
            return;
        }
        // Should the page go before this, its hints take a page that the cap does not know, until
        // it has come and gone again.
        place.store(Word::mark(stamp, at), Ordering::Relaxed);
    }

    /// The state of a page and the place of a slot's mark. Slots beyond the words of a page have
    /// none.
    #[inline]
    fn mark_of(&self, page: PageNumber, slot: u16) -> Option<(State<'_>, &AtomicU64)> {
        let hints = self.hints.as_ref()?;
        let state = self.state(page)?;
        let slot = usize::from(slot);
        if slot >= WORDS_PER_PAGE {
            return None;
        }
        // Pages begin with different words: those at the same offset of many pages would drive
        // each other out of a processor's cache.
        let word = slot ^ (page as usize % LINES_PER_PAGE * WORDS_PER_LINE);
        // SAFETY: there are as many pages of hints as state words, and the word is one of its page.
        #[expect(unsafe_code, reason = "the bounds were checked by the page's state")]
        let place =
            unsafe { hints.as_words().get_unchecked(page as usize * WORDS_PER_PAGE + word) };
        Some((state, place))
    }

    /// A mark holds for a page that is watched, too, once the tactic knows of the look.
    #[cold]
    #[inline(never)]
    fn open_marked(&self, page: PageNumber, mark: u64) -> Option<Word> {
        self.open_stamped(page, Word::marked_stamp(mark))
    }
}
