//! Disks that fail or are full.

use crate::pages::PageWrite;
use std::io;

use super::*;
use crate::disk::simulated::{Call, Failure};
use crate::error::{LodeError, Result};

fn commit_one(database: &Database, page: PageNumber, value: u64) -> Result<()> {
    let mut writing = database.writing();
    writing.write(page, |bytes| bytes.put_u64(AT, value))?;
    writing.commit()
}

#[test]
fn after_a_failed_sync_nothing_is_believed_until_opened_again() {
    for text in ["durability=full", "durability=group"] {
        let simulation = Simulation::new();
        let database = database_on(&simulation, &tactics(text)).unwrap();
        let pages = allocate(&database, 2);
        commit_one(&database, pages[0], 1).unwrap();
        let before = simulation.image(&[]);
        simulation.fail(Failure::nth(Some(Call::Sync), 1));
        let outcome = commit_one(&database, pages[0], 2);
        assert!(matches!(outcome, Err(LodeError::Uncertain { .. })), "{outcome:?}");
        let reading = database.reading();
        assert!(matches!(reading.read(pages[0], |_| ()), Err(LodeError::Reopen { .. })));
        drop(reading);
        assert!(matches!(commit_one(&database, pages[1], 3), Err(LodeError::Reopen { .. })));
        assert!(matches!(database.checkpoint(), Err(LodeError::Reopen { .. })));
        drop(database);
        let first =
            |database: &Database| database.reading().read(pages[0], |view| view.u64(AT)).unwrap();
        assert_eq!(first(&after(&before, &tactics(text))), 1);
        let unlucky = after(&simulation.image(&[]), &tactics(text));
        assert_eq!(first(&unlucky), 1);
        let lucky = after(&simulation.killed(), &tactics(text));
        assert_eq!(first(&lucky), 2);
    }
}

#[test]
fn a_full_disk_stops_who_begins_something_and_nobody_else() {
    for text in ["log=page-diff", "log=page-grain", "log=set-range"] {
        let tactics = tactics(&format!("{text}&cache=65536&checkpoint=1MiB&durability=none"));
        let simulation = Simulation::new();
        let database = database_on(&simulation, &tactics).unwrap();
        let pages: Vec<_> = (0..40).flat_map(|_| allocate(&database, 1)).collect();
        let used_bytes: u64 = ["volume", "log"]
            .map(|name| crate::disk::Disk::len_bytes(&simulation.disk(name)).unwrap())
            .iter()
            .sum();
        simulation.set_capacity_bytes(Some(used_bytes));
        let mut value = 0;
        let mut refused = 0;
        for round in 1..=60 {
            let mut writing = database.writing();
            let written = pages
                .iter()
                .take(round % 41)
                .try_for_each(|&page| writing.write(page, |bytes| bytes.put_u64(AT, round as u64)));
            match written.and_then(|()| writing.commit()) {
                Ok(()) if round % 41 > 0 => value = round as u64,
                Ok(()) => {}
                Err(LodeError::Full { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            let found = database.reading().read(pages[0], |view| view.u64(AT)).unwrap();
            assert_eq!(found, value, "round {round}");
        }
        let grown = database.writing().allocate(1, PageKind::Heap);
        drop(grown);
        assert!(refused > 0, "{text}: the disk was not full");
        // As it is, and killed: it opens though the disk is still full.
        let killed = simulation.killed().simulation();
        killed.set_capacity_bytes(Some(used_bytes));
        let recovered = database_on(&killed, &tactics).unwrap();
        recovered.reading().read(pages[0], |_| ()).unwrap();
        recovered.close().unwrap();
        database.close().unwrap();
        let opened = database_on(&simulation, &tactics).unwrap();
        assert_eq!(opened.reading().read(pages[0], |view| view.u64(AT)).unwrap(), value);
    }
}

#[test]
fn recovery_that_fails_anywhere_is_tried_again() {
    let tactics = tactics("cache=65536&log=page-diff");
    let simulation = Simulation::new();
    let database = database_on(&simulation, &tactics).unwrap();
    let pages = allocate(&database, 30);
    for (round, &page) in pages.iter().enumerate() {
        commit_one(&database, page, round as u64 + 1).unwrap();
    }
    let mut open = database.writing();
    for &page in &pages {
        put(&mut open, page, 99);
    }
    let image = simulation.image(&[]);
    for nth in 1.. {
        let simulation = image.simulation();
        simulation.fail(Failure::nth(None, nth).with(io::ErrorKind::Other));
        let failed = database_on(&simulation, &tactics).is_err();
        let calls = simulation.calls(None);
        simulation.mend();
        let twice = simulation.image(&[]).simulation();
        let recovered = database_on(&twice, &tactics).unwrap();
        let reading = recovered.reading();
        for (round, &page) in pages.iter().enumerate() {
            let found = reading.read(page, |view| view.u64(AT)).unwrap();
            assert_eq!(found, round as u64 + 1, "failure {nth}, page {page}");
        }
        if !failed && calls < nth {
            break;
        }
    }
}

#[test]
fn changes_that_could_not_be_undone_are_seen_by_nobody() {
    let simulation = Simulation::new();
    let tactics = tactics("locks=page&cache=65536&log=page-grain");
    let database = database_on(&simulation, &tactics).unwrap();
    let pages = allocate(&database, 40);
    let (reading_on, mut writing_on) = (database.reading(), database.writing());
    assert_eq!(get(&reading_on, pages[0]) + get(&writing_on, pages[0]), 0);
    let mut failing = database.writing();
    for &page in &pages[1..] {
        put(&mut failing, page, 9);
    }
    simulation.fail(Failure::nth(None, 1).for_ever());
    assert!(matches!(failing.rollback(), Err(LodeError::Reopen { .. })));
    let refused = |outcome: Result<()>| matches!(outcome, Err(LodeError::Reopen { .. }));
    assert!(refused(reading_on.read(pages[1], |_| ())));
    assert!(refused(writing_on.read(pages[1], |_| ())));
    assert!(refused(writing_on.write(pages[2], |_| ())));
    drop((reading_on, writing_on));
    let recovered = after(&simulation.killed(), &tactics);
    assert!(values(&recovered, &pages).iter().all(|&value| value == 0));
}

#[test]
fn who_was_refused_once_is_refused_again() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let simulation = Simulation::new();
        let tactics = tactics(&format!("{text}&cache=65536&log=page-grain"));
        let database = database_on(&simulation, &tactics).unwrap();
        let pages = allocate(&database, 40);
        let mut failing = database.writing();
        for &page in &pages {
            put(&mut failing, page, 9);
        }
        simulation.fail(Failure::nth(None, 1).for_ever());
        assert!(matches!(failing.rollback(), Err(LodeError::Reopen { .. })));
        let (reading, mut writing) = (database.reading(), database.writing());
        let refused = |outcome: Result<()>| matches!(outcome, Err(LodeError::Reopen { .. }));
        for _ in 0..3 {
            assert!(refused(reading.read(pages[1], |_| ())), "{text}");
            assert!(refused(writing.read(pages[1], |_| ())), "{text}");
            assert!(refused(writing.write(pages[1], |_| ())), "{text}");
        }
    }
}
