//! The edges: nothing, one, the longest, the fullest, the order of arrival.

use std::ops::Bound;

use super::super::{Btree, KEY_BYTES_MAX, VALUE_BYTES_MAX, check};
use super::{collect, empty, get, number, whole};
use crate::error::LodeError;
use crate::pages::memory::MemoryPages;

/// Numbers from 0 to 4,999 in an order that jumps about: 3,571 has no factor in common with 5,000.
fn scattered() -> impl Iterator<Item = u64> {
    (0..5_000).map(|step| step * 3_571 % 5_000)
}

fn of_numbers(numbers: impl Iterator<Item = u64>) -> (MemoryPages, Btree) {
    let (mut pages, tree) = empty();
    for key in numbers {
        assert!(tree.insert(&mut pages, &number(key), &key.to_le_bytes()).unwrap());
    }
    (pages, tree)
}

#[test]
fn an_empty_tree_has_nothing() {
    let (mut pages, tree) = empty();
    assert_eq!(get(&pages, tree, b""), None);
    assert_eq!(tree.remove(&mut pages, b"x").unwrap(), None);
    assert_eq!(collect(tree.forwards(&pages, ..).unwrap()), []);
    assert_eq!(collect(tree.backwards(&pages, ..).unwrap()), []);
    assert_eq!(whole(&pages, tree).entries, 0);
}

#[test]
fn an_empty_key_with_an_empty_value_is_an_entry() {
    let (mut pages, tree) = empty();
    assert!(tree.insert(&mut pages, b"", b"").unwrap());
    assert_eq!(get(&pages, tree, b""), Some(Vec::new()));
    assert_eq!(collect(tree.backwards(&pages, ..).unwrap()), [(Vec::new(), Vec::new())]);
    assert_eq!(tree.remove(&mut pages, b"").unwrap(), Some(Vec::new()));
    assert_eq!(get(&pages, tree, b""), None);
}

#[test]
fn zeros_at_the_end_of_a_key_count() {
    let (mut pages, tree) = empty();
    let keys = (0..12).map(|zeros| vec![0; zeros]).collect::<Vec<_>>();
    for key in keys.iter().rev() {
        assert!(tree.insert(&mut pages, key, &[key.len() as u8]).unwrap());
    }
    let found = collect(tree.forwards(&pages, ..).unwrap());
    assert_eq!(found.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), keys);
    for key in &keys {
        assert_eq!(get(&pages, tree, key), Some(vec![key.len() as u8]));
    }
}

#[test]
fn an_insertion_lets_a_value_stay_and_a_put_replaces_it() {
    let (mut pages, tree) = empty();
    assert!(tree.insert(&mut pages, b"key", b"one").unwrap());
    assert!(!tree.insert(&mut pages, b"key", b"two").unwrap());
    assert_eq!(tree.put(&mut pages, b"key", b"three").unwrap(), Some(b"one".to_vec()));
    assert_eq!(get(&pages, tree, b"key"), Some(b"three".to_vec()));
}

#[test]
fn keys_too_long_are_refused_and_all_others_stored() {
    let (mut pages, tree) = empty();
    let (key, value) = ([7; KEY_BYTES_MAX + 1], [8; VALUE_BYTES_MAX + 1]);
    let refused = |result| match result {
        Err(LodeError::TooLong { bytes, bytes_max, .. }) => assert_eq!(bytes, bytes_max + 1),
        other => panic!("{other:?}"),
    };
    refused(tree.insert(&mut pages, &key, b"").map(drop));
    refused(tree.put(&mut pages, b"", &value).map(drop));
    refused(tree.bulk_load(&mut pages, [(&key, b"")], 100));
    assert_eq!(get(&pages, tree, &key), None);
    assert_eq!(tree.remove(&mut pages, &key).unwrap(), None);
    assert!(tree.insert(&mut pages, &key[1..], &value[1..]).unwrap());
    assert_eq!(get(&pages, tree, &key[1..]), Some(value[1..].to_vec()));
}

