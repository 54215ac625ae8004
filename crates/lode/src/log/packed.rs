//! Changes of many pages, as one record of a commit has them: `log=page-diff`.
//!
//! A record for each page takes 40 bytes beside what changed, and more than most changes are long.
//! Here a page is named by its distance from the one before, a run of changed words by its distance
//! from the run before, each by as few bytes as the number needs (LEB128); and of a short run only
//! the bytes that differ are there, behind a mask for each word.

use super::runs::{FIRST_BYTE, Runs, WORD_BYTES, WORDS};
use crate::page::{PAGE_BYTES, PageBytes, PageNumber};

/// The most bytes that one record has of them: with its head the longest record.
pub(super) const PACKED_BYTES_MAX: usize = 16 * 1024 - 32;

const FIRST_WORD: usize = FIRST_BYTE / WORD_BYTES;

/// Longer runs are not looked through for bytes that stayed: their heads hardly count.
const MASKED_WORDS_MAX: usize = 32;

/// The longest number: of the 33 bits that a page's distance and a bit take.
const NUMBER_BYTES_MAX: usize = 5;

/// The most bytes that one page takes: its number and that of its runs, a head of four bytes for a
/// run of all its words, and these. Two runs are at least four words apart, so more of them are
/// shorter.
const PAGE_PACKED_BYTES_MAX: usize = 2 * NUMBER_BYTES_MAX + 4 + PAGE_BYTES - FIRST_BYTE;

/// Changes of several pages, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packed {
    pages: u32,
    last: PageNumber,
    bytes: Vec<u8>,
}

impl Packed {
    /// Add the runs of a page that lies behind all that are here: at least one, of whole words but
    /// for zeros at the last one's end, in ascending order. `before` is what the page was, where
    /// that is at hand.
    pub fn push(&mut self, page: PageNumber, runs: &Runs, before: Option<&PageBytes>) {
        assert!(self.pages == 0 || page > self.last, "pages are packed in ascending order");
        let count = u64::from(runs.count());
        self.push_head(u64::from(page - self.last) << 1, count);
        (self.pages, self.last) = (self.pages + 1, page);
        let mut behind = FIRST_WORD;
        for (at, bytes) in runs.pieces() {
            let (word, words) = (at / WORD_BYTES, bytes.len().div_ceil(WORD_BYTES));
            let gap = (word - behind) as u64;
            let before = before.map(|page| &page[at..at + bytes.len()]);
            let masked = before.filter(|before| is_shorter_masked(before, bytes));
            self.push_head(gap << 2 | u64::from(masked.is_some()) << 1, words as u64);
            if let Some(before) = masked {
                self.push_masked(before, bytes);
            } else {
                self.bytes.extend_from_slice(bytes);
                self.bytes.resize(self.bytes.len() + words * WORD_BYTES - bytes.len(), 0);
            }
            behind = word + words;
        }
    }

    /// A number whose lowest bit shows whether there is more than one of what follows, and how
    /// many.
    fn push_head(&mut self, number: u64, count: u64) {
        push_number(&mut self.bytes, number | u64::from(count > 1));
        if count > 1 {
            push_number(&mut self.bytes, count - 2);
        }
    }

    fn push_masked(&mut self, before: &[u8], after: &[u8]) {
        for (before, after) in before.chunks(WORD_BYTES).zip(after.chunks(WORD_BYTES)) {
            let differs = |place: &usize| before[*place] != after[*place];
            let places = || (0..after.len()).filter(differs);
            self.bytes.push(places().fold(0, |mask, place| mask | 1 << place));
            self.bytes.extend(places().map(|place| after[place]));
        }
    }

