//! A child that a process with an open database forks has the database's memory and descriptors:
//! whatever it does with them, the parent's database is as if there were no child.

use std::fs;

use super::*;
use crate::disk::test_folder;
use crate::error::LodeError;
use crate::owner::in_a_child;

fn is_refused<T>(outcome: &Result<T, LodeError>) -> bool {
    matches!(outcome, Err(LodeError::Forked { .. }))
}

/// What a child does with what it has inherited, by name, and whether it was refused if it should.
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
        "read" => is_refused(&database.reading().read(2, |_| ())),
        "write" => is_refused(&database.writing().allocate(1, PageKind::Heap)),
        other => panic!("{other}"),
    }
}

#[test]
fn what_a_child_does_changes_nothing_of_its_parents() {
    for text in ["disk=buffered", "disk=direct&readahead=on&locks=page"] {
        for how in ["drop", "close", "abandon", "checkpoint", "forget", "read", "write"] {
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
