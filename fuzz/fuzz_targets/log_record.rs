//! Any bytes under a checksum that fits are a log record or none, and one that is comes back from
//! its own bytes; its runs lie within a page.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lode::internals::log::record::{decode, encode};
use lode::internals::log::{Body, Lsn, RECORD_BYTES_MAX, apply};
use lode::internals::page::PAGE_BYTES;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const EPOCH: u64 = 7;
const LSN: Lsn = Lsn(4_096);

/// Of the record's head; the checksum stands before the length.
const LENGTH_AT: usize = 8;
const LSN_AT: usize = 16;
const HEAD_BYTES: usize = 32;

fuzz_target!(|bytes: &[u8]| {
    // As it is: next to nothing fits.
    let _ = decode(bytes, LSN, EPOCH);
    if bytes.len() < HEAD_BYTES || bytes.len() > RECORD_BYTES_MAX {
        return;
    }
    let mut record = bytes.to_vec();
    record.truncate(bytes.len() / 8 * 8);
    let length = record.len() as u32;
    record[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
    record[LSN_AT..LSN_AT + 8].copy_from_slice(&LSN.0.to_le_bytes());
    let sum = xxh3_64_with_seed(&record[LENGTH_AT..], EPOCH);
    record[..LENGTH_AT].copy_from_slice(&sum.to_le_bytes());
    let Ok(found) = decode(&record, LSN, EPOCH) else { return };
    let found = found.expect("its length, position and checksum fit");
    if let Body::Redo { runs, .. } | Body::Undo { runs, .. } = &found.body {
        let mut page = [0; PAGE_BYTES];
        apply(runs, &mut page).expect("runs that were decoded lie within a page");
    }
    let mut again = vec![0; found.body.record_bytes()];
    encode(&mut again, &found.body, found.transaction, LSN, EPOCH, None);
    assert_eq!(decode(&again, LSN, EPOCH).expect("our own"), Some(found));
});
