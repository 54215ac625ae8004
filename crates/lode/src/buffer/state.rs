//! The word that guards a page: who may look at it, change it, evict it; and when it last became
//! other bytes.
//!
//! The upper 48 bits are the page's stamp, the lower 16 its state:
//!
//! ```text
//!            claim                publish (stamp + 1)
//! evicted ----------> latched ------------------------> readable
//!    ^                  | ^                             |  |  ^
//!    |      vacate      | |          latch              |  |  | release
//!    +------------------+ +-----------------------------+  |  |
//!                       |  unlatch (stamp + 1 if changed)  |  |
//!                       +----------------------> readable  |  |
//!                                                          v  |
//!                                              held: readable, not to be changed or evicted
//! ```
//!
//! A word of zero is a page that has never been in memory, so that the words need no preparation.
//! Reading writes nothing: load the word, look, see that stamp and readability are the same
//! (optimistic latches as in Leis et al., "Virtual-Memory Assisted Buffer Management", SIGMOD
//! 2023, section 3.3, there with shared latches besides). A change advances the stamp, and so does
//! coming back after an eviction: equal stamps are equal bytes. 48 bits last for three days of a
//! change of the same page in each nanosecond, and for nine years of one in each microsecond.
//!
//! Generic over the atomic word, so that the orderings can be checked by exhaustion
//! (`tests/protocol.rs`).

use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::pages::Stamp;
use crate::sync::point;

/// Somebody owns the page alone: it is being read from disk, changed, or evicted.
const LATCHED: u64 = 1 << 0;
/// The next look has to take the slow way, where the replacement tactic learns of it.
pub(super) const WATCHED: u64 = 1 << 1;
/// In memory the page is newer than on disk.
const DIRTY: u64 = 1 << 2;
/// Nobody may latch the page for now; looking is free.
const HELD: u64 = 1 << 3;
/// The bytes are whole and nobody changes them. Next to the stamp, so that one shift compares both.
const READABLE: u64 = 1 << READABLE_SHIFT;

const READABLE_SHIFT: u32 = 15;
const STAMP_SHIFT: u32 = 16;
const STAMP: u64 = !((1 << STAMP_SHIFT) - 1);

/// What a state word needs of an atomic integer.
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

/// What a state word said at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// Whole bytes that nobody changes.
    pub(super) const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Readable, and nobody wants to know of it: the fast way.
    #[inline]
    pub(super) const fn is_open(self) -> bool {
        self.0 & (READABLE | WATCHED) == READABLE
    }

    /// Open with that stamp. No evicted or latched page is, whatever the stamp.
    #[inline]
    pub(super) const fn is_open_with(self, stamp: Stamp) -> bool {
        self.0 & !(DIRTY | HELD) == (stamp.0 << STAMP_SHIFT) | READABLE
    }

    pub(super) const fn is_evicted(self) -> bool {
        self.0 & (READABLE | LATCHED) == 0
    }

    pub(super) const fn is_watched(self) -> bool {
        self.0 & WATCHED != 0
    }

    pub(super) const fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    pub(super) const fn is_held(self) -> bool {
        self.0 & HELD != 0
    }

    #[inline]
    pub(super) const fn stamp(self) -> Stamp {
        Stamp(self.0 >> STAMP_SHIFT)
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
    /// What it says now. Everything that was done to the page before is seen afterwards.
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
        word.is_evicted() && self.own(word, word.0 | LATCHED)
    }

    /// Own a readable page that nobody holds, if the word is still `word`. With `unwatch`, the
    /// latch counts as the look that was waited for.
    pub(super) fn latch(self, word: Word, unwatch: bool) -> bool {
        let kept = if unwatch { !(READABLE | WATCHED) } else { !READABLE };
        word.is_readable() && !word.is_held() && self.own(word, (word.0 & kept) | LATCHED)
    }

    fn own(self, from: Word, to: u64) -> bool {
        let owned = self.0.exchange(from.0, to, Ordering::Acquire);
        if owned {
            // Who sees a change that follows sees the latch, too, and looks again.
            A::fence(Ordering::Release);
        }
        owned
    }

    /// The owner has read the page from disk.
    pub(super) fn publish(self, watched: bool) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner publishes");
        let stamp = (word & STAMP).wrapping_add(1 << STAMP_SHIFT);
        self.0.store(stamp | READABLE | if watched { WATCHED } else { 0 }, Ordering::Release);
    }

    /// The owner has dropped the page's bytes, or could not read them.
    pub(super) fn vacate(self) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner vacates");
        self.0.store(word & STAMP, Ordering::Release);
    }

    /// The owner, who latched, lets go.
    pub(super) fn unlatch(self, changed: bool) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner unlatches");
        let mut open = (word & !LATCHED) | READABLE;
        if changed {
            open = open.wrapping_add(1 << STAMP_SHIFT) | DIRTY;
        }
        self.0.store(open, Ordering::Release);
    }

    /// The owner, who latched, has put newer bytes there, which are on disk, too, and lets go.
    pub(super) fn unlatch_renewed(self) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LATCHED != 0, "only the owner unlatches");
        let open = (word & !LATCHED) | READABLE;
        self.0.store(open.wrapping_add(1 << STAMP_SHIFT), Ordering::Release);
    }

    /// Keep a readable page as it is and where it is, if the word is still `word`.
    pub(super) fn hold(self, word: Word) -> bool {
        word.is_readable()
            && !word.is_held()
            && self.0.exchange(word.0, word.0 | HELD, Ordering::Acquire)
    }

    /// The holder lets go; with `clean`, after writing the page to disk.
    pub(super) fn release(self, clean: bool) {
        let dropped = if clean { HELD | DIRTY } else { HELD };
        self.update(|word| Some(word & !dropped));
    }

    /// The holder, who has written the page to disk, becomes its owner, to evict it. With
    /// `only_watched`, not if somebody has looked at it meanwhile.
    pub(super) fn latch_held(self, only_watched: bool) -> bool {
        let owned = self.update(|word| {
            let wanted = !only_watched || word & WATCHED != 0;
            wanted.then_some((word & !(READABLE | HELD | DIRTY)) | LATCHED)
        });
        if owned {
            A::fence(Ordering::Release);
        }
        owned
    }

    /// Wait for the next look, if the word is still `word`.
    pub(super) fn watch(self, word: Word) {
        self.0.exchange(word.0, word.0 | WATCHED, Ordering::Relaxed);
    }

    /// Somebody looks: what the word is then, or `None` if it was no longer `word`.
    pub(super) fn unwatch(self, word: Word) -> Option<Word> {
        let open = Word(word.0 & !WATCHED);
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
