//! One record of the log and its bytes, as `docs/reference/lode-format.md` draws them.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Lsn;
use super::packed::{PACKED_BYTES_MAX, Packed};
use super::runs::Runs;
use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageBytes, PageNumber};

/// The longest record: a checkpoint that names some 2,000 transactions. A reader has memory for
/// one.
pub const RECORD_BYTES_MAX: usize = 16 * 1024;

/// The most bytes of runs that one record of redo or undo holds.
pub const RUNS_BYTES_MAX: usize = RECORD_BYTES_MAX - HEAD_BYTES - content::RUNS;

/// A record with an image of a page: what one page costs the log before it is written in place.
pub const IMAGE_BYTES: usize = HEAD_BYTES + content::RUNS + PAGE_BYTES;

/// The most that the log needs to describe one page that was begun: a record of its own.
pub const BEGUN_BYTES: usize = HEAD_BYTES + content::RUNS + RUN_BYTES;

/// Runs of begun pages that one record describes at most.
pub const BEGUN_RUNS_MAX: usize = 1_000;

/// The first page of a run, and how many there are.
const RUN_BYTES: usize = 2 * size_of::<u32>();

const _: () = assert!(BEGUN_BYTES + BEGUN_RUNS_MAX * RUN_BYTES <= RECORD_BYTES_MAX);
const _: () = assert!(HEAD_BYTES + PACKED_BYTES_MAX <= RECORD_BYTES_MAX);

const HEAD_BYTES: usize = 32;

/// Offsets of the fields that every record begins with.
mod offset {
    pub const CHECKSUM: usize = 0;
    pub const LENGTH: usize = 8;
    pub const KIND: usize = 12;
    pub const UNSYNCED: usize = 13;
    pub const LSN: usize = 16;
    pub const TRANSACTION: usize = 24;
}

/// Little-endian, of three bytes.
const UNSYNCED_BYTES: usize = 3;

/// Offsets behind the head.
mod content {
    pub const PAGE: usize = 0;
    pub const COUNT: usize = 4;
    pub const RUNS: usize = 8;
    pub const NEEDED_FROM: usize = 0;
    pub const TRANSACTIONS: usize = 8;
    pub const NUMBERS: usize = 16;
    pub const RUN_COUNT: usize = 0;
}

mod kind {
    pub const REDO: u8 = 1;
    pub const UNDO: u8 = 2;
    pub const IMAGE: u8 = 3;
    pub const COMMIT: u8 = 4;
    pub const END: u8 = 5;
    pub const CHECKPOINT: u8 = 6;
    pub const BEGUN: u8 = 7;
    pub const PLACED: u8 = 8;
    pub const PACKED: u8 = 9;
    pub const PACKED_AND_COMMIT: u8 = 10;
}

const _: () = assert!(offset::TRANSACTION + size_of::<u64>() == HEAD_BYTES);
const _: () = assert!(offset::KIND == offset::LENGTH + size_of::<u32>());
const _: () = assert!(offset::LSN.is_multiple_of(size_of::<u64>()));
const _: () = assert!(offset::UNSYNCED + UNSYNCED_BYTES == offset::LSN);
const _: () = assert!(content::RUNS == content::COUNT + size_of::<u32>());
const _: () = assert!(content::NUMBERS == content::TRANSACTIONS + 2 * size_of::<u32>());
const _: () = assert!(IMAGE_BYTES == 4_136 && IMAGE_BYTES < RECORD_BYTES_MAX);

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its position.
    pub lsn: Lsn,
    /// The transaction that it belongs to, 0 for none.
    pub transaction: u64,
    /// The record's body.
    pub body: Body,
}

/// The body of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A transaction's change of a page: counts once the transaction has ended.
    Redo {
        /// The page.
        page: PageNumber,
        /// Its new bytes.
        runs: Runs,
    },
    /// A transaction's changes of several pages.
    Packed {
        /// Their new bytes.
        changes: Packed,
        /// The transaction is committed with that.
        commits: bool,
    },
    /// The state of a page before a transaction: logged before the page is written out uncommitted.
    Undo {
        /// The page.
        page: PageNumber,
        /// Its old bytes.
        runs: Runs,
    },
    /// A page as it is about to be written in place, so that a torn one can be mended.
    Image {
        /// The page.
        page: PageNumber,
        /// All of it.
        bytes: Box<PageBytes>,
    },
    /// Pages that were free, and that a transaction begins as zeros: nothing that the log says of
    /// them before this counts. First pages, and how many follow one another.
    Begun {
        /// The pages.
        runs: Vec<(PageNumber, u32)>,
    },
    /// The transaction is committed.
    Commit,
    /// The transaction is committed, and the pages that it has begun lie in their places.
    Placed,
    /// The transaction is rolled back, and redo records say how.
    End,
    /// The facts that recovery needs of the time before.
    Checkpoint {
        /// Recovery needs nothing before this position.
        needed_from: Lsn,
        /// Transactions that had begun and not ended.
        transactions: Vec<u64>,
    },
}

