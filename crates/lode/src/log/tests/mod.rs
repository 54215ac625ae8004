//! The log on a disk in memory: what is read after a crash, a failure, a new epoch.

mod disk;
mod durability;
mod epochs;
mod failing;
mod reading;
mod reopened;

use std::sync::Arc;

use super::{Body, Log, Lsn, Packed, RECORD_BYTES_MAX, Record, Runs, Sizes};
use crate::error::Result;
use crate::page::PAGE_BYTES;
use disk::TestDisk;

const IDENTITY: [u8; 16] = *b"a volume's name.";

/// Small, so that files stay short and tails are soon full.
const SIZES: Sizes = Sizes { growth_bytes: 8_192, tail_bytes_max: RECORD_BYTES_MAX + PAGE_BYTES };

fn create(disk: &Arc<TestDisk>) -> Log {
    Log::create_sized(Arc::clone(disk) as _, IDENTITY, SIZES).unwrap()
}

fn try_open(bytes: Vec<u8>) -> Result<(Arc<TestDisk>, Log)> {
    let disk = TestDisk::of(bytes);
    let log = Log::open_sized(Arc::clone(&disk) as _, IDENTITY, SIZES)?;
    Ok((disk, log))
}

fn open(bytes: Vec<u8>) -> (Arc<TestDisk>, Log) {
    try_open(bytes).unwrap()
}

fn records(log: &Log) -> Vec<Record> {
    log.read(log.checkpoint()).unwrap().map(Result::unwrap).collect()
}

fn transactions(log: &Log) -> Vec<u64> {
    records(log).iter().map(|record| record.transaction).collect()
}

fn image(page: u32, byte: u8) -> Body {
    Body::Image { page, bytes: Box::new([byte; PAGE_BYTES]) }
}

fn redo(page: u32, byte: u8) -> Body {
    Body::Redo { page, runs: Runs::whole(&[byte; PAGE_BYTES]) }
}

/// One record of each kind, some longer than a block.
fn bodies() -> Vec<Body> {
    let mut page = [0; PAGE_BYTES];
    page[100] = 1;
    page[4_095] = 2;
    let runs = super::difference(&[0; PAGE_BYTES], &page);
    let mut changes = Packed::default();
    changes.push(7, &runs, None);
    vec![
        Body::Redo { page: 7, runs: runs.clone() },
        Body::Packed { changes, commits: true },
        Body::Undo { page: 8, runs },
        image(9, 0xab),
        Body::Checkpoint { needed_from: Lsn(4_096), transactions: vec![1, 2, 3] },
        Body::End,
        Body::Undo { page: 10, runs: Runs::default() },
        Body::Commit,
    ]
}

fn append_all(log: &Log, bodies: &[Body]) -> Vec<Record> {
    let append = |(number, body): (usize, &Body)| {
        let transaction = number as u64;
        let lsn = log.append(body, transaction).unwrap();
        Record { lsn, transaction, body: body.clone() }
    };
    bodies.iter().enumerate().map(append).collect()
}
