//! Changing a page that others may be reading.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, Range};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::page_bytes::{PAGE_BYTES, PageBytes};

/// Bytes of a word: what is stored, and loaded by a [`crate::View`], in one piece.
const WORD_BYTES: usize = size_of::<u64>();

/// Words that are stored by one round of a loop: processors take two stores at once.
const BLOCK_WORDS: usize = 4;

/// A range of up to so many words is changed in a copy on the stack.
const STACK_WORDS: usize = 33;

/// A page to be changed in place by its only holder; others read it through a [`crate::View`].
///
/// Optimistic readers load its words atomically meanwhile and throw away what they saw, so every
/// change is a relaxed atomic store of a whole word of 8 bytes, which is what they load: Rust's
/// model (that of `std::sync::atomic`) allows neither a plain store that races with a load, nor
/// racing accesses of different sizes that overlap. What is shorter than a word is put into the
/// word that is there; nobody else stores, so nothing is lost between the load and the store.
///
/// It reads as the plain array that it is: only stores and loads that meet them race, and nobody
/// but its owner stores. Offsets are the caller's own: one beyond the page panics.
pub struct PageMut<'a> {
    start: *mut u8,
    lifetime: PhantomData<&'a mut PageBytes>,
}

impl PageMut<'_> {
    /// A page in memory that others may read.
    ///
    /// # Safety
    ///
    /// [`PAGE_BYTES`] bytes from `start`, a multiple of 8, must stay mapped, readable and writable
    /// for `'a`. Meanwhile nobody else stores there, and who loads does so through a
    /// [`crate::View`].
    #[expect(unsafe_code, reason = "the one place where a page in memory becomes changeable")]
    pub const unsafe fn at(start: *mut u8) -> Self {
        Self { start, lifetime: PhantomData }
    }

    /// Put a byte there.
    #[inline]
    pub fn put_u8(&mut self, at: usize, value: u8) {
        self.put_field::<1>(at, u64::from(value));
    }

    /// Put a little-endian u16 there.
    #[inline]
    pub fn put_u16(&mut self, at: usize, value: u16) {
        self.put_field::<2>(at, u64::from(value));
    }

    /// Put a little-endian u32 there.
    #[inline]
    pub fn put_u32(&mut self, at: usize, value: u32) {
        self.put_field::<4>(at, u64::from(value));
    }

    /// Put a little-endian u64 there.
    #[inline]
    pub fn put_u64(&mut self, at: usize, value: u64) {
        if at.is_multiple_of(WORD_BYTES) {
            self.store(at / WORD_BYTES, value);
        } else {
            self.put(at, &value.to_le_bytes());
        }
    }

    /// Put bytes there.
    #[inline]
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        check(at, bytes.len());
        let (lead, rest) = bytes.split_at(lead_bytes(at).min(bytes.len()));
        self.put_part(at, lead);
        let at = at + lead.len();
        let (words, tail) = rest.as_chunks::<WORD_BYTES>();
        let (blocks, rest) = words.as_chunks::<BLOCK_WORDS>();
        let mut word = at / WORD_BYTES;
        for block in blocks {
            self.store_each(word, block.map(u64::from_le_bytes));
            word += BLOCK_WORDS;
        }
        for single in rest {
            self.store_each(word, [u64::from_le_bytes(*single)]);
            word += 1;
        }
        self.put_part(at + words.len() * WORD_BYTES, tail);
    }

    /// Put zeros there.
    #[inline]
    pub fn clear(&mut self, range: Range<usize>) {
        let (at, bytes) = (range.start, range.len());
        check(at, bytes);
        let lead = lead_bytes(at).min(bytes);
        let (words, tail) = ((bytes - lead) / WORD_BYTES, (bytes - lead) % WORD_BYTES);
        self.put_part(at, &[0; WORD_BYTES][..lead]);
        let (first, end) = ((at + lead) / WORD_BYTES, (at + lead) / WORD_BYTES + words);
        let blocks_end = first + words / BLOCK_WORDS * BLOCK_WORDS;
        (first..blocks_end)
            .step_by(BLOCK_WORDS)
            .for_each(|word| self.store_each(word, [0; BLOCK_WORDS]));
        (blocks_end..end).for_each(|word| self.store_each(word, [0]));
        self.put_part(range.end - tail, &[0; WORD_BYTES][..tail]);
    }

    /// Copy a range to where it may overlap.
    #[inline]
    pub fn copy_within(&mut self, range: Range<usize>, to: usize) {
        let (from, bytes) = (range.start, range.len());
        check(from, bytes);
        check(to, bytes);
        let lead = lead_bytes(to).min(bytes);
        let (words, tail) = ((bytes - lead) / WORD_BYTES, (bytes - lead) % WORD_BYTES);
        let (blocks, singles) = (words / BLOCK_WORDS, words % BLOCK_WORDS);
        let singles_at = lead + blocks * BLOCK_WORDS * WORD_BYTES;
        let block_at = |block: usize| lead + block * BLOCK_WORDS * WORD_BYTES;
        let word_at = |word: usize| singles_at + word * WORD_BYTES;
        // From the side to which it moves, so that nothing is overwritten before it is copied.
        if to <= from {
            self.copy_part(from, to, lead);
            for at in (0..blocks).map(block_at) {
                self.copy_words::<BLOCK_WORDS>(from + at, to + at);
            }
            for at in (0..singles).map(word_at) {
                self.copy_words::<1>(from + at, to + at);
            }
            self.copy_part(range.end - tail, to + bytes - tail, tail);
        } else {
            self.copy_part(range.end - tail, to + bytes - tail, tail);
            for at in (0..singles).rev().map(word_at) {
                self.copy_words::<1>(from + at, to + at);
            }
            for at in (0..blocks).rev().map(block_at) {
                self.copy_words::<BLOCK_WORDS>(from + at, to + at);
            }
            self.copy_part(from, to, lead);
        }
    }

    /// Change a range as plain bytes: a copy of its words, which then go back. Of a range, not of
    /// the page, so that little is copied.
    #[inline]
    pub fn change<R>(&mut self, range: Range<usize>, change: impl FnOnce(&mut [u8]) -> R) -> R {
        let (at, bytes) = (range.start, range.len());
        check(at, bytes);
        let first = at / WORD_BYTES;
        let words = (at + bytes).div_ceil(WORD_BYTES) - first;
        let mut stack = [MaybeUninit::<u64>::uninit(); STACK_WORDS];
        let mut heap = Vec::new();
        let copy = if words <= STACK_WORDS {
            &mut stack[..words]
        } else {
            heap.resize(words, MaybeUninit::uninit());
            &mut heap[..]
        };
        // Word by word, as they go back: a processor hands a store on to a load of the same size
        // at once, and would have to wait where one word came by two stores.
        for (place, word) in copy.iter_mut().zip(first..) {
            place.write(self.place(word).load(Ordering::Relaxed));
        }
        // SAFETY: all words were written just now, and the range lies within them.
        #[expect(unsafe_code, reason = "bytes of words, without clearing those of no use first")]
        let lent = unsafe {
            let start = copy.as_mut_ptr().cast::<u8>().add(at % WORD_BYTES);
            slice::from_raw_parts_mut(start, bytes)
        };
        let result = change(lent);
        for (word, place) in (first..).zip(copy) {
            // SAFETY: as above.
            #[expect(unsafe_code, reason = "a word that was written")]
            let value = unsafe { place.assume_init() };
            self.place(word).store(value, Ordering::Relaxed);
        }
        result
    }

    /// Put the lower `BYTES` bytes of a value there.
    #[inline]
    pub(crate) fn put_field<const BYTES: usize>(&mut self, at: usize, value: u64) {
        check(at, BYTES);
        let within = at % WORD_BYTES;
        if within + BYTES <= WORD_BYTES {
            self.merge(at / WORD_BYTES, within, BYTES, value);
        } else {
            self.put(at, &value.to_le_bytes()[..BYTES]);
        }
    }

    /// Put bytes there that are fewer than a word's and do not leave one.
    #[inline]
    fn put_part(&mut self, at: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.merge(at / WORD_BYTES, at % WORD_BYTES, bytes.len(), short(bytes));
        }
    }

    /// As [`PageMut::put_part`], with bytes of the page.
    #[inline]
    fn copy_part(&mut self, from: usize, to: usize, bytes: usize) {
        if bytes > 0 {
            let value = short(&self[from..from + bytes]);
            self.merge(to / WORD_BYTES, to % WORD_BYTES, bytes, value);
        }
    }

    /// Put the lower `bytes` bytes of a value, of which there are 1 to 7, into a word.
    #[inline]
    fn merge(&mut self, word: usize, within: usize, bytes: usize, value: u64) {
        debug_assert!(bytes > 0 && within + bytes <= WORD_BYTES, "it lies within the word");
        let mask = (u64::MAX >> (64 - 8 * bytes)) << (8 * within);
        let old = self.word_at(word * WORD_BYTES);
        self.store(word, (old & !mask) | (value << (8 * within) & mask));
    }

    /// The eight bytes there, as a little-endian number.
    #[inline]
    fn word_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self[at..at + WORD_BYTES].try_into().expect("a word's bytes"))
    }

    /// Copy bytes to words that may overlap them: all are loaded before the first is stored.
    #[inline]
    fn copy_words<const WORDS: usize>(&mut self, from: usize, to: usize) {
        debug_assert!(to.is_multiple_of(WORD_BYTES), "they are stored as words");
        debug_assert!(from + WORDS * WORD_BYTES <= PAGE_BYTES, "a change keeps to its page");
        // SAFETY: who copies a range has seen that both ends of it lie within the page, which
        // stays mapped for 'a; nobody else stores there, so that a plain load meets no store.
        #[expect(unsafe_code, reason = "bytes of a page that nobody else changes")]
        let bytes = unsafe { self.start.add(from).cast::<[[u8; WORD_BYTES]; WORDS]>().read() };
        self.store_each(to / WORD_BYTES, bytes.map(u64::from_le_bytes));
    }

    /// Store a word.
    #[inline]
    fn store(&mut self, word: usize, value: u64) {
        assert!(word < PAGE_BYTES / WORD_BYTES, "a change keeps to its page");
        self.store_each(word, [value]);
    }

    /// Store words that follow one another. The caller has seen that they lie within the page.
    #[inline]
    fn store_each<const WORDS: usize>(&mut self, first: usize, values: [u64; WORDS]) {
        debug_assert!(first + WORDS <= PAGE_BYTES / WORD_BYTES, "a change keeps to its page");
        for (word, value) in (first..).zip(values) {
            self.place(word).store(value.to_le(), Ordering::Relaxed);
        }
    }

    /// The place where a word lies that the caller has seen to lie within the page.
    #[inline]
    fn place(&mut self, word: usize) -> &AtomicU64 {
        debug_assert!(word < PAGE_BYTES / WORD_BYTES, "a change keeps to its page");
        // SAFETY: the word lies within the page, which stays mapped for 'a, and is aligned because
        // the page is; while others may know the page, all of them access it atomically, in words.
        #[expect(
            unsafe_code,
            clippy::cast_ptr_alignment,
            reason = "an aligned word of a page that others may read"
        )]
        unsafe {
            AtomicU64::from_ptr(self.start.cast::<u64>().add(word))
        }
    }
}

impl Deref for PageMut<'_> {
    type Target = PageBytes;

    #[inline]
    fn deref(&self) -> &PageBytes {
        // SAFETY: the page stays mapped for 'a; only `self` stores there, by `&mut self`, and this
        // borrow keeps that away. Others only load, which no load races with.
        #[expect(unsafe_code, reason = "a page that nobody else changes is a plain array")]
        unsafe {
            &*self.start.cast()
        }
    }
}

/// Panics where a change would leave the page.
#[inline]
fn check(at: usize, bytes: usize) {
    assert!(bytes <= PAGE_BYTES && at <= PAGE_BYTES - bytes, "a change keeps to its page");
}

/// Bytes up to the next word.
const fn lead_bytes(at: usize) -> usize {
    at.wrapping_neg() % WORD_BYTES
}

/// One to seven bytes as a little-endian number. Of four and more, the first and the last four may
/// overlap, and say the same there.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        return u64::from(u32::from_le_bytes(*first)) | last << (8 * (bytes.len() - 4));
    }
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
