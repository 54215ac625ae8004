//! Memory that a disk reads into.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Bytes of a word: what a [`crate::View`] loads in one piece.
const WORD_BYTES: usize = size_of::<u64>();

/// Memory that a disk reads into, one's own or pages in their place in the buffer.
///
/// There, optimistic readers may load the words that are filled, and throw away what they saw. So
/// it is no `&mut [u8]`, which says that nobody does: it is filled by relaxed stores of whole
/// words, as by a [`crate::PageMut`], or its address is given to the kernel.
#[derive(Debug)]
pub struct Destination<'a> {
    start: *mut u8,
    bytes: usize,
    lifetime: PhantomData<&'a mut [u8]>,
}

impl Destination<'_> {
    /// Pages in memory that others may read.
    ///
    /// # Safety
    ///
    /// So many bytes from `start` must stay mapped, readable and writable for `'a`. Meanwhile
    /// nobody else stores there, and who loads does so through a [`crate::View`].
    #[expect(unsafe_code, reason = "the one place where pages in memory become a destination")]
    pub(crate) const unsafe fn at(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes, lifetime: PhantomData }
    }

    /// Number of bytes that are to be filled.
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether nothing is to be filled.
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The address of the first byte: only for the kernel, which stores what it reads.
    pub const fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    /// The number that is the address of the first byte.
    pub(super) fn address(&self) -> usize {
        self.start.addr()
    }

    /// The same memory for a shorter time.
    pub const fn reborrow(&mut self) -> Destination<'_> {
        Destination { start: self.start, bytes: self.bytes, lifetime: PhantomData }
    }

    /// A part of it. Panics beyond its end.
    pub fn part(&mut self, range: Range<usize>) -> Destination<'_> {
        self.reborrow().split_at(range.start).1.split_at(range.end - range.start).0
    }

    /// The part before a number of bytes, and the rest. Panics beyond its end.
    pub fn split_at(self, bytes: usize) -> (Self, Self) {
        assert!(bytes <= self.bytes, "{bytes} is beyond {} bytes", self.bytes);
        let rest = self.start.wrapping_add(bytes);
        (
            Self { start: self.start, bytes, lifetime: PhantomData },
            Self { start: rest, bytes: self.bytes - bytes, lifetime: PhantomData },
        )
    }

    /// Parts of that many bytes in order, the last of what is left.
    pub fn chunks(self, bytes: usize) -> impl Iterator<Item = Self> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let all = rest.take().filter(|all| !all.is_empty())?;
            let count = bytes.min(all.len());
            let (chunk, after) = all.split_at(count);
            rest = Some(after);
            Some(chunk)
        })
    }

    /// Fill all of it with bytes. Panics where they are not as many.
    pub fn put(&mut self, from: &[u8]) {
        assert_eq!(from.len(), self.bytes, "what is put there has another length");
        let (words, tail) = from.as_chunks::<WORD_BYTES>();
        let (to_words, to_tail) = self.cells();
        // Where the memory is not aligned, no view loads words there.
        if to_words.len() == words.len() {
            for (to, word) in to_words.iter().zip(words) {
                to.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
            }
            to_tail.iter().zip(tail).for_each(|(to, &byte)| to.store(byte, Ordering::Relaxed));
        } else {
            to_tail.iter().zip(from).for_each(|(to, &byte)| to.store(byte, Ordering::Relaxed));
        }
    }

    /// Fill all of it with one byte.
    pub fn fill(&mut self, byte: u8) {
        let (words, tail) = self.cells();
        let word = u64::from_ne_bytes([byte; WORD_BYTES]);
        for to in words {
            to.store(word, Ordering::Relaxed);
        }
        for to in tail {
            to.store(byte, Ordering::Relaxed);
        }
    }

    /// A copy of all of it. Panics where `into` has another length.
    pub fn copy_to(&self, into: &mut [u8]) {
        assert_eq!(into.len(), self.bytes, "the copy has another length");
        // SAFETY: the memory is readable for the lifetime, and nobody stores there but through this
        // destination, which is not lent while the copy is made.
        #[expect(unsafe_code, reason = "loads do not race with loads")]
        into.copy_from_slice(unsafe { slice::from_raw_parts(self.start, self.bytes) });
    }

    /// The whole words, and the bytes after them; all are bytes where the memory is not aligned.
    fn cells(&mut self) -> (&[AtomicU64], &[AtomicU8]) {
        let is_aligned = self.start.addr().is_multiple_of(align_of::<AtomicU64>());
        let words = if is_aligned { self.bytes / WORD_BYTES } else { 0 };
        let tail = self.start.wrapping_add(words * WORD_BYTES);
        let first = if is_aligned { self.start.cast() } else { NonNull::dangling().as_ptr() };
        // SAFETY: the memory is readable and writable for the lifetime and aligned for what it is
        // taken for; atomics of the same bytes may be shared.
        #[expect(unsafe_code, reason = "words of the memory, stored atomically")]
        unsafe {
            (
                slice::from_raw_parts(first, words),
                slice::from_raw_parts(tail.cast(), self.bytes - words * WORD_BYTES),
            )
        }
    }
}

