mod damage;
mod try_read;

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::sample::Index;

use super::directory::{CELLS, DEPTH_MAX};
use super::mixing::{mix, prefix, unmix};
use super::search;
use super::table::home;
use super::table::{self, ENTRIES_MAX, GROUPS, QUARTER};
use super::{Directory, Hash, Summary};
use crate::aligned_page::AlignedPage;
use crate::page::{self, PAGE_BYTES, PageKind};
use crate::pages::PageRead;
use crate::pages::memory::MemoryPages;
use crate::view::View;

const FILE: u32 = 7;

type Model = HashMap<u64, Vec<u64>>;

fn empty() -> (MemoryPages, Hash) {
    let mut pages = MemoryPages::new();
    let root = Hash::create(&mut pages, FILE).unwrap();
    (pages, Hash::open(root))
}

fn filled(entries: impl IntoIterator<Item = (u64, u64)>) -> (MemoryPages, Hash) {
    let (mut pages, hash) = empty();
    for (key, value) in entries {
        hash.insert(&mut pages, key, value).unwrap();
    }
    (pages, hash)
}

/// Its summary, after a check that all pages are in use by it.
fn checked(pages: &MemoryPages, hash: Hash) -> Summary {
    let summary = hash.check(pages).unwrap();
    assert_eq!(pages.allocated(), summary.pages() as usize);
    summary
}

fn values(pages: &MemoryPages, hash: Hash, key: u64) -> Vec<u64> {
    let mut found = Vec::new();
    hash.get(pages, key, |value| found.push(value)).unwrap();
    found.sort_unstable();
    found
}

fn assert_is(pages: &MemoryPages, hash: Hash, model: &Model) {
    let entries: usize = model.values().map(Vec::len).sum();
    assert_eq!(checked(pages, hash).entries, entries as u64);
    for (&key, expected) in model {
        let mut expected = expected.clone();
        expected.sort_unstable();
        assert_eq!(values(pages, hash, key), expected);
        let one = hash.get_one(pages, key).unwrap();
        assert!(one.map_or(expected.is_empty(), |one| expected.contains(&one)));
    }
    let mut scanned = Model::new();
    hash.scan(pages, |key, value| scanned.entry(key).or_default().push(value)).unwrap();
    assert_eq!(scanned.values().map(Vec::len).sum::<usize>(), entries);
}

/// Keys whose hashes begin with the same `bits` bits, and which lie at `stride` beyond those.
fn alike(bits: u32, count: u64, stride: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |number| unmix(!(u64::MAX >> bits) | (number * stride)))
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Insert(u64, u64),
    Remove(Index),
    RemoveAbsent(u64, u64),
    RemoveAll(u64),
    InsertMany(u64, u16),
}

/// Keys of all kinds: few that repeat, consecutive ones, hashes alike in the first or last bits.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..4_u64,
        4 => 0..2_000_u64,
        2 => any::<u64>(),
        2 => (0..600_u64).prop_map(|number| unmix(number << 30)),
        2 => (0..600_u64).prop_map(|number| unmix(number << 40 | 0xFFFF_FFFF)),
        1 => Just(u64::MAX),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let value = || prop_oneof![0..3_u64, any::<u64>()];
    prop_oneof![
        6 => (key(), value()).prop_map(|(key, value)| Step::Insert(key, value)),
        3 => any::<Index>().prop_map(Step::Remove),
        1 => (key(), value()).prop_map(|(key, value)| Step::RemoveAbsent(key, value)),
        2 => key().prop_map(Step::RemoveAll),
        2 => (key(), 1..700_u16).prop_map(|(key, count)| Step::InsertMany(key, count)),
    ]
}

fn remove(pages: &mut MemoryPages, hash: Hash, model: &mut Model, key: u64, value: u64) {
    let values_now = model.get_mut(&key).and_then(|values| {
        let at = values.iter().position(|&values_now| values_now == value)?;
        Some(values.swap_remove(at))
    });
    assert_eq!(hash.remove(pages, key, value).unwrap(), values_now.is_some());
}

