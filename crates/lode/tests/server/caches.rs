//! A client keeps committed pages only, and asking whether they hold costs little.

use lode::internals::page::{PAGE_BYTES, PageKind};
use lode::remote::Remote;
use lode::{LodeError, PageRead, PageWrite};

use crate::setup::{ACCOUNTS, Bank, FILE, START, get, put, sum};

const LOCKS: [&str; 3] = ["locks=database", "locks=relation", "locks=page"];

fn write(remote: &Remote, page: u32, word: u64) {
    let mut writing = remote.writing();
    put(&mut writing, page, word).unwrap();
    writing.commit().unwrap();
}

#[test]
fn a_stale_page_is_never_read() {
    for text in LOCKS {
        let bank = Bank::open(text);
        let (first, second) = (bank.client(""), bank.client(""));
        let page = bank.accounts[3];
        for round in 1..20 {
            write(&second, page, round);
            assert_eq!(get(&first.reading(), page).unwrap(), round, "{text}");
            write(&first, page, round + 100);
            assert_eq!(get(&second.reading(), page).unwrap(), round + 100, "{text}");
            let mut writing = second.writing();
            put(&mut writing, page, 0).unwrap();
            assert_eq!(get(&writing, page).unwrap(), 0, "{text}: its own change");
            writing.rollback().unwrap();
            assert_eq!(get(&second.reading(), page).unwrap(), round + 100, "{text}");
        }
    }
}

#[test]
fn a_warm_transaction_that_reads_costs_one_question() {
    let bank = Bank::open("locks=database");
    let (first, second) = (bank.client(""), bank.client(""));
    sum(&first.reading(), &bank.accounts).unwrap();
    let before = first.counters();
    for _ in 0..10 {
        sum(&first.reading(), &bank.accounts).unwrap();
    }
    let after = first.counters();
    assert_eq!(after.traffic.round_trips - before.traffic.round_trips, 10);
    assert_eq!(after.buffer.misses, before.buffer.misses);
    // Another changes a page: that one is requested again, and no other.
    write(&second, bank.accounts[7], 5);
    let found = sum(&first.reading(), &bank.accounts).unwrap();
    assert_eq!(found, (ACCOUNTS as u64 - 1) * START + 5);
    assert_eq!(first.counters().buffer.misses - after.buffer.misses, 1);
}

#[test]
fn own_writes_of_a_client_stay_in_its_cache() {
    for text in LOCKS {
        let bank = Bank::open(text);
        let remote = bank.client("");
        sum(&remote.reading(), &bank.accounts).unwrap();
        let before = remote.counters().buffer.misses;
        for &account in &bank.accounts {
            write(&remote, account, 3);
            assert_eq!(get(&remote.reading(), account).unwrap(), 3, "{text}");
        }
        assert_eq!(sum(&remote.reading(), &bank.accounts).unwrap(), 3 * ACCOUNTS as u64);
        assert_eq!(remote.counters().buffer.misses, before, "{text}");
    }
}

#[test]
fn a_page_comes_with_its_lock() {
    let bank = Bank::open("locks=page");
    let remote = bank.client("");
    let before = remote.counters().traffic.round_trips;
    assert_eq!(get(&remote.reading(), bank.accounts[0]).unwrap(), START);
    assert_eq!(remote.counters().traffic.round_trips - before, 1);
}

#[test]
fn an_extent_comes_at_once() {
    let bank = Bank::open("locks=database");
    let (single, ahead) = (bank.client("readahead=off"), bank.client("readahead=on"));
    for remote in [&single, &ahead] {
        sum(&remote.reading(), &bank.accounts).unwrap();
    }
    assert_eq!(single.counters().buffer.reads, ACCOUNTS as u64);
    assert!(ahead.counters().buffer.reads <= 4, "{:?}", ahead.counters().buffer);
    ahead.forget();
    assert_eq!(ahead.counters().buffer.pages_resident, 0);
}

#[test]
fn direct_references_do_not_outlive_a_change() {
    let bank = Bank::open("locks=database");
    let (first, second) = (bank.client("swizzle=on"), bank.client(""));
    let page = bank.accounts[0];
    let ((), version) = first.reading().read_with_version(page, |_| ()).unwrap();
    let word =
        |version| first.reading().try_read_version(page, version, |view| view.u64(PAGE_BYTES - 8));
    assert_eq!(word(version), Some(START));
    write(&second, page, 9);
    assert_eq!(word(version), None);
    let ((), version) = first.reading().read_with_version(page, |_| ()).unwrap();
    write(&first, page, 10);
    assert_eq!(word(version), None);
    // A page with changes that are not committed has no version.
    let mut writing = first.writing();
    let ((), version) = writing.read_with_version(page, |_| ()).unwrap();
    put(&mut writing, page, 11).unwrap();
    assert_eq!(writing.try_read_version(page, version, |_| ()), None);
    let ((), none) = writing.read_with_version(page, |_| ()).unwrap();
    assert_eq!(writing.try_read_version(page, none, |_| ()), None);
}

#[test]
fn a_transaction_larger_than_the_cache_is_reported() {
    for text in LOCKS {
        let bank = Bank::open(text);
        let remote = bank.client("cache=65536");
        let mut writing = remote.writing();
        let mut written = 0;
        let error = loop {
            match writing.allocate(FILE, PageKind::Heap).and_then(|page| put(&mut writing, page, 1))
            {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, LodeError::CacheTooSmall { cache_bytes: 65_536 }), "{error}");
        assert!((3..16).contains(&written), "{written}");
        assert!(matches!(writing.commit(), Err(LodeError::RolledBack)));
        assert_eq!(sum(&remote.reading(), &bank.accounts).unwrap(), ACCOUNTS as u64 * START);
        write(&remote, bank.accounts[0], 0);
    }
}

#[test]
fn a_long_commit_goes_in_several_parts() {
    let bank = Bank::open("locks=database&log=page-grain&cache=262144");
    let (first, second) = (bank.client(""), bank.client(""));
    let before = first.counters().traffic;
    let mut writing = first.writing();
    let mut pages = Vec::new();
    for word in 0..150 {
        pages.push(writing.allocate(FILE, PageKind::Heap).unwrap());
        put(&mut writing, pages[word as usize], word).unwrap();
    }
    writing.commit().unwrap();
    let after = first.counters().traffic;
    assert!(after.one_way - before.one_way >= 2, "{after:?}");
    let reading = second.reading();
    for (word, &page) in pages.iter().enumerate() {
        assert_eq!(get(&reading, page).unwrap(), word as u64);
    }
}
