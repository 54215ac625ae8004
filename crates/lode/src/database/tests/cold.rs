//! The reads from the disk when nothing is in memory: counts, no times.

use std::collections::BTreeSet;

use super::*;
use crate::disk::{CountedDisk, Disk, Memory};
use crate::named;
use crate::objects::{Objects, Oid, Reference};

const PARTS: u64 = 3_000;
const REFERENCES: usize = 3;

/// Files that count what is asked of them.
struct Counted {
    volume: Arc<CountedDisk>,
    log: Arc<CountedDisk>,
}

impl Counted {
    fn new() -> Self {
        let disk = || Arc::new(CountedDisk::new(Arc::new(Memory::new())));
        Self { volume: disk(), log: disk() }
    }

    fn open(&self, text: &str) -> Database {
        let [volume, log] = [&self.volume, &self.log].map(|disk| Arc::clone(disk) as Arc<dyn Disk>);
        Database::on(volume, log, &tactics(text)).unwrap()
    }

    /// Calls and pages that the volume has read.
    fn read(&self) -> [u64; 2] {
        let counts = self.volume.counts();
        [counts.reads, counts.read_bytes / PAGE_BYTES as u64]
    }
}

/// Objects with references to others: two nearby, one anywhere.
fn filled(files: &Counted) -> Vec<Oid> {
    let database = files.open("durability=none");
    let mut writing = database.writing();
    let objects: Objects = named::find_or_create(&mut writing, "parts").unwrap();
    let insert = |_| objects.insert(&mut writing, &[0; 176], None).unwrap();
    let oids: Vec<Oid> = (0..PARTS).map(insert).collect();
    for (at, &oid) in oids.iter().enumerate() {
        let to = [at + 7, at + 20, at * 997].map(|to| oids[to % oids.len()].to_u64());
        let put = |object: &mut [u8]| {
            object[..8 * REFERENCES].copy_from_slice(to.map(u64::to_le_bytes).as_flattened());
        };
        objects.change(&mut writing, oid, put).unwrap();
    }
    writing.commit().unwrap();
    database.close().unwrap();
    oids
}

/// Visit what is at most so many references away; the pages that hold it.
fn traversed(database: &Database, first: Oid, levels: u32) -> BTreeSet<PageNumber> {
    let reading = database.reading();
    let objects: Objects = named::find(&reading, "parts").unwrap();
    let mut pages = BTreeSet::new();
    let mut waiting = vec![(first, levels)];
    while let Some((oid, levels)) = waiting.pop() {
        pages.insert(oid.page);
        let to = |view: crate::View<'_>, at| view.words::<REFERENCES>(at);
        let words = objects.read_at(&reading, Reference::to(oid), to).unwrap().unwrap();
        if levels > 0 {
            waiting.extend(words.map(|word| (Oid::of(word).unwrap(), levels - 1)));
        }
    }
    pages
}

#[test]
fn a_traversal_reads_the_pages_that_hold_what_it_visits_and_no_others() {
    let files = Counted::new();
    let oids = filled(&files);
    for text in ["readahead=off", "readahead=off&swizzle=on", "readahead=off&replacement=lru"] {
        let database = files.open(text);
        let [_, pages_before] = files.read();
        let visited = traversed(&database, oids[1000], 4).len() as u64;
        let [_, pages_after] = files.read();
        assert!(visited > 20, "{visited}");
        assert_eq!(pages_after - pages_before, visited, "{text}");
        database.abandon();
    }
}

#[test]
fn opening_what_was_closed_takes_two_reads_of_the_volume_and_two_of_the_log() {
    let files = Counted::new();
    filled(&files);
    let ([reads, pages], log) = (files.read(), files.log.counts());
    let database = files.open("readahead=off");
    let [reads_after, pages_after] = files.read();
    let log_after = files.log.counts();
    assert_eq!((reads_after - reads, pages_after - pages), (2, 4));
    assert_eq!(log_after.reads - log.reads, 2);
    assert!(log_after.read_bytes - log.read_bytes <= 100 << 10);
    database.abandon();
}

#[test]
fn a_scan_that_reads_ahead_reads_each_page_once_and_seldom() {
    let files = Counted::new();
    filled(&files);
    let [_, pages] = files.read();
    let database = files.open("readahead=on");
    let reading = database.reading();
    let objects: Objects = named::find(&reading, "parts").unwrap();
    let [reads, _] = files.read();
    assert_eq!(objects.check(&reading).unwrap(), PARTS);
    let [reads_after, pages_after] = files.read();
    // 16, 32, 64 pages, and then 128 each.
    assert!(reads_after - reads <= 5, "{}", reads_after - reads);
    let of_superblock = u64::from(crate::superblock::COPIES);
    let resident = database.counters().unwrap().buffer.pages_resident;
    assert_eq!(pages_after - pages, resident + of_superblock);
}
