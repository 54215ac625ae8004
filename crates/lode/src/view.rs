//! Reading a page that may be evicted meanwhile.

use std::cmp::Ordering as CompareOrdering;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::aligned_page::AlignedPage;
use crate::page::{FileNumber, PAGE_BYTES, PageBytes, PageNumber, offset};

/// Bytes of a word: what is loaded, and stored by a [`crate::PageMut`], in one piece.
const WORD_BYTES: usize = size_of::<u64>();

/// A page to be read optimistically: its bytes may change or become zeros while they are read, and
/// what was seen counts only if the page turns out unchanged afterwards ([`crate::PageRead::read`]
/// sees to that, and looks again). So nothing read from a view may be trusted to be sensible: an
/// offset beyond the page, or not a multiple of the field's size, reads as zero instead of
/// panicking, and loops must end whatever they read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    start: *mut u8,
    lifetime: PhantomData<&'a AlignedPage>,
}

/// A page's kind, level, count and file, as its header has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) kind: u8,
    pub(crate) level: u8,
    pub(crate) count: u16,
    pub(crate) file: FileNumber,
}

impl<'a> View<'a> {
    /// A view of a page that nobody changes meanwhile.
    pub const fn of(page: &'a AlignedPage) -> Self {
        Self { start: page.start(), lifetime: PhantomData }
    }

