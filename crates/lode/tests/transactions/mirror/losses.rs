//! Copies that fail while the database is used, and what is found when it is opened again.

use std::fs;
use std::path::Path;

use lode::internals::disk::Disk;
use lode::internals::disk::simulated::{Call, Failure, Simulation};
use lode::internals::mirror::{inspect, take_alone};
use lode::internals::page::{PAGE_BYTES, PageNumber};
use lode::tactics::Mirroring;
use lode::{Database, LodeError, Tactics};

use super::copies::{FILES, Machine, are_alike};
use crate::words::{State, allocate, put, state_of, tactics};

const TACTICS: &str = "mirror=idle&cache=65536&checkpoint=65536&extent=4";

/// More than the cache holds.
const PAGES: usize = 40;

fn filled(database: &Database, word: u64) -> State {
    let mut writing = database.writing();
    for _ in 0..PAGES {
        let page = allocate(&mut writing).unwrap();
        put(&mut writing, page, 0, word).unwrap();
    }
    writing.commit().unwrap();
    state_of(database).unwrap()
}

fn standings(database: &Database) -> [&'static str; 2] {
    database.mirror().unwrap().copies.map(|copy| copy.standing)
}

fn message<T>(outcome: Result<T, LodeError>) -> String {
    match outcome {
        Ok(_) => panic!("it was not refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_page_damaged_in_one_copy_is_read_from_the_other_and_mended() {
    for corrupt in [0, 1] {
        let machine = Machine::on(Simulation::new());
        let database = machine.open(&tactics(TACTICS)).unwrap();
        let state = filled(&database, 7);
        database.close().unwrap();
        let volume = machine.simulation.disk(FILES[corrupt][1]);
        let pages: Vec<PageNumber> = state.keys().copied().collect();
        for &page in &pages {
            volume.write(u64::from(page) * PAGE_BYTES as u64 + 2_000, &[9; 40]).unwrap();
        }
        let policy = ["first", "nearer"][corrupt];
        let text = TACTICS.replace("idle", policy);
        let database = machine.open(&tactics(&text)).unwrap();
        assert_eq!(state_of(&database).unwrap(), state);
        let mended = database.mirror().unwrap().mended;
        assert_eq!(standings(&database), ["in step"; 2]);
        // A page that is never read is not mended; of the first copy everything is read here.
        if corrupt == 0 {
            assert_eq!(mended, PAGES as u64);
            assert!(are_alike(&machine.simulation.killed()));
        }
        database.close().unwrap();
    }
}

/// A device that lost a write, or a file with a hole, gives zeros, which pass as a page that was
/// never written.
#[test]
fn a_page_of_zeros_in_one_copy_is_read_from_the_other_and_mended() {
    for zeroed in [0, 1] {
        for policy in ["first", "nearer", "idle"] {
            let machine = Machine::on(Simulation::new());
            let database = machine.open(&tactics(TACTICS)).unwrap();
            let state = filled(&database, 7);
            database.close().unwrap();
            let volume = machine.simulation.disk(FILES[zeroed][1]);
            for &page in state.keys() {
                volume.write(u64::from(page) * PAGE_BYTES as u64, &[0; PAGE_BYTES]).unwrap();
            }
            let text = TACTICS.replace("idle", policy);
            let database = machine.open(&tactics(&text)).unwrap();
            assert_eq!(state_of(&database).unwrap(), state, "{zeroed} {policy}");
            assert_eq!(standings(&database), ["in step"; 2]);
            if (zeroed, policy) == (0, "first") {
                assert_eq!(database.mirror().unwrap().mended, PAGES as u64);
                assert!(are_alike(&machine.simulation.killed()));
            }
            database.close().unwrap();
        }
    }
}

/// A device that lost its end, in part of a page or in whole pages: the other copy once was cut to
/// its length, and with it went the only copy of what was committed.
#[test]
fn a_volume_cut_short_gets_its_end_from_the_other() {
    for cut in [0, 1] {
        for lost_bytes in [1, PAGE_BYTES as u64, 20 * PAGE_BYTES as u64 + 512] {
            let machine = Machine::on(Simulation::new());
            let database = machine.open(&tactics(TACTICS)).unwrap();
            let state = filled(&database, 7);
            database.close().unwrap();
            let [one, two] = FILES.map(|[_, volume, _]| machine.simulation.disk(volume));
            let len_bytes = one.len_bytes().unwrap();
            let volume = if cut == 0 { &one } else { &two };
            volume.set_len(len_bytes - lost_bytes).unwrap();
            let database = machine.open(&tactics(TACTICS)).unwrap();
            assert_eq!(state_of(&database).unwrap(), state, "{cut} {lost_bytes}");
            assert_eq!(standings(&database), ["in step"; 2]);
            database.close().unwrap();
            assert_eq!([&one, &two].map(|disk| disk.len_bytes().unwrap()), [len_bytes; 2]);
            assert!(are_alike(&machine.simulation.killed()), "{cut} {lost_bytes}");
        }
    }
}

#[test]
fn a_page_damaged_in_both_copies_is_reported() {
    let machine = Machine::on(Simulation::new());
    let database = machine.open(&tactics(TACTICS)).unwrap();
    let state = filled(&database, 7);
    database.close().unwrap();
    let page = *state.keys().next().unwrap();
    for [_, volume, _] in FILES {
        let volume = machine.simulation.disk(volume);
        volume.write(u64::from(page) * PAGE_BYTES as u64 + 2_000, &[9; 40]).unwrap();
    }
    let database = machine.open(&tactics(TACTICS)).unwrap();
    assert!(matches!(state_of(&database), Err(LodeError::Corrupt { .. })));
    assert_eq!(standings(&database), ["in step"; 2]);
    database.abandon();
}

/// The n-th call of a kind fails in one copy, whichever n: nobody notices but the mirror.
#[test]
fn a_call_that_fails_in_one_copy_fails_for_nobody() {
    for call in [Call::Write, Call::Sync, Call::SetLen] {
        let mut lost = 0;
        for nth in (1..60).step_by(4) {
            let machine = Machine::on(Simulation::new());
            let database = machine.open(&tactics(TACTICS)).unwrap();
            machine.simulation.fail(Failure::nth(Some(call), nth));
            let state = filled(&database, nth);
            machine.simulation.mend();
            lost += usize::from(database.mirror().unwrap().epoch > 1);
            database.remirror().unwrap();
            database.close().unwrap();
            assert!(are_alike(&machine.simulation.killed()));
            let database = machine.open(&tactics(TACTICS)).unwrap();
            assert_eq!(state_of(&database).unwrap(), state, "{call:?} {nth}");
            database.abandon();
        }
        assert!(lost > 0, "{call:?}");
    }
}

#[test]
fn where_both_copies_fail_the_commit_fails() {
    let machine = Machine::on(Simulation::new());
    let database = machine.open(&tactics(TACTICS)).unwrap();
    let state = filled(&database, 1);
    machine.simulation.fail(Failure::nth(Some(Call::Write), 1).for_ever());
    let mut writing = database.writing();
    put(&mut writing, *state.keys().next().unwrap(), 0, 2).unwrap();
    // A write that fails has written a part: whether the commit is in it, opening shows.
    assert!(matches!(writing.commit(), Err(LodeError::Uncertain { .. })));
    database.abandon();
    machine.simulation.mend();
    let database = machine.open(&tactics(TACTICS)).unwrap();
    let found = state_of(&database).unwrap();
    let mut changed = state.clone();
    changed.values_mut().next().unwrap()[0] = 2;
    assert!([state, changed].contains(&found), "{found:?}");
    database.abandon();
}

/// A full disk is reported, and costs no copy.
#[test]
fn a_full_device_ends_a_transaction_and_not_the_mirror() {
    let machine = Machine::on(Simulation::new());
    let database = machine.open(&tactics(TACTICS)).unwrap();
    let state = filled(&database, 1);
    machine.simulation.set_capacity_bytes(Some(0));
    let mut writing = database.writing();
    let refused = (0..2_000).find_map(|_| allocate(&mut writing).err());
    assert!(matches!(refused, Some(LodeError::Full { .. })), "{refused:?}");
    drop(writing);
    assert_eq!(standings(&database), ["in step"; 2]);
    machine.simulation.set_capacity_bytes(None);
    assert_eq!(state_of(&database).unwrap(), state);
    filled(&database, 2);
    database.close().unwrap();
    assert!(are_alike(&machine.simulation.killed()));
}

#[test]
fn reads_go_where_the_tactic_says() {
    for (policy, second_reads) in [("first", false), ("idle", true), ("nearer", true)] {
        let machine = Machine::on(Simulation::new());
        let database = machine.open(&tactics(&TACTICS.replace("idle", policy))).unwrap();
        let state = filled(&database, 1);
        let pages: Vec<PageNumber> = state.keys().copied().collect();
        database.forget().unwrap();
        let before = database.mirror().unwrap().copies.map(|copy| copy.reads);
        let reading = database.reading();
        // From both ends towards the middle: each end has a device that is near.
        for (&low, &high) in pages.iter().zip(pages.iter().rev()).take(PAGES / 2) {
            crate::words::get(&reading, low).unwrap();
            crate::words::get(&reading, high).unwrap();
        }
        let after = database.mirror().unwrap().copies.map(|copy| copy.reads);
        let [first, second] = [after[0] - before[0], after[1] - before[1]];
        assert!(first > 0, "{policy}");
        assert_eq!(second > 0, second_reads, "{policy}: {first} and {second}");
        drop(reading);
        database.abandon();
    }
}

fn made(path: &Path) -> (Tactics, State) {
    let tactics = tactics("mirror=idle&extent=4");
    let database = Database::create(path, &tactics).unwrap();
    let state = filled(&database, 3);
    database.close().unwrap();
    (tactics, state)
}

#[test]
fn a_copy_whose_files_are_away_is_missed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts");
    let (tactics, state) = made(&path);
    assert_eq!(inspect(&path).unwrap().unwrap().verdict, "both copies are in step");
    fs::remove_dir_all(folder.path().join("parts-mirror")).unwrap();
    let refused = message(Database::open(&path, &tactics));
    assert!(refused.contains("second copy") && refused.contains("--alone"), "{refused}");
    let plain = Tactics { mirror: Mirroring::Off, ..tactics };
    assert_eq!(message(Database::open(&path, &plain)), refused);
    assert!(message(take_alone(&path, 1)).contains("not there"));
    take_alone(&path, 0).unwrap();
    let database = Database::open(&path, &tactics).unwrap();
    assert_eq!(standings(&database), ["in step", "gone"]);
    assert_eq!(database.tactics_in_force().mirror, Mirroring::Off);
    assert_eq!(state_of(&database).unwrap(), state);
    assert_eq!(database.remirror().unwrap().unwrap().side, 1);
    assert_eq!(database.tactics_in_force().mirror, Mirroring::Idle);
    assert_eq!(database.remirror().unwrap(), None);
    database.close().unwrap();
    assert_eq!(inspect(&path).unwrap().unwrap().copies.map(|copy| copy.epoch), [3, 3]);
}

/// Each went on without the other: nobody but a person can say which holds.
#[test]
fn copies_that_went_on_apart_are_not_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts");
    let (tactics, _) = made(&path);
    let (second, hidden) = (folder.path().join("parts-mirror"), folder.path().join("hidden"));
    fs::rename(&second, &hidden).unwrap();
    take_alone(&path, 0).unwrap();
    let first = folder.path().join("first");
    fs::create_dir(&first).unwrap();
    let files = ["parts", "parts-log", "parts-state"];
    for file in files {
        fs::rename(folder.path().join(file), first.join(file)).unwrap();
    }
    fs::rename(&hidden, &second).unwrap();
    take_alone(&path, 1).unwrap();
    let database = Database::open(&path, &tactics).unwrap();
    let state = filled(&database, 9);
    database.close().unwrap();
    for file in files {
        fs::rename(first.join(file), folder.path().join(file)).unwrap();
    }
    assert!(message(Database::open(&path, &tactics)).contains("diverged"));
    take_alone(&path, 1).unwrap();
    let database = Database::open(&path, &tactics).unwrap();
    assert_eq!(state_of(&database).unwrap(), state);
    assert_eq!(database.remirror().unwrap().unwrap().side, 0);
    database.close().unwrap();
}