    /// The changes that a record has there; `None` if these are none: a run reaches beyond its
    /// page, or something is left over.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let pages = u32::try_from(number(&mut rest)?).ok()?;
        let (packed, mut last) = (rest, None);
        for _ in 0..pages {
            last = Some(next_page(&mut rest, last)?.0);
        }
        // A record's length is a multiple of 8.
        let used = packed.len() - rest.len();
        let last = last.unwrap_or_default();
        (rest.len() < WORD_BYTES).then(|| Self { pages, last, bytes: packed[..used].to_vec() })
    }

    /// Write what stands in a record, to where it has room.
    pub fn encode(&self, into: &mut [u8]) {
        let mut pages = Vec::with_capacity(NUMBER_BYTES_MAX);
        push_number(&mut pages, u64::from(self.pages));
        let (head, behind) = into.split_at_mut(pages.len());
        head.copy_from_slice(&pages);
        behind[..self.bytes.len()].copy_from_slice(&self.bytes);
    }

    /// The bytes that this takes.
    pub fn encoded_bytes(&self) -> usize {
        let bits = (u32::BITS - self.pages.leading_zeros()).max(1);
        bits.div_ceil(7) as usize + self.bytes.len()
    }

    /// Whether a record may have no room for another page.
    pub fn is_full(&self) -> bool {
        self.bytes.len() > PACKED_BYTES_MAX - NUMBER_BYTES_MAX - PAGE_PACKED_BYTES_MAX
    }

    /// Whether nothing was added.
    pub const fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Each page and its runs: as many pieces as are to be put there.
    pub fn pages(&self) -> impl Iterator<Item = (PageNumber, Runs)> + '_ {
        let (mut rest, mut last) = (self.bytes.as_slice(), None);
        std::iter::from_fn(move || {
            let (page, runs) = next_page(&mut rest, last)?;
            last = Some(page);
            Some((page, runs))
        })
    }
}

/// Whether a mask for each word, and the bytes that differ, are fewer than all bytes.
fn is_shorter_masked(before: &[u8], after: &[u8]) -> bool {
    let words = after.len().div_ceil(WORD_BYTES);
    let same = || before.iter().zip(after).filter(|(before, after)| before == after).count();
    words <= MASKED_WORDS_MAX && same() > words
}

/// The next page of packed ones, behind the last.
fn next_page(rest: &mut &[u8], last: Option<PageNumber>) -> Option<(PageNumber, Runs)> {
    let (distance, count) = head(rest)?;
    let distance = PageNumber::try_from(distance).ok()?;
    let page = match last {
        None => distance,
        Some(last) => last.checked_add(distance).filter(|_| distance > 0)?,
    };
    let (mut runs, mut word) = (Runs::default(), FIRST_WORD);
    for _ in 0..count {
        let (flagged, words) = head(rest)?;
        let is_within = |words: &usize| *words <= WORDS - word;
        word += usize::try_from(flagged >> 1).ok().filter(is_within)?;
        let words = usize::try_from(words).ok().filter(|words| *words <= WORDS - word)?;
        if flagged & 1 == 1 {
            (word..word + words).try_for_each(|word| unmask(rest, word, &mut runs))?;
        } else {
            let bytes = take(rest, words * WORD_BYTES)?;
            runs.push(word * WORD_BYTES, bytes);
        }
        word += words;
    }
    Some((page, runs))
}

/// The number above its lowest bit, and how many follow.
fn head(rest: &mut &[u8]) -> Option<(u64, u64)> {
    let first = number(rest)?;
    let count = if first & 1 == 1 { number(rest)?.checked_add(2)? } else { 1 };
    Some((first >> 1, count))
}

/// The bytes of one word that differ, as runs.
fn unmask(rest: &mut &[u8], word: usize, runs: &mut Runs) -> Option<()> {
    let mask = take(rest, 1)?[0];
    let mut place = 0;
    while place < WORD_BYTES {
        let length = (mask >> place).trailing_ones() as usize;
        if length > 0 {
            runs.push(word * WORD_BYTES + place, take(rest, length)?);
        }
        place += length + 1;
    }
    Some(())
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

fn push_number(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..NUMBER_BYTES_MAX {
        let byte = take(rest, 1)?[0];
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;
