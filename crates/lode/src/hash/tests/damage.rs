//! Structures that contradict themselves: reported, and nothing panics or runs for ever.

use super::filled;
use crate::error::{LodeError, Result};
use crate::hash::mixing::mix;
use crate::hash::table::{self, SLOTS};
use crate::hash::{Hash, directory};
use crate::page::{self, NO_PAGE, PAGE_BYTES, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::memory::MemoryPages;
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

fn next_of(view: View<'_>) -> PageNumber {
    view.next()
}

fn is_corrupt<T>(result: Result<T>) -> bool {
    result.is_err_and(|error| matches!(error, LodeError::Corrupt { .. }))
}

/// A page of the index that the test damages: its root, the bucket of key 1, and its second page.
fn pages_of(pages: &MemoryPages, hash: Hash) -> [PageNumber; 3] {
    let first = directory::locate(pages, hash.root(), mix(1)).unwrap().bucket;
    [hash.root(), first, pages.read(first, next_of).unwrap()]
}

#[test]
fn a_structure_that_contradicts_itself_is_reported_and_ends_nothing() {
    type Damage = fn(&mut PageMut<'_>);
    let as_free: Damage = |bytes| bytes.put_u8(page::offset::KIND, 0);
    let too_deep: Damage = |bytes| bytes.put_u8(page::offset::LEVEL, 200);
    let leads_nowhere: Damage = |bytes| bytes.clear(32..PAGE_BYTES);
    let whole = || filled((0..700).map(|value| (1, value)));
    for (which, damage) in [(0, as_free), (0, too_deep), (0, leads_nowhere), (1, as_free)] {
        let (mut pages, hash) = whole();
        let page = pages_of(&pages, hash)[which];
        pages.write(page, damage).unwrap();
        // Not key 1: what is found is believed.
        assert!(is_corrupt(hash.get_one(&pages, 2)));
        assert!(is_corrupt(hash.get(&pages, 1, |_| {})));
        assert!(is_corrupt(hash.insert(&mut pages, 1, 1)));
        assert!(is_corrupt(hash.remove(&mut pages, 1, 1)));
        assert!(is_corrupt(hash.check(&pages)));
    }
    let (mut pages, hash) = whole();
    let [_, first, second] = pages_of(&pages, hash);
    pages.write(second, as_free).unwrap();
    assert!(is_corrupt(hash.get_one(&pages, 2)));
    assert!(is_corrupt(hash.get(&pages, 1, |_| {})));
    assert!(is_corrupt(hash.insert(&mut pages, 1, 1)));
    assert!(is_corrupt(hash.remove(&mut pages, 2, 1)));
    assert!(is_corrupt(hash.scan(&pages, |_, _| {})));
    pages.write(first, too_deep).unwrap();
    assert!(is_corrupt(hash.check(&pages)));
}

#[test]
fn a_chain_that_bites_its_tail_is_reported() {
    let (mut pages, hash) = filled((0..2_000).map(|value| (1, value)));
    let [_, first, second] = pages_of(&pages, hash);
    let (mut last, mut next) = (first, second);
    while next != NO_PAGE {
        (last, next) = (next, pages.read(next, next_of).unwrap());
    }
    for target in [first, second, last] {
        pages.write(last, |bytes| table::set_next(bytes, target)).unwrap();
        assert!(is_corrupt(hash.get_one(&pages, 2)));
        assert!(is_corrupt(hash.get(&pages, 1, |_| {})));
        assert!(is_corrupt(hash.remove(&mut pages, 1, 2_000)));
        assert!(is_corrupt(hash.scan(&pages, |_, _| {})));
        assert!(is_corrupt(hash.check(&pages)));
    }
}

#[test]
fn the_check_sees_a_misplaced_entry_a_wrong_count_and_a_foreign_file() {
    let damages: [fn(&mut PageMut<'_>); 6] = [
        |bytes| bytes.put_u8(page::offset::COUNT, bytes[page::offset::COUNT] ^ 1),
        |bytes| bytes.put_u8(page::offset::FILE, bytes[page::offset::FILE] ^ 1),
        |bytes| bytes.put_u8(page::offset::LEVEL, bytes[page::offset::LEVEL] ^ 1),
        |bytes| bytes.put(32, &[0xFF; 32]),
        |bytes| {
            let unused = (0..SLOTS).find(|slot| bytes[32 + slot / 8] >> (slot % 8) & 1 == 0);
            bytes.put_u64(64 + unused.unwrap() * 16 + 8, 1);
        },
        |bytes| {
            let entries: Vec<_> = table::entries(bytes).map(|(key, _)| (!key, 0)).collect();
            table::fill(bytes, table::depth(bytes), NO_PAGE, &entries);
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let (mut pages, hash) = filled((0..2_000).map(|key| (key, key)));
        let [_, first, _] = pages_of(&pages, hash);
        hash.check(&pages).unwrap();
        pages.write(first, damage).unwrap();
        assert!(is_corrupt(hash.check(&pages)), "damage {number}");
    }
}
