mod model;
mod references;

use std::collections::BTreeMap;

use super::*;
use crate::page::NO_PAGE;
use crate::pages::counting::{CountingPages, Counts};
use crate::pages::memory::MemoryPages;

const FILE: FileNumber = 5;

fn made() -> (MemoryPages, Heap) {
    let mut pages = MemoryPages::new();
    let heap = Heap::create(&mut pages, FILE).unwrap();
    (pages, heap)
}

type Model = BTreeMap<RecordId, Vec<u8>>;

fn scanned(pages: &MemoryPages, heap: Heap) -> Model {
    let mut found = Model::new();
    let end = heap.scan::<()>(pages, |id, record| {
        assert_eq!(found.insert(id, record.to_vec()), None, "{id} twice");
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(end.unwrap(), ControlFlow::Continue(()));
    found
}

/// The records that a cursor shows, the same as those of a scan.
fn pulled(pages: &MemoryPages, heap: Heap) -> Model {
    let mut found = Model::new();
    let (mut cursor, mut numbers) = (heap.cursor(pages).unwrap(), heap.cursor(pages).unwrap());
    let mut places = Vec::new();
    while let Some(page) = cursor.next_page(pages).unwrap() {
        for &place in page.records() {
            assert!(place.at.is_multiple_of(8));
            assert_eq!(found.insert(place.id, page.record(place).to_vec()), None);
        }
        let number = numbers.next_number(pages).unwrap().expect("as many numbers as pages");
        let (pinned, records) = page.into_parts();
        assert_eq!(heap.pin_page(pages, number, &mut places).unwrap()[..], pinned[..]);
        assert_eq!(places, records);
    }
    assert_eq!(numbers.next_number(pages).unwrap(), None);
    found
}

fn compare(pages: &MemoryPages, heap: Heap, model: &Model) {
    assert_eq!(&pulled(pages, heap), model);
    assert_eq!(heap.check(pages).unwrap(), model.len() as u64);
    assert_eq!(&scanned(pages, heap), model);
    for (&id, record) in model {
        assert_eq!(&heap.get(pages, id).unwrap(), record);
    }
}

#[test]
fn an_empty_heap_is_its_root() {
    let (mut pages, heap) = made();
    compare(&pages, heap, &Model::new());
    assert_eq!(heap, Heap::open(FILE, heap.root()));
    let nothing = RecordId { page: heap.root(), slot: 0 };
    assert!(matches!(heap.get(&pages, nothing), Err(LodeError::Missing { .. })));
    heap.destroy(&mut pages).unwrap();
    assert_eq!(pages.allocated(), 0);
}

#[test]
fn a_record_that_is_too_long_is_refused_with_the_length_that_fits() {
    let (mut pages, heap) = made();
    let long = vec![1; RECORD_BYTES_MAX + 1];
    let id = heap.insert(&mut pages, b"short", None).unwrap();
    let errors = [
        heap.insert(&mut pages, &long, None).unwrap_err(),
        heap.update(&mut pages, id, &long).unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert_eq!(text, "a record of 4017 bytes is longer than the 4016 that fit");
    }
    assert_eq!(heap.get(&pages, id).unwrap(), b"short");
}

#[test]
fn appending_writes_each_page_once_and_the_root_at_the_end() {
    let (pages, heap) = made();
    let mut pages = CountingPages::new(pages);
    pages.take_counts();
    let mut appender = heap.appender();
    let mut ids = Vec::new();
    for number in 0..1_800_u64 {
        let fill = |bytes: &mut [u8]| bytes[..8].copy_from_slice(&number.to_le_bytes());
        ids.push(appender.append_with(&mut pages, 208, fill).unwrap());
    }
    assert_eq!(pages.take_counts().writes, 99, "18 records fit a page, and one is being filled");
    let error = appender.append(&mut pages, &vec![0; RECORD_BYTES_MAX + 1]).unwrap_err();
    assert!(matches!(error, LodeError::TooLong { .. }));
    appender.finish(&mut pages).unwrap();
    assert!(pages.take_counts().writes <= 3);
    let pages = &mut pages.pages;
    assert_eq!(heap.check(pages).unwrap(), 1_800);
    for (number, id) in ids.iter().enumerate() {
        let record = heap.get(pages, *id).unwrap();
        assert_eq!((record.len(), &record[..8]), (208, &(number as u64).to_le_bytes()[..]));
    }
    let next = heap.insert(pages, &[1; 100], None).unwrap();
    assert_eq!(next.page, ids[1_799].page + u32::from(next.slot == 0), "it goes on there");
}

#[test]
fn unfinished_appends_are_no_part_of_the_heap() {
    let (mut pages, heap) = made();
    heap.insert(&mut pages, b"before", None).unwrap();
    let mut appender = heap.appender();
    for _ in 0..100 {
        appender.append(&mut pages, &[7; 300]).unwrap();
    }
    drop(appender);
    heap.appender().finish(&mut pages).unwrap();
    assert_eq!(heap.check(&pages).unwrap(), 1);
    assert_eq!(scanned(&pages, heap).len(), 1);
}

#[test]
fn a_record_that_moves_keeps_its_id_and_has_no_other() {
    let (mut pages, heap) = made();
    let ids: Vec<_> =
        (0..40_u8).map(|number| heap.insert(&mut pages, &[number; 96], None).unwrap()).collect();
    let id = ids[3];
    let relocated = |pages: &MemoryPages| heap.relocated_place(pages, id).unwrap();
    assert_eq!(relocated(&pages), None);
    for len in [2000, 4000, 1000, RECORD_BYTES_MAX] {
        heap.update(&mut pages, id, &vec![7; len]).unwrap();
        let relocated = relocated(&pages).expect("it does not fit where it was");
        assert_ne!(relocated.page, id.page);
        assert!(matches!(heap.get(&pages, relocated), Err(LodeError::Missing { .. })));
        assert!(matches!(heap.delete(&mut pages, relocated), Err(LodeError::Missing { .. })));
        assert_eq!(heap.get(&pages, id).unwrap(), vec![7; len]);
        assert_eq!(heap.check(&pages).unwrap(), 40);
    }
    for neighbour in &ids[4..38] {
        heap.delete(&mut pages, *neighbour).unwrap();
    }
    // It grows out of the page that it moved to, and its own page has room again.
    let place = relocated(&pages).unwrap();
    heap.update(&mut pages, id, &[8; 10]).unwrap();
    while heap.insert(&mut pages, &[9; 500], Some(place.page)).unwrap().page == place.page {}
    heap.update(&mut pages, id, &[8; 2880]).unwrap();
    assert_eq!(relocated(&pages), None);
    heap.check(&pages).unwrap();
}

#[test]
fn records_lie_near_if_there_is_room_and_in_order_otherwise() {
    let (mut pages, heap) = made();
    let ids: Vec<_> =
        (0..100_u8).map(|byte| heap.insert(&mut pages, &[byte; 100], None).unwrap()).collect();
    assert!(ids.is_sorted());
    let first = ids[0].page;
    assert_ne!(heap.insert(&mut pages, &[0; 100], Some(first)).unwrap().page, first);
    heap.delete(&mut pages, ids[1]).unwrap();
    assert_eq!(heap.insert(&mut pages, &[0; 100], Some(first)).unwrap().page, first);
    // A page that is not the heap's own is no place, however much room it has.
    let other = Heap::create(&mut pages, FILE + 1).unwrap();
    let others = other.insert(&mut pages, b"other", None).unwrap();
    assert_ne!(heap.insert(&mut pages, b"mine", Some(others.page)).unwrap().page, others.page);
    assert_ne!(heap.insert(&mut pages, b"mine", Some(heap.root())).unwrap().page, heap.root());
    assert!(matches!(heap.get(&pages, others), Err(LodeError::Missing { .. })));
}

#[test]
fn freed_room_is_used_before_the_heap_grows() {
    let (mut pages, heap) = made();
    let fill = |pages: &mut MemoryPages, len: usize| -> Vec<RecordId> {
        (0..2000 * 100 / len).map(|_| heap.insert(pages, &vec![1; len], None).unwrap()).collect()
    };
    let ids = fill(&mut pages, 100);
    let before = pages.allocated();
    for id in ids {
        heap.delete(&mut pages, id).unwrap();
    }
    // Of other lengths, too, as far as they do not waste more.
    for len in [100, 8, 790, 3999, 100] {
        let ids = fill(&mut pages, len.max(64));
        assert!(pages.allocated() <= before + 4, "{len}: {} > {before}", pages.allocated());
        for id in ids {
            heap.delete(&mut pages, id).unwrap();
        }
        assert_eq!(heap.check(&pages).unwrap(), 0);
    }
}

#[test]
fn a_damaged_list_changes_no_page_of_another() {
    let (mut pages, heap) = made();
    let other = Heap::create(&mut pages, FILE + 1).unwrap();
    let others = other.insert(&mut pages, b"other", None).unwrap();
    let ids: Vec<_> = (0..100).map(|_| heap.insert(&mut pages, &[1; 100], None).unwrap()).collect();
    let first: Vec<_> = ids.iter().take_while(|id| id.page == ids[0].page).collect();
    for id in &first[..8] {
        heap.delete(&mut pages, **id).unwrap();
    }
    pages
        .write(ids[0].page, |bytes| {
            assert_eq!(bytes[page::offset::LEVEL], 1);
            bytes.put_u32(page::offset::PREVIOUS, others.page);
        })
        .unwrap();
    let mut gains = first[8..].iter().map(|id| heap.delete(&mut pages, **id));
    let error = gains.find_map(Result::err).expect("it is to go to another list").to_string();
    assert!(error.contains("its neighbours on a list do not link to it"), "{error}");
    assert!(heap.check(&pages).is_err());
    assert_eq!(page::u32_at(&copy(&pages, others.page).unwrap(), page::offset::NEXT), NO_PAGE);
    assert_eq!(other.check(&pages).unwrap(), 1);
}

#[test]
fn an_operation_looks_at_as_many_pages_as_it_says_however_large_the_heap() {
    let (pages, heap) = made();
    let mut pages = CountingPages::new(pages);
    let calls = |pages: &mut CountingPages, run: &mut dyn FnMut(&mut CountingPages)| {
        pages.take_counts();
        run(pages);
        let Counts { reads, writes, .. } = pages.take_counts();
        reads + writes
    };
    let mut ids = Vec::new();
    let mut total = 0;
    for _ in 0..4000 {
        total += calls(&mut pages, &mut |pages| {
            ids.push(heap.insert(pages, &[1; 100], None).unwrap());
        });
    }
    // The root and the current page, and some more at every change of it.
    assert!(total < 4000 * 5 / 2, "{total}");
    let (id, mut found) = (ids[1234], Vec::new());
    assert_eq!(calls(&mut pages, &mut |pages| found = heap.get(pages, id).unwrap()), 1);
    assert_eq!(found, [1; 100]);
    assert!(calls(&mut pages, &mut |pages| heap.delete(pages, id).unwrap()) <= 2);
    heap.update(&mut pages, ids[2000], &[2; 3000]).unwrap();
    assert_eq!(calls(&mut pages, &mut |pages| found = heap.get(pages, ids[2000]).unwrap()), 2);
}

#[test]
fn a_scan_ends_where_the_caller_stops_it() {
    let (mut pages, heap) = made();
    for number in 0..50_u8 {
        heap.insert(&mut pages, &[number; 200], None).unwrap();
    }
    let end = heap.scan(&pages, |_, record| match record[0] {
        37 => Ok(ControlFlow::Break(record.len())),
        _ => Ok(ControlFlow::Continue(())),
    });
    assert_eq!(end.unwrap(), ControlFlow::Break(200));
}
