//! `append_speed [RECORDS [FOLDER]]`: how fast a relation is stored and read page by page.
//!
//! Appends RECORDS (1,000,000) records of 208 bytes to a new heap in one transaction, in memory or
//! in files in FOLDER, under `durability=group`, with each value of `bulk` and a cache of 64 MiB
//! and of 512 MiB; walks through them with a cursor; builds a B+tree and a hash index of as many
//! entries at once. Prints the time of each in ms, and MB/s of records; at commits also the bytes
//! that the log and the volume were written so far, per byte of records.

use std::error::Error;
use std::io::{self, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use loadstone_measure::clock::now_ns;
use lode::internals::disk::Memory;
use lode::internals::page::PAGE_BYTES;
use lode::{Database, Hash, LodeError, Tactics};
use tempfile::TempDir;

const RECORDS_DEFAULT: u64 = 1_000_000;
const RECORD_BYTES: usize = 208;

/// A number that the catalog gives to no file.
const FILE: u32 = 500;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
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
    let folder = std::env::args().nth(2);
    for cache in ["64MiB", "512MiB"] {
        for bulk in ["logged", "unlogged"] {
            measure(cache, bulk, records, folder.as_deref().map(Path::new))?;
        }
    }
    Ok(())
}

/// A database in memory, or in a folder, which it takes with it.
fn made(
    tactics: &Tactics,
    folder: Option<&Path>,
) -> Result<(Database, Option<TempDir>), LodeError> {
    let Some(folder) = folder else {
        return Ok((
            Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), tactics)?,
            None,
        ));
    };
    let within = TempDir::new_in(folder)
        .map_err(|source| LodeError::Io { doing: "making a folder".to_owned(), source })?;
    Ok((Database::create(&within.path().join("append.lode"), tactics)?, Some(within)))
}

/// The bytes that log and volume were written since the database was made, per byte of records.
fn report_written(database: &Database, records: u64) -> Result<(), Box<dyn Error>> {
    let counters = database.counters()?;
    let bytes = records as f64 * RECORD_BYTES as f64;
    let log = counters.log.written_bytes as f64 / bytes;
    let volume = (counters.buffer.pages_written * PAGE_BYTES as u64) as f64 / bytes;
    writeln!(stdout(), "  written so far: log {log:.3}, volume {volume:.3}")?;
    Ok(())
}

fn measure(
    cache: &str,
    bulk: &str,
    records: u64,
    folder: Option<&Path>,
) -> Result<(), Box<dyn Error>> {
    let of_all = [("durability", "group"), ("extent", "64")];
    let tactics = Tactics::of(of_all.into_iter().chain([("cache", cache), ("bulk", bulk)]))?;
    let (database, _folder) = made(&tactics, folder)?;
    let report = |what: &str, begun_ns: u64| -> io::Result<()> {
        let ns = (now_ns() - begun_ns).max(1);
        let bytes = records as f64 * RECORD_BYTES as f64;
        let (ms, mb_s) = (ns as f64 / 1e6, bytes * 1e3 / ns as f64);
        writeln!(stdout(), "{cache} {bulk} {what}: {ms:.1} ms, {mb_s:.0} MB/s")
    };
    let report_written = || report_written(&database, records);
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
    report("append", begun_ns)?;
    writing.commit()?;
    report("append and commit", begun_ns)?;
    report_written()?;

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
        report("cursor", begun_ns)?;
    }
    drop(reading);

    let mut writing = database.writing();
    let tree = writing.btree("tree")?;
    let begun_ns = now_ns();
    let entries = (0..records).map(|number| (number.to_be_bytes(), number.to_le_bytes()));
    tree.bulk_load(&mut writing, entries, 100)?;
    report("B+tree at once", begun_ns)?;
    writing.commit()?;
    report("B+tree at once, and commit", begun_ns)?;
    report_written()?;

    let mut writing = database.writing();
    let begun_ns = now_ns();
    Hash::load(&mut writing, FILE, (0..records).map(|number| (number, number)))?;
    report("hash index at once", begun_ns)?;
    writing.commit()?;
    report("hash index at once, and commit", begun_ns)?;
    Ok(())
}