#[test]
fn entries_of_the_greatest_length_in_any_order() {
    for step in [1, 7, 39] {
        let (mut pages, tree) = empty();
        for at in 0..40_usize {
            let mut key = [9; KEY_BYTES_MAX];
            key[at * step % 40 * 12] = 0;
            assert!(tree.insert(&mut pages, &key, &[at as u8; VALUE_BYTES_MAX]).unwrap());
            whole(&pages, tree);
        }
        assert_eq!(collect(tree.forwards(&pages, ..).unwrap()).len(), 40);
    }
}

#[test]
fn a_key_without_the_prefix_of_a_full_page_is_cut_off() {
    for stranger in [vec![0], vec![9], vec![5; 200], vec![5; KEY_BYTES_MAX]] {
        let (mut pages, tree) = empty();
        let mut count = 0_u16;
        while whole(&pages, tree).levels == 1 {
            let mut key = vec![5; 480];
            key.extend(count.to_be_bytes());
            assert!(tree.insert(&mut pages, &key, b"").unwrap());
            count += 1;
            if whole(&pages, tree).levels == 1 && count.is_multiple_of(25) {
                let mut copy = MemoryPages::new();
                let second = Btree::create(&mut copy, 7).unwrap();
                let entries = collect(tree.forwards(&pages, ..).unwrap());
                second.bulk_load(&mut copy, entries, 100).unwrap();
                second.insert(&mut copy, &stranger, &[1; VALUE_BYTES_MAX]).unwrap();
                assert_eq!(whole(&copy, second).entries, usize::from(count) + 1);
            }
        }
        // With the prefix stored once, 480 bytes of each key do not count.
        assert!(count > 250, "{count}");
    }
}

#[test]
fn keys_in_ascending_or_descending_order_fill_their_pages() {
    let least = of_numbers(0..0);
    assert_eq!(whole(&least.0, least.1).leaves, 1);
    for (pages, tree) in [of_numbers(0..5_000), of_numbers((0..5_000).rev())] {
        let census = whole(&pages, tree);
        let filled_percent = census.leaf_bytes * 100 / (census.leaves * 4096);
        assert!(filled_percent >= 95, "{census:?}");
    }
    let (pages, tree) = of_numbers(scattered());
    let census = whole(&pages, tree);
    assert!(census.leaf_bytes * 100 / (census.leaves * 4096) >= 60, "{census:?}");
}

#[test]
fn a_bulk_load_fills_pages_as_far_as_reported() {
    for (fill_percent, least) in [(100, 98), (90, 88), (50, 48)] {
        let (mut pages, tree) = empty();
        let entries = (0..20_000_u64).map(|key| (number(key), key.to_le_bytes()));
        tree.bulk_load(&mut pages, entries, fill_percent).unwrap();
        let census = whole(&pages, tree);
        let filled_percent = census.leaf_bytes * 100 / (census.leaves * 4096);
        let most = usize::from(fill_percent);
        assert!((least..=most).contains(&filled_percent), "{filled_percent} {census:?}");
        assert_eq!(get(&pages, tree, &number(12_345)), Some(12_345_u64.to_le_bytes().to_vec()));
    }
}

#[test]
fn removed_pages_are_freed_whatever_the_order() {
    let orders =
        [(0..5_000).collect(), (0..5_000).rev().collect(), scattered().collect::<Vec<_>>()];
    for order in orders {
        let (mut pages, tree) = of_numbers(scattered());
        let full = whole(&pages, tree);
        for (at, key) in order.into_iter().enumerate() {
            let old = tree.remove(&mut pages, &number(key)).unwrap();
            assert_eq!(old, Some(key.to_le_bytes().to_vec()));
            if at == 4_499 {
                let tenth = whole(&pages, tree);
                assert!(tenth.leaves * 3 < full.leaves, "{tenth:?}");
            }
        }
        assert_eq!(pages.allocated(), 1);
        assert_eq!(whole(&pages, tree).entries, 0);
        assert!(tree.insert(&mut pages, b"again", b"").unwrap());
    }
}

#[test]
fn separators_are_as_short_as_can_be() {
    let (mut pages, tree) = empty();
    // Keys that differ early and are long behind that: what separates them is short.
    let entries = (0..2_000_u16).map(|key| {
        let mut text = key.to_be_bytes().to_vec();
        text.extend([b'x'; 400]);
        (text, b"")
    });
    tree.bulk_load(&mut pages, entries, 100).unwrap();
    let census = check(&pages, tree.root()).unwrap();
    assert_eq!((census.levels, census.inner_pages), (2, 1), "{census:?}");
}

