//! A region in a database, and stores to it in whichever way `detect` takes.

use std::sync::Arc;

use lode::internals::disk::Memory;
use lode::internals::page::{PAGE_BYTES, PageNumber};
use lode::tactics::Detect;
use lode::{Database, LodeError, Mapping, Region, Tactics, Writing};

use crate::random::Random;

pub const PAGES: usize = 24;

/// The region as a program sees it: the bytes of all pages behind their headers.
pub type Bytes = Vec<u8>;

pub const PAGE_DATA: usize = Region::DATA.end - Region::DATA.start;

/// Each log with each detection, as far as they go together.
pub const COMBINATIONS: [&str; 9] = [
    "log=page-diff&detect=explicit",
    "log=page-grain&detect=explicit",
    "log=set-range&detect=explicit",
    "log=page-diff&detect=sigsegv",
    "log=page-grain&detect=sigsegv",
    "log=page-diff&detect=kernel",
    "log=page-grain&detect=kernel",
    "log=page-diff&shadows=cache&detect=explicit",
    "log=page-diff&shadows=cache&detect=sigsegv",
];

/// Those of them that this machine can do.
pub fn combinations() -> Vec<&'static str> {
    let can = |text: &&&str| {
        let folder = tempfile::tempdir().unwrap();
        match Database::create(&folder.path().join("a.lode"), &tactics(text)) {
            Ok(_) => true,
            Err(LodeError::Tactic { what }) => {
                assert!(text.contains("kernel") && what.contains("choose detect=sigsegv"));
                false
            }
            Err(error) => panic!("{error}"),
        }
    };
    COMBINATIONS.iter().filter(can).copied().collect()
}

pub fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn in_memory(text: &str) -> Database {
    Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics(text)).unwrap()
}

/// A region of so many pages of zeros, committed.
pub fn create(database: &Database, count: usize) -> Vec<PageNumber> {
    let mut writing = database.writing();
    let region = writing.region("object").unwrap();
    region.extend(&mut writing, count).unwrap();
    let pages = region.pages(&writing).unwrap();
    writing.commit().unwrap();
    pages
}

pub fn pages_of(database: &Database) -> Result<Vec<PageNumber>, LodeError> {
    let reading = database.reading();
    reading.region("object")?.pages(&reading)
}

/// All that is in the region.
pub fn contents(database: &Database) -> Result<Bytes, LodeError> {
    let pages = pages_of(database)?;
    let mapped = database.reading().map(&pages)?;
    Ok(mapped.chunks(PAGE_BYTES).flat_map(|page| page[Region::DATA].to_vec()).collect())
}

/// Store bytes at an offset of a mapped page's data, as a program does under that `detect`.
pub fn store(
    writing: &mut Writing,
    detect: Detect,
    mapping: Mapping,
    at: usize,
    offset: usize,
    bytes: &[u8],
) {
    let start = at * PAGE_BYTES + Region::DATA.start + offset;
    store_at(writing, detect, mapping, start, bytes);
}

/// The same anywhere in the mapped memory.
pub fn store_at(
    writing: &mut Writing,
    detect: Detect,
    mapping: Mapping,
    start: usize,
    bytes: &[u8],
) {
    let range = start..start + bytes.len();
    let into = if detect == Detect::Explicit {
        writing.changing(mapping, range).unwrap()
    } else {
        &mut writing.memory(mapping).unwrap()[range]
    };
    into.copy_from_slice(bytes);
}

/// Some stores to some pages, and what the region's bytes are then. Some of them change nothing,
/// some are taken back by the next.
pub fn store_some(
    random: &mut Random,
    writing: &mut Writing,
    detect: Detect,
    pages: &[PageNumber],
    bytes: &mut Bytes,
) -> Result<(), LodeError> {
    let first = random.below(pages.len());
    let count = 1 + random.below(pages.len() - first);
    let mapping = writing.map(&pages[first..first + count])?;
    for _ in 0..random.below(40) {
        let (at, length) = (random.below(count), 1 + random.below(40));
        let offset = match random.below(4) {
            0 => 0,
            1 => PAGE_DATA - length,
            _ => random.below(PAGE_DATA - length),
        };
        let start = (first + at) * PAGE_DATA + offset;
        let before = bytes[start..start + length].to_vec();
        let new: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        let last = match random.below(5) {
            0 => before.clone(),
            1 => {
                store(writing, detect, mapping, at, offset, &new);
                before.clone()
            }
            _ => new,
        };
        store(writing, detect, mapping, at, offset, &last);
        bytes[start..start + length].copy_from_slice(&last);
    }
    let seen = writing.memory_of(mapping)?;
    for (page, expected) in
        seen.chunks(PAGE_BYTES).zip(bytes[first * PAGE_DATA..].chunks(PAGE_DATA))
    {
        assert_eq!(&page[Region::DATA], expected, "what was stored is read");
    }
    Ok(())
}
