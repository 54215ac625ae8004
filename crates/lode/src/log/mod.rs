//! The log: what makes commits atomic and durable.
//!
//! Records are appended to a tail in memory and written from there, in whole blocks, over room that
//! was filled with zeros before: so a commit is an overwrite and a sync of data, and no change of
//! the file's length. Room is filled up to the end of a step of growth, together with the first
//! records that come into the step: what records fill at once is not written twice.
//! `docs/reference/lode-format.md` draws the bytes.
//!
//! The records' meaning belongs to the layers above: the log knows no pages, no transactions and no
//! recovery. It promises this:
//!
//! - A record is durable once [`Log::make_durable`] has returned for it, and all before it are.
//! - A reader sees records in the order in which they were appended, without a gap, up to a point;
//!   never part of one, and never one of an earlier epoch.
//! - After a write or a sync failed nothing is believed any more: every later append and commit
//!   answers the error, because a system may forget a failed write and call the next sync a
//!   success.
//! - An append that finds no room answers [`LodeError::Full`] and has not happened. Once appended,
//!   a record has its room, so that a commit cannot fail halfway for want of it.

mod blocks;
mod header;
mod packed;
pub mod ranges;
mod reader;
pub mod record;
pub mod runs;
mod state;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::sync::Arc;

use blocks::BLOCK_BYTES;
use header::{Header, Slots};
use state::{State, error_of};

pub use packed::Packed;
pub use ranges::Ranges;
pub use reader::Reader;
pub use record::{BEGUN_BYTES, BEGUN_RUNS_MAX, Body, IMAGE_BYTES, RECORD_BYTES_MAX, Record};
pub use runs::{Runs, apply, difference};

use crate::disk::Disk;
use crate::error::{LodeError, Result};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// A position in the log: a count of bytes that never goes back. 0 is before every record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lsn(pub u64);

impl fmt::Display for Lsn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The thread that syncs a commit's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Each for itself: writes up to its own record, and syncs. As many syncs as commits, unless
    /// one finds that its record has been synced with a later one.
    Own,
    /// One for all who wait: it writes whatever has been appended by then, and syncs once.
    Group,
}

/// The memory that the log takes, and the steps in which its file grows.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Bytes by which the file grows, written as zeros; a multiple of 4,096.
    pub growth_bytes: u64,
    /// Bytes of records that wait in memory. Twice this is held, and a longer tail is written out
    /// by itself. At least [`RECORD_BYTES_MAX`] and a block.
    pub tail_bytes_max: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { growth_bytes: 1 << 20, tail_bytes_max: 1 << 20 }
    }
}

/// The counters of this log since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Records appended.
    pub records: u64,
    /// Bytes of these.
    pub record_bytes: u64,
    /// Writes of the tail.
    pub writes: u64,
    /// Bytes of these, in whole blocks: a block that fills slowly is written again and again.
    pub written_bytes: u64,
    /// Syncs, those of the header among them.
    pub syncs: u64,
    /// Times that the file grew.
    pub growths: u64,
}

/// The log of one volume. Shared by threads.
pub struct Log {
    disk: Arc<dyn Disk>,
    sizes: Sizes,
    state: Mutex<State>,
    // Whenever a thread has ended writing or syncing.
    idle: Condvar,
}

impl Log {
    /// Make a new log, in place of whatever is on the disk. Durable when it returns.
    pub fn create(disk: Arc<dyn Disk>, identity: [u8; 16]) -> Result<Self> {
        Self::create_sized(disk, identity, Sizes::default())
    }

    /// The same with other sizes.
    pub fn create_sized(disk: Arc<dyn Disk>, identity: [u8; 16], sizes: Sizes) -> Result<Self> {
        // Bytes left there must not be taken for records of the new log's first epoch.
        disk.set_len(0).map_err(|error| LodeError::io("emptying the log", error))?;
        let header = Header::new(identity);
        let log = Self::over(disk, sizes, State::new(header, Slots::empty(), sizes));
        let mut state = log.lock();
        log.provide(&mut state, 0)?;
        log.write_header(&mut state, header)?;
        drop(state);
        Ok(log)
    }

