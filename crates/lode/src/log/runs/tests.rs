use super::{FIRST_BYTE, GAP_WORDS, Runs, apply, difference};
use crate::aligned_page::AlignedPage;
use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageBytes};
use proptest::prelude::*;

/// [`apply`], to bytes that are no page of the buffer.
fn apply_to(runs: &Runs, bytes: &mut PageBytes) -> Result<()> {
    let mut page = AlignedPage::new(*bytes);
    let applied = apply(runs, &mut page.page_mut());
    *bytes = *page;
    applied
}

fn page(changes: &[(usize, u8)]) -> PageBytes {
    let mut bytes = [7; PAGE_BYTES];
    for &(at, value) in changes {
        bytes[at] = value;
    }
    bytes
}

fn places(runs: &Runs) -> Vec<(usize, usize)> {
    runs.ranges().map(|range| (range.start, range.end)).collect()
}

/// The changed words by the plainest loop: those that differ, and gaps of less than four.
fn words_expected(before: &PageBytes, after: &PageBytes) -> Vec<bool> {
    let changed: Vec<bool> = (0..PAGE_BYTES / 8)
        .map(|word| word >= 2 && before[word * 8..][..8] != after[word * 8..][..8])
        .collect();
    let near = |word: usize| {
        let left = changed[..word].iter().rposition(|&changed| changed);
        let right = changed[word..].iter().position(|&changed| changed);
        left.zip(right).is_some_and(|(left, right)| word + right - left - 1 < GAP_WORDS)
    };
    (0..changed.len()).map(|word| changed[word] || near(word)).collect()
}

fn words(runs: &Runs) -> Vec<bool> {
    let mut words = vec![false; PAGE_BYTES / 8];
    for range in runs.ranges() {
        words[range.start / 8..range.end / 8].fill(true);
    }
    words
}

#[test]
fn equal_pages_differ_in_nothing() {
    assert!(difference(&page(&[]), &page(&[])).is_empty());
}

#[test]
fn checksum_and_lsn_are_never_part_of_a_difference() {
    assert!(difference(&page(&[]), &page(&[(0, 1), (8, 1), (15, 1)])).is_empty());
    let first = difference(&page(&[]), &page(&[(15, 1), (16, 1)]));
    assert_eq!(places(&first), [(16, 24)]);
    assert_eq!(places(&Runs::whole(&page(&[]))), [(16, PAGE_BYTES)]);
}

#[test]
fn the_last_word_is_a_run() {
    let runs = difference(&page(&[]), &page(&[(PAGE_BYTES - 1, 1)]));
    assert_eq!(places(&runs), [(PAGE_BYTES - 8, PAGE_BYTES)]);
    let longer = difference(&page(&[]), &page(&[(PAGE_BYTES - 17, 1), (PAGE_BYTES - 1, 1)]));
    assert_eq!(places(&longer), [(PAGE_BYTES - 24, PAGE_BYTES)]);
}

#[test]
fn three_equal_words_are_merged_and_four_are_not() {
    let merged = difference(&page(&[]), &page(&[(64, 1), (64 + 4 * 8, 1)]));
    assert_eq!(places(&merged), [(64, 104)]);
    let apart = difference(&page(&[]), &page(&[(64, 1), (64 + 5 * 8, 1)]));
    assert_eq!(places(&apart), [(64, 72), (104, 112)]);
}

#[test]
fn runs_that_reach_where_they_must_not_are_damage() {
    let runs = |at: u16, length: u16| {
        let mut bytes = [at.to_le_bytes(), length.to_le_bytes()].concat();
        bytes.resize(bytes.len() + usize::from(length).next_multiple_of(4), 1);
        bytes
    };
    for (at, length) in [(8, 8), (15, 4), (4092, 5), (4096, 1), (u16::MAX, 4), (16, 0)] {
        assert_eq!(Runs::decode(1, &runs(at, length)), None, "{at} {length}");
        let unchecked = Runs { count: 1, bytes: runs(at, length) };
        let damage = apply_to(&unchecked, &mut page(&[]));
        assert!(matches!(damage, Err(LodeError::Corrupt { .. })), "{at} {length}");
    }
    assert!(Runs::decode(1, &runs(4092, 4)).is_some());
    assert_eq!(Runs::decode(2, &runs(4092, 4)), None);
    assert_eq!(Runs::decode(1, &[runs(4092, 4), vec![0; 8]].concat()), None);
    assert_eq!(Runs::decode(1, &runs(4088, 8)[..11]), None);
}

