//! Whatever is done, the tree holds what a `BTreeMap` holds.

use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{Btree, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use super::{bounds, collect, collect_leaves, empty, get, number, whole};
use crate::pages::memory::MemoryPages;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Debug, Clone)]
enum Operation {
    Put(Vec<u8>, Vec<u8>),
    Insert(Vec<u8>, Vec<u8>),
    /// A key that is there, if any is.
    Remove(Index),
    RemoveRun(Index, usize),
    RemoveAny(Vec<u8>),
    Replace(Index, Vec<u8>),
    /// Consecutive numbers from here on, up or down.
    Run(u64, usize, bool),
}

/// Keys that collide, share prefixes of all lengths, contain zeros and reach the longest.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let short = prop::collection::vec(prop::sample::select(vec![0, 1, 0x7F, 0xFF]), 0..6);
    let shared = (0..KEY_BYTES_MAX, short.clone()).prop_map(|(count, tail)| {
        let mut key = vec![b'k'; count / 64 * 64];
        key.extend(tail);
        key
    });
    let long = prop::collection::vec(any::<u8>(), 0..=KEY_BYTES_MAX);
    let numbers = (0_u64..400).prop_map(|key| number(key).to_vec());
    prop_oneof![4 => short, 4 => shared, 1 => long, 4 => numbers]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    let sizes = prop_oneof![8 => 0..20_usize, 2 => 0..=VALUE_BYTES_MAX, 1 => Just(VALUE_BYTES_MAX)];
    (any::<u8>(), sizes).prop_map(|(byte, count)| vec![byte; count])
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (key(), value()).prop_map(|(key, value)| Operation::Put(key, value)),
        3 => (key(), value()).prop_map(|(key, value)| Operation::Insert(key, value)),
        4 => any::<Index>().prop_map(Operation::Remove),
        1 => (any::<Index>(), 0..60_usize).prop_map(|(at, count)| Operation::RemoveRun(at, count)),
        1 => key().prop_map(Operation::RemoveAny),
        2 => (any::<Index>(), value()).prop_map(|(at, value)| Operation::Replace(at, value)),
        1 => (0_u64..1000, 0..300_usize, any::<bool>())
            .prop_map(|(from, count, up)| Operation::Run(from, count, up)),
    ]
}

fn nth(model: &Model, at: Index) -> Option<Vec<u8>> {
    (!model.is_empty()).then(|| model.keys().nth(at.index(model.len())).unwrap().clone())
}

fn apply(operation: Operation, pages: &mut MemoryPages, tree: Btree, model: &mut Model) {
    match operation {
        Operation::Put(key, value) => {
            let old = tree.put(pages, &key, &value).unwrap();
            assert_eq!(old, model.insert(key, value));
        }
        Operation::Insert(key, value) => {
            let inserted = tree.insert(pages, &key, &value).unwrap();
            assert_eq!(inserted, !model.contains_key(&key));
            model.entry(key).or_insert(value);
        }
        Operation::Remove(at) => {
            if let Some(key) = nth(model, at) {
                assert_eq!(tree.remove(pages, &key).unwrap(), model.remove(&key));
            }
        }
        Operation::RemoveRun(at, count) => {
            let Some(first) = nth(model, at) else { return };
            let keys = model.range(first..).take(count).map(|(key, _)| key.clone());
            for key in keys.collect::<Vec<_>>() {
                assert_eq!(tree.remove(pages, &key).unwrap(), model.remove(&key));
            }
        }
        Operation::RemoveAny(key) => {
            assert_eq!(tree.remove(pages, &key).unwrap(), model.remove(&key));
        }
        Operation::Replace(at, value) => {
            if let Some(key) = nth(model, at) {
                let old = tree.put(pages, &key, &value).unwrap();
                assert_eq!(old, model.insert(key, value));
            }
        }
        Operation::Run(from, count, up) => {
            for step in 0..count as u64 {
                let key = number(if up { from + step } else { from + count as u64 - step });
                let old = tree.put(pages, &key, b"run").unwrap();
                assert_eq!(old, model.insert(key.to_vec(), b"run".to_vec()));
            }
        }
    }
}