impl Body {
    /// Bytes of the whole record.
    pub fn record_bytes(&self) -> usize {
        let content_bytes = match self {
            Self::Redo { runs, .. } | Self::Undo { runs, .. } => {
                content::RUNS + runs.as_bytes().len()
            }
            Self::Packed { changes, .. } => changes.encoded_bytes(),
            Self::Image { .. } => content::RUNS + PAGE_BYTES,
            Self::Begun { runs } => content::RUNS + runs.len() * RUN_BYTES,
            Self::Commit | Self::Placed | Self::End => 0,
            Self::Checkpoint { transactions, .. } => {
                content::NUMBERS + transactions.len() * size_of::<u64>()
            }
        };
        (HEAD_BYTES + content_bytes).next_multiple_of(size_of::<u64>())
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Redo { .. } => kind::REDO,
            Self::Packed { commits: false, .. } => kind::PACKED,
            Self::Packed { commits: true, .. } => kind::PACKED_AND_COMMIT,
            Self::Undo { .. } => kind::UNDO,
            Self::Image { .. } => kind::IMAGE,
            Self::Begun { .. } => kind::BEGUN,
            Self::Commit => kind::COMMIT,
            Self::Placed => kind::PLACED,
            Self::End => kind::END,
            Self::Checkpoint { .. } => kind::CHECKPOINT,
        }
    }

    fn encode(&self, into: &mut [u8]) {
        match self {
            Self::Redo { page, runs } | Self::Undo { page, runs } => {
                put(into, content::PAGE, &page.to_le_bytes());
                put(into, content::COUNT, &runs.count().to_le_bytes());
                put(into, content::RUNS, runs.as_bytes());
            }
            Self::Packed { changes, .. } => changes.encode(into),
            Self::Image { page, bytes } => {
                put(into, content::PAGE, &page.to_le_bytes());
                put(into, content::RUNS, &bytes[..]);
            }
            Self::Begun { runs } => {
                put(into, content::RUN_COUNT, &(runs.len() as u32).to_le_bytes());
                for (place, (first, count)) in runs.iter().enumerate() {
                    let at = content::RUNS + place * RUN_BYTES;
                    put(into, at, &first.to_le_bytes());
                    put(into, at + 4, &count.to_le_bytes());
                }
            }
            Self::Commit | Self::Placed | Self::End => {}
            Self::Checkpoint { needed_from, transactions } => {
                put(into, content::NEEDED_FROM, &needed_from.0.to_le_bytes());
                let count = transactions.len() as u32;
                put(into, content::TRANSACTIONS, &count.to_le_bytes());
                for (place, number) in transactions.iter().enumerate() {
                    put(into, content::NUMBERS + place * 8, &number.to_le_bytes());
                }
            }
        }
    }

    fn decode(kind: u8, bytes: &[u8]) -> Option<Self> {
        Some(match kind {
            kind::REDO | kind::UNDO => {
                let page = u32_at(bytes, content::PAGE)?;
                let count = u32_at(bytes, content::COUNT)?;
                let runs = Runs::decode(count, bytes.get(content::RUNS..)?)?;
                if kind == kind::REDO {
                    Self::Redo { page, runs }
                } else {
                    Self::Undo { page, runs }
                }
            }
            kind::PACKED | kind::PACKED_AND_COMMIT => {
                let commits = kind == kind::PACKED_AND_COMMIT;
                Self::Packed { changes: Packed::decode(bytes)?, commits }
            }
            kind::IMAGE => {
                let page = u32_at(bytes, content::PAGE)?;
                let image = bytes.get(content::RUNS..)?.first_chunk::<PAGE_BYTES>()?;
                Self::Image { page, bytes: Box::new(*image) }
            }
            kind::BEGUN => Self::Begun { runs: decode_begun(bytes)? },
            kind::COMMIT => Self::Commit,
            kind::PLACED => Self::Placed,
            kind::END => Self::End,
            kind::CHECKPOINT => {
                let needed_from = Lsn(u64_at(bytes, content::NEEDED_FROM)?);
                let count = u32_at(bytes, content::TRANSACTIONS)?;
                let numbers = bytes.get(content::NUMBERS..)?.chunks_exact(size_of::<u64>());
                if numbers.len() != count as usize {
                    return None;
                }
                let transactions = numbers.filter_map(|number| u64_at(number, 0)).collect();
                Self::Checkpoint { needed_from, transactions }
            }
            _ => return None,
        })
    }
}

