//! Copies of a database that others change meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lode::{Database, LodeError, Tactics};

use crate::clients::next;
use crate::setup::{ACCOUNTS, Bank, START, sum, transfer, until_done};

/// Money is moved while copies are made: each has all of it, and says so when it is opened.
#[test]
fn a_copy_is_of_one_moment_while_others_change_the_database() {
    for text in ["locks=database", "locks=relation", "locks=page&durability=group"] {
        let bank = Bank::open(text);
        let (folder, done) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        thread::scope(|scope| {
            for seed in [1, 2] {
                let (bank, done) = (&bank, &done);
                scope.spawn(move || {
                    let (remote, mut state) = (bank.client(""), seed);
                    while !done.load(Ordering::Relaxed) {
                        let pick = |state: &mut u64| bank.accounts[next(state, ACCOUNTS)];
                        until_done(|| {
                            let (from, to) = (pick(&mut state), pick(&mut state));
                            let mut writing = remote.writing();
                            transfer(&mut writing, from, to, 7)?;
                            writing.commit()
                        });
                    }
                });
            }
            let remote = bank.client("readahead=on");
            for copy in 0..5 {
                let path = folder.path().join(format!("copy {copy}"));
                let mut pages = 0;
                until_done(|| {
                    pages = remote.backup(&path)?.pages;
                    Ok(())
                });
                assert!(pages > ACCOUNTS as u64, "{text}: {pages}");
                let database = Database::open(&path, &Tactics::default()).unwrap();
                assert!(database.recovery().is_none());
                assert_eq!(database.identity(), remote.identity());
                let found = sum(&database.reading(), &bank.accounts).unwrap();
                assert_eq!(found, ACCOUNTS as u64 * START, "{text}: half a transfer");
                let mut writing = database.writing();
                let (from, to) = (bank.accounts[0], bank.accounts[1]);
                transfer(&mut writing, from, to, 1).unwrap();
                writing.commit().unwrap();
                database.close().unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_copy_takes_the_place_of_nothing_and_leaves_nothing_where_it_fails() {
    let bank = Bank::open("");
    let remote = bank.client("");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    for taken in ["copy", "copy-log"] {
        std::fs::write(folder.path().join(taken), "mine").unwrap();
        remote.backup(&path).unwrap_err();
        let left: Vec<_> = folder.path().read_dir().unwrap().map(|one| one.unwrap()).collect();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].file_name(), taken);
        assert_eq!(std::fs::read(left[0].path()).unwrap(), b"mine");
        std::fs::remove_file(left[0].path()).unwrap();
    }
    bank.server.stop().unwrap();
    let gone = remote.backup(&path);
    assert!(matches!(gone, Err(LodeError::Server { .. })), "{gone:?}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
