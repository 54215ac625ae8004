//! `append_speed [RECORDS]`: how fast a relation is stored and read page by page.
//!
//! Appends RECORDS (1,000,000) records of 208 bytes to a new heap in one transaction, in memory,
//! under `durability=group` and a cache of 64 MiB and of 512 MiB; walks through them with a cursor;
//! builds a B+tree and a hash index of as many entries at once. Prints the time of each in ms, and
//! MB/s of records.

use std::error::Error;
use std::io::{self, Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use loadstone_measure::clock::now_ns;
use lode::internals::disk::Memory;
use lode::{Database, Hash, Tactics};

const RECORDS_DEFAULT: u64 = 1_000_000;
const RECORD_BYTES: usize = 208;

/// A number that the catalog gives to no file.
const FILE: u32 = 500;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be told.
            let _ = writeln!(io::stderr(), "append_speed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let records = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => RECORDS_DEFAULT,
    };
    for cache in ["64MiB", "512MiB"] {
        measure(cache, records)?;
    }
    Ok(())
}

fn measure(cache: &str, records: u64) -> Result<(), Box<dyn Error>> {
    let tactics = Tactics::of([("durability", "group"), ("cache", cache), ("extent", "64")])?;
    let database = Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics)?;
    let tell = |what: &str, begun_ns: u64| -> io::Result<()> {
        let ns = (now_ns() - begun_ns).max(1);
        let mb_s = records as f64 * RECORD_BYTES as f64 * 1e3 / ns as f64;
        writeln!(stdout(), "{cache} {what}: {:.1} ms, {mb_s:.0} MB/s", ns as f64 / 1e6)
    };
    let mut writing = database.writing();
    let heap = writing.heap("relation")?;
    let begun_ns = now_ns();
    let mut appender = heap.appender();
    for number in 0..records {
        appender.append_with(&mut writing, RECORD_BYTES, |bytes| {
            bytes.fill(number as u8);
            bytes[..8].copy_from_slice(&number.to_le_bytes());
        })?;
    }
    appender.finish(&mut writing)?;
    tell("append", begun_ns)?;
    writing.commit()?;
    tell("append and commit", begun_ns)?;

    let reading = database.reading();
    for _ in 0..2 {
        let (begun_ns, mut sum, mut places) = (now_ns(), 0_u64, Vec::new());
        let mut cursor = heap.cursor(&reading)?;
        while let Some(page) = cursor.next_page_into(&reading, &mut places)? {
            for place in &places {
                let word = page[usize::from(place.at)..].first_chunk().copied();
                sum = sum.wrapping_add(u64::from_le_bytes(word.unwrap_or_default()));
            }
        }
        assert_eq!(sum, records * (records - 1) / 2, "the records are the ones that were put");
        tell("cursor", begun_ns)?;
    }
    drop(reading);

    let mut writing = database.writing();
    let tree = writing.btree("tree")?;
    let begun_ns = now_ns();
    let entries = (0..records).map(|number| (number.to_be_bytes(), number.to_le_bytes()));
    tree.bulk_load(&mut writing, entries, 100)?;
    tell("B+tree at once", begun_ns)?;
    writing.commit()?;
    tell("B+tree at once, and commit", begun_ns)?;

    let mut writing = database.writing();
    let begun_ns = now_ns();
    Hash::load(&mut writing, FILE, (0..records).map(|number| (number, number)))?;
    tell("hash index at once", begun_ns)?;
    writing.commit()?;
    tell("hash index at once, and commit", begun_ns)?;
    Ok(())
}
