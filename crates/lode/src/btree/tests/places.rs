//! Keys are found however far from each other they are: where interpolation names the place, where
//! it is misled, and where many share what the slots have of them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::btree::Bytes;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Numbers in a row, in rows far apart, doubling, close together but for a few, and any.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let count = 8..400_u64;
    prop_oneof![
        (any::<u32>(), 1..1_000_u64, count.clone()).prop_map(|(first, step, count)| (0..count)
            .map(|at| u64::from(first) + at * step)
            .collect()),
        (1..40_u64, count.clone()).prop_map(|(row, count)| (0..count)
            .map(|at| ((at / row) << 40) | (at % row))
            .collect()),
        (1..5_u32).prop_map(|step| (0..64 / step).map(|at| 1 << (at * step)).collect()),
        (count, any::<u64>())
            .prop_map(|(count, other)| (0..count).chain([other, !other]).collect()),
        prop::collection::vec(any::<u64>(), 8..400),
    ]
}

/// Keys that distinguish the numbers in their first bytes, in their last, or by their length.
fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let key = |number: u64, shape: u8| match shape {
        0 => number.to_be_bytes().to_vec(),
        1 => number.rotate_left(32).to_be_bytes().to_vec(),
        2 => (number as u32).to_be_bytes().to_vec(),
        3 => [&b"shared by all"[..], &number.to_be_bytes()].concat(),
        _ => vec![number as u8; (number % 9) as usize],
    };
    (numbers(), 0..5_u8)
        .prop_map(move |(numbers, shape)| numbers.into_iter().map(|it| key(it, shape)).collect())
}

fn between(pages: &MemoryPages, tree: Btree, (first, end): (&[u8], &[u8])) -> Option<Vec<Vec<u8>>> {
    tree.read_between(pages, first, end, |values| values.map(Bytes::to_vec).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn whatever_their_distances(keys in keys(), others in keys(), width in 0..12_usize) {
        let (mut pages, tree) = empty();
        let mut model = Model::new();
        for (at, key) in keys.iter().enumerate() {
            let value = at.to_le_bytes().to_vec();
            prop_assert_eq!(tree.put(&mut pages, key, &value).unwrap(), model.get(key).cloned());
            model.insert(key.clone(), value);
        }
        for key in keys.iter().chain(&others) {
            prop_assert_eq!(&get(&pages, tree, key), &model.get(key).cloned());
        }
        let all: Vec<&Vec<u8>> = model.keys().collect();
        for (at, first) in all.iter().enumerate() {
            let end = all.get(at + width).map_or(&[0xff; 24][..], |end| end);
            let range = (Bound::Included(first.as_slice()), Bound::Excluded(end));
            let expected: Vec<_> = model.range::<[u8], _>(range).map(|(_, value)| value).collect();
            if let Some(found) = between(&pages, tree, (first, end)) {
                prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            }
        }
        let reversed = between(&pages, tree, (all[0], &[]));
        prop_assert_eq!(reversed.unwrap_or_default().len(), 0, "an end before the beginning");
    }
}
