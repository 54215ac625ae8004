//! Records in order, from a position to where the log ends.

use std::sync::Arc;

use super::Lsn;
use super::blocks::{BLOCK_BYTES, Blocks, block_of};
use super::header::Header;
use super::record::{self, RECORD_BYTES_MAX, Record};
use crate::disk::Disk;
use crate::error::{LodeError, Result};

/// The bytes that a reader in order reads at once.
const AHEAD_BYTES: usize = 256 * 1024;

/// The bytes that are read first: everything, of a log that was closed.
const FIRST_BYTES: usize = SEARCH_BYTES as usize + 2 * RECORD_BYTES_MAX;

/// The distance behind the end of whole records within which others are looked for: several of the
/// longest.
const SEARCH_BYTES: u64 = 4 * RECORD_BYTES_MAX as u64;

/// Enough for any one record, wherever in a block it begins.
const ONE_BYTES: usize = RECORD_BYTES_MAX + BLOCK_BYTES;

const _: () = assert!(ONE_BYTES <= AHEAD_BYTES && ONE_BYTES.is_multiple_of(BLOCK_BYTES));
const _: () = assert!(FIRST_BYTES <= AHEAD_BYTES && FIRST_BYTES.is_multiple_of(BLOCK_BYTES));

/// The log's records from a position on. It ends at the first that does not fit: because nothing
/// was written there, or not all of it, or what lies there is of an older epoch. After an error it
/// ends, too.
pub struct Reader {
    disk: Arc<dyn Disk>,
    header: Header,
    len_bytes: u64,
    next: Lsn,
    // The bytes of the file from `loaded_from` on.
    loaded: Blocks,
    reach_bytes: usize,
    loaded_from: u64,
    loaded_bytes: usize,
    ended: bool,
}

impl Reader {
    /// From `from`, which is a record's position or the log's end.
    pub(super) fn new(disk: Arc<dyn Disk>, header: Header, from: Lsn) -> Result<Self> {
        Self::with_memory(disk, header, from, AHEAD_BYTES)
    }

    /// For one record only.
    pub(super) fn for_one(disk: Arc<dyn Disk>, header: Header, at: Lsn) -> Result<Self> {
        Self::with_memory(disk, header, at, ONE_BYTES)
    }

    fn with_memory(disk: Arc<dyn Disk>, header: Header, next: Lsn, bytes: usize) -> Result<Self> {
        let len_bytes =
            disk.len_bytes().map_err(|error| LodeError::io("reading the log", error))?;
        Ok(Self {
            disk,
            header,
            // A block that is cut short cannot be read everywhere, and holds no synced record.
            len_bytes: block_of(len_bytes),
            next,
            loaded: Blocks::zeroed(bytes),
            reach_bytes: bytes.min(FIRST_BYTES),
            loaded_from: 0,
            loaded_bytes: 0,
            ended: false,
        })
    }

    /// The place where the next record begins, if there is one: at the end, where the log ends.
    pub const fn position(&self) -> Lsn {
        self.next
    }

    /// The bytes of the file between the start of the next record's block and that record.
    pub(super) fn block_before(&mut self) -> Result<&[u8]> {
        let offset = self.header.offset_of(self.next);
        let used = (offset - block_of(offset)) as usize;
        if used == 0 {
            return Ok(&[]);
        }
        Ok(&self.bytes(block_of(offset))?[..used])
    }

    /// Whether a record behind the end, where this reader has come to, shows that the log was
    /// durable further than to there: then it does not end, it is damaged. What a crash cut off
    /// shows no such thing.
    pub(super) fn is_corrupt_at_end(&mut self) -> Result<bool> {
        let (end, epoch) = (self.next, self.header.epoch);
        let mut whole_up_to = end;
        let mut at = Lsn(end.0 + 8);
        while at.0 - whole_up_to.0 <= SEARCH_BYTES {
            let offset = self.header.offset_of(at);
            let loaded_to = self.loaded_from + self.loaded_bytes as u64;
            let bytes =
                if offset + RECORD_BYTES_MAX as u64 > loaded_to && loaded_to < self.len_bytes {
                    self.load(offset)?
                } else {
                    self.bytes(offset)?
                };
            if bytes.is_empty() {
                return Ok(false);
            }
            let length = record::length(bytes).unwrap_or_default();
            if record::decode(bytes, at, epoch)?.is_none() {
                at.0 += 8;
                continue;
            }
            if record::durable_before(bytes).is_some_and(|durable| durable > end) {
                return Ok(true);
            }
            at.0 += length as u64;
            whole_up_to = at;
        }
        Ok(false)
    }

    fn read(&mut self) -> Result<Option<Record>> {
        let (lsn, epoch) = (self.next, self.header.epoch);
        let offset = self.header.offset_of(lsn);
        let mut bytes = self.bytes(offset)?;
        if record::length(bytes).is_none_or(|length| length > bytes.len()) {
            bytes = self.load(offset)?;
        }
        let length = record::length(bytes).unwrap_or_default();
        let record = record::decode(bytes, lsn, epoch)?;
        if record.is_some() {
            self.next.0 += length as u64;
        }
        Ok(record)
    }

    /// The bytes loaded from an offset on; something, unless the file ends before.
    fn bytes(&mut self, offset: u64) -> Result<&[u8]> {
        let loaded = self.loaded_from..self.loaded_from + self.loaded_bytes as u64;
        if !loaded.contains(&offset) {
            return self.load(offset);
        }
        Ok(&self.loaded[(offset - self.loaded_from) as usize..self.loaded_bytes])
    }

    fn load(&mut self, offset: u64) -> Result<&[u8]> {
        let from = block_of(offset);
        let rest = self.len_bytes.saturating_sub(from);
        let bytes = rest.min(self.reach_bytes as u64) as usize;
        self.reach_bytes = self.loaded.len();
        self.loaded_bytes = 0;
        if bytes == 0 {
            return Ok(&[]);
        }
        self.disk
            .read(from, &mut self.loaded[..bytes])
            .map_err(|error| LodeError::io("reading the log", error))?;
        self.loaded_from = from;
        self.loaded_bytes = bytes;
        Ok(&self.loaded[(offset - from) as usize..bytes])
    }
}

impl Iterator for Reader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let record = self.read().transpose();
        self.ended = !matches!(record, Some(Ok(_)));
        record
    }
}