/// Under `off` the second copy is left behind, and says so; a later mirror fills it again.
#[test]
fn switched_off_and_on_nothing_stale_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts");
    let (tactics, _) = made(&path);
    let plain = Tactics { mirror: Mirroring::Off, ..tactics };
    let database = Database::open(&path, &plain).unwrap();
    assert!(database.mirror().is_none());
    assert!(message(database.remirror()).contains("mirror=idle"));
    let state = filled(&database, 4);
    database.close().unwrap();
    let database = Database::open(&path, &tactics).unwrap();
    assert_eq!(standings(&database), ["in step", "gone"]);
    assert_eq!(state_of(&database).unwrap(), state);
    database.remirror().unwrap().unwrap();
    database.close().unwrap();
    let refused = message(take_alone(&folder.path().join("nothing"), 0));
    assert!(refused.contains("not there"), "{refused}");
}

/// A database that was never mirrored becomes so, and one that is makes no second of that name.
#[test]
fn a_plain_database_becomes_a_mirrored_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts");
    let plain = tactics("extent=4");
    let database = Database::create(&path, &plain).unwrap();
    let state = filled(&database, 5);
    database.close().unwrap();
    assert!(inspect(&path).unwrap().is_none());
    let mirrored = tactics("mirror=nearer&extent=4&disk=direct");
    // Where it was built on a disk without direct I/O, the other way does.
    let mirrored = match Database::open(&path, &mirrored) {
        Ok(database) => {
            assert_eq!(standings(&database), ["in step", "gone"]);
            database.remirror().unwrap().unwrap();
            database.close().unwrap();
            mirrored
        }
        Err(LodeError::Tactic { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let database = Database::open_read_only(&path, &mirrored).unwrap();
    let beside = Database::open_read_only(&path, &mirrored).unwrap();
    assert_eq!(state_of(&database).unwrap(), state);
    assert_eq!(state_of(&beside).unwrap(), state);
    assert!(matches!(Database::open(&path, &mirrored), Err(LodeError::InUse { .. })));
    drop((database, beside));
    fs::remove_file(&path).unwrap();
    assert!(message(Database::create(&path, &plain)).contains("mirror=idle"));
}