/// Runs of pages that exist: none is empty, and none goes beyond the last number.
fn decode_begun(bytes: &[u8]) -> Option<Vec<(PageNumber, u32)>> {
    let count = u32_at(bytes, content::RUN_COUNT)? as usize;
    let runs = bytes.get(content::RUNS..)?.chunks_exact(RUN_BYTES);
    if runs.len() != count {
        return None;
    }
    runs.map(|run| {
        let (first, count) = (u32_at(run, 0)?, u32_at(run, 4)?);
        (count > 0 && first.checked_add(count).is_some()).then_some((first, count))
    })
    .collect()
}

/// Write a record to where it belongs: `into` has exactly its length. It shows how far the log was
/// known to be `durable`.
pub fn encode(
    into: &mut [u8],
    body: &Body,
    transaction: u64,
    lsn: Lsn,
    epoch: u64,
    durable: Option<Lsn>,
) {
    into.fill(0);
    let length = into.len() as u32;
    put(into, offset::LENGTH, &length.to_le_bytes());
    into[offset::KIND] = body.kind();
    let unsynced = durable.and_then(|durable| lsn.0.checked_sub(durable.0));
    let reported = unsynced.map(|bytes| bytes / 8 + 1).filter(|&reported| reported >> 24 == 0);
    put(into, offset::UNSYNCED, &reported.unwrap_or(0).to_le_bytes()[..UNSYNCED_BYTES]);
    put(into, offset::LSN, &lsn.0.to_le_bytes());
    put(into, offset::TRANSACTION, &transaction.to_le_bytes());
    body.encode(&mut into[HEAD_BYTES..]);
    let sum = checksum(into, epoch);
    put(into, offset::CHECKSUM, &sum.to_le_bytes());
}

/// The record that `bytes` begin with, if it belongs at that position of that epoch: otherwise the
/// log has ended. [`LodeError::Corrupt`] if the checksum fits what cannot be.
pub fn decode(bytes: &[u8], lsn: Lsn, epoch: u64) -> Result<Option<Record>> {
    let Some(bytes) = length(bytes).and_then(|length| bytes.get(..length)) else {
        return Ok(None);
    };
    let fits = u64_at(bytes, offset::LSN) == Some(lsn.0)
        && u64_at(bytes, offset::CHECKSUM) == Some(checksum(bytes, epoch));
    if !fits {
        return Ok(None);
    }
    let transaction = u64_at(bytes, offset::TRANSACTION);
    let body = Body::decode(bytes[offset::KIND], &bytes[HEAD_BYTES..])
        .filter(|body| body.record_bytes() == bytes.len());
    transaction
        .zip(body)
        .map(|(transaction, body)| Some(Record { lsn, transaction, body }))
        .ok_or_else(|| LodeError::Corrupt {
            what: format!("the log record at {lsn}"),
            how: "it contradicts itself, though its checksum fits".into(),
        })
}

/// Up to where the log was durable when this record was appended, as it says itself; `None` where
/// it does not. For bytes that were decoded.
pub(super) fn durable_before(bytes: &[u8]) -> Option<Lsn> {
    let word = u32_at(bytes, offset::KIND)? >> 8;
    let unsynced = u64::from(word.checked_sub(1)?) * 8;
    u64_at(bytes, offset::LSN)?.checked_sub(unsynced).map(Lsn)
}

/// The length that a record claims, if one can be that long.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32_at(bytes, offset::LENGTH)? as usize;
    ((HEAD_BYTES..=RECORD_BYTES_MAX).contains(&length) && length.is_multiple_of(8))
        .then_some(length)
}

fn checksum(record: &[u8], epoch: u64) -> u64 {
    xxh3_64_with_seed(&record[offset::LENGTH..], epoch)
}

fn put(into: &mut [u8], at: usize, bytes: &[u8]) {
    into[at..at + bytes.len()].copy_from_slice(bytes);
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&field| u32::from_le_bytes(field))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|&field| u64::from_le_bytes(field))
}

#[cfg(test)]
mod tests;
