//! The way in which one page differs from another: the runs of bytes that changed.
//!
//! The pages are compared in words of 64 bits, and two runs with less than four equal words
//! between them are written as one, as Rhino does it (Saito and Bershad, USENIX 1998). The header's
//! first 16 bytes, checksum and lsn, are never part of a difference: they belong to those who write
//! the page out and who commit.

use std::ops::Range;

use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageBytes, offset, u64_at};
use crate::page_mut::PageMut;

/// Runs that are less equal words apart than this are merged: a run's head costs half a word, and
/// each run a copy of its own at recovery.
const GAP_WORDS: usize = 4;

pub(super) const WORD_BYTES: usize = size_of::<u64>();
pub(super) const WORDS: usize = PAGE_BYTES / WORD_BYTES;

/// Words that are compared at once where nothing changed.
const STRIDE_WORDS: usize = 8;

/// Bytes of as many.
const STRIDE_BYTES: usize = STRIDE_WORDS * WORD_BYTES;

/// Of a page that was zeros, so many strides that still are do not matter: an eighth.
const GAPS_STRIDES_MAX: usize = PAGE_BYTES / STRIDE_BYTES / 8;

/// The first byte that a run may hold: the one behind the lsn.
pub(super) const FIRST_BYTE: usize = offset::KIND;

/// u16 offset, u16 length.
const HEAD_BYTES: usize = 4;

/// A run's bytes are filled with zeros to a multiple of this.
const FILL_BYTES: usize = 4;

const _: () = assert!(FIRST_BYTE.is_multiple_of(WORD_BYTES));
const _: () = assert!(WORDS.is_multiple_of(STRIDE_WORDS));

/// Pieces of a page, as they stand in a log record: u16 offset, u16 length, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runs {
    count: u32,
    bytes: Vec<u8>,
}

impl Runs {
    /// Everything that a difference may hold, as one run: what `log=page-grain` logs.
    pub fn whole(page: &PageBytes) -> Self {
        let mut runs = Self::default();
        runs.push(FIRST_BYTE, &page[FIRST_BYTE..]);
        runs
    }

    /// The runs that turn a page of zeros into this one, but for checksum and lsn. A page with few
    /// zeros is one run up to its last byte that is none: to look for the gaps takes longer than to
    /// log them.
    pub fn of_zeros(page: &PageBytes) -> Self {
        let is_zero = |stride: &&[u8; STRIDE_BYTES]| stride.iter().all(|byte| *byte == 0);
        let strides = page.as_chunks::<STRIDE_BYTES>().0;
        if strides.iter().filter(is_zero).count() > GAPS_STRIDES_MAX {
            return difference(&[0; PAGE_BYTES], page);
        }
        let end = page.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let mut runs = Self::default();
        if end > FIRST_BYTE {
            runs.push(FIRST_BYTE, &page[FIRST_BYTE..end]);
        }
        runs
    }

    /// The runs that stand in `bytes`, or none if these are no such runs: one reaches beyond the
    /// page or into its checksum and lsn, or something is left over.
    pub fn decode(count: u32, bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        for _ in 0..count {
            (_, _, rest) = split(rest)?;
        }
        let used = bytes.len() - rest.len();
        // A record's length is a multiple of 8, so 4 bytes may be left.
        (rest.len() < WORD_BYTES).then(|| Self { count, bytes: bytes[..used].to_vec() })
    }

    /// Their number.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Whether nothing differs.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The runs as they stand in a record.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Which bytes of the page the runs give.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.pieces().map(|(at, bytes)| at..at + bytes.len())
    }

    /// Each run's place in the page, and its bytes.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, &[u8])> + '_ {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (at, bytes, behind) = split(rest)?;
            rest = behind;
            Some((at, bytes))
        })
    }

    /// The bytes that a run of that length takes.
    pub(super) const fn run_bytes(length: usize) -> usize {
        HEAD_BYTES + length.next_multiple_of(FILL_BYTES)
    }

    /// One run more, of at least a byte and not of the header's first 16.
    pub(super) fn push(&mut self, at: usize, bytes: &[u8]) {
        let length = bytes.len() as u16;
        self.count += 1;
        self.bytes.reserve(Self::run_bytes(bytes.len()));
        self.bytes.extend_from_slice(&(at as u16).to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(FILL_BYTES), 0);
    }
}

/// The runs that turn `before` into `after`, but for checksum and lsn. With the pages exchanged
/// they take the change back.
pub fn difference(before: &PageBytes, after: &PageBytes) -> Runs {
    let mut runs = Runs::default();
    let mut at = FIRST_BYTE / WORD_BYTES;
    while let Some(start) = next_change(before, after, at) {
        let end = run_end(before, after, start);
        runs.push(start * WORD_BYTES, &after[start * WORD_BYTES..end * WORD_BYTES]);
        at = end;
    }
    runs
}

/// Write the runs over a page. [`LodeError::Corrupt`] if one reaches where it must not.
pub fn apply(runs: &Runs, page: &mut PageMut<'_>) -> Result<()> {
    let mut rest = runs.bytes.as_slice();
    for _ in 0..runs.count {
        let (at, bytes, behind) = split(rest).ok_or_else(|| LodeError::Corrupt {
            what: "a log record".into(),
            how: "one of its runs reaches beyond the page".into(),
        })?;
        page.put(at, bytes);
        rest = behind;
    }
    Ok(())
}

/// The first run's place in the page, its bytes, and what follows it.
fn split(bytes: &[u8]) -> Option<(usize, &[u8], &[u8])> {
    let (head, behind) = bytes.split_at_checked(HEAD_BYTES)?;
    let at = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
    if at < FIRST_BYTE || length == 0 || at + length > PAGE_BYTES {
        return None;
    }
    let (filled, rest) = behind.split_at_checked(length.next_multiple_of(FILL_BYTES))?;
    Some((at, &filled[..length], rest))
}

/// The first word from `at` on that differs.
fn next_change(before: &PageBytes, after: &PageBytes, mut at: usize) -> Option<usize> {
    while at < WORDS {
        if at.is_multiple_of(STRIDE_WORDS) && is_stride_same(before, after, at) {
            at += STRIDE_WORDS;
        } else if differs(before, after, at) {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

/// Behind the last changed word of the run that begins at `start`. A run may last to the page's
/// last word: in Rhino's own loop such a run was never closed, and its change was lost.
fn run_end(before: &PageBytes, after: &PageBytes, start: usize) -> usize {
    let mut end = start + 1;
    let mut at = end;
    while at < WORDS && at - end < GAP_WORDS {
        if differs(before, after, at) {
            end = at + 1;
        }
        at += 1;
    }
    end
}

/// Put together from all words instead of comparing slices: that would be a call for each stride,
/// which took a tenth of an insert's time.
fn is_stride_same(before: &PageBytes, after: &PageBytes, word: usize) -> bool {
    let stride = |page: &'_ PageBytes| -> [u64; STRIDE_WORDS] {
        let bytes = &page[word * WORD_BYTES..][..STRIDE_WORDS * WORD_BYTES];
        let mut words = [0; STRIDE_WORDS];
        for (into, &from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *into = u64::from_ne_bytes(from);
        }
        words
    };
    let pairs = stride(before).into_iter().zip(stride(after));
    pairs.fold(0, |differing, (one, other)| differing | (one ^ other)) == 0
}

fn differs(before: &PageBytes, after: &PageBytes, word: usize) -> bool {
    u64_at(before, word * WORD_BYTES) != u64_at(after, word * WORD_BYTES)
}

#[cfg(test)]
mod tests;
