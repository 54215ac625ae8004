//! Reads through a copy of the directory, and near a key's home first, answer as any read does.

use proptest::prelude::*;

use super::{Directory, FILE, Hash, MemoryPages, unmix};

fn loaded(entries: &[(u64, u64)]) -> (MemoryPages, Hash, Directory) {
    let mut pages = MemoryPages::new();
    let root = Hash::load(&mut pages, FILE, entries.iter().copied()).unwrap();
    let (hash, mut directory) = (Hash::open(root), Directory::default());
    hash.refresh(&pages, &mut directory).unwrap();
    (pages, hash, directory)
}

#[test]
fn it_finds_every_key_and_no_other() {
    let entries: Vec<_> = (1..3_000).map(|key| (key, key * 7)).collect();
    let (pages, hash, directory) = loaded(&entries);
    for key in 0..4_000 {
        let expected = (1..3_000).contains(&key).then_some(key * 7);
        assert_eq!(hash.get_by(&pages, &directory, key).unwrap(), expected, "{key}");
        assert_eq!(hash.get_one(&pages, key).unwrap(), expected, "{key}");
        let found = hash.find(&pages, key).unwrap();
        assert_eq!(found.map(|(value, _)| value), expected, "{key}");
        if let Some((value, (page, at))) = found {
            let there = crate::PageRead::read(&pages, page, |view| view.u64(at)).unwrap();
            assert_eq!(there, value, "where it lies");
        }
    }
}

#[test]
fn the_numbers_that_mean_something_else_within_are_keys_and_values_like_others() {
    for (key, value) in [(0, 5), (5, 0), (0, 0), (7, u64::MAX), (0, u64::MAX), (u64::MAX, 7)] {
        let (pages, hash, directory) = loaded(&[(key, value), (key ^ 1, 3)]);
        assert_eq!(hash.get_by(&pages, &directory, key).unwrap(), Some(value));
    }
    let (pages, hash, directory) = loaded(&[(1, 3)]);
    assert_eq!(hash.get_by(&pages, &directory, 0).unwrap(), None, "an empty slot is no key");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Keys of one home fill the groups behind it, and the end of the page is beside its start.
    #[test]
    fn it_finds_keys_far_from_their_home(home in 0..u64::from(u32::MAX), count in 1..40_u64) {
        let keys = (0..count).map(|high| unmix(high << 40 | home));
        let entries: Vec<_> = keys.zip(100..).collect();
        let (pages, hash, directory) = loaded(&entries);
        for &(key, value) in &entries {
            prop_assert_eq!(hash.get_by(&pages, &directory, key).unwrap(), Some(value));
        }
    }
}
