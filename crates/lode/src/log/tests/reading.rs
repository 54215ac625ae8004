use proptest::prelude::*;

use super::{
    Body, IDENTITY, TestDisk, append_all, bodies, create, image, open, records, redo, try_open,
};
use crate::error::LodeError;
use crate::log::header::VERSION;
use crate::log::{Lsn, RECORD_BYTES_MAX, Sync};

/// The place where the records lie in the file during the first epoch.
fn offset(lsn: Lsn) -> usize {
    lsn.0 as usize
}

#[test]
fn an_empty_log_has_no_records() {
    let disk = TestDisk::new();
    let log = create(&disk);
    assert_eq!(records(&log), []);
    let (_, opened) = open(disk.synced());
    assert_eq!(records(&opened), []);
    assert_eq!(opened.end(), opened.first());
    assert!(opened.end() > Lsn(0), "0 stands for never logged");
}

#[test]
fn records_of_each_kind_come_back_and_more_can_follow() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let mut expected = append_all(&log, &bodies());
    log.make_durable(expected.last().unwrap().lsn, Sync::Own).unwrap();
    let (disk, log) = open(disk.synced());
    assert_eq!(records(&log), expected);
    expected.extend(append_all(&log, &bodies()));
    assert_eq!(records(&log), expected);
    log.write_out().unwrap();
    assert_eq!(records(&open(disk.bytes()).1), expected);
}

#[test]
fn reading_begins_at_any_record() {
    let log = create(&TestDisk::new());
    let expected = append_all(&log, &bodies());
    for (place, record) in expected.iter().enumerate() {
        let mut reader = log.read(record.lsn).unwrap();
        let read: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(read, expected[place..]);
        assert_eq!(reader.position(), log.end());
    }
    let mut reader = log.read(log.end()).unwrap();
    assert!(reader.next().is_none());
    append_all(&log, &bodies());
    log.write_out().unwrap();
    assert!(reader.next().is_none(), "a log that has ended does not go on");
}

#[test]
fn a_record_is_found_in_memory_and_on_the_disk() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let mut expected = append_all(&log, &bodies());
    for record in &expected {
        assert_eq!(&log.record_at(record.lsn).unwrap(), record);
    }
    log.write_out().unwrap();
    expected.extend(append_all(&log, &bodies()));
    for record in &expected {
        assert_eq!(&log.record_at(record.lsn).unwrap(), record);
    }
    let between = Lsn(expected[0].lsn.0 + 8);
    let behind = Lsn(log.end().0 + 8);
    for lsn in [Lsn(0), between, log.end(), behind, Lsn(u64::MAX)] {
        assert!(matches!(log.record_at(lsn), Err(LodeError::Corrupt { .. })), "{lsn}");
    }
}

#[test]
fn a_record_on_its_way_to_the_disk_is_found() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let lsn = log.append(&image(1, 1), 1).unwrap();
    disk.hold_syncs();
    std::thread::scope(|scope| {
        scope.spawn(|| log.make_durable(lsn, Sync::Group).unwrap());
        disk.wait_for_sync();
        let reading = scope.spawn(|| log.record_at(lsn).unwrap());
        log.append(&Body::Commit, 1).unwrap();
        disk.release_syncs();
        assert_eq!(reading.join().unwrap().body, image(1, 1));
    });
}

#[test]
fn a_truncated_log_keeps_what_is_before() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let expected = append_all(&log, &bodies());
    log.write_out().unwrap();
    let bytes = disk.bytes();
    for cut in 0..=bytes.len() {
        if cut <= 4_096 {
            let read = try_open(bytes[..cut].to_vec()).map(drop);
            assert!(matches!(read, Err(LodeError::Corrupt { .. })), "{cut}");
            continue;
        }
        let read = records(&open(bytes[..cut].to_vec()).1);
        let whole = expected
            .iter()
            .filter(|record| offset(record.lsn) + record.body.record_bytes() <= cut)
            .count();
        assert!(read.len() >= whole && read == expected[..read.len()], "{cut}");
        // A record that ends with zeros may be whole though some of them were cut.
        assert!(read.len() <= whole + 1, "{cut}");
    }
}

#[test]
fn a_flipped_byte_ends_the_log_there() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let expected = append_all(&log, &bodies());
    log.write_out().unwrap();
    let bytes = disk.bytes();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let read = records(&open(flipped).1);
        let whole = expected
            .iter()
            .filter(|record| offset(record.lsn) + record.body.record_bytes() <= at)
            .count();
        // In the header, or behind the records, nothing is lost.
        let retained = if at < 4_096 { expected.len() } else { whole };
        assert_eq!(read, expected[..retained], "{at}");
    }
}