fn bound(key: Vec<u8>, kind: u8) -> Bound<Vec<u8>> {
    match kind % 4 {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(key),
        _ => Bound::Included(key),
    }
}

/// The model's entries in a range; nothing if the range is upside down, where a `BTreeMap` panics.
fn model_range(
    model: &Model,
    low: &Bound<Vec<u8>>,
    high: &Bound<Vec<u8>>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    use std::ops::RangeBounds;
    let range = bounds(low, high);
    model
        .iter()
        .filter(|(key, _)| range.contains(key.as_slice()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn compare(pages: &MemoryPages, tree: Btree, model: &Model) {
    let census = whole(pages, tree);
    assert_eq!(census.entries, model.len());
    let mut entries = model.clone().into_iter().collect::<Vec<_>>();
    assert_eq!(collect(tree.forwards(pages, ..).unwrap()), entries);
    assert_eq!(collect_leaves(pages, tree, ..), entries);
    entries.reverse();
    assert_eq!(collect(tree.backwards(pages, ..).unwrap()), entries);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn operations_do_what_they_do_to_a_map(
        operations in prop::collection::vec(operation(), 0..120),
        probes in prop::collection::vec((key(), key(), any::<u8>(), any::<u8>()), 12),
    ) {
        let (mut pages, tree) = empty();
        let mut model = Model::new();
        let root = tree.root();
        for (at, operation) in operations.into_iter().enumerate() {
            apply(operation, &mut pages, tree, &mut model);
            if at % 40 == 0 {
                compare(&pages, tree, &model);
            }
        }
        compare(&pages, tree, &model);
        prop_assert_eq!(root, tree.root());
        for (low, high, low_kind, high_kind) in probes {
            prop_assert_eq!(get(&pages, tree, &low), model.get(&low).cloned());
            let (low, high) = (bound(low, low_kind), bound(high, high_kind));
            let mut entries = model_range(&model, &low, &high);
            let mut cursor = tree.forwards(&pages, bounds(&low, &high)).unwrap();
            for (key, value) in &entries {
                prop_assert_eq!(cursor.entry().unwrap(), Some((key.as_slice(), value.as_slice())));
            }
            prop_assert!(cursor.entry().unwrap().is_none());
            prop_assert!(cursor.entry().unwrap().is_none());
            prop_assert_eq!(&collect_leaves(&pages, tree, bounds(&low, &high)), &entries);
            entries.reverse();
            prop_assert_eq!(collect(tree.backwards(&pages, bounds(&low, &high)).unwrap()), entries);
        }
        let keys = model.keys().cloned().collect::<Vec<_>>();
        for key in keys {
            prop_assert_eq!(tree.remove(&mut pages, &key).unwrap(), model.remove(&key));
        }
        prop_assert_eq!(whole(&pages, tree).levels, 1);
        prop_assert_eq!(pages.allocated(), 1);
    }

    #[test]
    fn a_bulk_load_equals_insertions(
        mut entries in prop::collection::vec((key(), value()), 0..300),
        sorted in 0..4_u8,
        before in prop::collection::vec((key(), value()), 0..2),
        fill_percent in 0..=110_u8,
        after in prop::collection::vec(operation(), 0..20),
    ) {
        let (mut pages, tree) = empty();
        if sorted > 0 {
            entries.sort_by(|one, other| one.0.cmp(&other.0));
        }
        let mut model = Model::new();
        for (key, value) in before {
            apply(Operation::Put(key, value), &mut pages, tree, &mut model);
        }
        tree.bulk_load(&mut pages, entries.clone(), fill_percent).unwrap();
        model.extend(entries);
        compare(&pages, tree, &model);
        for operation in after {
            apply(operation, &mut pages, tree, &mut model);
        }
        compare(&pages, tree, &model);
    }
}
