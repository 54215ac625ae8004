//! Commit, rollback, steal, checkpoints among running transactions.

use super::*;
use crate::disk::Memory;
use crate::error::LodeError;
use crate::heap::{Heap, Reference};
use crate::named;
use crate::pages::PageWrite;
use crate::view::View;

const LOGGING: [&str; 3] = ["log=page-diff", "log=page-grain", "log=set-range"];

fn in_memory(text: &str) -> Database {
    Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics(text)).unwrap()
}

#[test]
fn a_rolled_back_or_dropped_transaction_leaves_nothing() {
    for text in LOGGING {
        let database = in_memory(text);
        let pages = allocate(&database, 3);
        let mut first = database.writing();
        put(&mut first, pages[0], 1);
        first.commit().unwrap();

        let mut second = database.writing();
        put(&mut second, pages[0], 2);
        put(&mut second, pages[1], 2);
        assert_eq!(get(&second, pages[0]), 2, "one's own changes are seen");
        let allocated = second.allocate(1, PageKind::Heap).unwrap();
        second.rollback().unwrap();
        let mut third = database.writing();
        put(&mut third, pages[2], 3);
        drop(third);
        assert_eq!(values(&database, &pages), [1, 0, 0], "{text}");

        let mut fourth = database.writing();
        assert_eq!(fourth.allocate(1, PageKind::Heap).unwrap(), allocated);
        fourth.commit().unwrap();
    }
}

#[test]
fn a_value_that_was_set_back_costs_no_log() {
    let database = in_memory("log=page-diff");
    let pages = allocate(&database, 1);
    let before = database.counters().unwrap().log.records;
    let mut writing = database.writing();
    put(&mut writing, pages[0], 1);
    put(&mut writing, pages[0], 0);
    writing.commit().unwrap();
    assert_eq!(database.counters().unwrap().log.records, before);
}

#[test]
fn page_grain_logs_two_pages_for_one_byte_and_page_diff_does_not() {
    for (text, bytes) in [(LOGGING[0], 33..49), (LOGGING[1], 8_192..8_500)] {
        let database = in_memory(text);
        let pages = allocate(&database, 1);
        let before = database.counters().unwrap().log.record_bytes;
        let mut writing = database.writing();
        writing.write(pages[0], |page| page.put_u8(AT, 1)).unwrap();
        writing.commit().unwrap();
        let logged = database.counters().unwrap().log.record_bytes - before;
        assert!(bytes.contains(&logged), "{text}: {logged}");
    }
}

#[test]
fn transactions_larger_than_the_cache_commit_and_roll_back() {
    for text in LOGGING {
        for ahead in ["", "&cache=256KiB&readahead=on&replacement=lru-2"] {
            let database = in_memory(&format!("{text}&cache=65536&checkpoint=1MiB{ahead}"));
            let pages = allocate(&database, 150);
            for (round, commit) in [(1, true), (2, false), (3, true), (4, false)] {
                let mut writing = database.writing();
                // Twice, so that pages come back that were written out uncommitted.
                for value in [round * 10, round] {
                    for &page in &pages {
                        put(&mut writing, page, value);
                    }
                }
                let value = if commit { round } else { round - 1 };
                if commit { writing.commit() } else { writing.rollback() }.unwrap();
                assert!(values(&database, &pages).iter().all(|&found| found == value));
            }
            assert!(database.counters().unwrap().buffer.evictions > 1_000);
        }
    }
}

#[test]
fn a_crash_takes_back_what_a_checkpoint_wrote_too_early() {
    for text in LOGGING {
        let tactics = tactics(&format!("{text}&checkpoint=65536"));
        let simulation = Simulation::new();
        let database = database_on(&simulation, &tactics).unwrap();
        let pages = allocate(&database, 4);
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        put(&mut writing, pages[1], 1);
        writing.commit().unwrap();

        let mut open = database.writing();
        put(&mut open, pages[1], 2);
        database.checkpoint().unwrap();
        put(&mut open, pages[1], 3);
        put(&mut open, pages[2], 3);
        database.checkpoint().unwrap();
        put(&mut open, pages[3], 4);

        let image = simulation.image(&[]);
        let recovered = after(&image, &tactics);
        assert_eq!(values(&recovered, &pages), [1, 1, 0, 0], "{text}");
        assert_eq!(recovered.recovery().unwrap().taken_back, 1);

        // The same transaction, rolled back, and a later one on its pages.
        open.rollback().unwrap();
        assert_eq!(values(&database, &pages), [1, 1, 0, 0], "{text}");
        let mut later = database.writing();
        put(&mut later, pages[1], 5);
        later.commit().unwrap();
        let recovered = after(&simulation.image(&[]), &tactics);
        assert_eq!(values(&recovered, &pages), [1, 5, 0, 0], "{text}");
        assert_eq!(recovered.recovery().unwrap().taken_back, 0);
    }
}

#[test]
fn checkpoints_come_by_themselves_and_the_log_stays_short() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let database = in_memory(&format!("{text}&checkpoint=65536&log=page-grain"));
        let pages = allocate(&database, 8);
        let mut longest = 0;
        for round in 0..200 {
            let mut writing = database.writing();
            put(&mut writing, pages[round % 8], round as u64);
            writing.commit().unwrap();
            let log = database.changes().log();
            longest = longest.max(log.end().0 - log.first().0);
        }
        assert!(longest < 4 * 65_536, "{longest}");
        assert!(database.counters().unwrap().log.record_bytes > 10 * 65_536);
    }
}

