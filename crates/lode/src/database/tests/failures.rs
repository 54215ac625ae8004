//! Disks that fail or are full.

use crate::pages::PageWrite;
use std::io;
use std::ops::Range;

use super::*;
use crate::disk::simulated::{Call, Failure};
use crate::error::{LodeError, Result};
use crate::log::Body;

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

/// A commit takes no room that is kept for rollbacks and images: one that would is refused before
/// its first record, and nothing that comes after it is stopped.
#[test]
fn a_commit_that_would_take_the_room_kept_for_others_is_refused_before_its_first_record() {
    // Of one record, and of several.
    for count in [1, 40] {
        // The most commits that leave room for changes of the other pages: it is less than that and
        // another commit.
        let can_change = |commits: &u8| Full::after(*commits, count).is_ok();
        let commits = (1..=255).collect::<Vec<u8>>().partition_point(can_change) as u8;
        let (full, changed) = Full::after(commits, count).unwrap();
        let before = packed_records(&full.database);
        let refused = changed.commit();
        assert!(matches!(refused, Err(LodeError::Full { what: "the log" })), "{refused:?}");
        assert_eq!(packed_records(&full.database), before, "{count} pages");
        let Full { simulation, database, pages } = full;
        let mut wanted = vec![u64::from_le_bytes([commits; 8])];
        wanted.resize(1 + count, 0);
        assert_eq!(values(&database, &pages), wanted);
        database.close().unwrap();
        let opened = database_on(&simulation, &tactics("")).unwrap();
        assert_eq!(values(&opened, &pages), wanted);
    }
}

/// A database on a full disk, whose log has room for a while: a page, and others.
struct Full {
    simulation: Simulation,
    database: Database,
    pages: Vec<PageNumber>,
}

impl Full {
    /// After so many commits of the first page, with a transaction that has changed the others.
    fn after(commits: u8, others: usize) -> Result<(Self, Writing)> {
        let simulation = Simulation::new();
        let tactics = tactics("log=page-diff&checkpoint=1GiB&durability=none");
        let database = database_on(&simulation, &tactics)?;
        let pages = allocate(&database, 1 + others);
        database.checkpoint()?;
        simulation.set_capacity_bytes(Some(0));
        let full = Self { simulation, database, pages };
        for byte in 1..=commits {
            full.change(0..1, byte)?.commit()?;
        }
        let changed = full.change(1..1 + others, 255)?;
        Ok((full, changed))
    }

    /// Begin a transaction that makes every byte of these pages that one.
    fn change(&self, pages: Range<usize>, byte: u8) -> Result<Writing> {
        let mut writing = self.database.writing();
        let bytes = [byte; PAGE_BYTES - page::HEADER_BYTES];
        for &page in &self.pages[pages] {
            writing.write(page, |into| into.put(page::HEADER_BYTES, &bytes))?;
        }
        Ok(writing)
    }
}

/// Records of commits since the last checkpoint, whole ones and parts.
fn packed_records(database: &Database) -> usize {
    let log = database.changes().log();
    log.write_out().unwrap();
    let is_packed = |body: &Body| matches!(body, Body::Packed { .. });
    let records = log.read(log.checkpoint()).unwrap();
    records.filter(|record| is_packed(&record.as_ref().unwrap().body)).count()
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