#[test]
fn values_that_grow_and_shrink_in_place() {
    let (mut pages, tree) = of_numbers(0..300);
    for round in [3_usize, 60, 61, 0, VALUE_BYTES_MAX, 1] {
        for key in 0..300 {
            let old = get(&pages, tree, &number(key));
            assert_eq!(tree.put(&mut pages, &number(key), &vec![1; round]).unwrap(), old);
        }
        assert_eq!(whole(&pages, tree).entries, 300);
        assert!(collect(tree.forwards(&pages, ..).unwrap()).iter().all(|(_, v)| v.len() == round));
    }
}

#[test]
fn a_cursor_goes_to_another_range() {
    let (pages, tree) = of_numbers((0..5_000).map(|key| key * 2));
    let mut cursor = tree.forwards(&pages, ..).unwrap();
    for low in [9_998_u64, 0, 777, 4_001] {
        let (from, to) = (number(low), number(low + 100));
        cursor.seek((Bound::Included(&from[..]), Bound::Excluded(&to[..]))).unwrap();
        let mut key_due = low.next_multiple_of(2);
        while let Some((key, value)) = cursor.entry().unwrap() {
            assert_eq!((key, value), (&number(key_due)[..], &key_due.to_le_bytes()[..]));
            key_due += 2;
        }
        assert_eq!(key_due, (low + 100).min(10_000).next_multiple_of(2));
    }
}

#[test]
fn values_are_read_as_numbers_wherever_they_lie() {
    let (mut pages, tree) = empty();
    for key in 0..100_u64 {
        let mut value = vec![0xEE; (key % 9) as usize];
        value.extend((key << 40 | 5).to_le_bytes());
        assert!(tree.insert(&mut pages, &number(key)[..], &value).unwrap());
    }
    for key in 0..100_u64 {
        let at = (key % 9) as usize;
        let found = tree.get(&pages, &number(key), |value| (value.count(), value.u64(at)));
        assert_eq!(found.unwrap(), Some((at + 8, key << 40 | 5)));
        let beyond = tree.get(&pages, &number(key), |value| (value.u64(at + 3), value.u64(90)));
        assert_eq!(beyond.unwrap(), Some(((key << 40 | 5) >> 24, 0)));
    }
}

#[test]
fn a_high_tree_grows_and_shrinks_level_by_level() {
    // Keys of 150 groups that share much within a group and nothing across: separators are long,
    // and an inner page has few.
    let entry = |at: u64| {
        let mut key = vec![(at % 150) as u8];
        key.extend([b'x'; 480]);
        key.extend(number(at / 150));
        (key, vec![at as u8; 700])
    };
    let order = |start: u64| (0..1_500_u64).map(move |step| (start + step * 7_919) % 1_500);
    let (mut pages, tree) = empty();
    for at in order(0) {
        let (key, value) = entry(at);
        assert!(tree.insert(&mut pages, &key, &value).unwrap());
    }
    let grown = whole(&pages, tree);
    let (mut packed, second) = empty();
    let mut entries = (0..1_500).map(entry).collect::<Vec<_>>();
    entries.sort_unstable();
    second.bulk_load(&mut packed, entries.clone(), 100).unwrap();
    assert!(grown.levels >= 4 && whole(&packed, second).levels >= 3, "{grown:?}");
    assert!(whole(&packed, second).leaves < grown.leaves);
    for (mut pages, tree) in [(pages, tree), (packed, second)] {
        assert_eq!(collect(tree.forwards(&pages, ..).unwrap()), entries);
        for (step, at) in order(700).enumerate() {
            let (key, value) = entry(at);
            assert_eq!(tree.remove(&mut pages, &key).unwrap(), Some(value));
            if step % 50 == 0 {
                assert_eq!(whole(&pages, tree).entries, 1_499 - step);
            }
        }
        assert_eq!((pages.allocated(), whole(&pages, tree).levels), (1, 1));
    }
}
