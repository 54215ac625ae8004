//! The ranges of one page that a transaction has said it will write: `log=set-range`.
//!
//! In the order in which they were said, each as often as it was: nothing is merged, as in
//! Rhino (Saito and Bershad, USENIX 1998), which has to keep every one of them. With each range
//! stand the bytes that lay there when it was said, as in RVM (Satyanarayanan et al., SOSP 1993),
//! so that a rollback needs no log. Checksum and lsn, the page's first 16 bytes, are never part of
//! a range.

use std::ops::Range;

use super::record::RUNS_BYTES_MAX;
use super::runs::{FIRST_BYTE, Runs};
use crate::page::{PAGE_BYTES, PageBytes};

/// All that can be said of a page.
pub const WHOLE: Range<usize> = FIRST_BYTE..PAGE_BYTES;

/// The place where a range begins, and its length.
type Place = (u16, u16);

const _: () = assert!(PAGE_BYTES <= u16::MAX as usize);

/// The ranges declared of one page, and the bytes that lay there.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    places: Vec<Place>,
    /// The bytes of the first range, then those of the second, and so on.
    before: Vec<u8>,
}

impl Ranges {
    /// A range is about to be written. Whether that says anything: an empty range does not.
    pub fn say(&mut self, range: Range<usize>, page: &PageBytes) -> bool {
        let said = Self::place(&range);
        if let Some((at, length)) = said {
            let at = usize::from(at);
            self.before.extend_from_slice(&page[at..at + usize::from(length)]);
        }
        self.places.extend(said);
        said.is_some()
    }

    /// The same where nobody will ask what lay there.
    pub fn say_only(&mut self, range: &Range<usize>) {
        self.places.extend(Self::place(range));
    }

    fn place(range: &Range<usize>) -> Option<Place> {
        let at = range.start.max(FIRST_BYTE);
        assert!(range.end <= PAGE_BYTES, "a range ends within its page");
        (at < range.end).then(|| (at as u16, (range.end - at) as u16))
    }

    /// Their number.
    pub const fn count(&self) -> usize {
        self.places.len()
    }

    /// Give a page back what lay there before the first range was said. The last is the first to
    /// go, since ranges may overlap.
    pub fn restore(&self, page: &mut PageBytes) {
        let mut end = self.before.len();
        for &(at, length) in self.places.iter().rev() {
            let (at, length) = (usize::from(at), usize::from(length));
            page[at..at + length].copy_from_slice(&self.before[end - length..end]);
            end -= length;
        }
    }

    /// The bytes that lie there now, a run for each range, in pieces that a record has room for.
    pub fn redo<'a>(&'a self, page: &'a PageBytes) -> impl Iterator<Item = Runs> + 'a {
        let mut rest = self.places.as_slice();
        std::iter::from_fn(move || {
            let (mut runs, mut bytes) = (Runs::default(), 0);
            while let Some((&(at, length), behind)) = rest.split_first() {
                let (at, length) = (usize::from(at), usize::from(length));
                bytes += Runs::run_bytes(length);
                if bytes > RUNS_BYTES_MAX {
                    break;
                }
                runs.push(at, &page[at..at + length]);
                rest = behind;
            }
            (!runs.is_empty()).then_some(runs)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::runs::apply;
    use super::*;
    use crate::aligned_page::AlignedPage;

    fn page(word: u8) -> PageBytes {
        let mut page = [word; PAGE_BYTES];
        page[..FIRST_BYTE].fill(0);
        page
    }

    #[test]
    fn each_range_is_a_run_as_often_as_it_was_said_over_as_many_records_as_it_takes() {
        let (mut ranges, bytes) = (Ranges::default(), page(7));
        for _ in 0..10_000 {
            assert!(ranges.say(40..48, &bytes));
        }
        assert!(!ranges.say(48..48, &bytes), "nothing");
        assert!(!ranges.say(0..FIRST_BYTE, &bytes), "nobody's to say");
        assert!(ranges.say(0..PAGE_BYTES, &bytes));
        let redo: Vec<Runs> = ranges.redo(&bytes).collect();
        assert_eq!(redo.iter().map(Runs::count).sum::<u32>(), 10_001);
        assert_eq!(redo.last().unwrap().ranges().last(), Some(WHOLE));
        assert!(redo.iter().all(|runs| runs.as_bytes().len() <= RUNS_BYTES_MAX));
        // Twelve bytes for each of eight; the last record has room for the page besides.
        assert_eq!(redo.len(), 10_000_usize.div_ceil(RUNS_BYTES_MAX / 12));
    }

    proptest! {
        #[test]
        fn declared_ranges_are_undone_and_redone(
            writes in prop::collection::vec((16..PAGE_BYTES, 1..200_usize, any::<u8>()), 0..60)
        ) {
            let before = page(1);
            let (mut ranges, mut after) = (Ranges::default(), before);
            for (at, length, word) in writes {
                let range = at..(at + length).min(PAGE_BYTES);
                ranges.say(range.clone(), &after);
                after[range].fill(word);
            }
            let mut restored = after;
            ranges.restore(&mut restored);
            prop_assert!(restored == before);
            let mut restored = AlignedPage::new(restored);
            for runs in ranges.redo(&after) {
                apply(&runs, &mut restored.page_mut()).unwrap();
            }
            prop_assert!(*restored == after);
        }
    }
}
