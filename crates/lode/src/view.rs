//! Reading a page that may be evicted meanwhile.

use std::cmp::Ordering as CompareOrdering;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::page::{PAGE_BYTES, PageBytes, PageNumber, offset};

/// A page outside the buffer, aligned as those inside are.
#[derive(Clone)]
#[repr(align(4096))]
pub struct AlignedPage(pub PageBytes);

impl AlignedPage {
    /// What a view shows.
    pub fn copy_of(view: View<'_>) -> Self {
        let mut copy = Self([0; PAGE_BYTES]);
        view.copy_to(&mut copy.0);
        copy
    }
}

/// A page to be read optimistically: its bytes may change or become zeros while one looks, and
/// what was seen counts only if the page turns out unchanged afterwards ([`crate::PageRead::read`]
/// sees to that, and looks again). So nothing read from a view may be trusted to be sensible: an
/// offset beyond the page, or not a multiple of the field's size, reads as zero instead of
/// panicking, and loops must end whatever they read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    start: *const u8,
    lifetime: PhantomData<&'a PageBytes>,
}

impl<'a> View<'a> {
    /// A view of a page that nobody changes meanwhile.
    pub const fn of(page: &'a AlignedPage) -> Self {
        Self { start: page.0.as_ptr(), lifetime: PhantomData }
    }

    /// The same of bytes that are aligned, as those of a mapping are.
    pub(crate) fn of_bytes(page: &'a PageBytes) -> Self {
        debug_assert!(page.as_ptr().addr().is_multiple_of(8), "words are aligned");
        Self { start: page.as_ptr(), lifetime: PhantomData }
    }

    /// Where the page begins.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.start.addr()
    }

    /// A view of a page in memory that others may change.
    ///
    /// # Safety
    ///
    /// [`PAGE_BYTES`] bytes from `start` must stay mapped and readable for `'a`, and `start` must
    /// be a multiple of 8; who changes the page meanwhile does so atomically or is the kernel.
    #[expect(unsafe_code, reason = "the one place where a page in memory becomes a view")]
    pub const unsafe fn at(start: *const u8) -> Self {
        Self { start, lifetime: PhantomData }
    }

    /// A byte, or 0 beyond the page.
    #[inline]
    pub fn u8(self, at: usize) -> u8 {
        match self.field::<AtomicU8>(at) {
            Some(field) => field.load(Ordering::Relaxed),
            None => 0,
        }
    }

    /// A little-endian u16 at a multiple of 2, or 0.
    #[inline]
    pub fn u16(self, at: usize) -> u16 {
        match self.field::<AtomicU16>(at) {
            Some(field) => u16::from_le(field.load(Ordering::Relaxed)),
            None => 0,
        }
    }

    /// A little-endian u32 at a multiple of 4, or 0.
    #[inline]
    pub fn u32(self, at: usize) -> u32 {
        match self.field::<AtomicU32>(at) {
            Some(field) => u32::from_le(field.load(Ordering::Relaxed)),
            None => 0,
        }
    }

    /// A little-endian i32 at a multiple of 4, or 0.
    #[inline]
    pub fn i32(self, at: usize) -> i32 {
        self.u32(at).cast_signed()
    }

    /// A little-endian u64 at a multiple of 8, or 0.
    #[inline]
    pub fn u64(self, at: usize) -> u64 {
        match self.field::<AtomicU64>(at) {
            Some(field) => u64::from_le(field.load(Ordering::Relaxed)),
            None => 0,
        }
    }

    /// `N` little-endian words from a multiple of 8 on, or `None`: one check for all of them.
    #[inline]
    pub fn words<const N: usize>(self, at: usize) -> Option<[u64; N]> {
        const { assert!(N * 8 <= PAGE_BYTES) };
        if at > PAGE_BYTES - N * 8 || !at.is_multiple_of(8) {
            return None;
        }
        let mut words = [0; N];
        for (place, word) in words.iter_mut().enumerate() {
            // SAFETY: any bytes are a value of an atomic word; each lies within the page, which
            // stays mapped for 'a, and is aligned because the page and `at` are; and all who share
            // the page read it atomically or hold its latch.
            #[expect(
                unsafe_code,
                clippy::cast_ptr_alignment,
                reason = "aligned words of a page in memory that others may change"
            )]
            let field = unsafe { &*self.start.add(at + place * 8).cast::<AtomicU64>() };
            *word = u64::from_le(field.load(Ordering::Relaxed));
        }
        Some(words)
    }

    /// The field at `at`, if it lies within the page and at a multiple of its size.
    #[inline]
    fn field<T>(self, at: usize) -> Option<&'a T> {
        if at > PAGE_BYTES - size_of::<T>() || !at.is_multiple_of(size_of::<T>()) {
            return None;
        }
        // SAFETY: T is one of the four atomics above, for which every bit pattern is a value; the
        // field lies within the page, which stays mapped for 'a, and is aligned because the page
        // is; and all who share the page read it atomically or hold its latch.
        #[expect(unsafe_code, reason = "a field of a page in memory that others may change")]
        unsafe {
            Some(&*self.start.add(at).cast::<T>())
        }
    }

    /// Append `count` bytes to `into`; fewer where the page ends.
    pub fn append_to(self, into: &mut Vec<u8>, at: usize, count: usize) {
        let end = at.saturating_add(count).min(PAGE_BYTES);
        into.extend((at..end).map(|at| self.u8(at)));
    }

    /// How `count` bytes at `at` compare with `other`, as byte strings do.
    pub fn compare(self, at: usize, count: usize, other: &[u8]) -> CompareOrdering {
        let count = count.min(PAGE_BYTES.saturating_sub(at));
        let mine = (at..at + count).map(|at| self.u8(at));
        mine.cmp(other.iter().copied())
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

    /// All of it to other memory.
    pub(crate) fn copy_to(self, into: &mut PageBytes) {
        for (at, word) in into.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *word = self.u64(at * 8).to_le_bytes();
        }
    }

    /// All of it.
    pub fn copy(self) -> Box<PageBytes> {
        Box::new(AlignedPage::copy_of(self).0)
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