    /// Open the log of the volume with that identity, and find its end. Nothing is written before
    /// the first append, unless the file is not a whole number of blocks.
    ///
    /// [`LodeError::Files`] if it is another volume's, [`LodeError::Corrupt`] if it is no log, or
    /// was durable further than it is whole.
    pub fn open(disk: Arc<dyn Disk>, identity: [u8; 16]) -> Result<Self> {
        Self::open_sized(disk, identity, Sizes::default())
    }

    /// The same with other sizes.
    pub fn open_sized(disk: Arc<dyn Disk>, identity: [u8; 16], sizes: Sizes) -> Result<Self> {
        let corrupt =
            |how: &str| LodeError::Corrupt { what: "the log's header".into(), how: how.into() };
        let file_bytes = whole_blocks(&*disk)?;
        if file_bytes <= header::RECORDS_OFFSET {
            return Err(corrupt("the file ends within it"));
        }
        let (slots, header) = Slots::read(&*disk)?;
        if header.identity != identity {
            let what = "the log is another volume's: put the volume's own log beside it (a \
                        database's two files are copied and moved together)";
            return Err(LodeError::Files { what: what.to_owned() });
        }
        if header.checkpoint.0 - header.first.0 > file_bytes - header::RECORDS_OFFSET {
            return Err(corrupt("the file ends before the checkpoint that it names"));
        }
        let mut reader = Reader::new(Arc::clone(&disk), header, header.checkpoint)?;
        reader.by_ref().try_for_each(|record| record.map(drop))?;
        let end = reader.position();
        let block = reader.block_before()?.to_vec();
        if reader.is_corrupt_at_end()? {
            return Err(LodeError::Corrupt {
                what: format!("the log at {end}"),
                how: "no record is whole there, and later ones say that it was synced".into(),
            });
        }
        let mut state = State::new(header, slots, sizes);
        state.tail.reset(Lsn(end.0 - block.len() as u64));
        state.tail.begin_with(&block);
        state.written = end;
        // Perhaps it only came from the system's cache: see `rewrite`.
        state.durable = header.first;
        state.file_bytes = file_bytes;
        state.filled_bytes = file_bytes;
        state.remains = true;
        Ok(Self::over(disk, sizes, state))
    }

    fn over(disk: Arc<dyn Disk>, sizes: Sizes, state: State) -> Self {
        let whole = sizes.growth_bytes > 0 && sizes.growth_bytes.is_multiple_of(BLOCK_BYTES as u64);
        assert!(whole, "the log grows by whole blocks");
        Self { disk, sizes, state: Mutex::new(state), idle: Condvar::new() }
    }

    /// The position of the next record: everything before it has been appended.
    pub fn end(&self) -> Lsn {
        self.lock().tail.end()
    }

    /// Everything before this position has been handed to the disk.
    pub fn written(&self) -> Lsn {
        self.lock().written
    }

    /// Everything before this position is durable.
    pub fn durable(&self) -> Lsn {
        self.lock().durable
    }

    /// The position at which this epoch began: with [`Log::end`], how long the log is.
    pub fn first(&self) -> Lsn {
        self.lock().header.first
    }

    /// Counts the times that the log began anew.
    pub fn epoch(&self) -> u64 {
        self.lock().header.epoch
    }

    /// The place where recovery begins to read.
    pub fn checkpoint(&self) -> Lsn {
        self.lock().header.checkpoint
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.lock().counters
    }

    /// The records from a position on, which is a record's or the end, to the end as it is now or
    /// later. What waits in memory is written out first.
    pub fn read(&self, from: Lsn) -> Result<Reader> {
        self.write_out()?;
        let header = self.lock().header;
        assert!(from >= header.first, "a reader begins in this epoch");
        Reader::new(Arc::clone(&self.disk), header, from)
    }

