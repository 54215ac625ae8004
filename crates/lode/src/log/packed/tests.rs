use super::super::runs::{apply, difference};
use super::{PACKED_BYTES_MAX, Packed, Runs};
use crate::aligned_page::AlignedPage;
use crate::page::{PAGE_BYTES, PageBytes, PageNumber};
use proptest::prelude::*;

fn encoded(packed: &Packed) -> Vec<u8> {
    let mut bytes = vec![0; packed.encoded_bytes()];
    packed.encode(&mut bytes);
    bytes
}

/// The changes as they are after a record.
fn decoded(packed: &Packed) -> Packed {
    let mut bytes = encoded(packed);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    Packed::decode(&bytes).expect("what was encoded can be decoded")
}

fn page(value: u8, changes: &[(usize, u8)]) -> PageBytes {
    let mut bytes = [value; PAGE_BYTES];
    for &(at, value) in changes {
        bytes[at] = value;
    }
    bytes
}

fn packed(pages: &[(PageNumber, &PageBytes, &PageBytes)]) -> Packed {
    let mut packed = Packed::default();
    for (page, before, after) in pages {
        packed.push(*page, &difference(before, after), Some(before));
    }
    packed
}

#[test]
fn changes_have_these_bytes() {
    let before = page(7, &[]);
    // Two bytes of one word; on the next page a word that is another in all bytes.
    let few = page(7, &[(16 + 3 * 8, 1), (16 + 3 * 8 + 4, 2)]);
    let mut all = before;
    all[80..88].fill(9);
    all[800..808].fill(9);
    let packed = packed(&[(5, &before, &few), (6, &before, &all)]);
    let word = [9; 8];
    let first: &[u8] = &[2, 5 << 1, 3 << 2 | 2, 0b1_0001, 1, 2];
    let second: &[u8] = &[1 << 1 | 1, 0, (10 - 2) << 2];
    // A gap of 89 words.
    let third: &[u8] = &[0xe4, 2];
    assert_eq!(encoded(&packed), [first, second, &word, third, &word].concat());
}

#[test]
fn longer_runs_show_how_long_and_a_page_from_zeros_has_no_mask() {
    let mut after = page(0, &[]);
    after[16..16 + 8 * 5].fill(3);
    let mut packed = Packed::default();
    packed.push(300, &Runs::of_zeros(&after), None);
    assert_eq!(encoded(&packed)[..5], [1, 0xd8, 4, 1, 3]);
    assert_eq!(packed.encoded_bytes(), 5 + 8 * 5);
}

/// A page from zeros ends with its last byte that is none, within a word.
#[test]
fn a_run_that_ends_within_a_word_is_whole_words_and_the_next_page_follows() {
    let mut after = page(3, &[]);
    after[4_093..].fill(0);
    let mut packed = Packed::default();
    for number in [300, 301] {
        packed.push(number, &Runs::of_zeros(&after), None);
    }
    let decoded = decoded(&packed);
    let found = decoded.pages().map(|(number, runs)| {
        let mut made = AlignedPage::new([0; PAGE_BYTES]);
        apply(&runs, &mut made.page_mut()).unwrap();
        (number, made[16..] == after[16..])
    });
    assert_eq!(found.collect::<Vec<_>>(), [(300, true), (301, true)]);
}

/// The least that T2a leaves of a part: its page, its place and a mask, besides the bytes.
#[test]
fn a_changed_word_costs_four_bytes_besides_those_that_differ() {
    let before = page(7, &[]);
    let after = page(7, &[(2_000, 1), (2_001, 2), (2_004, 3)]);
    let pages: Vec<_> = (1..=200).map(|page| (page, &before, &after)).collect();
    assert_eq!(packed(&pages).encoded_bytes(), 2 + 200 * (4 + 3));
}

#[test]
fn a_record_has_room_until_it_is_full() {
    let before = page(7, &[]);
    // Every fifth word: as many heads as a page can have.
    let mut after = page(7, &[]);
    (16..PAGE_BYTES).step_by(40).for_each(|at| after[at..at + 8].fill(1));
    for longest in [after, page(1, &[])] {
        let mut packed = Packed::default();
        for page in 1.. {
            packed.push(page * 1_000_000, &difference(&before, &longest), None);
            assert!(packed.encoded_bytes() <= PACKED_BYTES_MAX);
            if packed.is_full() {
                break;
            }
        }
        assert_eq!(decoded(&packed), packed);
    }
}

#[test]
fn what_is_no_change_is_refused() {
    let word = [9_u8; 8];
    let good: &[u8] = &[1, 4, 8];
    assert!(Packed::decode(&[good, &word].concat()).is_some());
    let cases: [(&str, &[u8]); 10] = [
        ("nothing", &[]),
        ("no page", &[1]),
        ("no run", &[1, 4]),
        ("half a run", &[1, 4, 8, 9, 9]),
        ("more is left than fills a record", &[1, 4, 10, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("a number without end", &[1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]),
        ("a longer number", &[1, 0x84, 0x80, 0x80, 0x80, 0x80, 0, 10, 1, 9]),
        ("a page twice", &[2, 4, 10, 1, 9, 0, 10, 1, 9]),
        ("a run behind the page", &[1, 4, 0xfa, 0x0f, 1, 9]),
        ("a run beyond the page", &[1, 4, 0xf7, 0x0f, 0, 1, 9, 1, 9]),
    ];
    for (what, bytes) in cases {
        assert_eq!(Packed::decode(bytes), None, "{what}");
    }
}

fn changed() -> impl Strategy<Value = PageBytes> {
    let change = (16..PAGE_BYTES, any::<u8>(), 1..600_usize);
    prop::collection::vec(change, 1..12).prop_map(|changes| {
        let mut after = page(7, &[]);
        for (at, value, length) in changes {
            after[at..(at + length).min(PAGE_BYTES)].fill(value);
        }
        after
    })
}

proptest! {
    #[test]
    fn packed_changes_make_the_pages_what_they_became(
        pages in prop::collection::btree_map(any::<u32>(), changed(), 0..3), masks: bool,
    ) {
        let before = page(7, &[]);
        let mut packed = Packed::default();
        let mut expected = Vec::new();
        for (number, after) in pages {
            let runs = difference(&before, &after);
            if !runs.is_empty() {
                let plain: usize = runs.ranges().map(|range| range.len()).sum();
                let former = packed.encoded_bytes();
                packed.push(number, &runs, masks.then_some(&before));
                let heads = 8 + 4 * runs.count() as usize;
                prop_assert!(packed.encoded_bytes() - former <= plain + heads);
                expected.push((number, after));
            }
        }
        let found: Vec<_> = decoded(&packed)
            .pages()
            .map(|(number, runs)| {
                let mut patched = AlignedPage::new(before);
                apply(&runs, &mut patched.page_mut()).unwrap();
                (number, *patched)
            })
            .collect();
        prop_assert!(found == expected);
    }

    #[test]
    fn any_bytes_are_changes_or_refused(
        bytes in prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..64),
    ) {
        if let Some(packed) = Packed::decode(&bytes) {
            for (_, runs) in packed.pages() {
                apply(&runs, &mut AlignedPage::new(page(7, &[])).page_mut()).unwrap();
            }
            prop_assert!(decoded(&packed) == packed);
        }
    }
}