impl<'a> From<&'a mut [u8]> for Destination<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        Self { start: bytes.as_mut_ptr(), bytes: bytes.len(), lifetime: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned_page::AlignedPage;
    use crate::view::View;

    #[test]
    fn all_lengths_at_all_places_are_filled_and_nothing_beside_them() {
        let from: Vec<u8> = (1..=64).collect();
        for at in 0..9 {
            for count in 0..=40 {
                let mut capacity = [0_u64; 8];
                let bytes: &mut [u8] = bytes_of(&mut capacity);
                let mut all = Destination::from(&mut *bytes);
                let mut part = all.part(at..at + count);
                part.put(&from[..count]);
                let mut copy = vec![0; count];
                part.copy_to(&mut copy);
                assert_eq!(copy, from[..count]);
                assert_eq!(bytes[at..at + count], from[..count]);
                assert!(bytes[..at].iter().chain(&bytes[at + count..]).all(|&byte| byte == 0));
                Destination::from(&mut bytes[at..at + count]).fill(7);
                assert!(bytes[at..at + count].iter().all(|&byte| byte == 7));
                assert!(bytes[..at].iter().chain(&bytes[at + count..]).all(|&byte| byte == 0));
            }
        }
    }

    fn bytes_of(words: &mut [u64; 8]) -> &mut [u8] {
        // SAFETY: words have no padding, and every byte of theirs is a byte.
        #[expect(unsafe_code, reason = "aligned bytes, to test where alignment matters")]
        unsafe {
            slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words))
        }
    }

    #[test]
    fn chunks_are_all_of_it_in_order() {
        let mut capacity = [0; 10];
        for (number, mut chunk) in Destination::from(&mut capacity[..]).chunks(4).enumerate() {
            chunk.fill(number as u8);
        }
        assert_eq!(capacity, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
        assert_eq!(Destination::from(&mut capacity[..0]).chunks(4).count(), 0);
    }

    #[test]
    #[should_panic(expected = "another length")]
    fn a_part_of_it_is_not_all() {
        Destination::from(&mut [0; 8][..]).put(&[1; 7]);
    }

    #[test]
    fn who_loads_a_word_meanwhile_sees_one_of_both() {
        let page = AlignedPage::zeros();
        std::thread::scope(|scope| {
            // SAFETY: the page outlives the scope, and only the other thread loads, by a view.
            #[expect(unsafe_code, reason = "a page that another reads")]
            let mut destination = unsafe { Destination::at(page.start(), size_of_val(&*page)) };
            let reader =
                scope.spawn(|| (0..100).map(|_| View::of(&page).u64(64)).collect::<Vec<_>>());
            destination.fill(1);
            let seen = reader.join().unwrap();
            assert!(seen.iter().all(|&word| word == 0 || word == u64::from_ne_bytes([1; 8])));
        });
        assert_eq!(View::of(&page).u64(64), u64::from_ne_bytes([1; 8]));
    }
}
