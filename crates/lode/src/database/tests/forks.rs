//! A child that a process with an open database forks has the database's memory and descriptors:
//! whatever it does with them, the parent's database is as if there were no child.

use crate::pages::PageWrite;
use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::disk::test_folder;
use crate::error::LodeError;
use crate::owner::in_a_child;

fn is_refused<T>(outcome: &Result<T, LodeError>) -> bool {
    matches!(outcome, Err(LodeError::Forked { .. }))
}

const HOWS: [&str; 9] =
    ["drop", "close", "abandon", "checkpoint", "forget", "counters", "backup", "read", "write"];

/// The child's use of its inheritance, chosen by name, and whether it was refused if it should be.
fn misuse(how: &str, database: Database) -> bool {
    match how {
        "drop" => {
            drop(database);
            true
        }
        "close" => is_refused(&database.close()),
        "abandon" => {
            database.abandon();
            true
        }
        "checkpoint" => is_refused(&database.checkpoint()),
        "forget" => is_refused(&database.forget()),
        "counters" => is_refused(&database.counters()),
        "backup" => is_refused(&database.backup(Path::new("/nowhere/copy"))),
        "read" => is_refused(&database.reading().read(2, |_| ())),
        "write" => is_refused(&database.writing().allocate(1, PageKind::Heap)),
        other => panic!("{other}"),
    }
}

#[test]
fn work_of_a_child_changes_nothing_of_its_parents() {
    for text in ["disk=buffered", "disk=direct&readahead=on&locks=page"] {
        for how in HOWS {
            let folder = test_folder();
            let path = folder.path().join("parts");
            let database = Database::create(&path, &tactics(text)).unwrap();
            let pages = allocate(&database, 3);
            let mut writing = database.writing();
            put(&mut writing, pages[0], 7);
            writing.commit().unwrap();
            let files =
                || [&path, &folder.path().join("parts-log")].map(|file| fs::read(file).unwrap());
            let before = files();
            // The child takes its copy; this one stays.
            let mut database = Some(database);
            assert!(in_a_child(|| misuse(how, database.take().unwrap())), "{text}: {how}");
            let database = database.take().unwrap();
            assert!(before == files(), "{text}: {how} has written");
            let mut writing = database.writing();
            put(&mut writing, pages[1], 8);
            writing.commit().unwrap();
            database.abandon();
            let database = Database::open(&path, &tactics(text)).unwrap();
            assert_eq!(values(&database, &pages), [7, 8, 0], "{text}: {how}");
        }
    }
}

/// A thread that held a mutex or a latch at the fork is not in the child, which would wait for
/// ever: it is killed by an alarm then.
#[test]
fn a_child_waits_for_no_thread_that_is_not_there() {
    let folder = test_folder();
    let database = Database::create(&folder.path().join("parts"), &tactics("")).unwrap();
    let mut reading = Some(database.reading());
    reading.as_ref().unwrap().read(1, |_| ()).unwrap();
    let (database, (locked, holds), (release, released)) =
        (&database, mpsc::channel(), mpsc::channel::<()>());
    thread::scope(|scope| {
        scope.spawn(move || {
            let _checkpoint = database.shared.checkpointing.lock().unwrap();
            let _writers = database.shared.active.writers();
            let _hints = database.shared.allocation_hints.lock().unwrap();
            let _page = database.shared.buffer.latch(1).unwrap();
            locked.send(()).unwrap();
            _ = released.recv();
        });
        holds.recv().unwrap();
        let is_refused_everywhere = in_a_child(|| {
            // SAFETY: it sets a clock that ends this child.
            #[expect(unsafe_code, reason = "a child that hangs must end")]
            unsafe {
                libc::alarm(20)
            };
            let mut writing = database.writing();
            let refused = [
                reading.take().unwrap().read(1, |_| ()),
                database.reading().read(1, |_| ()),
                writing.read(1, |_| ()),
                writing.write(1, |_| ()),
                writing.allocate(1, PageKind::Heap).map(|_| ()),
                writing.free(3),
                writing.commit(),
                database.writing().rollback(),
                database.checkpoint(),
                database.forget(),
                database.counters().map(|_| ()),
                database.backup(Path::new("/nowhere/copy")).map(|_| ()),
            ];
            refused.iter().all(is_refused)
        });
        release.send(()).unwrap();
        assert!(is_refused_everywhere);
    });
}

#[test]
fn a_transaction_that_was_open_at_the_fork_is_the_parents() {
    let folder = test_folder();
    let path = folder.path().join("parts");
    let database = Database::create(&path, &tactics("")).unwrap();
    let pages = allocate(&database, 2);
    for ends in ["commit", "rollback", "drop"] {
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        let mut writing = Some(writing);
        assert!(
            in_a_child(|| {
                let writing = writing.take().unwrap();
                match ends {
                    "commit" => is_refused(&writing.commit()),
                    "rollback" => is_refused(&writing.rollback()),
                    _ => {
                        drop(writing);
                        true
                    }
                }
            }),
            "{ends}"
        );
        let mut writing = writing.take().unwrap();
        put(&mut writing, pages[1], 2);
        writing.commit().unwrap();
    }
    database.abandon();
    let database = Database::open(&path, &tactics("")).unwrap();
    assert_eq!(values(&database, &pages), [1, 2]);
}
