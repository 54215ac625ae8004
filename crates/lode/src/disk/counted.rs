//! A disk that counts what is asked of the disk below.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Destination, Disk};

/// Calls that succeeded, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskCounts {
    /// Calls of [`Disk::read_into`].
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Calls of [`Disk::write`].
    pub writes: u64,
    /// Bytes that they wrote.
    pub written_bytes: u64,
    /// Calls of [`Disk::sync`].
    pub syncs: u64,
    /// Calls of [`Disk::set_len`].
    pub set_lens: u64,
}

/// Any disk, and how often it was asked. Costs a few nanoseconds a call.
pub struct CountedDisk {
    below: Arc<dyn Disk>,
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
    set_lens: AtomicU64,
}

impl CountedDisk {
    /// Count from 0 what goes to `below`.
    pub const fn new(below: Arc<dyn Disk>) -> Self {
        Self {
            below,
            reads: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            set_lens: AtomicU64::new(0),
        }
    }

    /// The counts so far. Each is exact; while others use the disk they may not fit together.
    pub fn counts(&self) -> DiskCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DiskCounts {
            reads: of(&self.reads),
            read_bytes: of(&self.read_bytes),
            writes: of(&self.writes),
            written_bytes: of(&self.written_bytes),
            syncs: of(&self.syncs),
            set_lens: of(&self.set_lens),
        }
    }
}

fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

impl Disk for CountedDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        self.below.len_bytes()
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        let bytes = into.len();
        self.below.read_into(offset, into)?;
        add(&self.reads, 1);
        add(&self.read_bytes, bytes);
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.below.write(offset, from)?;
        add(&self.writes, 1);
        add(&self.written_bytes, from.len());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.below.sync()?;
        add(&self.syncs, 1);
        Ok(())
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.below.set_len(len_bytes)?;
        add(&self.set_lens, 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Memory;
    use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends};

    #[test]
    fn passes_every_call_on() {
        let disk = CountedDisk::new(Arc::new(Memory::new()));
        behaves_like_a_model(&disk, 1);
        ends_where_it_ends(&disk);
    }

    #[test]
    fn counts_what_succeeded() {
        let disk = CountedDisk::new(Arc::new(Memory::new()));
        disk.set_len(100).unwrap();
        disk.write(0, &[1; 10]).unwrap();
        disk.write(10, &[1; 5]).unwrap();
        disk.read(0, &mut [0; 7]).unwrap();
        disk.read(99, &mut [0; 7]).unwrap_err();
        disk.sync().unwrap();
        assert_eq!(
            disk.counts(),
            DiskCounts {
                reads: 1,
                read_bytes: 7,
                writes: 2,
                written_bytes: 15,
                syncs: 1,
                set_lens: 1
            }
        );
    }
}
