//! The cost of a store to the log, and the refusals.

use std::thread;

use lode::internals::page::HEADER_BYTES;
use lode::internals::page::PAGE_BYTES;
use lode::tactics::Detect;
use lode::{Database, LodeError, Region};

use crate::setup::{PAGE_DATA, combinations, contents, create, in_memory, store};

fn detect_of(database: &Database) -> Detect {
    database.tactics().detect
}

fn log_bytes(database: &Database) -> u64 {
    database.counters().unwrap().log.record_bytes
}

/// The bytes that a transaction of stores logs.
fn logged(text: &str, pages: usize, stores: impl Fn(&mut dyn FnMut(usize, usize, &[u8]))) -> u64 {
    let database = in_memory(text);
    let numbers = create(&database, pages);
    let before = log_bytes(&database);
    let mut writing = database.writing();
    let mapping = writing.map(&numbers).unwrap();
    stores(&mut |at, offset, bytes| {
        store(&mut writing, detect_of(&database), mapping, at, offset, bytes);
    });
    writing.commit().unwrap();
    log_bytes(&database) - before
}

/// Four stores that end with what was there, on each of ten pages: Rhino's T2c.
#[test]
fn a_value_that_is_set_back_is_logged_as_the_scheme_says() {
    let stores = |store: &mut dyn FnMut(usize, usize, &[u8])| {
        for at in 0..10 {
            for round in 1..=4_u8 {
                store(at, 100, &[round % 4; 8]);
            }
        }
    };
    for text in combinations() {
        let bytes = logged(text, 12, stores);
        if text.contains("page-diff") {
            assert_eq!(bytes, 0, "{text}");
        } else if text.contains("page-grain") {
            assert_eq!(bytes, 10 * 2 * (4_080 + 44_u64).next_multiple_of(8) + 32, "{text}");
        } else {
            assert_eq!(bytes, 10 * (40 + 4 * 12) + 32, "{text}");
        }
    }
}

#[test]
fn a_store_that_stays_costs_what_it_changes_and_reading_costs_nothing() {
    for text in combinations() {
        let one = logged(text, 4, |store| store(2, 8, &[9; 8]));
        let expected = match text {
            _ if text.contains("page-grain") => 2 * 4_128 + 32,
            // The head; how many pages, which, where; the word.
            _ if text.contains("page-diff") => (32 + 1 + 2 + 1 + 8_u64).next_multiple_of(8),
            _ => 40 + 16 + 32,
        };
        assert_eq!(one, expected, "{text}");
        assert_eq!(logged(text, 4, |_| ()), 0, "{text}");
    }
}

#[test]
fn threads_share_a_mapping_and_two_databases_a_process() {
    for text in combinations().into_iter().filter(|text| !text.contains("explicit")) {
        let databases = [in_memory(text), in_memory(text)];
        let pages = databases.each_ref().map(|database| create(database, 32));
        let mut writings = databases.each_ref().map(Database::writing);
        let mut memory: Vec<&mut [u8]> = writings
            .iter_mut()
            .zip(&pages)
            .map(|(writing, pages)| {
                let mapping = writing.map(pages).unwrap();
                writing.memory(mapping).unwrap()
            })
            .collect();
        thread::scope(|scope| {
            for memory in &mut memory {
                for (at, page) in memory.chunks_mut(PAGE_BYTES).enumerate() {
                    scope.spawn(move || page[Region::DATA].fill(at as u8 + 1));
                }
            }
        });
        for writing in writings {
            writing.commit().unwrap();
        }
        for database in &databases {
            let bytes = contents(database).unwrap();
            assert!(
                bytes
                    .chunks(PAGE_DATA)
                    .enumerate()
                    .all(|(at, page)| { page.iter().all(|&byte| byte == at as u8 + 1) })
            );
        }
    }
}

#[test]
fn a_transaction_that_is_given_up_leaves_nothing() {
    for text in combinations() {
        let database = in_memory(text);
        let pages = create(&database, 3);
        let mut writing = database.writing();
        let mapping = writing.map(&pages).unwrap();
        store(&mut writing, detect_of(&database), mapping, 1, 0, &[1; 100]);
        writing.rollback().unwrap();
        assert_eq!(contents(&database).unwrap(), vec![0; 3 * PAGE_DATA], "{text}");
    }
}

#[test]
fn stores_that_would_damage_or_lose_something_are_reported_and_nothing_is_committed() {
    for text in combinations() {
        let database = in_memory(text);
        let pages = create(&database, 3);
        let is_explicit = detect_of(&database) == Detect::Explicit;
        let mut writing = database.writing();
        let mapping = writing.map(&pages).unwrap();
        let reported = |error: LodeError| error.to_string();
        assert!(reported(writing.map(&pages[1..2]).unwrap_err()).contains("mapped already"));
        assert!(reported(writing.map(&[]).unwrap_err()).contains("no page"));
        for range in [0..8, 31..40, 4_090..4_100, 3 * 4_096 + 40..3 * 4_096 + 48] {
            let refused = writing.changing(mapping, range).map(|_| ()).unwrap_err();
            assert!(reported(refused).contains("behind its header"), "{text}");
        }
        assert_eq!(writing.memory(mapping).is_err(), is_explicit);
        writing.commit().unwrap();
        let other = database.writing();
        assert!(reported(other.memory_of(mapping).unwrap_err()).contains("another transaction's"));
        drop(other);
        if !is_explicit {
            for at in 0..HEADER_BYTES {
                let mut other = database.writing();
                let mapping = other.map(&pages).unwrap();
                other.memory(mapping).unwrap()[PAGE_BYTES + at] ^= 1;
                let refused = reported(other.commit().expect_err(&format!("byte {at}, {text}")));
                assert!(refused.contains(&format!("the header of page {}", pages[1])), "{refused}");
            }
        }
        assert_eq!(contents(&database).unwrap(), vec![0; 3 * PAGE_DATA], "{text}");
    }
}
