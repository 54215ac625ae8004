use std::io::ErrorKind;

use super::{
    Body, IDENTITY, SIZES, TestDisk, append_all, bodies, create, image, open, records, transactions,
};
use crate::error::LodeError;
use crate::log::{Log, Lsn, Sync};

/// The offsets at which a slot of the header says something, and a few behind.
fn in_slots() -> impl Iterator<Item = usize> {
    (0..72).chain(2_048..2_120)
}

#[test]
fn a_log_that_begins_anew_is_empty_and_positions_go_on() {
    let disk = TestDisk::new();
    let log = create(&disk);
    append_all(&log, &bodies());
    let end = log.end();
    log.begin_anew().unwrap();
    assert_eq!((log.first(), log.checkpoint(), log.end()), (end, end, end));
    assert_eq!(records(&log), []);
    let (disk, log) = open(disk.synced());
    assert_eq!((log.first(), log.end()), (end, end));
    let expected = append_all(&log, &bodies()[..3]);
    log.make_durable(expected[2].lsn, Sync::Own).unwrap();
    assert_eq!(expected[0].lsn, end);
    assert_eq!(records(&open(disk.synced()).1), expected);
}

#[test]
fn records_of_an_older_epoch_are_never_read() {
    let disk = TestDisk::new();
    let log = create(&disk);
    // Alike in length and place, so that whatever is left of an epoch follows seamlessly.
    for epoch in 0..5 {
        for transaction in 0..20 {
            log.append(&Body::Commit, 100 * epoch + transaction).unwrap();
        }
        log.write_out().unwrap();
        let whole = disk.bytes();
        for retained in 0..20 {
            // As if only the first records of this epoch had reached the disk.
            let cut = 4_096 + retained * 32;
            let mut bytes = whole.clone();
            if epoch > 0 {
                let other = older(&disk, epoch);
                let whole = cut..bytes.len();
                bytes[cut..].copy_from_slice(&other[whole]);
            } else {
                bytes[cut..].fill(0);
            }
            let expected: Vec<u64> =
                (0..retained as u64).map(|number| 100 * epoch + number).collect();
            assert_eq!(transactions(&open(bytes).1), expected);
        }
        log.begin_anew().unwrap();
    }
}

/// A file of the same length full of records of the epoch before.
fn older(disk: &TestDisk, epoch: u64) -> Vec<u8> {
    let other = TestDisk::new();
    let log = create(&other);
    for round in 0..epoch {
        for transaction in 0..20 {
            log.append(&Body::Commit, 100 * round + transaction).unwrap();
        }
        log.write_out().unwrap();
        if round + 1 < epoch {
            log.begin_anew().unwrap();
        }
    }
    let mut bytes = other.bytes();
    bytes.resize(disk.bytes().len(), 0);
    bytes
}

#[test]
fn a_damaged_slot_does_not_bring_an_older_epoch_back() {
    let disk = TestDisk::new();
    let log = create(&disk);
    for transaction in 0..3 {
        append_all(&log, &bodies());
        log.begin_anew().unwrap();
        let lsn = log.append(&Body::Commit, transaction).unwrap();
        log.make_durable(lsn, Sync::Own).unwrap();
        for at in in_slots() {
            let mut bytes = disk.synced();
            bytes[at] ^= 0x10;
            let (_, opened) = open(bytes);
            assert_eq!(transactions(&opened), [transaction], "{at}");
        }
        log.begin_anew().unwrap();
    }
}

#[test]
fn a_header_torn_anywhere_is_the_old_one_or_the_new() {
    let disk = TestDisk::new();
    let log = create(&disk);
    for round in 0..4 {
        let expected = append_all(&log, &bodies());
        log.make_durable(expected[7].lsn, Sync::Own).unwrap();
        let end = log.end();
        let before = disk.synced();
        log.begin_anew().unwrap();
        let after = disk.bytes();
        assert!(after[..2_048] != before[..2_048] && after[2_048..4_096] != before[2_048..4_096]);
        for cut in in_slots() {
            for (head, behind) in [(&after, &before), (&before, &after)] {
                let bytes = [&head[..cut], &behind[cut..4_096], &before[4_096..]].concat();
                let (_, opened) = open(bytes);
                let read = records(&opened);
                let is_new = opened.first() == end;
                assert!(if is_new { read.is_empty() } else { read == expected }, "{round} {cut}");
            }
        }
    }
}

#[test]
fn a_header_with_one_copy_torn_is_not_lost_when_it_is_written_again() {
    let disk = TestDisk::new();
    append_all(&create(&disk), &bodies());
    for torn in [0, 2_048] {
        let mut bytes = disk.bytes();
        bytes[torn..torn + 64].fill(0xee);
        // The disk's content after one change more each time.
        let mut states = vec![bytes.clone()];
        for nth in 0.. {
            let (disk, log) = open(bytes.clone());
            disk.fail(nth, ErrorKind::Other);
            log.begin_anew().ok();
            states.push(disk.bytes());
            if !disk.failed() {
                break;
            }
        }
        for pair in states.windows(2) {
            for cut in in_slots() {
                open([&pair[1][..cut], &pair[0][cut..]].concat());
            }
        }
    }
}

