//! Pages that transactions have pinned.

use super::*;
use crate::disk::Memory;
use crate::error::LodeError;
use crate::pages::Pinned;

const LOCKS: [&str; 3] = ["locks=database", "locks=relation", "locks=page"];

fn in_memory(text: &str) -> Database {
    Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics(text)).unwrap()
}

fn value(pinned: &Pinned) -> u64 {
    page::u64_at(pinned, AT)
}

/// Commit a value.
fn set(database: &Database, page: PageNumber, value: u64) {
    let mut writing = database.writing();
    put(&mut writing, page, value);
    writing.commit().unwrap();
}

#[test]
fn a_pin_keeps_its_transactions_locks_until_it_is_dropped() {
    for locks in LOCKS {
        let database = in_memory(locks);
        let pages = allocate(&database, 2);
        set(&database, pages[0], 1);
        let reading = database.reading();
        let pinned = reading.pin(pages[0]).unwrap();
        drop(reading);
        let mut writing = database.writing();
        // The thread would wait for itself.
        let changed = writing.write(pages[0], |_| ());
        assert!(matches!(changed, Err(LodeError::Deadlock)), "{locks}: {changed:?}");
        drop(writing);
        assert_eq!((pinned.page(), value(&pinned)), (pages[0], 1));
        drop(pinned);
        set(&database, pages[0], 2);
        database.close().unwrap();
    }
}

#[test]
fn a_pin_outlives_its_database() {
    let database = in_memory("locks=page");
    let pages = allocate(&database, 1);
    set(&database, pages[0], 1);
    let pinned = database.reading().pin(pages[0]).unwrap();
    drop(database);
    assert_eq!(value(&pinned), 1);
}

#[test]
fn a_transaction_does_not_change_what_it_has_pinned() {
    for locks in LOCKS {
        let database = in_memory(locks);
        let pages = allocate(&database, 2);
        let mut writing = database.writing();
        let pinned = writing.pin(pages[0]).unwrap();
        put(&mut writing, pages[1], 1);
        let changed = writing.write(pages[0], |_| ());
        assert!(matches!(changed, Err(LodeError::Pinned { page }) if page == pages[0]));
        assert!(matches!(writing.commit(), Err(LodeError::RolledBack)));
        assert_eq!(value(&pinned), 0);
        drop(pinned);
        assert_eq!(values(&database, &pages), [0, 0], "{locks}");
        set(&database, pages[0], 3);
    }
}

#[test]
fn a_page_that_the_transaction_changed_is_pinned_as_a_copy() {
    for locks in LOCKS {
        let database = in_memory(locks);
        let pages = allocate(&database, 1);
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        let first = writing.pin(pages[0]).unwrap();
        put(&mut writing, pages[0], 2);
        let second = writing.pin(pages[0]).unwrap();
        writing.commit().unwrap();
        assert_eq!((value(&first), value(&second)), (1, 2));
        // Copies keep no lock.
        set(&database, pages[0], 3);
        assert_eq!((value(&first), value(&second)), (1, 2), "{locks}");
    }
}

#[test]
fn pins_of_a_committed_transaction_do_not_disturb_it() {
    for locks in LOCKS {
        for durability in ["full", "group", "none"] {
            let database = in_memory(&format!("{locks}&durability={durability}"));
            let pages = allocate(&database, 2);
            set(&database, pages[0], 1);
            let mut writing = database.writing();
            let pinned = writing.pin(pages[0]).unwrap();
            put(&mut writing, pages[1], 2);
            writing.commit().unwrap();
            assert_eq!(value(&pinned), 1);
            drop(pinned);
            set(&database, pages[0], 5);
            assert_eq!(values(&database, &pages), [5, 2]);
        }
    }
}

#[test]
fn too_many_pins_are_reported_and_the_transaction_goes_on() {
    let database = in_memory("cache=65536");
    let pages = allocate(&database, 40);
    let mut writing = database.writing();
    let mut pins = Vec::new();
    let error = pages.iter().find_map(|&page| match writing.pin(page) {
        Ok(pinned) => {
            pins.push(pinned);
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(error, Some(LodeError::PinsFull { pages_max: 8, .. })), "{error:?}");
    assert_eq!(pins.len(), 8);
    pages[8..].iter().for_each(|&page| put(&mut writing, page, 4));
    writing.commit().unwrap();
    drop(pins);
    assert_eq!(values(&database, &pages)[7..9], [0, 4]);
}