#[test]
fn a_transaction_that_never_ends_keeps_the_log_but_recovery_stays_right() {
    let tactics = tactics("locks=page&checkpoint=65536&log=page-grain&durability=none");
    let simulation = Simulation::new();
    let database = database_on(&simulation, &tactics).unwrap();
    let pages = allocate(&database, 4);
    let mut open = database.writing();
    put(&mut open, pages[0], 9);
    for round in 1..=100 {
        let mut writing = database.writing();
        put(&mut writing, pages[1], round);
        writing.commit().unwrap();
    }
    database.checkpoint().unwrap();
    let image = simulation.image(&[]);
    assert_eq!(values(&after(&image, &tactics), &pages), [0, 100, 0, 0]);
    open.commit().unwrap();
    database.checkpoint().unwrap();
    let log = database.changes().log();
    assert_eq!(log.end(), log.first(), "nobody runs, so it began anew");
}

#[test]
fn readers_see_no_change_before_its_commit() {
    let database = in_memory("locks=page");
    let pages = allocate(&database, 2);
    let mut writing = database.writing();
    put(&mut writing, pages[0], 1);
    // In one thread, waiting for oneself is a deadlock, and it is the younger that is reported.
    let reading = database.reading();
    assert!(matches!(reading.read(pages[0], |_| ()), Err(LodeError::Deadlock)));
    assert_eq!(get(&reading, pages[1]), 0);
    writing.commit().unwrap();
    assert_eq!(get(&reading, pages[0]), 1);
}

/// A record in a database that swizzles, and what a transaction reads at its reference at once.
fn read_at_once(pages: &impl PageRead, heap: Heap, reference: Reference) -> Option<u64> {
    assert!(pages.swizzles());
    let value = |view: View<'_>, at: usize| view.u64(at);
    heap.try_read_at(pages, reference, value)
}

#[test]
fn a_write_transaction_swizzles_as_a_read_transaction_does() {
    for text in ["locks=database&swizzle=on", "locks=relation&swizzle=on", "locks=page&swizzle=on"]
    {
        let database = in_memory(text);
        let mut writing = database.writing();
        let heap: Heap = named::find_or_create(&mut writing, "parts").unwrap();
        let id = heap.insert(&mut writing, &7_u64.to_le_bytes(), None).unwrap();
        let reference = heap.reference(&writing, id).unwrap();
        assert_eq!(read_at_once(&writing, heap, reference), Some(7), "{text}");
        writing.commit().unwrap();
        assert_eq!(read_at_once(&database.reading(), heap, reference), Some(7), "{text}");
        let mut writing = database.writing();
        heap.change(&mut writing, id, |record| record.fill(1)).unwrap();
        let changed = u64::from_le_bytes([1; 8]);
        assert_eq!(read_at_once(&writing, heap, reference), Some(changed), "its own change");
    }
}

#[test]
fn a_database_is_closed_when_its_last_transaction_has_ended() {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let open = || Database::on(volume.clone(), log.clone(), &tactics("locks=page")).unwrap();
    let database = open();
    let pages = allocate(&database, 2);
    let mut writing = database.writing();
    put(&mut writing, pages[0], 1);
    assert!(database.is_in_use());
    assert!(matches!(database.close(), Err(LodeError::Busy)));
    put(&mut writing, pages[1], 2);
    writing.commit().unwrap();
    let database = open();
    assert!(database.recovery().is_none(), "the last one closed it");
    assert_eq!(values(&database, &pages), [1, 2]);
}

#[test]
fn references_hold_while_the_page_is_unchanged_and_locks_are_retained_for_them() {
    for text in ["locks=database&swizzle=on", "locks=relation&swizzle=on", "locks=page&swizzle=on"]
    {
        let database = in_memory(text);
        let pages = allocate(&database, 1);
        let reading = database.reading();
        let ((), version) = reading.read_with_version(pages[0], |_| ()).unwrap();
        assert_eq!(reading.try_read_version(pages[0], version, |view| view.u64(AT)), Some(0));
        drop(reading);
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        let reading = database.reading();
        assert_eq!(reading.try_read_version(pages[0], version, |view| view.u64(AT)), None);
        drop(writing);
        assert_eq!(reading.try_read_version(pages[0], version, |view| view.u64(AT)), None);
    }
}

#[test]
fn an_operation_that_failed_cannot_be_committed() {
    let database = in_memory("");
    let pages = allocate(&database, 1);
    let mut writing = database.writing();
    put(&mut writing, pages[0], 1);
    assert!(writing.free(1_000_000).is_err());
    assert!(matches!(writing.commit(), Err(LodeError::RolledBack)));
    assert_eq!(values(&database, &pages), [0]);
}

#[test]
fn files_go_on_beside_their_last_page_after_opening() {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::on(volume.clone(), log.clone(), &tactics("extent=16")).unwrap();
    let pages = allocate(&database, 3);
    database.close().unwrap();
    let database = Database::on(volume, log, &tactics("extent=64")).unwrap();
    assert_eq!(database.extent_pages(), 16);
    assert_eq!(database.tactics().extent.0, 16);
    assert_eq!(allocate(&database, 1), [pages[2] + 1]);
}
