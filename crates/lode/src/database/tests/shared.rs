//! A reading transaction in several threads.

use std::sync::Barrier;
use std::thread;

use super::*;
use crate::disk::Memory;

const LOCKS: [&str; 3] = ["locks=database", "locks=relation", "locks=page"];

fn in_memory(text: &str) -> Database {
    Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics(text)).unwrap()
}

#[test]
fn all_handles_read_under_the_same_locks_until_the_last_has_gone() {
    for locks in LOCKS {
        let database = in_memory(&format!("{locks}&cache=65536"));
        let pages = allocate(&database, 40);
        let reading = database.reading();
        let handles = [0, 1, 2].map(|_| reading.share());
        drop(reading);
        let barrier = Barrier::new(handles.len());
        let last = thread::scope(|scope| {
            let threads = handles.map(|handle| {
                let (barrier, pages) = (&barrier, &pages);
                scope.spawn(move || {
                    barrier.wait();
                    let seen: Vec<u64> = pages.iter().map(|&page| get(&handle, page)).collect();
                    let pinned = handle.pin(pages[1]).unwrap();
                    assert_eq!(page::u64_at(&pinned, AT), 0);
                    (handle, seen)
                })
            });
            let [first, second, third] = threads.map(|thread| thread.join().unwrap());
            assert!([&first, &second, &third].iter().all(|(_, seen)| *seen == vec![0; 40]));
            third.0
        });
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut writing = database.writing();
                put(&mut writing, pages[39], 1);
                writing.commit().unwrap();
            });
            while database.counters().unwrap().locks.waits == 0 && !writer.is_finished() {
                thread::yield_now();
            }
            assert_eq!(get(&last, pages[39]), 0, "{locks}: the last handle has the lock");
            drop(last);
            writer.join().unwrap();
        });
        assert_eq!(values(&database, &pages)[39], 1);
    }
}

#[test]
fn threads_that_want_the_same_lock_wait_one_behind_the_other() {
    for locks in LOCKS {
        let database = in_memory(locks);
        let pages = allocate(&database, 2);
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        let reading = database.reading();
        let handles = [reading.share(), reading.share()];
        drop(reading);
        thread::scope(|scope| {
            let threads = handles.map(|handle| {
                let pages = &pages;
                scope.spawn(move || (get(&handle, pages[0]), get(&handle, pages[1])))
            });
            writing.commit().unwrap();
            let seen = threads.map(|thread| thread.join().unwrap());
            assert_eq!(seen, [(1, 0), (1, 0)], "{locks}");
        });
    }
}

#[test]
fn a_writers_other_handles_see_its_changes_and_keep_others_out() {
    for locks in LOCKS {
        let database = in_memory(locks);
        let pages = allocate(&database, 3);
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        let handles = [writing.share_reading().unwrap(), writing.share_reading().unwrap()];
        thread::scope(|scope| {
            let threads = handles.map(|handle| {
                let pages = &pages;
                scope.spawn(move || {
                    let pinned = handle.pin(pages[0]).unwrap();
                    (page::u64_at(&pinned, AT), get(&handle, pages[1]))
                })
            });
            // A page that nobody has pinned changes meanwhile.
            put(&mut writing, pages[2], 2);
            let seen = threads.map(|thread| thread.join().unwrap());
            assert_eq!(seen, [(1, 0), (1, 0)], "{locks}");
        });
        let other = thread::scope(|scope| {
            let reader = scope.spawn(|| values(&database, &pages));
            while database.counters().unwrap().locks.waits == 0 && !reader.is_finished() {
                thread::yield_now();
            }
            writing.commit().unwrap();
            reader.join().unwrap()
        });
        assert_eq!(other, [1, 0, 2], "{locks}: a reader waited for the end");
    }
}

#[test]
fn a_handle_of_a_writer_alone_is_a_transaction_that_changes_nothing() {
    let database = in_memory("locks=page");
    let pages = allocate(&database, 1);
    let writing = database.writing();
    assert_eq!(get(&writing.share_reading().unwrap(), pages[0]), 0);
    writing.commit().unwrap();
    put_one(&database, pages[0]);
    assert_eq!(values(&database, &pages), [1]);
}

fn put_one(database: &Database, page: PageNumber) {
    let mut writing = database.writing();
    put(&mut writing, page, 1);
    writing.commit().unwrap();
}