#[test]
fn recovery_begins_at_the_checkpoint() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let expected = append_all(&log, &bodies());
    for (place, record) in expected.iter().enumerate() {
        log.set_checkpoint(record.lsn).unwrap();
        let (_, opened) = open(disk.synced());
        assert_eq!(opened.checkpoint(), record.lsn);
        assert_eq!(records(&opened), expected[place..]);
    }
    log.set_checkpoint(expected[2].lsn).unwrap();
    assert_eq!(log.checkpoint(), expected[7].lsn, "it does not go back");
    log.set_checkpoint(log.end()).unwrap();
    let (_, opened) = open(disk.synced());
    assert_eq!(records(&opened), []);
    assert_eq!(opened.end(), log.end());
}

#[test]
fn a_file_that_ends_before_its_checkpoint_is_damaged() {
    let disk = TestDisk::new();
    let log = create(&disk);
    append_all(&log, &(0..4).map(|page| image(page, 1)).collect::<Vec<_>>());
    log.set_checkpoint(log.end()).unwrap();
    let bytes = disk.synced()[..8_192].to_vec();
    let read = Log::open_sized(TestDisk::of(bytes) as _, IDENTITY, SIZES).map(drop);
    assert!(matches!(read, Err(LodeError::Corrupt { .. })), "{read:?}");
}

#[test]
fn records_cut_off_by_a_crash_never_follow_new_ones() {
    // A record did not reach the disk and those behind it did: at every place of five.
    for lost in 0..5 {
        let disk = TestDisk::new();
        let log = create(&disk);
        for transaction in 0..300 {
            log.append(&Body::Commit, transaction).unwrap();
        }
        log.write_out().unwrap();
        let mut bytes = disk.bytes();
        let at = 4_096 + (lost * 60) * 32;
        bytes[at..at + 32].fill(0);
        let (disk, log) = open(bytes);
        let retained: Vec<u64> = (0..lost as u64 * 60).collect();
        assert_eq!(transactions(&log), retained);
        // In its place comes one of the same length, and the block is torn when it is written.
        let lsn = log.append(&Body::Commit, 1_000).unwrap();
        assert_eq!(lsn, Lsn(at as u64));
        let before = disk.synced();
        log.make_durable(lsn, Sync::Own).unwrap();
        let after = disk.synced();
        let with_it: Vec<u64> = retained.iter().copied().chain([1_000]).collect();
        assert_eq!(transactions(&open(after.clone()).1), with_it);
        for cut in (at..at + 64).step_by(4) {
            let read = transactions(&open([&after[..cut], &before[cut..]].concat()).1);
            assert!(read == retained || read == with_it, "{lost} {cut} {}", read.len());
        }
    }
}

#[test]
fn records_cut_off_by_a_crash_are_not_read_in_a_new_epoch_at_the_same_position() {
    let disk = TestDisk::new();
    let log = create(&disk);
    append_all(&log, &[Body::Commit, Body::Commit, Body::Commit]);
    log.write_out().unwrap();
    let mut bytes = disk.bytes();
    bytes[4_096..4_096 + 32].fill(0);
    let (disk, log) = open(bytes);
    log.begin_anew().unwrap();
    let before = disk.synced();
    let lsn = log.append(&Body::Commit, 1_000).unwrap();
    assert_eq!(lsn, Lsn(4_096));
    log.make_durable(lsn, Sync::Own).unwrap();
    let torn = [&disk.synced()[..4_096 + 32], &before[4_096 + 32..]].concat();
    assert_eq!(transactions(&open(torn).1), [1_000]);
}

#[test]
fn a_new_log_takes_no_record_of_the_file_before_it() {
    let disk = TestDisk::new();
    let log = create(&disk);
    append_all(&log, &vec![Body::Commit; 300]);
    log.write_out().unwrap();
    let log = create(&disk);
    assert_eq!(records(&open(disk.synced()).1), []);
    // Exactly as many as have room before the file must grow again.
    append_all(&log, &vec![Body::Commit; 128]);
    assert_eq!(records(&log).len(), 128);
}

#[test]
fn a_log_that_is_empty_anyway_does_not_begin_anew() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let syncs = disk.syncs();
    log.begin_anew().unwrap();
    assert_eq!(disk.syncs(), syncs);
}

#[test]
fn only_an_empty_log_is_cut_back_and_goes_on_afterwards() {
    let disk = TestDisk::new();
    let log = create(&disk);
    for page in 0..20 {
        log.append(&image(page, 7), 1).unwrap();
    }
    log.make_durable(log.first(), Sync::Group).unwrap();
    let grown_bytes = disk.bytes().len();
    log.shrink().unwrap();
    assert_eq!(disk.bytes().len(), grown_bytes, "it holds something");
    assert_eq!(records(&log).len(), 20);
    log.begin_anew().unwrap();
    log.shrink().unwrap();
    assert!(disk.bytes().len() < grown_bytes);
    let expected = append_all(&log, &bodies());
    log.make_durable(expected[0].lsn, Sync::Group).unwrap();
    assert_eq!(records(&open(disk.synced()).1), expected);
    assert_eq!(records(&open(disk.bytes()).1), expected);
    // The part that was cut off is not taken for room.
    log.make_space(grown_bytes as u64 / 2).unwrap();
    assert!(disk.bytes().len() > grown_bytes / 2);
}
