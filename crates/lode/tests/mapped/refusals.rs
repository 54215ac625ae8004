//! Pages that cannot be mapped: damaged ones, lode's own, and those that are no file's.

use std::sync::Arc;

use lode::internals::catalog::CATALOG_PAGE;
use lode::internals::disk::{Disk, Memory};
use lode::internals::page::{PAGE_BYTES, PageNumber, offset};
use lode::internals::space::SPACE_PAGE;
use lode::{Database, LodeError, PageRead, Region};

use crate::setup::{combinations, create, in_memory, tactics};

/// Each grain of the locks finds out in its own way what a page belongs to.
const LOCKS: [&str; 3] = ["database", "relation", "page"];

/// The errors of mapping a page to be stored to, and to be read.
fn refused(database: &Database, page: PageNumber) -> [LodeError; 2] {
    let to_write = database.writing().map(&[page]).map(drop).unwrap_err();
    let to_read = database.reading().map(&[page]).map(drop).unwrap_err();
    [to_write, to_read]
}

/// That a page cannot be mapped for that reason, which is no damage, and that the transaction goes
/// on.
fn check_refused(database: &Database, page: PageNumber, why: &str) {
    for error in refused(database, page) {
        assert!(matches!(error, LodeError::Mapping { .. }), "page {page}: {error}");
        let reported = error.to_string();
        let is_right = reported.contains(why) && reported.contains(&format!("page {page} "));
        assert!(is_right, "page {page}: {reported}");
    }
    let mut writing = database.writing();
    writing.map(&[page]).unwrap_err();
    writing.region("object").unwrap().extend(&mut writing, 1).unwrap();
    writing.commit().unwrap();
}

#[test]
fn a_page_that_lode_has_for_itself_is_not_mapped() {
    for locks in LOCKS {
        let database = in_memory(&format!("locks={locks}&extent=8"));
        // Names for more than one page, pages of more than one group.
        let mut writing = database.writing();
        for number in 0..90 {
            writing.region(&format!("region {number}")).unwrap();
        }
        writing.commit().unwrap();
        let pages = create(&database, 2_100);
        let group_pages = 254 * 8;
        let (names, lists) = {
            let reading = database.reading();
            let names = reading.read(CATALOG_PAGE, |view| view.u32(offset::NEXT)).unwrap();
            let region = reading.region("object").unwrap();
            let list = region.root();
            (names, [list, reading.read(list, |view| view.u32(offset::NEXT)).unwrap()])
        };
        let second_group = group_pages + SPACE_PAGE;
        for page in [0, 1, CATALOG_PAGE, SPACE_PAGE, names, second_group, lists[0], lists[1]] {
            check_refused(&database, page, "lode's own");
        }
        for page in group_pages..group_pages + SPACE_PAGE {
            check_refused(&database, page, "no file's");
        }
        assert_eq!(database.reading().map(&pages).unwrap().len(), 2_100 * PAGE_BYTES);
    }
}

#[test]
fn a_page_that_no_file_has_or_that_is_not_there_is_not_mapped() {
    for text in combinations() {
        for locks in LOCKS {
            let database = in_memory(&format!("{text}&locks={locks}"));
            create(&database, 1);
            let mut writing = database.writing();
            let region = writing.region("gone").unwrap();
            region.extend(&mut writing, 40).unwrap();
            writing.commit().unwrap();
            let mut writing = database.writing();
            let pages = region.pages(&writing).unwrap();
            region.destroy(&mut writing).unwrap();
            // It is gone in the transaction itself already.
            let reported = writing.map(&pages[..1]).unwrap_err().to_string();
            assert!(reported.contains("no file's"), "{text}, {locks}: {reported}");
            writing.commit().unwrap();
            for &page in &[pages[0], pages[39]] {
                check_refused(&database, page, "no file's");
            }
            for page in [1_000_000, PageNumber::MAX - 1, PageNumber::MAX] {
                check_refused(&database, page, "there is no");
            }
        }
    }
}

#[test]
fn a_zeroed_page_in_use_is_damaged_for_who_maps_it_too() {
    for text in combinations() {
        let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
        let open = || Database::on(volume.clone(), log.clone(), &tactics(text)).unwrap();
        let database = open();
        let pages = create(&database, 40);
        let mut writing = database.writing();
        let heap = writing.heap("records").unwrap();
        let id = heap.insert(&mut writing, &[1; 64], None).unwrap();
        writing.commit().unwrap();
        database.close().unwrap();
        for page in pages.iter().copied().chain([id.page]) {
            let at = u64::from(page) * PAGE_BYTES as u64;
            let mut whole = vec![0; PAGE_BYTES];
            volume.read(at, &mut whole).unwrap();
            volume.write(at, &[0; PAGE_BYTES]).unwrap();
            let database = open();
            for error in refused(&database, page) {
                let reported = error.to_string();
                assert!(matches!(error, LodeError::Corrupt { .. }), "{text}: {reported}");
                assert!(reported.contains(&format!("page {page} ")), "{text}: {reported}");
                assert!(reported.contains("in use by file"), "{text}: {reported}");
            }
            // What was never stored to, and is zeros behind its header, is mapped.
            let other = pages[usize::from(page == pages[0])];
            let mapped = database.reading().map(&[other]).unwrap();
            assert!(mapped[Region::DATA].iter().all(|&byte| byte == 0), "{text}");
            drop(mapped);
            database.close().unwrap();
            volume.write(at, &whole).unwrap();
        }
    }
}
