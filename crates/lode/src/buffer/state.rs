//! The word that guards a page: who may read it, change it, evict it; and when it last became
//! other bytes.
//!
//! The upper 48 bits are the page's version, the lower 16 its state:
//!
//! ```text
//!            claim                publish (version + 1)
//! evicted ----------> latched --------------------------> readable
//!    ^                  | ^                               |  |  ^
//!    |      vacate      | |           latch               |  |  | unpin
//!    +------------------+ +-------------------------------+  |  |
//!                       |  unlatch (version + 1 if changed)  |  |
//!                       +------------------------> readable  |  |
//!                                                        pin v  |
//!                                              pinned: readable, not to be changed or evicted
//! ```
//!
//! A page can be pinned by one thread that writes it out ([`PINNED`]) and, at the same time, by
//! any number of readers, who are counted ([`PIN_ONE`]): they read it as a plain slice for as long
//! as they like, and nobody latches it until the last has gone.
//!
//! A word of zero is a page that has never been in memory, so that the words need no preparation.
//! Reading writes nothing: load the word, read, see that version and readability are the same
//! (optimistic latches as in Leis et al., "Virtual-Memory Assisted Buffer Management", SIGMOD
//! 2023, section 3.3, there with shared latches besides). A change advances the version, and so
//! does coming back after an eviction: equal versions are equal bytes. 48 bits last for three days
//! of a change of the same page in each nanosecond, and for nine years of one in each microsecond.
//!
//! Generic over the atomic word, so that the orderings can be checked by exhaustion
//! (`tests/protocol.rs`).

use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::pages::Version;
use crate::sync::point;

/// Somebody owns the page alone: it is being read from disk, changed, or evicted.
const LATCHED: u64 = 1 << 0;
/// The second-chance bit: the next use takes the slow way, which clears it and shows the
/// replacement tactic. The clock sets it as it passes and evicts a page on which it still finds it;
/// under `lru` and `lru-2` it is always set, so that every use is noted.
pub(super) const SECOND_CHANCE: u64 = 1 << 1;
/// In memory the page is newer than on disk.
const DIRTY: u64 = 1 << 2;
/// Nobody may latch the page for now; reading is free. Of a latched page: it is being read from
/// disk.
const PINNED: u64 = 1 << 3;
/// One reader's pin; the bits from here to [`READABLE`] count them.
const PIN_ONE: u64 = 1 << 4;
/// Every bit of that count.
const PINS: u64 = READABLE - PIN_ONE;
/// The bytes are whole and nobody changes them. Next to the version, so that one shift compares
/// both.
const READABLE: u64 = 1 << READABLE_SHIFT;

const READABLE_SHIFT: u32 = 15;
const VERSION_SHIFT: u32 = 16;
const VERSION: u64 = !((1 << VERSION_SHIFT) - 1);

/// The operations that a state word needs of an atomic integer.
pub(super) trait Atomic {
    fn load(&self, ordering: Ordering) -> u64;
    fn store(&self, value: u64, ordering: Ordering);
    fn exchange(&self, old: u64, new: u64, success: Ordering) -> bool;
    fn fence(ordering: Ordering);
}

impl Atomic for AtomicU64 {
    #[inline]
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline]
    fn store(&self, value: u64, ordering: Ordering) {
        point();
        self.store(value, ordering);
    }

    #[inline]
    fn exchange(&self, old: u64, new: u64, success: Ordering) -> bool {
        point();
        self.compare_exchange(old, new, success, Ordering::Relaxed).is_ok()
    }

    #[inline]
    fn fence(ordering: Ordering) {
        point();
        fence(ordering);
    }
}

/// The content of a state word at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// Whole bytes that nobody changes.
    pub(super) const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Readable, and its next use need not be noted: the fast way.
    #[inline]
    pub(super) const fn is_open(self) -> bool {
        self.0 & (READABLE | SECOND_CHANCE) == READABLE
    }

    /// Open with that version. No evicted or latched page is, whatever the version.
    #[inline]
    pub(super) const fn is_open_with(self, version: Version) -> bool {
        self.0 & !(DIRTY | PINNED | PINS) == (version.0 << VERSION_SHIFT) | READABLE
    }

    pub(super) const fn is_evicted(self) -> bool {
        self.0 & (READABLE | LATCHED) == 0
    }

    /// Owned by a thread that reads it from disk.
    pub(super) const fn is_coming(self) -> bool {
        self.0 & (LATCHED | PINNED) == LATCHED | PINNED
    }

    pub(super) const fn is_on_second_chance(self) -> bool {
        self.0 & SECOND_CHANCE != 0
    }

    pub(super) const fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    /// Pinned by the thread that writes it out.
    pub(super) const fn is_pinned(self) -> bool {
        self.0 & PINNED != 0
    }

    /// Pinned by readers.
    pub(super) const fn has_readers(self) -> bool {
        self.0 & PINS != 0
    }

    /// Pinned by as many readers as can be counted.
    pub(super) const fn has_readers_max(self) -> bool {
        self.0 & PINS == PINS
    }

    #[inline]
    pub(super) const fn version(self) -> Version {
        Version(self.0 >> VERSION_SHIFT)
    }
}

/// A page's state word. What a method says about its caller is not checked.
#[derive(Debug)]
pub(super) struct State<'a, A = AtomicU64>(pub(super) &'a A);

impl<A> Clone for State<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for State<'_, A> {}

