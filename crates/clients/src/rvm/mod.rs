//! The program of RVM's benchmark: its trials as a loop written once over [`driver::Driver`], the
//! transactions from the dataset, and the oracle of its answers. An engine's driver is in the
//! engine's folder.

mod client;
pub(crate) mod contents;
pub(crate) mod driver;
mod loops;
mod measure;
pub mod oracle;

pub use client::Client;
pub(crate) use client::Program;
pub use loadstone_datasets::rvm::{Database, Pattern, Place};
pub use measure::Measure;

use loadstone_datasets::rvm::{HISTORY_WORDS, RECORD_WORDS};

/// A branch, a teller or an account, and a record of the ring.
pub(crate) type Record = [u64; RECORD_WORDS];
pub(crate) type History = [u64; HISTORY_WORDS];

/// Their bytes.
pub(crate) const RECORD_BYTES: usize = 8 * RECORD_WORDS;
pub(crate) const HISTORY_BYTES: usize = 8 * HISTORY_WORDS;

/// Words as bytes, little-endian.
#[inline]
pub(crate) fn put<const N: usize>(words: &[u64; N], into: &mut [u8]) {
    let (places, _) = into.as_chunks_mut::<8>();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

/// Bytes as words; `None` where there are too few.
#[inline]
pub(crate) fn words<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (places, _) = bytes.as_chunks::<8>();
    let places: &[[u8; 8]; N] = places.first_chunk()?;
    Some(places.map(u64::from_le_bytes))
}

/// Add to every word of a record's bytes; the first one afterwards.
#[inline]
pub(crate) fn add(bytes: &mut [u8], by: u64) -> u64 {
    let (places, _) = bytes.as_chunks_mut::<8>();
    for place in places.iter_mut() {
        *place = u64::from_le_bytes(*place).wrapping_add(by).to_le_bytes();
    }
    places.first().map_or(0, |first| u64::from_le_bytes(*first))
}
