//! Many threads at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use lode::internals::disk::Memory;
use lode::internals::disk::simulated::Simulation;
use lode::internals::error::Result;
use lode::internals::page::PageNumber;
use lode::{Database, LodeError};

use crate::random::Random;
use crate::words::{allocate, get, put, tactics};

const ACCOUNTS: usize = 24;
const START: u64 = 1_000;
const THREADS: u64 = 4;
const TRANSFERS: u64 = 60;

fn with_accounts(text: &str) -> (Database, Vec<PageNumber>) {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::on(volume, log, &tactics(text)).unwrap();
    let mut writing = database.writing();
    let accounts: Vec<_> = (0..ACCOUNTS).map(|_| allocate(&mut writing).unwrap()).collect();
    for &account in &accounts {
        put(&mut writing, account, 0, START).unwrap();
    }
    writing.commit().unwrap();
    (database, accounts)
}

/// Move some money, and write a page that nobody else does; some think better of it.
fn transfer(database: &Database, accounts: &[PageNumber], random: &mut Random) -> Result<()> {
    let (from, to) = (random.of(accounts), random.of(accounts));
    let mut writing = database.writing();
    let amount = random.below(10) as u64;
    let [before, ..] = get(&writing, from)?;
    put(&mut writing, from, 0, before - amount.min(before))?;
    let [after, ..] = get(&writing, to)?;
    put(&mut writing, to, 0, after + amount.min(before))?;
    if random.one_in(8) { writing.rollback() } else { writing.commit() }
}

fn sum(database: &Database, accounts: &[PageNumber]) -> Result<u64> {
    let reading = database.reading();
    accounts.iter().map(|&account| get(&reading, account).map(|[word, ..]| word)).sum()
}

/// Until it is no victim of a deadlock; how often it was.
fn until_done(mut run: impl FnMut() -> Result<()>) -> u64 {
    let mut deadlocks = 0;
    loop {
        match run() {
            Ok(()) => return deadlocks,
            Err(LodeError::Deadlock) => deadlocks += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn transfers_keep_the_sum() {
    for text in [
        "locks=database&durability=group&log=page-diff",
        "locks=page&durability=group&log=page-diff&cache=98304",
        "locks=relation&durability=group&log=page-grain&cache=98304",
        "locks=page&durability=none&log=page-grain&checkpoint=65536",
        "locks=page&durability=full&log=page-diff&checkpoint=65536&cache=98304&replacement=lru",
    ] {
        let (database, accounts) = with_accounts(text);
        let (left, deadlocks) = (AtomicU64::new(THREADS), AtomicU64::new(0));
        thread::scope(|scope| {
            for seed in 0..THREADS {
                let (database, accounts, left, deadlocks) =
                    (&database, &accounts, &left, &deadlocks);
                scope.spawn(move || {
                    let mut random = Random::new(seed);
                    for _ in 0..TRANSFERS {
                        let met = until_done(|| transfer(database, accounts, &mut random));
                        deadlocks.fetch_add(met, Ordering::Relaxed);
                    }
                    left.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while left.load(Ordering::Relaxed) > 0 {
                until_done(|| {
                    assert_eq!(sum(&database, &accounts)?, ACCOUNTS as u64 * START, "{text}");
                    Ok(())
                });
            }
        });
        assert_eq!(sum(&database, &accounts).unwrap(), ACCOUNTS as u64 * START, "{text}");
        let counted = database.counters().unwrap().locks.deadlocks;
        assert!(counted >= deadlocks.into_inner(), "{text}");
        assert!(!text.contains("locks=database") || counted == 0, "{text}");
        database.close().unwrap();
    }
}

#[test]
fn a_deadlock_has_one_victim_and_the_other_goes_on() {
    let (database, accounts) = with_accounts("locks=page");
    let both_have_one = Barrier::new(2);
    let run = |mine: PageNumber, others: PageNumber| {
        let mut writing = database.writing();
        put(&mut writing, mine, 1, 7).unwrap();
        both_have_one.wait();
        put(&mut writing, others, 1, 8)?;
        writing.commit()
    };
    let outcomes = thread::scope(|scope| {
        let one = scope.spawn(|| run(accounts[0], accounts[1]));
        let two = scope.spawn(|| run(accounts[1], accounts[0]));
        [one.join().unwrap(), two.join().unwrap()]
    });
    let reported = |outcome: &&Result<()>| matches!(outcome, Err(LodeError::Deadlock));
    assert_eq!(outcomes.iter().filter(reported).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let reading = database.reading();
    let words = [accounts[0], accounts[1]].map(|page| get(&reading, page).unwrap()[1]);
    assert!(words == [7, 8] || words == [8, 7], "{words:?}");
}

#[test]
fn commits_share_a_sync_with_those_who_wait() {
    let (database, accounts) = with_accounts("locks=page&durability=group");
    let before = database.counters().unwrap().log.syncs;
    thread::scope(|scope| {
        for &account in &accounts[..4] {
            let database = &database;
            scope.spawn(move || {
                for round in 0..50 {
                    let mut writing = database.writing();
                    put(&mut writing, account, 1, round).unwrap();
                    writing.commit().unwrap();
                }
            });
        }
    });
    // How many share one depends on the day; never is there more than one each.
    assert!(database.counters().unwrap().log.syncs - before <= 4 * 50);
    let reading = database.reading();
    assert!(accounts[..4].iter().all(|&account| get(&reading, account).unwrap()[1] == 49));
}

#[test]
fn checkpoints_come_while_others_write() {
    let text = "locks=page&durability=none&log=page-grain&checkpoint=65536&cache=98304";
    let (database, accounts) = with_accounts(text);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                database.checkpoint().unwrap();
            }
        });
        let writers = [0, 1].map(|half| {
            let (database, accounts) = (&database, &accounts[half * 12..][..12]);
            scope.spawn(move || {
                let mut random = Random::new(half as u64);
                for _ in 0..150 {
                    until_done(|| transfer(database, accounts, &mut random));
                }
            })
        });
        for writer in writers {
            writer.join().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(sum(&database, &accounts).unwrap(), ACCOUNTS as u64 * START);
}

#[test]
fn a_crash_after_checkpoints_among_writers_loses_nothing() {
    let tactics = tactics("locks=page&durability=group&checkpoint=1MiB&extent=64");
    for round in 1..=10 {
        let simulation = Simulation::new();
        let disk = |name| Arc::new(simulation.disk(name));
        let database = Database::on(disk("volume"), disk("log"), &tactics).unwrap();
        let mut writing = database.writing();
        let pages: Vec<_> = (0..90).map(|_| allocate(&mut writing).unwrap()).collect();
        writing.commit().unwrap();
        let left = AtomicU64::new(3);
        thread::scope(|scope| {
            for share in pages.chunks(30) {
                let (database, left) = (&database, &left);
                scope.spawn(move || {
                    for &page in share {
                        let mut writing = database.writing();
                        put(&mut writing, page, 0, round).unwrap();
                        writing.commit().unwrap();
                    }
                    left.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while left.load(Ordering::Relaxed) > 0 {
                database.checkpoint().unwrap();
            }
        });
        // All were reported that they committed; what was not synced is lost.
        let image = simulation.image(&[]);
        let recovered = Database::on(image.disk("volume"), image.disk("log"), &tactics).unwrap();
        let reading = recovered.reading();
        for &page in &pages {
            assert_eq!(get(&reading, page).unwrap()[0], round, "page {page}");
        }
    }
}
