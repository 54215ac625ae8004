//! Several clients, each with threads and a cache of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;

use lode::internals::error::Result;
use lode::internals::page::{PageKind, PageNumber, offset};
use lode::remote::Remote;
use lode::{LodeError, PageRead, PageWrite, View};

use crate::setup::{ACCOUNTS, Bank, FILE, START, get, put, sum, transfer, until_done};

const CLIENTS: u64 = 2;
const THREADS: u64 = 2;
const TRANSFERS: u64 = 40;

/// A sequence that a seed names (Knuth's MMIX).
pub fn next(state: &mut u64, bound: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % bound as u64) as usize
}

fn one_transfer(remote: &Remote, accounts: &[PageNumber], state: &mut u64) -> Result<()> {
    let (from, to) = (next(state, accounts.len()), next(state, accounts.len()));
    let mut writing = remote.writing();
    transfer(&mut writing, accounts[from], accounts[to], next(state, 10) as u64)?;
    if next(state, 8) == 0 { writing.rollback() } else { writing.commit() }
}

fn transfers_keep_the_sum(bank: Bank, client: &str, may_deadlock: bool) {
    let (left, deadlocks) = (AtomicU64::new(CLIENTS * THREADS), AtomicU64::new(0));
    let remotes: Vec<Remote> = (0..CLIENTS).map(|_| bank.client(client)).collect();
    let watcher = bank.client(client);
    thread::scope(|scope| {
        for seed in 0..CLIENTS * THREADS {
            let remote = &remotes[(seed % CLIENTS) as usize];
            let (accounts, left, deadlocks) = (&bank.accounts, &left, &deadlocks);
            scope.spawn(move || {
                let mut state = seed;
                for _ in 0..TRANSFERS {
                    let met = until_done(|| one_transfer(remote, accounts, &mut state));
                    deadlocks.fetch_add(met, Ordering::Relaxed);
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while left.load(Ordering::Relaxed) > 0 {
            until_done(|| {
                let found = sum(&watcher.reading(), &bank.accounts)?;
                assert_eq!(found, ACCOUNTS as u64 * START);
                Ok(())
            });
        }
    });
    assert!(may_deadlock || deadlocks.into_inner() == 0);
    drop((remotes, watcher));
    let (database, accounts) = bank.reopen();
    assert_eq!(sum(&database.reading(), &accounts).unwrap(), ACCOUNTS as u64 * START);
}

#[test]
fn transfers_keep_the_sum_under_one_lock() {
    let bank = Bank::open("locks=database&durability=group&log=page-diff");
    transfers_keep_the_sum(bank, "readahead=on&cache=1048576", false);
}

#[test]
fn transfers_keep_the_sum_under_locks_of_pages() {
    let bank = Bank::open_tcp("locks=page&durability=group&log=page-grain&cache=98304");
    transfers_keep_the_sum(bank, "cache=65536", true);
}

#[test]
fn transfers_keep_the_sum_under_locks_of_relations() {
    let bank = Bank::open("locks=relation&durability=group&log=set-range&cache=98304");
    transfers_keep_the_sum(bank, "cache=65536&swizzle=on", true);
}

#[test]
fn transfers_keep_the_sum_with_the_strictest_list() {
    let bank = Bank::open("locks=page&durability=full&log=page-diff&checkpoint=65536");
    transfers_keep_the_sum(bank, "replacement=lru-2&swizzle=on", true);
}

#[test]
fn a_deadlock_has_one_victim_and_the_other_goes_on() {
    let bank = Bank::open("locks=page");
    let remotes = [bank.client(""), bank.client("")];
    let both_have_one = Barrier::new(2);
    let run = |remote: &Remote, mine: PageNumber, others: PageNumber| {
        let mut writing = remote.writing();
        put(&mut writing, mine, 7).unwrap();
        both_have_one.wait();
        put(&mut writing, others, 8)?;
        writing.commit()
    };
    let (one, two) = (bank.accounts[0], bank.accounts[1]);
    let outcomes = thread::scope(|scope| {
        let first = scope.spawn(|| run(&remotes[0], one, two));
        let second = scope.spawn(|| run(&remotes[1], two, one));
        [first.join().unwrap(), second.join().unwrap()]
    });
    let reported = |outcome: &&Result<()>| matches!(outcome, Err(LodeError::Deadlock));
    assert_eq!(outcomes.iter().filter(reported).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let reading = remotes[0].reading();
    let words = [one, two].map(|page| get(&reading, page).unwrap());
    assert!(words == [7, 8] || words == [8, 7], "{words:?}");
}

#[test]
fn a_thread_that_waits_for_itself_is_reported() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let bank = Bank::open(text);
        let remote = bank.client("");
        let reading = remote.reading();
        assert_eq!(get(&reading, bank.accounts[0]).unwrap(), START);
        let mut writing = remote.writing();
        let outcome = put(&mut writing, bank.accounts[0], 1);
        assert!(matches!(outcome, Err(LodeError::Deadlock)), "{text}: {outcome:?}");
        assert!(matches!(writing.commit(), Err(LodeError::Deadlock)));
        drop(reading);
        let mut writing = remote.writing();
        put(&mut writing, bank.accounts[0], 1).unwrap();
        writing.commit().unwrap();
    }
}

#[test]
fn transactions_of_one_thread_do_not_disturb_each_other() {
    let bank = Bank::open("locks=page");
    let remote = bank.client("");
    let mut one = remote.writing();
    let mut two = remote.writing();
    put(&mut one, bank.accounts[0], 11).unwrap();
    put(&mut two, bank.accounts[1], 22).unwrap();
    one.commit().unwrap();
    two.rollback().unwrap();
    let reading = remote.reading();
    assert_eq!(get(&reading, bank.accounts[0]).unwrap(), 11);
    assert_eq!(get(&reading, bank.accounts[1]).unwrap(), START);
}

/// The tactic `locks=page` lets two write two pages of a file at once; the others do not.
#[test]
fn locks_are_as_large_as_the_tactic_says() {
    let grains = [("locks=database", false), ("locks=relation", false), ("locks=page", true)];
    for (text, at_once) in grains {
        let bank = Bank::open(text);
        let (first, second) = (bank.client(""), bank.client(""));
        let mut writing = first.writing();
        put(&mut writing, bank.accounts[0], 1).unwrap();
        let (send, done) = mpsc::channel();
        thread::scope(|scope| {
            let (second, accounts) = (&second, &bank.accounts);
            scope.spawn(move || {
                let mut writing = second.writing();
                put(&mut writing, accounts[1], 2).unwrap();
                writing.commit().unwrap();
                send.send(()).unwrap();
            });
            if at_once {
                done.recv().unwrap();
                writing.commit().unwrap();
            } else {
                assert_eq!(done.try_recv(), Err(mpsc::TryRecvError::Empty));
                writing.commit().unwrap();
                done.recv().unwrap();
            }
        });
        let reading = first.reading();
        assert_eq!(reading.read(bank.accounts[1], |view| view.u64(4_088)).unwrap(), 2);
    }
}

/// A client gives pages out by itself; whose they have become the server learns at the commit.
#[test]
fn a_page_that_a_client_gives_to_a_relation_waits_for_the_readers_of_it() {
    let bank = Bank::open("locks=relation");
    let remote = bank.client("");
    let reading = remote.reading();
    assert_eq!(get(&reading, bank.accounts[0]).unwrap(), START);
    let give = |file| {
        let mut writing = remote.writing();
        let page = writing.allocate(file, PageKind::Heap)?;
        writing.commit()?;
        Ok(page)
    };
    let other = give(FILE + 1).unwrap();
    // In one thread, to wait is a deadlock.
    let given: Result<PageNumber> = give(FILE);
    assert!(matches!(given, Err(LodeError::Deadlock)), "{given:?}");
    drop(reading);
    let page = give(FILE).unwrap();
    let file = |view: View<'_>| view.u32(offset::FILE);
    let owner = |page| remote.reading().read(page, file).unwrap();
    assert_eq!((owner(page), owner(other)), (FILE, FILE + 1));
}
