use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::page_mut::PageMut;
use crate::pages::memory::MemoryPages;

fn empty() -> MemoryPages {
    let mut pages = MemoryPages::new();
    format(&mut pages).unwrap();
    pages
}

#[test]
fn created_files_are_found_and_numbered_from_1() {
    let mut pages = empty();
    assert_eq!(all(&pages).unwrap(), []);
    let parts = create(&mut pages, "parts", FileKind::Heap).unwrap();
    let index = create(&mut pages, "a name as long!!", FileKind::Btree).unwrap();
    assert_eq!((parts.file, index.file), (1, 2));
    assert_eq!(find(&pages, "parts").unwrap(), parts);
    assert_eq!(find(&pages, "a name as long!!").unwrap(), index);
    assert!(matches!(find(&pages, "part"), Err(LodeError::Missing { .. })));
}

#[test]
fn every_field_is_retained() {
    let mut pages = empty();
    create(&mut pages, "first", FileKind::Hash).unwrap();
    let created = create(&mut pages, "grüße", FileKind::Objects).unwrap();
    let entry =
        Entry { root: 0x0102_0304, words: [u64::MAX - 1, 0x0123_4567_89AB_CDEF], ..created };
    put(&mut pages, &entry).unwrap();
    assert_eq!(find(&pages, "grüße").unwrap(), entry);
    assert_eq!(find(&pages, "first").unwrap().words, [0; 2]);
}

#[test]
fn names_that_are_taken_too_long_or_empty_are_refused() {
    let mut pages = empty();
    let one = create(&mut pages, "one", FileKind::Heap).unwrap();
    let two = create(&mut pages, "two", FileKind::Heap).unwrap();
    let again = create(&mut pages, "one", FileKind::Btree);
    assert!(matches!(again, Err(LodeError::Exists { .. })));
    let renamed = put(&mut pages, &Entry { name: "one".to_owned(), ..two });
    assert!(matches!(renamed, Err(LodeError::Exists { .. })));
    let long = create(&mut pages, "seventeen letters", FileKind::Heap);
    assert!(matches!(long, Err(LodeError::TooLong { bytes: 17, bytes_max: 16, .. })));
    assert!(create(&mut pages, "", FileKind::Heap).is_err());
    assert!(create(&mut pages, "a\0", FileKind::Heap).is_err());
    put(&mut pages, &Entry { name: "uno".to_owned(), ..one }).unwrap();
    let names: Vec<_> = all(&pages).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["uno", "two"]);
}

/// So many files, `file 0` first.
fn filled(files: usize) -> MemoryPages {
    let mut pages = empty();
    for number in 0..files {
        create(&mut pages, &format!("file {number}"), FileKind::Heap).unwrap();
    }
    pages
}

#[test]
fn files_beyond_a_page_have_further_pages_and_a_place_that_was_freed_is_used_again() {
    let mut pages = filled(5 * ENTRIES_MAX + 1);
    assert_eq!(pages.allocated(), 5);
    for number in [0, 83, 84, 167, 168, 420] {
        let found = find(&pages, &format!("file {number}")).unwrap();
        assert_eq!(found.file, number + 1);
        put_root(&mut pages, found.file, 1000 + number).unwrap();
    }
    assert_eq!(find(&pages, "file 168").unwrap().root, 1168);
    assert_eq!(remove(&mut pages, "file 17").unwrap().file, 18);
    assert_eq!(create(&mut pages, "one more", FileKind::Heap).unwrap().file, 18);
    assert_eq!(all(&pages).unwrap().len(), 5 * ENTRIES_MAX + 1);
    assert_eq!(pages.allocated(), 5, "an empty page at the end is used again");
}

#[test]
fn missing_things_are_reported() {
    let mut pages = empty();
    let entry = create(&mut pages, "one", FileKind::Heap).unwrap();
    remove(&mut pages, "one").unwrap();
    assert!(matches!(remove(&mut pages, "one"), Err(LodeError::Missing { .. })));
    assert!(matches!(put(&mut pages, &entry), Err(LodeError::Missing { .. })));
    assert!(matches!(put_root(&mut pages, 1, 5), Err(LodeError::Missing { .. })));
    assert!(matches!(put_root(&mut pages, 0, 5), Err(LodeError::Missing { .. })));
}

#[test]
fn contradictions_are_seen() {
    let damages: [&dyn Fn(&mut PageMut<'_>); 8] = [
        &|bytes| bytes.put_u8(page::offset::KIND, PageKind::Heap as u8),
        &|bytes| bytes.put_u16(page::offset::COUNT, 85),
        &|bytes| bytes.put_u16(page::offset::COUNT, 3),
        &|bytes| bytes.put_u32(entry_at(0) + offset::KIND, u32::MAX),
        &|bytes| bytes.put_u32(entry_at(0) + offset::FILE, 2),
        &|bytes| bytes.put_u8(entry_at(1) + offset::NAME, 0xFF),
        &|bytes| bytes.put_u32(entry_at(0) + offset::FILE, CATALOG_FILE),
        &|bytes| bytes.put_u32(page::offset::NEXT, CATALOG_PAGE),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut pages = empty();
        create(&mut pages, "one", FileKind::Heap).unwrap();
        create(&mut pages, "two", FileKind::Heap).unwrap();
        pages.write(CATALOG_PAGE, |bytes| damage(bytes)).unwrap();
        assert!(matches!(all(&pages), Err(LodeError::Corrupt { .. })), "damage {number}");
    }
}

#[test]
fn contradictions_between_pages_are_seen() {
    let damages: [&dyn Fn(&mut PageMut<'_>); 4] = [
        &|bytes| bytes.put_u32(page::offset::NEXT, CATALOG_PAGE),
        &|bytes| bytes.put_u32(page::offset::FILE, 1),
        &|bytes| bytes.put_u32(entry_at(0) + offset::FILE, 1),
        &|bytes| bytes.put_u16(page::offset::COUNT, 83),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut pages = filled(2 * ENTRIES_MAX + 1);
        let second = pages.read(CATALOG_PAGE, |view| view.u32(page::offset::NEXT)).unwrap();
        pages.write(second, |bytes| damage(bytes)).unwrap();
        assert!(matches!(all(&pages), Err(LodeError::Corrupt { .. })), "damage {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_catalog_is_a_map(
        before in prop_oneof![Just(0), Just(ENTRIES_MAX - 4), Just(2 * ENTRIES_MAX - 3)],
        operations in prop::collection::vec((0..12_u8, 0..4_u8, any::<u64>()), 0..120),
    ) {
        let mut pages = filled(before);
        let mut model: BTreeMap<String, Entry> =
            all(&pages).unwrap().into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        for (name, operation, word) in operations {
            let name = format!("name {name}");
            match operation {
                0 | 1 => {
                    let created = create(&mut pages, &name, FileKind::Hash);
                    prop_assert_eq!(created.is_ok(), !model.contains_key(&name));
                    if let Ok(entry) = created {
                        model.insert(name, entry);
                    }
                }
                2 => prop_assert_eq!(remove(&mut pages, &name).ok(), model.remove(&name)),
                _ => if let Some(entry) = model.get_mut(&name) {
                    entry.words[(word & 1) as usize] = word;
                    entry.root = word as u32;
                    put(&mut pages, entry).unwrap();
                },
            }
            let mut files = all(&pages).unwrap();
            files.sort_by(|one, other| one.name.cmp(&other.name));
            prop_assert!(files.iter().eq(model.values()));
        }
    }
}
