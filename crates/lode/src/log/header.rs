//! The header of the log's file: where the log begins and which epoch it is.
//!
//! It stands there twice. A change is written to one slot and synced, and then to the other: while
//! it happens one slot is whole, and afterwards both say the same, so that a slot which is damaged
//! later does not bring back an epoch that is over.

use std::io;

use xxhash_rust::xxh3::xxh3_64;

use super::Lsn;
use super::blocks::{BLOCK_BYTES, Blocks};
use crate::disk::Disk;
use crate::error::{LodeError, Result};

/// The place where the records begin in the file.
pub(super) const RECORDS_OFFSET: u64 = BLOCK_BYTES as u64;

/// The first position of a new log: no record is at 0, which means "never logged" in a page.
const FIRST_LSN: Lsn = Lsn(RECORDS_OFFSET);

const MAGIC: &[u8; 8] = b"LODELOG1";
pub(super) const VERSION: u32 = 2;

const SLOT_BYTES: usize = 2_048;
const SLOTS: usize = BLOCK_BYTES / SLOT_BYTES;

/// Offsets in a slot.
mod offset {
    pub const CHECKSUM: usize = 0;
    pub const MAGIC: usize = 8;
    pub const VERSION: usize = 16;
    pub const EPOCH: usize = 24;
    pub const FIRST: usize = 32;
    pub const CHECKPOINT: usize = 40;
    pub const IDENTITY: usize = 48;
    pub const END: usize = 64;
}

const _: () = assert!(SLOTS == 2 && offset::END <= SLOT_BYTES);
const _: () = assert!(offset::END == offset::IDENTITY + size_of::<[u8; 16]>());

/// The content of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Counts the times that the log began anew, from 1.
    pub epoch: u64,
    /// The position that [`RECORDS_OFFSET`] stands for.
    pub first: Lsn,
    /// The place where recovery begins to read.
    pub checkpoint: Lsn,
    /// The volume's.
    pub identity: [u8; 16],
}

impl Header {
    /// That of a new log.
    pub const fn new(identity: [u8; 16]) -> Self {
        Self { epoch: 1, first: FIRST_LSN, checkpoint: FIRST_LSN, identity }
    }

    /// The place where a position lies in the file.
    pub const fn offset_of(&self, lsn: Lsn) -> u64 {
        lsn.0 - self.first.0 + RECORDS_OFFSET
    }

    fn encode(&self, into: &mut [u8]) {
        let mut put = |at: usize, bytes: &[u8]| into[at..at + bytes.len()].copy_from_slice(bytes);
        put(offset::MAGIC, MAGIC);
        put(offset::VERSION, &VERSION.to_le_bytes());
        put(offset::EPOCH, &self.epoch.to_le_bytes());
        put(offset::FIRST, &self.first.0.to_le_bytes());
        put(offset::CHECKPOINT, &self.checkpoint.0.to_le_bytes());
        put(offset::IDENTITY, &self.identity);
        let sum = xxh3_64(&into[offset::MAGIC..offset::END]);
        into[..offset::MAGIC].copy_from_slice(&sum.to_le_bytes());
    }

    /// The header in a slot, with the version of its format; none if the slot is not whole.
    fn decode(slot: &[u8]) -> Option<(u32, Self)> {
        let whole = xxh3_64(slot.get(offset::MAGIC..offset::END)?);
        if u64_at(slot, offset::CHECKSUM)? != whole
            || &slot[offset::MAGIC..offset::VERSION] != MAGIC
        {
            return None;
        }
        let version = u32::from_le_bytes(*slot.get(offset::VERSION..)?.first_chunk()?);
        let header = Self {
            epoch: u64_at(slot, offset::EPOCH)?,
            first: Lsn(u64_at(slot, offset::FIRST)?),
            checkpoint: Lsn(u64_at(slot, offset::CHECKPOINT)?),
            identity: *slot.get(offset::IDENTITY..)?.first_chunk()?,
        };
        Some((version, header))
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|&field| u64::from_le_bytes(field))
}

/// Both slots, and the one to be written next.
pub(super) struct Slots {
    block: Blocks,
    next: usize,
    // Whether the slot that is not `next` is known to be durable.
    synced: bool,
}

impl Slots {
    /// Of a new log: nothing is in either.
    pub fn empty() -> Self {
        Self { block: Blocks::zeroed(BLOCK_BYTES), next: 0, synced: true }
    }

    /// Read them, and say which header holds: of those that are whole the one with the higher
    /// epoch, and then with the later checkpoint.
    pub fn read(disk: &dyn Disk) -> Result<(Self, Header)> {
        let corrupt =
            |how: &str| LodeError::Corrupt { what: "the log's header".into(), how: how.into() };
        let mut block = Blocks::zeroed(BLOCK_BYTES);
        disk.read(0, &mut block)
            .map_err(|error| LodeError::io("reading the log's header", error))?;
        let (slot, version, header) = block
            .chunks_exact(SLOT_BYTES)
            .enumerate()
            .filter_map(|(slot, bytes)| {
                Header::decode(bytes).map(|(version, header)| (slot, version, header))
            })
            .max_by_key(|(_, _, header)| (header.epoch, header.checkpoint))
            .ok_or_else(|| corrupt("neither of its two copies is whole"))?;
        if version != VERSION {
            return Err(LodeError::Version { found: version, known: VERSION });
        }
        if header.checkpoint < header.first || !header.checkpoint.0.is_multiple_of(8) {
            return Err(corrupt("its checkpoint is no position in the log"));
        }
        Ok((Self { block, next: 1 - slot, synced: false }, header))
    }

    /// Write a header to both, the one that may not have been synced last time first.
    pub fn write(&mut self, disk: &dyn Disk, header: &Header) -> io::Result<()> {
        self.rewrite(disk)?;
        self.put(header);
        disk.write(0, &self.block)?;
        disk.sync()?;
        self.synced = true;
        self.next = 1 - self.next;
        self.put(header);
        // Durable with whatever is synced next: the first copy holds until then. It stays this
        // slot's turn, because a crash may still tear it.
        disk.write(0, &self.block)
    }

    /// Make durable what was read. It may have come from a cache: the process died, the machine did
    /// not, or a sync failed, and then no later one writes what the system has taken for clean. So
    /// it is written again.
    pub fn rewrite(&mut self, disk: &dyn Disk) -> io::Result<()> {
        if !self.synced {
            disk.write(0, &self.block)?;
            disk.sync()?;
            self.synced = true;
        }
        Ok(())
    }

    fn put(&mut self, header: &Header) {
        let at = self.next * SLOT_BYTES;
        header.encode(&mut self.block[at..at + SLOT_BYTES]);
    }
}
