//! Transactions that another thread ends.

use std::sync::mpsc::channel;
use std::thread;

use super::*;
use crate::error::LodeError;

fn in_memory(text: &str) -> Database {
    database_on(&Simulation::default(), &tactics(text)).unwrap()
}

#[test]
fn a_wait_for_a_lock_ends_at_once_and_leaves_nothing() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let database = in_memory(text);
        let pages = allocate(&database, 2);
        let reading = database.reading();
        assert_eq!(get(&reading, pages[0]), 0);
        thread::scope(|scope| {
            let (give, take) = channel();
            let (database, pages) = (&database, &pages);
            let waiting = scope.spawn(move || {
                let mut writing = database.writing();
                give.send(writing.interrupt()).unwrap();
                let reported = writing.write(pages[0], |_| ());
                (reported, writing.commit())
            });
            let interrupt = take.recv().unwrap();
            while database.counters().unwrap().locks.waits == 0 {
                thread::yield_now();
            }
            interrupt.interrupt();
            // While the other one still reads.
            let (reported, committed) = waiting.join().unwrap();
            assert!(matches!(reported, Err(LodeError::Interrupted)), "{text}: {reported:?}");
            assert!(matches!(committed, Err(LodeError::Interrupted)), "{text}: {committed:?}");
        });
        drop(reading);
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        writing.commit().unwrap();
        assert!(!database.is_in_use());
    }
}

#[test]
fn who_is_interrupted_begins_no_wait_changes_nothing_and_commits_nothing() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let database = in_memory(text);
        let pages = allocate(&database, 2);
        let mut writing = database.writing();
        let interrupt = writing.interrupt();
        put(&mut writing, pages[0], 1);
        interrupt.interrupt();
        let reported = writing.write(pages[0], |_| panic!("it is not changed"));
        assert!(matches!(reported, Err(LodeError::Interrupted)), "{text}: {reported:?}");
        let reported = writing.pin(pages[0]).err();
        assert!(matches!(reported, Some(LodeError::Interrupted)), "{text}: {reported:?}");
        let reading = database.reading();
        reading.interrupt().interrupt();
        let reported = reading.read(pages[0], |_| ());
        assert!(matches!(reported, Err(LodeError::Interrupted)), "{text}: {reported:?}");
        drop(reading);
        let committed = writing.commit();
        assert!(matches!(committed, Err(LodeError::Interrupted)), "{text}: {committed:?}");
        let mut writing = database.writing();
        put(&mut writing, pages[1], 2);
        let interrupt = writing.interrupt();
        interrupt.interrupt();
        assert!(matches!(writing.commit(), Err(LodeError::Interrupted)), "{text}");
        assert_eq!(
            [get(&database.reading(), pages[0]), get(&database.reading(), pages[1])],
            [0; 2]
        );
        // Of one that has ended nothing is left to end.
        interrupt.interrupt();
        assert!(!database.is_in_use());
    }
}
