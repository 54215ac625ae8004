use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;

use super::{
    Body, IDENTITY, SIZES, TestDisk, append_all, create, image, open, records, transactions,
};
use crate::error::{LodeError, Result};
use crate::log::{Log, Lsn, Sync};

/// A little of everything; says which records were acknowledged as durable.
fn work(log: &Log, durable: &mut Vec<Lsn>) -> Result<()> {
    let mut commit = |transaction: u64, sync| {
        log.append(&image(1, 1), transaction)?;
        let lsn = log.append(&Body::Commit, transaction)?;
        log.make_durable(lsn, sync)?;
        durable.push(lsn);
        Ok(())
    };
    commit(1, Sync::Own)?;
    commit(2, Sync::Group)?;
    let checkpoint = log.append(&Body::Commit, 3)?;
    log.set_checkpoint(checkpoint)?;
    commit(4, Sync::Own)?;
    (0..12).try_for_each(|page| log.append(&image(page, 2), 5).map(drop))?;
    commit(6, Sync::Own)?;
    log.begin_anew()?;
    commit(7, Sync::Group)?;
    commit(8, Sync::Own)
}

/// Each later call answers the error, whatever the disk says by then.
fn assert_closed(log: &Log) {
    let lsn = log.first();
    assert!(log.append(&Body::Commit, 9).is_err());
    assert!(log.write_out().is_err() || log.written() == log.end());
    assert!(
        log.end() == log.first()
            || log.durable() > lsn
            || log.make_durable(lsn, Sync::Own).is_err()
    );
    assert!(log.begin_anew().is_err());
    assert!(log.set_checkpoint(log.end()).is_err());
    assert!(log.make_space(1).is_err());
}

#[test]
fn after_any_failure_the_log_is_closed_and_what_was_acknowledged_is_there() {
    for nth in 0.. {
        let disk = TestDisk::new();
        let log = create(&disk);
        disk.fail(nth, ErrorKind::Other);
        let mut durable = Vec::new();
        let outcome = work(&log, &mut durable);
        if !disk.failed() {
            outcome.unwrap();
            assert!(nth > 20, "the work changes the disk more often than that");
            return;
        }
        let error = outcome.unwrap_err();
        assert!(matches!(error, LodeError::Io { .. }), "{nth}: {error}");
        assert_closed(&log);
        for left in [disk.synced(), disk.bytes()] {
            let (_, opened) = open(left);
            let read: Vec<Lsn> = records(&opened).iter().map(|record| record.lsn).collect();
            // Records before the checkpoint were given up by one, or by a new epoch, that did
            // succeed, or whose failure came after it was durable: its caller had brought it to the
            // volume.
            let mut needed = durable.iter().filter(|&&lsn| lsn >= opened.checkpoint());
            assert!(needed.all(|lsn| read.contains(lsn)), "{nth}: {durable:?} but {read:?}");
        }
    }
}

#[test]
fn a_failed_sync_is_not_believed_later() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lsn = log.append(&Body::Commit, 1).unwrap();
    disk.fail(1, ErrorKind::Other);
    log.make_durable(lsn, Sync::Own).unwrap_err();
    assert!(disk.failed());
    for sync in [Sync::Own, Sync::Group] {
        let error = log.make_durable(lsn, sync).unwrap_err().to_string();
        assert!(error.contains("syncing the log") && error.contains("opened again"), "{error}");
    }
    assert_closed(&log);
}

#[test]
fn all_who_wait_hear_of_the_failure() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let first = log.append(&Body::Commit, 0).unwrap();
    disk.hold_syncs();
    thread::scope(|scope| {
        let leading = scope.spawn(|| log.make_durable(first, Sync::Group));
        disk.wait_for_sync();
        disk.fail(0, ErrorKind::Other);
        let lsns: Vec<_> =
            (1..5).map(|number| log.append(&Body::Commit, number).unwrap()).collect();
        let waiting: Vec<_> = lsns
            .into_iter()
            .map(|lsn| {
                scope.spawn({
                    let log = &log;
                    move || log.make_durable(lsn, Sync::Group)
                })
            })
            .collect();
        disk.release_syncs();
        leading.join().unwrap().unwrap();
        for thread in waiting {
            thread.join().unwrap().unwrap_err();
        }
    });
    assert_closed(&log);
}

#[test]
fn a_full_disk_is_reported_and_nothing_was_appended() {
    let disk = TestDisk::new();
    let log = create(&disk);
    disk.set_capacity(Some(8_192));
    let mut count = 0;
    let error = loop {
        match log.append(&Body::Commit, count) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LodeError::Full { what: "the log" }), "{error}");
    assert_eq!(count, 4_096 / 32);
    // A record that was appended can still be committed, and with room the log goes on.
    log.write_out().unwrap();
    assert_eq!(records(&log).len() as u64, count);
    assert!(matches!(log.make_space(1), Err(LodeError::Full { .. })));
    disk.set_capacity(None);
    let lsn = log.append(&Body::Commit, count).unwrap();
    log.make_durable(lsn, Sync::Group).unwrap();
    assert_eq!(transactions(&open(disk.synced()).1), (0..=count).collect::<Vec<_>>());
}

#[test]
fn room_that_was_made_is_there_on_a_full_disk() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let images: Vec<Body> = (0..24).map(|page| image(page, 1)).collect();
    log.make_space(100_000).unwrap();
    disk.set_capacity(Some(0));
    append_all(&log, &images);
    assert!(matches!(log.make_space(u64::MAX), Err(LodeError::Full { .. })));
    log.begin_anew().unwrap();
    append_all(&log, &images);
    log.write_out().unwrap();
}

#[test]
fn a_disk_that_is_full_in_spite_of_the_room_closes_the_log() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lsn = log.append(&Body::Commit, 1).unwrap();
    disk.fail(0, ErrorKind::StorageFull);
    let error = log.make_durable(lsn, Sync::Own).unwrap_err();
    assert!(matches!(error, LodeError::Reopen { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("open the database again") && text.contains("free some space"), "{text}");
    assert!(matches!(log.append(&Body::Commit, 2), Err(LodeError::Reopen { .. })));
    assert_closed(&log);
}

#[test]
fn a_log_that_cannot_be_made_is_an_error() {
    let disk = TestDisk::new();
    disk.set_capacity(Some(4_096));
    let log = Log::create_sized(Arc::clone(&disk) as _, IDENTITY, SIZES).map(drop);
    assert!(matches!(log, Err(LodeError::Full { .. })));
    for nth in 0..5 {
        let disk = TestDisk::new();
        disk.fail(nth, ErrorKind::Other);
        let log = Log::create_sized(disk as _, IDENTITY, SIZES).map(drop);
        assert!(matches!(log, Err(LodeError::Io { .. })), "{nth}");
    }
}
