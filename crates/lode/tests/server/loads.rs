//! Clients that load many new pages, and do not come to the end of it.

use std::env;
use std::io::{Read, stdin};

use lode::internals::error::Result;
use lode::internals::page::{PageKind, PageNumber};
use lode::internals::space;
use lode::remote::Remote;
use lode::server::Address;
use lode::{LodeError, PageWrite};

use crate::processes::{ADDRESS, Process, pages_text, role, say, settings};
use crate::setup::{ACCOUNTS, Bank, FILE, START, get, put, sum, tactics};

/// Far more than the smallest cache holds.
const PAGES: usize = 300;

/// New pages with a value.
fn fill(writing: &mut impl PageWrite, value: u64) -> Result<Vec<PageNumber>> {
    let mut one = || {
        let page = writing.allocate(FILE, PageKind::Heap)?;
        put(writing, page, value)?;
        Ok(page)
    };
    (0..PAGES).map(|_| one()).collect()
}

/// The same, committed; again where it was a deadlock's victim.
fn load(remote: &Remote, value: u64) -> Vec<PageNumber> {
    loop {
        let mut writing = remote.writing();
        let filled = fill(&mut writing, value);
        match filled.and_then(|pages| writing.commit().map(|()| pages)) {
            Ok(pages) => return pages,
            Err(LodeError::Deadlock) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_client_that_is_gone_in_the_middle_of_a_load_leaves_nothing_of_it() {
    for bulk in ["unlogged", "logged"] {
        for locks in ["database", "relation", "page"] {
            let text = format!("bulk={bulk}&locks={locks}&cache=65536");
            let bank = Bank::open(&text);
            let (address, pages) = (bank.server.address().to_string(), pages_text(&bank.accounts));
            let mut process =
                Process::start("loads::a_process_that_loads", &settings("loads", &address, &pages));
            process.wait_for("loaded");
            process.0.kill().unwrap();
            // It waits for the locks of the one that is gone.
            let remote = bank.client("");
            let loaded = load(&remote, 3);
            let reading = remote.reading();
            for &page in &loaded {
                assert_eq!(get(&reading, page).unwrap(), 3, "{text}: page {page}");
            }
            drop((reading, remote));
            let (database, accounts) = bank.reopen();
            let reading = database.reading();
            assert_eq!(sum(&reading, &accounts).unwrap(), ACCOUNTS as u64 * START, "{text}");
            assert_eq!(sum(&reading, &loaded).unwrap(), 3 * PAGES as u64, "{text}");
            let used = space::usage(&reading, database.extent_pages()).unwrap().pages_used;
            assert_eq!(used, (ACCOUNTS + PAGES) as u64, "{text}: what it took is free");
        }
    }
}

/// Not a test by itself: the other one starts it.
#[test]
fn a_process_that_loads() {
    if role().as_deref() != Some("loads") {
        return;
    }
    // A client keeps what it changes until it commits.
    let address: Address = env::var(ADDRESS).unwrap().parse().unwrap();
    let remote = Remote::connect(&address, &tactics("cache=4MiB")).unwrap();
    let mut writing = remote.writing();
    fill(&mut writing, 2).unwrap();
    say("loaded");
    // For ever: the test that started this kills it.
    let _ = stdin().read(&mut [0]);
}
