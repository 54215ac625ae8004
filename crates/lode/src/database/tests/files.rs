//! The findings and errors of opening.

use crate::pages::PageWrite;
use std::fs;

use super::*;
use crate::disk::test_folder;
use crate::error::LodeError;
use crate::superblock;

#[test]
fn a_database_is_closed_and_opened_in_both_ways() {
    for text in ["disk=buffered", "disk=direct"] {
        let folder = test_folder();
        let path = folder.path().join("parts");
        let database = Database::create(&path, &tactics(text)).unwrap();
        let pages = allocate(&database, 20);
        let mut writing = database.writing();
        put(&mut writing, pages[19], 7);
        writing.commit().unwrap();
        database.close().unwrap();
        for again in ["disk=direct", "disk=buffered&readahead=on"] {
            let database = Database::open(&path, &tactics(again)).unwrap();
            assert!(database.recovery().is_none());
            assert_eq!(values(&database, &pages)[19], 7);
            database.forget().unwrap();
            assert_eq!(values(&database, &pages)[19], 7);
        }
        assert!(Database::create(&path, &tactics(text)).is_err());
    }
}

#[test]
fn dropping_closes_and_abandoning_does_not() {
    for text in ["durability=full", "durability=group", "durability=none"] {
        let folder = test_folder();
        let path = folder.path().join("parts");
        let database = Database::create(&path, &tactics(text)).unwrap();
        let pages = allocate(&database, 1);
        drop(database);
        let database = Database::open(&path, &tactics(text)).unwrap();
        assert!(database.recovery().is_none());
        let mut writing = database.writing();
        put(&mut writing, pages[0], 1);
        writing.commit().unwrap();
        database.abandon();

        let read_only = Database::open_read_only(&path, &tactics(text));
        let lost = text == "durability=none";
        assert!(lost || matches!(read_only, Err(LodeError::Unrecovered { .. })), "{text}");
        drop(read_only);
        let database = Database::open(&path, &tactics(text)).unwrap();
        assert!(lost || database.recovery().is_some_and(|recovery| recovery.ended == 1));
        assert_eq!(values(&database, &pages), [u64::from(!lost)]);
    }
}

#[test]
fn one_writes_or_many_read() {
    let folder = test_folder();
    let path = folder.path().join("parts");
    let all = Tactics::default();
    let database = Database::create(&path, &all).unwrap();
    let pages = allocate(&database, 1);
    assert!(matches!(Database::open(&path, &all), Err(LodeError::InUse { .. })));
    assert!(matches!(Database::open_read_only(&path, &all), Err(LodeError::InUse { .. })));
    database.close().unwrap();
    let readers = [(); 2].map(|()| Database::open_read_only(&path, &all).unwrap());
    assert!(matches!(Database::open(&path, &all), Err(LodeError::InUse { .. })));
    for reader in readers {
        assert_eq!(values(&reader, &pages), [0]);
        let mut writing = reader.writing();
        assert!(matches!(writing.write(pages[0], |_| ()), Err(LodeError::ReadOnly)));
        assert!(matches!(writing.allocate(1, PageKind::Heap), Err(LodeError::ReadOnly)));
        drop(writing);
        reader.close().unwrap();
    }
    Database::open(&path, &all).unwrap();
}

