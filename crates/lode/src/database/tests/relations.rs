//! `locks=relation`: whose a page is decides what waits for it, also while it changes hands.

use std::thread;

use super::*;
use crate::disk::Memory;
use crate::error::{LodeError, Result};

fn in_memory(text: &str) -> Database {
    let text = format!("{text}&cache=1048576");
    Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics(&text)).unwrap()
}

/// Two pages of each of two files.
fn two_files(database: &Database) -> [[PageNumber; 2]; 2] {
    let mut writing = database.writing();
    let pages = [1, 2].map(|file| [0, 0].map(|_| writing.allocate(file, PageKind::Heap).unwrap()));
    writing.commit().unwrap();
    pages
}

/// Whether an operation would have waited for an older transaction: a deadlock in one thread.
fn waits_for<R>(outcome: &Result<R>) -> bool {
    match outcome {
        Ok(_) => false,
        Err(LodeError::Deadlock) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_writer_excludes_others_from_its_relation_and_from_no_other() {
    for (locks, same_file, other_file) in
        [("database", true, true), ("relation", true, false), ("page", false, false)]
    {
        let database = in_memory(&format!("locks={locks}"));
        let [[first, second], [other, _]] = two_files(&database);
        let mut writing = database.writing();
        put(&mut writing, first, 1);
        for (page, waits) in [(first, true), (second, same_file), (other, other_file)] {
            let read = database.reading().read(page, |_| ());
            assert_eq!(waits_for(&read), waits, "{locks}: reading");
            let mut beside = database.writing();
            let written = beside.write(page, |_| ());
            assert_eq!(waits_for(&written), waits, "{locks}: writing");
        }
        writing.commit().unwrap();
        assert_eq!(values(&database, &[first, second, other]), [1, 0, 0]);
    }
}

#[test]
fn readers_share_a_relation_and_keep_a_writer_from_all_of_it() {
    let database = in_memory("locks=relation");
    let [[first, second], [other, _]] = two_files(&database);
    let readers = [database.reading(), database.reading()];
    for reading in &readers {
        assert_eq!(get(reading, first), 0);
    }
    let mut writing = database.writing();
    put(&mut writing, other, 1);
    assert!(waits_for(&writing.write(second, |_| ())), "a page that nobody has read");
    drop(writing);
    drop(readers);
    let mut writing = database.writing();
    put(&mut writing, second, 1);
    writing.commit().unwrap();
}

/// An old reference leads to a page also while it belongs to nobody.
#[test]
fn a_page_that_is_given_back_is_not_read_before_that_is_final() {
    for commits in [false, true] {
        let database = in_memory("locks=relation");
        let [[retained, given], _] = two_files(&database);
        let mut writing = database.writing();
        put(&mut writing, given, 7);
        writing.commit().unwrap();

        let mut writing = database.writing();
        writing.free(given).unwrap();
        let early = database.reading().read(given, |view| view.u8(page::offset::KIND));
        assert!(waits_for(&early), "it read that the page is free");
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let reading = database.reading();
                let seen = reading.read(given, |view| view.u8(page::offset::KIND)).unwrap();
                // Once it has read it, the file is locked, too.
                let mut beside = database.writing();
                let excluded = waits_for(&beside.write(retained, |_| ()));
                (seen, excluded)
            });
            while database.counters().unwrap().locks.waits < 2 && !reader.is_finished() {
                thread::yield_now();
            }
            if commits {
                writing.commit().unwrap();
            } else {
                writing.rollback().unwrap();
            }
            let (seen, excluded) = reader.join().unwrap();
            let kind = if commits { PageKind::Free } else { PageKind::Heap };
            assert_eq!((seen, excluded), (kind as u8, !commits));
        });
        assert!(commits || get(&database.reading(), given) == 7);
    }
}

#[test]
fn a_page_that_is_given_out_is_not_read_before_that_is_final() {
    for commits in [false, true] {
        let database = in_memory("locks=relation");
        let [[retained, freed], _] = two_files(&database);
        let mut writing = database.writing();
        writing.free(freed).unwrap();
        writing.commit().unwrap();

        let mut writing = database.writing();
        assert_eq!(writing.allocate(1, PageKind::BtreeLeaf).unwrap(), freed);
        // The file that it is given to is locked, of which nothing was read.
        for page in [freed, retained] {
            assert!(waits_for(&database.reading().read(page, |_| ())));
        }
        if commits {
            writing.commit().unwrap();
        } else {
            writing.rollback().unwrap();
        }
        let kind = if commits { PageKind::BtreeLeaf } else { PageKind::Free };
        let seen = database.reading().read(freed, |view| view.u8(page::offset::KIND)).unwrap();
        assert_eq!(seen, kind as u8);
    }
}

/// A reader of a free page keeps it from being given out: what it has locked stays what it is.
#[test]
fn a_free_page_that_was_read_stays_free_until_the_reader_ends() {
    let database = in_memory("locks=relation");
    let [[_, freed], _] = two_files(&database);
    let mut writing = database.writing();
    writing.free(freed).unwrap();
    writing.commit().unwrap();
    let reading = database.reading();
    assert_eq!(
        reading.read(freed, |view| view.u8(page::offset::KIND)).unwrap(),
        PageKind::Free as u8
    );
    let mut writing = database.writing();
    assert!(waits_for(&writing.allocate(1, PageKind::Heap)));
    drop(writing);
    drop(reading);
    assert_eq!(allocate(&database, 1), [freed]);
}

#[test]
fn two_that_read_a_relation_and_then_change_it_are_a_deadlock_of_which_one_goes_on() {
    let database = in_memory("locks=relation");
    let [[first, second], _] = two_files(&database);
    let read = std::sync::Barrier::new(2);
    let outcomes = thread::scope(|scope| {
        let run = |page| {
            let (database, read) = (&database, &read);
            scope.spawn(move || {
                let mut writing = database.writing();
                get(&writing, page);
                read.wait();
                writing.write(page, |bytes| bytes.put_u64(AT, 1))?;
                writing.commit()
            })
        };
        [run(first), run(second)].map(|thread| thread.join().unwrap())
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| waits_for(outcome)).count(), 1);
    assert_eq!(database.counters().unwrap().locks.deadlocks, 1);
}