#[test]
fn a_flipped_byte_before_what_later_records_call_durable_is_damage() {
    let disk = TestDisk::new();
    let log = create(&disk);
    let mut expected = Vec::new();
    for _ in 0..3 {
        let appended = append_all(&log, &bodies());
        log.make_durable(appended[7].lsn, Sync::Own).unwrap();
        expected.extend(appended);
    }
    let bytes = disk.synced();
    let last = offset(expected[16].lsn);
    let end = offset(log.end());
    for at in (4_096..end).chain([end, end + 100]) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let opened = try_open(flipped);
        // Nobody has said anything of the last ones.
        assert_eq!(matches!(opened, Err(LodeError::Corrupt { .. })), at < last, "{at}");
        if let Ok((_, log)) = opened {
            let read = records(&log);
            assert_eq!(read, expected[..read.len()], "{at}");
            assert!(read.len() >= 16, "{at}");
        }
    }
}

#[test]
fn a_file_that_is_no_log_is_refused() {
    let disk = TestDisk::new();
    drop(create(&disk));
    let corrupt = |bytes: Vec<u8>| {
        let read = try_open(bytes).map(drop);
        assert!(matches!(read, Err(LodeError::Corrupt { .. })), "{read:?}");
    };
    corrupt(vec![0; 8_192]);
    corrupt(vec![0xee; 8_192]);
    let mut both = disk.bytes();
    both[30] ^= 1;
    both[2_048 + 30] ^= 1;
    corrupt(both);
    let other = crate::log::Log::open(disk as _, [0; 16]).map(drop);
    assert!(matches!(other, Err(LodeError::Files { .. })));
    assert_ne!(IDENTITY, [0; 16]);
}

#[test]
fn another_version_is_reported() {
    let disk = TestDisk::new();
    drop(create(&disk));
    let mut bytes = disk.bytes();
    for slot in [0, 2_048] {
        bytes[slot + 16] = VERSION as u8 + 1;
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[slot + 8..slot + 64]);
        bytes[slot..slot + 8].copy_from_slice(&sum.to_le_bytes());
    }
    let read = try_open(bytes).map(drop);
    let newer = VERSION + 1;
    assert!(
        matches!(read, Err(LodeError::Version { found, known: VERSION }) if found == newer),
        "{read:?}"
    );
}

#[test]
fn a_record_that_is_too_long_is_refused() {
    let log = create(&TestDisk::new());
    let checkpoint = |count: usize| Body::Checkpoint {
        needed_from: Lsn(8),
        transactions: (0..count as u64).collect(),
    };
    let most = (RECORD_BYTES_MAX - 48) / 8;
    let lsn = log.append(&checkpoint(most), 0).unwrap();
    let longer = log.append(&checkpoint(most + 1), 0);
    assert!(matches!(longer, Err(LodeError::TooLong { .. })), "{longer:?}");
    log.write_out().unwrap();
    assert_eq!(log.record_at(lsn).unwrap().body, checkpoint(most));
    assert_eq!(records(&log).len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_is_appended_and_written_is_read(
        steps in prop::collection::vec((0..7_u8, any::<u8>()), 1..60),
    ) {
        let mut disk = TestDisk::new();
        let mut log = create(&disk);
        let mut expected = Vec::new();
        for (step, byte) in steps {
            let body = match step {
                0 => image(u32::from(byte), byte),
                1 => redo(1, byte),
                2 => Body::Commit,
                3 => bodies().swap_remove(usize::from(byte) % 8),
                4 => {
                    log.write_out().unwrap();
                    continue;
                }
                5 if !expected.is_empty() => {
                    let place = usize::from(byte) % expected.len();
                    let record: &crate::log::Record = &expected[place];
                    let sync = if byte % 2 == 0 { Sync::Own } else { Sync::Group };
                    log.make_durable(record.lsn, sync).unwrap();
                    prop_assert_eq!(&log.record_at(record.lsn).unwrap(), record);
                    let retained = records(&open(disk.synced()).1);
                    prop_assert!(retained.len() > place && retained == expected[..retained.len()]);
                    continue;
                }
                _ => {
                    log.write_out().unwrap();
                    (disk, log) = open(disk.bytes());
                    continue;
                }
            };
            let lsn = log.append(&body, u64::from(byte)).unwrap();
            expected.push(crate::log::Record { lsn, transaction: u64::from(byte), body });
        }
        prop_assert_eq!(records(&log), expected);
    }
}