#[test]
fn lengths_that_are_no_multiple_of_four_are_filled() {
    let mut runs = Runs::default();
    runs.push(FIRST_BYTE + 1, &[1, 2, 3, 4, 5]);
    runs.push(100, &[6]);
    assert_eq!(runs.as_bytes().len(), 4 + 8 + 4 + 4);
    let mut patched = page(&[]);
    apply_to(&Runs::decode(2, runs.as_bytes()).unwrap(), &mut patched).unwrap();
    let expected = page(&[(17, 1), (18, 2), (19, 3), (20, 4), (21, 5), (100, 6)]);
    assert_eq!(patched, expected);
}

proptest! {
    #[test]
    fn a_difference_makes_the_one_page_from_the_other_both_ways(
        changes in prop::collection::vec((0..PAGE_BYTES, any::<u8>(), 1..300_usize), 0..12),
    ) {
        let before = page(&[]);
        let mut after = before;
        for (at, value, length) in changes {
            after[at..(at + length).min(PAGE_BYTES)].fill(value);
        }
        let redo = difference(&before, &after);
        prop_assert_eq!(words(&redo), words_expected(&before, &after));
        prop_assert_eq!(Runs::decode(redo.count(), redo.as_bytes()), Some(redo.clone()));

        let mut patched = before;
        apply_to(&redo, &mut patched).unwrap();
        prop_assert_eq!(&patched[16..], &after[16..]);
        prop_assert_eq!(&patched[..16], &before[..16]);
        apply_to(&difference(&after, &before), &mut patched).unwrap();
        prop_assert_eq!(patched, before);

        let mut replaced = before;
        apply_to(&Runs::whole(&after), &mut replaced).unwrap();
        prop_assert_eq!(&replaced[16..], &after[16..]);
    }

    #[test]
    fn any_bytes_are_runs_or_refused(
        count in 0..5_u32,
        bytes in prop::collection::vec(prop_oneof![Just(0), Just(16), any::<u8>()], 0..64),
    ) {
        if let Some(runs) = Runs::decode(count, &bytes) {
            apply_to(&runs, &mut page(&[])).unwrap();
        }
        let _ = apply_to(&Runs { count, bytes }, &mut page(&[]));
    }
}

proptest! {
    #[test]
    fn runs_from_zeros_are_the_whole_page_but_its_first_bytes(
        changes in prop::collection::vec((FIRST_BYTE..PAGE_BYTES, any::<u8>()), 0..40),
        filled in prop::option::of(0..=PAGE_BYTES),
    ) {
        let mut after: PageBytes = [0; PAGE_BYTES];
        if let Some(end) = filled {
            after[FIRST_BYTE..end.max(FIRST_BYTE)].fill(9);
        }
        for (at, value) in changes {
            after[at] = value;
        }
        let runs = Runs::of_zeros(&after);
        let mut found: PageBytes = [0; PAGE_BYTES];
        apply_to(&runs, &mut found).unwrap();
        prop_assert_eq!(&found[..], &after[..]);
        // Where an eighth of the page and more stayed zeros, they are not logged.
        let zeros = after.chunks(64).filter(|stride| stride.iter().all(|byte| *byte == 0)).count();
        if zeros > PAGE_BYTES / 64 / 8 {
            prop_assert_eq!(runs, difference(&[0; PAGE_BYTES], &after));
        }
    }
}

#[test]
fn a_page_that_stayed_zeros_is_no_run() {
    let mut page: PageBytes = [0; PAGE_BYTES];
    page[..FIRST_BYTE].fill(3);
    assert!(Runs::of_zeros(&page).is_empty());
}