#[test]
fn other_files_and_other_versions_are_distinguished() {
    let folder = test_folder();
    let path = folder.path().join("parts");
    let all = Tactics::default();
    assert!(matches!(Database::open(&path, &all), Err(LodeError::Io { .. })));
    let database = Database::create(&path, &all).unwrap();
    let pages = allocate(&database, 1);
    database.close().unwrap();
    let whole = fs::read(&path).unwrap();
    let opened_with = |changes: &[(usize, u8)]| {
        let mut bytes = whole.clone();
        for &(at, value) in changes {
            bytes[at] = value;
        }
        fs::write(&path, bytes).unwrap();
        Database::open(&path, &all)
    };

    // One copy of the superblock damaged, then the other: the first was mended.
    for place in [0, PAGE_BYTES] {
        let database = opened_with(&[(place + 60, 99)]).unwrap();
        assert_eq!(values(&database, &pages), [0]);
        drop(database);
        assert_eq!(fs::read(&path).unwrap()[place + 60], 0);
    }
    let both = opened_with(&[(60, 99), (PAGE_BYTES + 60, 99)]);
    assert!(matches!(both, Err(LodeError::Corrupt { .. })));
    let foreign = opened_with(&[(32, 0), (PAGE_BYTES + 32, 0)]);
    assert!(matches!(foreign, Err(LodeError::NotADatabase { .. })));
    let mut newer = whole.clone();
    for place in [0, 1] {
        let bytes = &mut newer[place * PAGE_BYTES..][..PAGE_BYTES];
        let bytes: &mut page::PageBytes = bytes.try_into().unwrap();
        page::put_u32(bytes, superblock::offset::VERSION, superblock::VERSION + 1);
        page::seal(bytes, place as PageNumber);
    }
    fs::write(&path, &newer).unwrap();
    let newer = Database::open(&path, &all);
    let Err(LodeError::Version { found, known }) = newer else { panic!("it was opened") };
    assert_eq!((found, known), (superblock::VERSION + 1, superblock::VERSION));

    fs::write(&path, &whole[..5_000]).unwrap();
    assert!(matches!(Database::open(&path, &all), Err(LodeError::NotADatabase { .. })));
    fs::write(&path, &whole).unwrap();
    let other = folder.path().join("other");
    Database::create(&other, &all).unwrap().close().unwrap();
    fs::copy(folder.path().join("other-log"), folder.path().join("parts-log")).unwrap();
    assert!(matches!(Database::open(&path, &all), Err(LodeError::Files { .. })));
}

/// The extent is what the database was created with, also where none is requested.
#[test]
fn a_cache_too_small_for_its_extents_is_refused_before_anything_is_written() {
    let folder = test_folder();
    let path = folder.path().join("parts");
    Database::create(&path, &tactics("extent=64")).unwrap().close().unwrap();
    let (files, small) = (fs::read(&path).unwrap(), tactics("readahead=on&cache=1040384"));
    for open in [Database::open, Database::open_read_only] {
        let refused = open(&path, &small).err().unwrap().to_string();
        assert!(refused.contains("1048576 bytes") && refused.contains("`cache=`"), "{refused}");
        open(&path, &tactics("readahead=on&cache=1048576")).unwrap();
    }
    assert!(files == fs::read(&path).unwrap());
}

/// Two files belong together, and each way in which they do not is reported.
#[test]
fn half_a_database_says_which_half_is_missing() {
    let folder = test_folder();
    let path = |name: &str| folder.path().join(name);
    for name in ["parts", "other"] {
        Database::create(&path(name), &tactics("")).unwrap().close().unwrap();
    }
    let reported = |outcome: crate::error::Result<Database>| outcome.err().unwrap().to_string();
    fs::rename(path("parts-log"), path("kept")).unwrap();
    let text = reported(Database::open(&path("parts"), &tactics("")));
    assert!(text.contains("parts-log is not there") && text.contains("put it back"), "{text}");
    fs::copy(path("other-log"), path("parts-log")).unwrap();
    let text = reported(Database::open(&path("parts"), &tactics("")));
    assert!(text.contains("another volume's") && !text.contains("restore"), "{text}");
    fs::rename(path("kept"), path("parts-log")).unwrap();
    fs::rename(path("parts"), path("kept")).unwrap();
    let text = reported(Database::create(&path("parts"), &tactics("")));
    assert!(text.contains("parts-log is there") && !path("parts").exists(), "{text}");
    fs::rename(path("kept"), path("parts")).unwrap();
    Database::open(&path("parts"), &tactics("")).unwrap();
}

#[test]
fn a_link_leads_to_the_volume_and_its_log() {
    let folder = test_folder();
    let path = |name: &str| folder.path().join(name);
    let database = Database::create(&path("parts"), &tactics("")).unwrap();
    let pages = allocate(&database, 1);
    database.close().unwrap();
    std::os::unix::fs::symlink(path("parts"), path("link")).unwrap();
    let database = Database::open(&path("link"), &tactics("")).unwrap();
    assert_eq!(values(&database, &pages), [0]);
    let twice = Database::open(&path("parts"), &tactics(""));
    assert!(matches!(twice, Err(LodeError::InUse { .. })));
    drop(database);
    assert!(!path("link-log").exists());
}
