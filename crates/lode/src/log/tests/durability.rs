use std::sync::Arc;
use std::thread;

use super::{Body, SIZES, TestDisk, create, image, open, records, redo, transactions};
use crate::log::{Log, Sync};

fn commits(log: &Log, count: u64) -> Vec<crate::log::Lsn> {
    (1..=count).map(|number| log.append(&Body::Commit, number).unwrap()).collect()
}

#[test]
fn nothing_is_written_before_it_must_be() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let bytes = disk.bytes();
    commits(&log, 3);
    assert!(disk.bytes() == bytes && log.written() == log.first());
    log.write_out().unwrap();
    assert!(disk.bytes() != bytes && log.written() == log.end());
    assert!(disk.synced() != disk.bytes() && log.durable() == log.first());
}

#[test]
fn each_for_itself_syncs_each_time_and_no_further_than_itself() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let before = disk.syncs();
    for (place, lsn) in commits(&log, 4).into_iter().enumerate() {
        log.make_durable(lsn, Sync::Own).unwrap();
        assert_eq!(disk.syncs() - before, place as u64 + 1);
        assert_eq!(transactions(&open(disk.synced()).1).len(), place + 1);
    }
}

#[test]
fn one_for_all_syncs_once_for_what_was_appended() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let before = disk.syncs();
    for lsn in commits(&log, 4) {
        log.make_durable(lsn, Sync::Group).unwrap();
    }
    assert_eq!(disk.syncs() - before, 1);
    assert_eq!(transactions(&open(disk.synced()).1), [1, 2, 3, 4]);
}

#[test]
fn durable_records_are_not_synced_again() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lsns = commits(&log, 3);
    log.make_durable(lsns[2], Sync::Own).unwrap();
    let before = disk.syncs();
    for lsn in lsns {
        log.make_durable(lsn, Sync::Own).unwrap();
        log.make_durable(lsn, Sync::Group).unwrap();
    }
    assert_eq!(disk.syncs(), before);
}

#[test]
fn written_records_are_synced_without_another_write() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lsns = commits(&log, 2);
    log.write_out().unwrap();
    let before = log.counters();
    log.make_durable(lsns[0], Sync::Own).unwrap();
    assert_eq!(log.counters().writes, before.writes);
    assert_eq!(log.counters().syncs, before.syncs + 1);
    assert_eq!(log.durable(), log.end());
}

#[test]
fn an_opened_log_is_not_believed_to_be_durable() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lsn = commits(&log, 1)[0];
    log.write_out().unwrap();
    let (disk, log) = open(disk.bytes());
    log.make_durable(lsn, Sync::Group).unwrap();
    assert_eq!(disk.syncs(), 1);
}

#[test]
fn all_who_wait_for_one_sync_share_the_next() {
    const WAITING: u64 = 8;
    let disk = TestDisk::new();
    let log = create(&disk);
    let before = disk.syncs();
    let first = log.append(&Body::Commit, 0).unwrap();
    disk.hold_syncs();
    thread::scope(|scope| {
        scope.spawn(|| log.make_durable(first, Sync::Group).unwrap());
        disk.wait_for_sync();
        for lsn in commits(&log, WAITING) {
            let log = &log;
            scope.spawn(move || log.make_durable(lsn, Sync::Group).unwrap());
        }
        disk.release_syncs();
    });
    assert_eq!(disk.syncs() - before, 2);
    assert_eq!(transactions(&open(disk.synced()).1), (0..=WAITING).collect::<Vec<_>>());
}

#[test]
fn threads_that_commit_at_once_lose_nothing() {
    const THREADS: u64 = 4;
    const COMMITS: u64 = 40;
    for sync in [Sync::Own, Sync::Group] {
        let disk = TestDisk::new();
        let log = create(&disk);
        thread::scope(|scope| {
            for number in 0..THREADS {
                let (log, disk) = (&log, Arc::clone(&disk));
                scope.spawn(move || {
                    for round in 0..COMMITS {
                        log.append(&redo(number as u32, round as u8), number).unwrap();
                        let lsn = log.append(&Body::Commit, number).unwrap();
                        log.make_durable(lsn, sync).unwrap();
                        assert!(log.durable() > lsn);
                        let at = lsn.0 as usize;
                        assert_eq!(disk.synced()[at + 16..at + 24], lsn.0.to_le_bytes());
                    }
                });
            }
        });
        let read = records(&open(disk.synced()).1);
        assert_eq!(read.len() as u64, 2 * THREADS * COMMITS);
        for number in 0..THREADS {
            let own = read.iter().filter(|record| record.transaction == number);
            let expected =
                (0..COMMITS).flat_map(|round| [redo(number as u32, round as u8), Body::Commit]);
            assert!(own.map(|record| record.body.clone()).eq(expected), "{number}");
        }
    }
}

#[test]
fn a_tail_longer_than_its_bound_is_written_by_itself() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let before = disk.syncs();
    let mut expected = Vec::new();
    for page in 0..40 {
        let body = image(page, page as u8);
        let lsn = log.append(&body, 1).unwrap();
        expected.push(crate::log::Record { lsn, transaction: 1, body });
        assert!(log.end().0 - log.written().0 <= SIZES.tail_bytes_max as u64);
    }
    assert_eq!(disk.syncs(), before);
    assert!(log.written() > log.first() && log.durable() == log.first());
    assert_eq!(records(&log), expected);
}

#[test]
fn a_full_tail_waits_for_the_thread_that_writes() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let first = log.append(&image(0, 0), 0).unwrap();
    disk.hold_syncs();
    thread::scope(|scope| {
        scope.spawn(|| log.make_durable(first, Sync::Group).unwrap());
        disk.wait_for_sync();
        let appending = scope.spawn(|| {
            for page in 1..20 {
                log.append(&image(page, 1), u64::from(page)).unwrap();
            }
        });
        disk.release_syncs();
        appending.join().unwrap();
    });
    assert_eq!(transactions(&log), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_commit_overwrites_and_makes_no_file_longer() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lengths: Vec<usize> = commits(&log, 400)
        .into_iter()
        .map(|lsn| {
            let before = disk.bytes().len();
            log.make_durable(lsn, Sync::Own).unwrap();
            assert_eq!(disk.bytes().len(), before);
            before
        })
        .collect();
    assert!(lengths.iter().all(|len_bytes| len_bytes.is_multiple_of(8_192)));
    assert_eq!(log.counters().growths, 3, "two blocks each, and the header takes one");
}