fn apply(pages: &mut MemoryPages, hash: Hash, model: &mut Model, step: Step) {
    match step {
        Step::Insert(key, value) => {
            hash.insert(pages, key, value).unwrap();
            model.entry(key).or_default().push(value);
        }
        Step::Remove(index) => {
            let mut values_now: Vec<_> =
                model.iter().filter(|(_, values)| !values.is_empty()).collect();
            values_now.sort_unstable();
            if !values_now.is_empty() {
                let (&key, values) = values_now[index.index(values_now.len())];
                let value = values[index.index(values.len())];
                remove(pages, hash, model, key, value);
            }
        }
        Step::RemoveAbsent(key, value) => remove(pages, hash, model, key, value),
        Step::RemoveAll(key) => {
            for value in model.get(&key).cloned().unwrap_or_default() {
                remove(pages, hash, model, key, value);
            }
        }
        Step::InsertMany(first, count) => {
            // From an even key on: many keys; from an odd one: many values of one.
            for number in 0..u64::from(count) {
                let key = if first & 1 == 0 { first.wrapping_add(number) } else { first };
                hash.insert(pages, key, number).unwrap();
                model.entry(key).or_default().push(number);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn it_holds_what_a_map_of_lists_holds(steps in prop::collection::vec(step(), 0..40)) {
        let (mut pages, hash) = empty();
        let mut model = Model::new();
        for step in steps {
            apply(&mut pages, hash, &mut model, step);
            checked(&pages, hash);
        }
        assert_is(&pages, hash, &model);
        for (key, values) in model {
            for value in values {
                prop_assert!(hash.remove(&mut pages, key, value).unwrap());
            }
        }
        prop_assert_eq!(checked(&pages, hash), Summary { buckets: 1, ..Summary::default() });
    }

    #[test]
    fn a_loaded_index_is_a_grown_one(
        entries in prop::collection::vec((key(), 0..3_u64), 0..2_000),
        repeated in 0..500_usize,
        steps in prop::collection::vec(step(), 0..10),
    ) {
        let entries = || {
            let again = entries.first().copied().into_iter().flat_map(|e| vec![e; repeated]);
            entries.iter().copied().chain(again)
        };
        let mut pages = MemoryPages::new();
        let hash = Hash::open(Hash::load(&mut pages, FILE, entries()).unwrap());
        let mut model = Model::new();
        for (key, value) in entries() {
            model.entry(key).or_default().push(value);
        }
        assert_is(&pages, hash, &model);
        for step in steps {
            apply(&mut pages, hash, &mut model, step);
        }
        assert_is(&pages, hash, &model);
        hash.destroy(&mut pages).unwrap();
        prop_assert_eq!(pages.allocated(), 0);
    }

    #[test]
    fn mixing_can_be_undone(key in any::<u64>()) {
        prop_assert_eq!(unmix(mix(key)), key);
        prop_assert_eq!(mix(unmix(key)), key);
    }

    #[test]
    fn any_bytes_may_be_inspected(
        bytes in prop::collection::vec(any::<u8>(), PAGE_BYTES),
        key in any::<u64>(),
        resume in 0..400_usize,
    ) {
        let mut page = AlignedPage::new(bytes.try_into().unwrap());
        page[page::offset::KIND] = PageKind::HashBucket as u8;
        let view = View::of(&page);
        search::probe(view, key, mix(key));
        prop_assert!(search::values_of(view, key, mix(key), resume).count <= 8);
        let _ = table::corruption(&page);
        table::remove_any(&mut page.page_mut());
        table::insert(&mut page.page_mut(), (key, key));
        table::remove(&mut page.page_mut(), (key, key));
    }
}

#[test]
fn an_empty_index_is_two_pages_and_has_nothing() {
    let (mut pages, hash) = empty();
    assert_eq!(checked(&pages, hash), Summary { buckets: 1, ..Summary::default() });
    for key in [0, 1, u64::MAX] {
        assert_eq!(hash.get_one(&pages, key).unwrap(), None);
        assert_eq!(hash.find(&pages, key).unwrap(), None);
        assert_eq!(values(&pages, hash, key), []);
        assert!(!hash.remove(&mut pages, key, 0).unwrap());
    }
    assert_eq!(pages.allocated(), 2);
    assert_eq!(Hash::open(hash.root()), hash);
}

#[test]
fn key_zero_is_distinguished_from_an_empty_slot() {
    let (mut pages, hash) = filled([(0, 0), (0, 5)]);
    assert_eq!(values(&pages, hash, 0), [0, 5]);
    assert!(hash.remove(&mut pages, 0, 0).unwrap());
    assert_eq!(hash.get_one(&pages, 0).unwrap(), Some(5));
    assert!(hash.remove(&mut pages, 0, 5).unwrap());
    assert_eq!(hash.get_one(&pages, 0).unwrap(), None);
}

#[test]
fn a_found_cell_holds_the_value() {
    let (pages, hash) = filled((0..5_000).map(|key| (key, !key)));
    for key in 0..5_000 {
        let (value, (page, at)) = hash.find(&pages, key).unwrap().unwrap();
        assert_eq!((value, at % 8), (!key, 0));
        assert_eq!(pages.read(page, |view| view.u64(at)).unwrap(), value);
    }
}

#[test]
fn a_bucket_is_divided_when_the_next_entry_is_one_too_many() {
    let count = ENTRIES_MAX as u64;
    let (mut pages, hash) = filled((0..count).map(|key| (key, key)));
    assert_eq!(checked(&pages, hash), Summary { entries: count, buckets: 1, ..Summary::default() });
    hash.insert(&mut pages, count, count).unwrap();
    let Summary { buckets, depth, .. } = checked(&pages, hash);
    assert_eq!((buckets, depth), (2, 1));
    assert!((0..=count).all(|key| hash.get_one(&pages, key).unwrap() == Some(key)));
}

#[test]
fn nearly_empty_siblings_merge_and_the_directory_halves() {
    let (mut pages, hash) = filled((0..=ENTRIES_MAX as u64).map(|key| (key, key)));
    for side in [0, 1] {
        let mut own: Vec<_> = (0..=ENTRIES_MAX as u64).collect();
        own.retain(|&key| prefix(mix(key), 1) == side);
        assert_eq!(checked(&pages, hash).buckets, 2);
        for &key in &own[QUARTER - 1..] {
            assert!(hash.remove(&mut pages, key, key).unwrap());
        }
    }
    let entries = 2 * (QUARTER as u64 - 1);
    assert_eq!(checked(&pages, hash), Summary { entries, buckets: 1, ..Summary::default() });
}

#[test]
fn many_values_of_one_key_go_to_a_chain_and_not_to_a_deep_directory() {
    let (mut pages, hash) = filled((0..4_000).map(|value| (42, value)));
    let Summary { buckets, pages_behind, depth, .. } = checked(&pages, hash);
    assert_eq!((buckets, depth), (1, 0));
    assert_eq!(pages_behind as usize, 4_000_usize.div_ceil(ENTRIES_MAX) - 1);
    assert!(values(&pages, hash, 42).into_iter().eq(0..4_000));
    // Others beside them still get buckets of their own.
    for key in 5_000..9_000 {
        hash.insert(&mut pages, key, key).unwrap();
    }
    let summary = checked(&pages, hash);
    assert!(summary.depth <= 7 && summary.buckets > 4_000 / ENTRIES_MAX as u32, "{summary:?}");
    assert!((5_000..9_000).all(|key| hash.get_one(&pages, key).unwrap() == Some(key)));
    assert!(values(&pages, hash, 42).into_iter().eq(0..4_000));
    for value in (0..4_000).rev() {
        assert!(hash.remove(&mut pages, 42, value).unwrap());
    }
    // Those that shared the bucket may still fill a page and a bit, until the next one comes.
    assert!(checked(&pages, hash).pages_behind <= 1);
}

#[test]
fn hashes_alike_in_all_that_a_directory_reports_apart_share_a_chain() {
    let keys = || alike(DEPTH_MAX, 1_000, 1 << 36);
    let (mut pages, hash) = filled(keys().map(|key| (key, key)));
    let Summary { buckets, pages_behind, depth, .. } = checked(&pages, hash);
    assert_eq!((buckets, pages_behind, depth), (1, 4, 0));
    assert!(keys().all(|key| hash.get_one(&pages, key).unwrap() == Some(key)));
    assert!(!hash.remove(&mut pages, unmix(u64::MAX), 0).unwrap());
    assert!(keys().all(|key| hash.remove(&mut pages, key, key).unwrap()));
    assert_eq!(pages.allocated(), 2);
}

#[test]
fn hashes_alike_but_for_the_last_bit_of_the_deepest_directory_are_divided() {
    let first = !(u64::MAX >> (DEPTH_MAX - 1));
    let last_bit = 64 - DEPTH_MAX;
    let key = move |number: u64| unmix(first | ((number & 1) << last_bit) | (number << 20));
    let keys = || (0..428_u64).map(key);
    let (mut pages, hash) = filled(keys().map(|key| (key, key)));
    let Summary { buckets, pages_behind, depth, directory_pages, .. } = checked(&pages, hash);
    assert_eq!((buckets, pages_behind, depth), (DEPTH_MAX + 1, 0, DEPTH_MAX));
    assert_eq!(directory_pages as usize, CELLS);
    assert!(keys().all(|key| hash.get_one(&pages, key).unwrap() == Some(key)));
    assert!(keys().all(|key| hash.remove(&mut pages, key, key).unwrap()));
    assert_eq!(pages.allocated(), 2);
}

#[test]
fn keys_of_one_home_are_found_around_the_tables_end() {
    let last = u64::from(u32::MAX);
    let keys = || (0..100_u64).map(move |number| unmix(number << 32 | last));
    assert!(keys().all(|key| home(mix(key)) == GROUPS - 1));
    let (mut pages, hash) = filled(keys().map(|key| (key, key)));
    for gone in keys() {
        assert!(hash.remove(&mut pages, gone, gone).unwrap());
        checked(&pages, hash);
        assert_eq!(hash.get_one(&pages, gone).unwrap(), None);
    }
}

#[test]
fn it_grows_to_many_and_shrinks_to_none() {
    const COUNT: u64 = 300_000;
    let (mut pages, hash) = empty();
    for key in 0..COUNT {
        hash.insert(&mut pages, key, key ^ 1).unwrap();
    }
    let grown = checked(&pages, hash);
    assert_eq!((grown.entries, grown.pages_behind), (COUNT, 0));
    assert!(grown.depth > 9 && grown.depth < 13 && grown.directory_pages > 1, "{grown:?}");
    // Divided buckets are 69 % of 85 % full in the mean: 147 entries.
    let fill = COUNT / u64::from(grown.buckets);
    assert!((130..165).contains(&fill), "{grown:?}");
    assert!((0..COUNT).all(|key| hash.get_one(&pages, key).unwrap() == Some(key ^ 1)));
    assert!((COUNT..COUNT + 1_000).all(|key| hash.get_one(&pages, key).unwrap().is_none()));
    // Not in the order in which they came.
    for number in 0..COUNT {
        let key = number * 7_919 % COUNT;
        assert!(hash.remove(&mut pages, key, key ^ 1).unwrap());
        if number == COUNT / 2 {
            checked(&pages, hash);
        }
    }
    assert_eq!(checked(&pages, hash), Summary { buckets: 1, ..Summary::default() });
    assert_eq!(pages.allocated(), 2);
}

#[test]
fn a_loaded_index_has_as_many_pages_as_a_grown_one() {
    let entries = || (0..100_000_u64).map(|key| (key << 16 | 3, key));
    let mut pages = MemoryPages::new();
    let hash = Hash::open(Hash::load(&mut pages, FILE, entries()).unwrap());
    assert_eq!(checked(&pages, hash).entries, 100_000);
    let (grown_pages, grown) = filled(entries());
    assert_eq!(checked(&pages, hash), checked(&grown_pages, grown));
    assert!(entries().all(|(key, value)| hash.get_one(&pages, key).unwrap() == Some(value)));
}

#[test]
fn keys_in_steps_of_any_size_spread_over_buckets_and_groups() {
    const COUNT: u64 = 1 << 14;
    // Consecutive numbers, record numbers, multiples of pages, Fibonacci's number 30, high bits.
    for stride in [1, 2, 1 << 16, 4_096, 832_040, 1 << 32, 1 << 40, 1 << 50] {
        let mut buckets = [0_u32; 64];
        let mut groups = [0_u32; GROUPS];
        for number in 0..COUNT {
            let hash = mix(number.wrapping_mul(stride));
            buckets[prefix(hash, 6)] += 1;
            groups[home(hash)] += 1;
        }
        // Five standard deviations of what chance would do: 256 +- 16 and 260 +- 16.
        assert!(buckets.iter().all(|count| (176..337).contains(count)), "{stride}: {buckets:?}");
        assert!(groups.iter().all(|count| (180..341).contains(count)), "{stride}: {groups:?}");
    }
}