    /// The place where the page begins.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.start.addr()
    }

    /// A view of a page in memory that others may change.
    ///
    /// # Safety
    ///
    /// [`PAGE_BYTES`] bytes from `start`, a multiple of 8, must stay mapped, readable and writable
    /// for `'a`; who changes the page meanwhile does so through a [`crate::PageMut`] or is the
    /// kernel.
    #[expect(unsafe_code, reason = "the one place where a page in memory becomes a view")]
    pub const unsafe fn at(start: *mut u8) -> Self {
        Self { start, lifetime: PhantomData }
    }

    /// A byte, or 0 beyond the page.
    #[inline]
    pub fn u8(self, at: usize) -> u8 {
        self.field::<1>(at) as u8
    }

    /// A little-endian u16 at a multiple of 2, or 0.
    #[inline]
    pub fn u16(self, at: usize) -> u16 {
        self.field::<2>(at) as u16
    }

    /// A little-endian u32 at a multiple of 4, or 0.
    #[inline]
    pub fn u32(self, at: usize) -> u32 {
        self.field::<4>(at) as u32
    }

    /// A little-endian i32 at a multiple of 4, or 0.
    #[inline]
    pub fn i32(self, at: usize) -> i32 {
        self.u32(at).cast_signed()
    }

    /// A little-endian u64 at a multiple of 8, or 0.
    #[inline]
    pub fn u64(self, at: usize) -> u64 {
        self.field::<8>(at)
    }

    /// `N` little-endian words from a multiple of 8 on, or `None`: one check for all of them.
    #[inline]
    pub fn words<const N: usize>(self, at: usize) -> Option<[u64; N]> {
        const { assert!(N * WORD_BYTES <= PAGE_BYTES) };
        if at > PAGE_BYTES - N * WORD_BYTES || !at.is_multiple_of(WORD_BYTES) {
            return None;
        }
        Some(std::array::from_fn(|place| self.word(at / WORD_BYTES + place)))
    }

    /// `BYTES` bytes as a little-endian number, if they lie within the page and at a multiple of
    /// their count, and so within a word.
    #[inline]
    fn field<const BYTES: usize>(self, at: usize) -> u64 {
        const { assert!(BYTES.is_power_of_two() && BYTES <= WORD_BYTES) };
        if at > PAGE_BYTES - BYTES || !at.is_multiple_of(BYTES) {
            return 0;
        }
        // The count is taken modulo 64.
        self.word(at / WORD_BYTES).wrapping_shr(8 * at as u32)
    }

    /// A word by its number, or 0 beyond the page.
    #[inline]
    pub(crate) fn word_or_zero(self, word: usize) -> u64 {
        if word < PAGE_BYTES / WORD_BYTES { self.word(word) } else { 0 }
    }

    /// A word, of those that the page has. All of it is loaded whatever is wanted of it: racing
    /// accesses of different sizes may not overlap (see [`crate::PageMut`]).
    #[inline]
    fn word(self, word: usize) -> u64 {
        debug_assert!(word < PAGE_BYTES / WORD_BYTES, "a read keeps to its page");
        // SAFETY: the word lies within the page, which stays mapped for 'a, and is aligned because
        // the page is; who changes the page meanwhile stores whole words atomically.
        #[expect(
            unsafe_code,
            clippy::cast_ptr_alignment,
            reason = "an aligned word of a page in memory that others may change"
        )]
        let place = unsafe { AtomicU64::from_ptr(self.start.cast::<u64>().add(word)) };
        u64::from_le(place.load(Ordering::Relaxed))
    }

    /// Up to eight bytes from anywhere in the page on, as a little-endian number; what lies beyond
    /// them is anything.
    #[inline]
    fn eight(self, at: usize, count: usize) -> u64 {
        let (word, within) = (at / WORD_BYTES, at % WORD_BYTES);
        let first = self.word(word) >> (8 * within);
        if within + count <= WORD_BYTES {
            return first;
        }
        first | self.word(word + 1) << (8 * (WORD_BYTES - within))
    }

    /// Append `count` bytes to `into`; fewer where the page ends.
    pub fn append_to(self, into: &mut Vec<u8>, at: usize, count: usize) {
        let count = count.min(PAGE_BYTES.saturating_sub(at));
        let start = into.len();
        into.resize(start + count, 0);
        let (words, rest) = into[start..].as_chunks_mut::<WORD_BYTES>();
        let rest_at = at + words.len() * WORD_BYTES;
        for (place, word) in words.iter_mut().enumerate() {
            *word = self.eight(at + place * WORD_BYTES, WORD_BYTES).to_le_bytes();
        }
        if !rest.is_empty() {
            rest.copy_from_slice(&self.eight(rest_at, rest.len()).to_le_bytes()[..rest.len()]);
        }
    }

    /// The way in which `count` bytes at `at` compare with `other`, as byte strings do.
    pub fn compare(self, at: usize, count: usize, other: &[u8]) -> CompareOrdering {
        let count = count.min(PAGE_BYTES.saturating_sub(at));
        let both = count.min(other.len());
        for step in (0..both).step_by(WORD_BYTES) {
            let some = (both - step).min(WORD_BYTES);
            let mut theirs = [0; WORD_BYTES];
            theirs[..some].copy_from_slice(&other[step..step + some]);
            let mine = self.eight(at + step, some).swap_bytes() >> (64 - 8 * some);
            let theirs = u64::from_be_bytes(theirs) >> (64 - 8 * some);
            if mine != theirs {
                return mine.cmp(&theirs);
            }
        }
        count.cmp(&other.len())
    }

    /// Whether these bytes stand at `at`, a multiple of 8; whole words are compared, so `other` is
    /// as many bytes as whole words.
    pub(crate) fn is_equal(self, at: usize, other: &[u8]) -> bool {
        let (words, rest) = other.as_chunks::<8>();
        debug_assert!(rest.is_empty(), "whole words are compared");
        let same = |(place, word): (usize, &[u8; 8])| {
            self.u64(at + place * 8) == u64::from_le_bytes(*word)
        };
        at + other.len() <= PAGE_BYTES && words.iter().enumerate().all(same)
    }

    /// A copy of the page, aligned as it is.
    pub fn aligned_copy(self) -> AlignedPage {
        let mut copy = AlignedPage::zeros();
        self.copy_to(&mut copy);
        copy
    }

    /// All of it to other memory.
    pub(crate) fn copy_to(self, into: &mut PageBytes) {
        for (at, word) in into.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *word = self.word(at).to_le_bytes();
        }
    }

    /// All of it.
    pub fn copy(self) -> Box<PageBytes> {
        let mut copy = Box::new([0; PAGE_BYTES]);
        self.copy_to(&mut copy);
        copy
    }

    /// A little-endian u16 from anywhere on, or 0 where it does not lie within the page.
    #[inline]
    pub(crate) fn u16_unaligned(self, at: usize) -> u16 {
        if at > PAGE_BYTES - 2 {
            return 0;
        }
        self.eight(at, 2) as u16
    }

    /// The same of the page, read at once: they lie in one word.
    #[inline]
    pub(crate) fn own(self) -> Own {
        const { assert!(offset::KIND.is_multiple_of(8) && offset::FILE + 4 == offset::KIND + 8) };
        let word = self.word(offset::KIND / WORD_BYTES);
        let field = |at: usize| word >> (8 * (at - offset::KIND));
        Own {
            kind: field(offset::KIND) as u8,
            level: field(offset::LEVEL) as u8,
            count: field(offset::COUNT) as u16,
            file: field(offset::FILE) as FileNumber,
        }
    }

    /// The kind's number, from the header.
    #[inline]
    pub fn kind(self) -> u8 {
        self.u8(offset::KIND)
    }

    /// The level, from the header.
    #[inline]
    pub fn level(self) -> u8 {
        self.u8(offset::LEVEL)
    }

    /// The count, from the header.
    #[inline]
    pub fn count(self) -> u16 {
        self.u16(offset::COUNT)
    }

    /// The next page of a chain, from the header.
    #[inline]
    pub fn next(self) -> PageNumber {
        self.u32(offset::NEXT)
    }

    /// The previous page of a chain, from the header.
    #[inline]
    pub fn previous(self) -> PageNumber {
        self.u32(offset::PREVIOUS)
    }
}

#[cfg(test)]
mod tests;