    /// The record at a position of this epoch, on the disk or still in memory.
    ///
    /// [`LodeError::Corrupt`] if there is none.
    pub fn record_at(&self, lsn: Lsn) -> Result<Record> {
        let mut state = self.lock();
        let header = state.header;
        let record = loop {
            if let Some(bytes) = state.tail.bytes_from(lsn) {
                break record::decode(bytes, lsn, header.epoch)?;
            }
            if lsn < header.first || lsn >= state.tail.end() {
                break None;
            }
            if lsn < state.written {
                drop(state);
                let disk = Arc::clone(&self.disk);
                break Reader::for_one(disk, header, lsn)?.next().transpose()?;
            }
            // It is on its way.
            state = self.wait(state)?;
        };
        record.ok_or_else(|| LodeError::Corrupt {
            what: format!("the log at {lsn}"),
            how: "no record begins there".into(),
        })
    }

    /// Begin anew at the file's start, with the next epoch: everything in the log is forgotten, and
    /// positions go on. For when all that it says has reached the volume and was synced there, and
    /// no transaction needs it; the caller keeps others from appending meanwhile.
    pub fn begin_anew(&self) -> Result<()> {
        let mut state = self.all_durable()?;
        let end = state.tail.end();
        if end == state.header.first && !state.remains {
            return Ok(());
        }
        let epoch = state.header.epoch + 1;
        let header = Header { epoch, first: end, checkpoint: end, ..state.header };
        self.write_header(&mut state, header)?;
        state.tail.reset(end);
        state.durable = end;
        state.remains = false;
        Ok(())
    }

    /// Cut an empty log's file back to one step of growth: what a long transaction made of it is of
    /// no use to the next user of the database. Where it holds something, it stays as it is.
    pub fn shrink(&self) -> Result<()> {
        let mut state = self.lock();
        let file_bytes = self.sizes.growth_bytes.max(2 * BLOCK_BYTES as u64);
        let empty = state.tail.end() == state.header.first && !state.remains;
        if !empty || state.file_bytes <= file_bytes {
            return Ok(());
        }
        self.disk.set_len(file_bytes).map_err(|error| error_of("cutting the log", error))?;
        state.file_bytes = file_bytes;
        state.filled_bytes = state.filled_bytes.min(file_bytes);
        Ok(())
    }

    /// Let recovery begin at this position, which is a record's or the end: everything before it
    /// has reached the volume and was synced there, or is reported again behind it.
    pub fn set_checkpoint(&self, lsn: Lsn) -> Result<()> {
        let mut state = self.all_durable()?;
        assert!(lsn <= state.tail.end(), "a checkpoint lies in the log");
        // An older one would be the second-best of the two slots: recovery may begin later already.
        if lsn <= state.header.checkpoint {
            return Ok(());
        }
        let header = Header { checkpoint: lsn, ..state.header };
        self.write_header(&mut state, header)
    }

    fn write_header(&self, state: &mut State, header: Header) -> Result<()> {
        let outcome = state.slots.write(&*self.disk, &header);
        state.counters.syncs += 1;
        outcome.map_err(|error| state.fail("writing the log's header", &error))?;
        state.header = header;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the log")
    }

    /// Let go of the lock until a thread has ended writing or syncing.
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>> {
        state.check()?;
        Ok(self.idle.wait(state).expect("no thread panics while it holds the log"))
    }
}

/// The file's length; one that does not end with a block is made longer, because a direct disk
/// could not read its last bytes.
fn whole_blocks(disk: &dyn Disk) -> Result<u64> {
    let len_bytes = disk.len_bytes().map_err(|error| LodeError::io("opening the log", error))?;
    let whole = len_bytes.next_multiple_of(BLOCK_BYTES as u64);
    if whole > len_bytes {
        disk.set_len(whole).map_err(|error| error_of("opening the log", error))?;
    }
    Ok(whole)
}
