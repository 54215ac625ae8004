//! Bytes of a page, aligned or not, read and compared where they lie.

use std::cmp::Ordering;

use crate::view::View;

/// Some bytes of a page, to be read where they lie. As with [`View`], what they say counts only
/// once the page turns out unchanged.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    view: View<'a>,
    at: usize,
    count: usize,
}

impl<'a> Bytes<'a> {
    /// `count` bytes from `at` on.
    #[inline]
    pub(super) const fn of(view: View<'a>, at: usize, count: usize) -> Self {
        Self { view, at, count }
    }

    /// Their number.
    pub const fn count(self) -> usize {
        self.count
    }

    /// The little-endian number in the eight bytes from `at` on, aligned or not; bytes beyond the
    /// end count as zeros.
    #[inline]
    pub fn u64(self, at: usize) -> u64 {
        let there = self.count.saturating_sub(at).min(8);
        if there == 0 {
            return 0;
        }
        word(self.view, self.at + at) & (u64::MAX >> (64 - 8 * there))
    }

    /// The place where in the page they begin, and how many there are.
    pub(super) const fn place(self) -> (usize, usize) {
        (self.at, self.count)
    }

    /// Append them.
    pub fn append_to(self, into: &mut Vec<u8>) {
        append(self.view, self.at, self.count, into);
    }

    /// A copy.
    pub fn to_vec(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.count + 8);
        self.append_to(&mut bytes);
        bytes
    }
}

/// The little-endian u64 at any offset: two aligned ones put together.
#[inline]
fn word(view: View<'_>, at: usize) -> u64 {
    let (aligned, shift) = (at & !7, at % 8 * 8);
    view.u64(aligned) >> shift | view.u64(aligned + 8) << 1 << (63 - shift)
}

/// Append `count` bytes, eight at a time.
pub(super) fn append(view: View<'_>, at: usize, count: usize, into: &mut Vec<u8>) {
    let length = into.len() + count;
    for done in (0..count).step_by(8) {
        into.extend_from_slice(&word(view, at + done).to_le_bytes());
    }
    into.truncate(length);
}

/// The big-endian number in eight bytes of a key; zeros behind its end.
#[inline]
fn key_word(key: &[u8], at: usize) -> u64 {
    let key = &key[at..];
    if let Some(word) = key.first_chunk() {
        return u64::from_be_bytes(*word);
    }
    let mut word = [0; 8];
    word[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(word)
}

/// The way in which `count` bytes of a page compare with a key, as byte strings do.
#[inline]
pub(super) fn compare(view: View<'_>, at: usize, count: usize, key: &[u8]) -> Ordering {
    let shared = count.min(key.len());
    let mut done = 0;
    while done < shared {
        let beyond = 8 - (shared - done).min(8);
        let theirs = word(view, at + done).swap_bytes() >> (8 * beyond);
        let ours = key_word(key, done) >> (8 * beyond);
        if theirs != ours {
            return theirs.cmp(&ours);
        }
        done += 8;
    }
    count.cmp(&key.len())
}