impl<A: Atomic> State<'_, A> {
    /// The word's content now. Everything that was done to the page before is seen afterwards.
    #[inline]
    pub(super) fn load(self) -> Word {
        Word(self.0.load(Ordering::Acquire))
    }

    /// Whether all that was seen of the page since `before` (a readable word) was `before`'s bytes.
    #[inline]
    pub(super) fn is_as(self, before: Word) -> bool {
        // Keeps the loads of the page before the load below; the other half is in `own`.
        A::fence(Ordering::Acquire);
        (self.0.load(Ordering::Relaxed) ^ before.0) >> READABLE_SHIFT == 0
    }

    /// Own an evicted page, to read it from disk.
    pub(super) fn claim(self) -> bool {
        let word = self.load();
        word.is_evicted() && self.own(word, word.0 | LATCHED | PINNED)
    }

    /// Own an evicted page for a moment, to see to its memory: nobody brings it meanwhile.
    pub(super) fn claim_vacant(self) -> bool {
        let word = self.load();
        word.is_evicted() && self.own(word, word.0 | LATCHED)
    }

    /// Own a readable page that nobody has pinned, not even to read it, if the word is still
    /// `word`. With `end_second_chance`, the latch counts as a use.
    pub(super) fn latch(self, word: Word, end_second_chance: bool) -> bool {
        let retained = if end_second_chance { !(READABLE | SECOND_CHANCE) } else { !READABLE };
        let is_free = word.is_readable() && word.0 & (PINNED | PINS) == 0;
        is_free && self.own(word, (word.0 & retained) | LATCHED)
    }

    fn own(self, from: Word, to: u64) -> bool {
        let owned = self.0.exchange(from.0, to, Ordering::Acquire);
        if owned {
            // A reader that sees a change that follows sees the latch, too, and reads again.
            A::fence(Ordering::Release);
        }
        owned
    }

    /// The owner has read the page from disk.
    pub(super) fn publish(self, second_chance: bool) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner publishes");
        let version = (word & VERSION).wrapping_add(1 << VERSION_SHIFT);
        self.0.store(
            version | READABLE | if second_chance { SECOND_CHANCE } else { 0 },
            Ordering::Release,
        );
    }

    /// The owner has dropped the page's bytes, or could not read them.
    pub(super) fn vacate(self) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner vacates");
        self.0.store(word & VERSION, Ordering::Release);
    }

    /// The owner, who latched, lets go.
    pub(super) fn unlatch(self, changed: bool) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner unlatches");
        let mut open = (word & !LATCHED) | READABLE;
        if changed {
            open = open.wrapping_add(1 << VERSION_SHIFT) | DIRTY;
        }
        self.0.store(open, Ordering::Release);
    }

    /// The owner, who latched, has put newer bytes there, which are on disk, too, and lets go.
    pub(super) fn unlatch_refreshed(self) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner unlatches");
        let open = (word & !LATCHED) | READABLE;
        self.0.store(open.wrapping_add(1 << VERSION_SHIFT), Ordering::Release);
    }

    /// Keep a readable page as it is and where it is, if the word is still `word`.
    pub(super) fn pin(self, word: Word) -> bool {
        word.is_readable()
            && !word.is_pinned()
            && self.0.exchange(word.0, word.0 | PINNED, Ordering::Acquire)
    }

    /// The pinning thread lets go; with `clean`, after writing the page to disk.
    pub(super) fn unpin(self, clean: bool) {
        let dropped = if clean { PINNED | DIRTY } else { PINNED };
        self.update(|word| Some(word & !dropped));
    }

    /// Count one more reader of a readable page that has not as many as can be counted, if the word
    /// is still `word`.
    #[inline]
    pub(super) fn add_reader(self, word: Word) -> bool {
        word.is_readable()
            && !word.has_readers_max()
            && self.0.exchange(word.0, word.0 + PIN_ONE, Ordering::Acquire)
    }

    /// A reader lets go; whether it was the last one.
    #[inline]
    pub(super) fn remove_reader(self) -> bool {
        loop {
            let word = self.0.load(Ordering::Relaxed);
            debug_assert!(word & PINS != 0, "only a reader who was counted lets go");
            // Release: what was read of the page was read before the next latch.
            if self.0.exchange(word, word - PIN_ONE, Ordering::AcqRel) {
                return word & PINS == PIN_ONE;
            }
        }
    }

    /// The pinning thread, which has written the page to disk, becomes its owner, to evict it; not
    /// while somebody has it pinned to read it, and with `only_second_chance` not if it was used
    /// meanwhile.
    pub(super) fn latch_pinned(self, only_second_chance: bool) -> bool {
        let owned = self.update(|word| {
            let is_used = only_second_chance && word & SECOND_CHANCE == 0;
            let wanted = word & PINS == 0 && !is_used;
            wanted.then_some((word & !(READABLE | PINNED | DIRTY)) | LATCHED)
        });
        if owned {
            A::fence(Ordering::Release);
        }
        owned
    }

    /// Set the second-chance bit, if the word is still `word`.
    pub(super) fn give_second_chance(self, word: Word) {
        self.0.exchange(word.0, word.0 | SECOND_CHANCE, Ordering::Relaxed);
    }

    /// The page is used: what the word is then, or `None` if it was no longer `word`.
    pub(super) fn end_second_chance(self, word: Word) -> Option<Word> {
        let open = Word(word.0 & !SECOND_CHANCE);
        self.0.exchange(word.0, open.0, Ordering::Acquire).then_some(open)
    }

    /// Change bits that are not the caller's alone. `false`, and nothing is changed, at `None`.
    fn update(self, change: impl Fn(u64) -> Option<u64>) -> bool {
        loop {
            let word = self.0.load(Ordering::Relaxed);
            let Some(changed) = change(word) else { return false };
            if self.0.exchange(word, changed, Ordering::AcqRel) {
                return true;
            }
        }
    }
}
