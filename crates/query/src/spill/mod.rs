//! Tuples that do not fit into memory: in one file of the statement, which has no name.
//!
//! The file lies in the database's folder. It is never logged, and unlinked from the moment in
//! which it is there, so that neither a cancelled statement nor a killed process leaves anything
//! behind. Room in it is used again as soon as a [`Run`] is gone.

mod fan;
mod partitioned;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{QueryError, Result};

pub use fan::{Fan, LEVELS_MAX};
pub use partitioned::{Partitioned, Runs};
pub use run::{Run, RunReader, RunWriter};

/// The least that is written and read at a time: a page of the file system.
const BLOCK_BYTES_MIN: u64 = 4 << 10;

/// The least where only a share of a small budget is there for the buffers.
const SHARE_BLOCK_BYTES_MIN: u64 = 1 << 10;

/// The most: more makes hardly a disk faster, and merges read fewer runs at a time.
const BLOCK_BYTES_MAX: u64 = 256 << 10;

/// The number of blocks that a budget is for each partition of a [`Fan`] at least, so that the
/// partitions, or a merge of many runs, take only a part of it.
const BLOCKS_OF_PARTITION: u64 = 8;

/// The place where a statement puts what does not fit into its memory.
#[derive(Debug, Clone)]
pub struct Spill {
    shared: Arc<Shared>,
    /// The number of bytes that are written and read at a time, for tuples that are not longer.
    block_bytes: usize,
    fan: Fan,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    file: Mutex<Option<Arc<File>>>,
    room: Mutex<Room>,
    written_bytes: AtomicU64,
    /// The largest length of the file; only tests have a limit.
    bytes_max: u64,
}

/// Which parts of the file are free.
#[derive(Debug, Default)]
struct Room {
    /// The place where the file ends.
    end: u64,
    /// Free parts by their lengths.
    free: BTreeMap<u64, Vec<u64>>,
}

impl Spill {
    /// In that folder, for a statement with that budget in bytes.
    pub fn new(folder: &Path, budget_bytes: u64) -> Self {
        Self::limited(folder, budget_bytes, u64::MAX)
    }

    /// As [`Spill::new`], on a disk that is full after so many bytes.
    fn limited(folder: &Path, budget_bytes: u64, bytes_max: u64) -> Self {
        let shared = Shared {
            folder: folder.to_owned(),
            file: Mutex::default(),
            room: Mutex::default(),
            written_bytes: AtomicU64::new(0),
            bytes_max,
        };
        let fan = Fan::of(budget_bytes);
        let block_bytes = block_bytes(budget_bytes, fan, BLOCK_BYTES_MIN);
        Self { shared: Arc::new(shared), block_bytes, fan }
    }

    /// The same file, for a part of the statement with a share of its budget: in blocks as small as
    /// the share is, and into as few partitions.
    #[must_use]
    pub fn of_share(&self, share_bytes: u64) -> Self {
        let fan = Fan::of(share_bytes);
        let block_bytes =
            self.block_bytes.min(block_bytes(share_bytes, fan, SHARE_BLOCK_BYTES_MIN));
        Self { shared: Arc::clone(&self.shared), block_bytes, fan }
    }

    /// A disk that is full after so many bytes.
    #[cfg(test)]
    pub(crate) fn on_full_disk(folder: &Path, budget_bytes: u64, bytes_max: u64) -> Self {
        Self::limited(folder, budget_bytes, bytes_max)
    }

    /// The number of bytes that are written and read at a time, for tuples that are not longer.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// The way in which what does not fit is divided.
    pub fn fan(&self) -> Fan {
        self.fan
    }

    /// Everything that was ever written.
    pub fn written_bytes(&self) -> u64 {
        self.shared.written_bytes.load(Ordering::Relaxed)
    }

    /// The length of the file.
    #[cfg(test)]
    pub(crate) fn file_bytes(&self) -> u64 {
        self.room(|room| room.end)
    }

    fn room<R>(&self, act: impl FnOnce(&mut Room) -> R) -> R {
        act(&mut self.shared.room.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A part of the file.
    fn take(&self, bytes: u64) -> u64 {
        self.room(|room| {
            if let Some(at) = room.free.get_mut(&bytes).and_then(Vec::pop) {
                return at;
            }
            room.end += bytes;
            room.end - bytes
        })
    }

    /// Give parts back that were of that length.
    fn give_back(&self, bytes: u64, parts: &mut Vec<u64>) {
        self.room(|room| room.free.entry(bytes).or_default().append(parts));
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let reported = |error| self.failure(error);
        if at + bytes.len() as u64 > self.shared.bytes_max {
            return Err(reported(io::ErrorKind::StorageFull.into()));
        }
        self.file()?.write_all_at(bytes, at).map_err(reported)?;
        self.shared.written_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.file()?.read_exact_at(into, at).map_err(|error| self.failure(error))
    }

    /// The file, made when it is first requested.
    fn file(&self) -> Result<Arc<File>> {
        let mut file = self.shared.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        // Without a name from the beginning where the file system can (O_TMPFILE), else unlinked at
        // once.
        let made = tempfile::tempfile_in(&self.shared.folder);
        let made = Arc::new(made.map_err(|error| self.failure(error))?);
        *file = Some(Arc::clone(&made));
        Ok(made)
    }

    #[cold]
    fn failure(&self, source: io::Error) -> QueryError {
        QueryError::Spill { path: self.shared.folder.display().to_string(), source }
    }
}

/// The length of a budget's blocks: a power of two.
fn block_bytes(budget_bytes: u64, fan: Fan, bytes_min: u64) -> usize {
    let blocks = BLOCKS_OF_PARTITION * fan.out() as u64;
    let wanted = (budget_bytes / blocks).clamp(bytes_min, BLOCK_BYTES_MAX);
    1 << wanted.ilog2()
}
