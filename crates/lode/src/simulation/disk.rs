//! A disk whose work takes time, during which others go on; and disks that lie, so that the
//! simulation can be seen to notice.

use std::io;

use super::scheduler::{Moment, reach};
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;

/// What a disk does that it says it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    /// It calls synced what is not.
    Synced,
    /// It calls written what is not: one write in so many.
    Written(u64),
}

/// One file of a simulated machine.
pub(super) struct SlowDisk {
    pub(super) below: SimulatedDisk,
    pub(super) lie: Option<Lie>,
    pub(super) writes: std::sync::atomic::AtomicU64,
}

impl SlowDisk {
    pub(super) const fn over(below: SimulatedDisk, lie: Option<Lie>) -> Self {
        Self { below, lie, writes: std::sync::atomic::AtomicU64::new(0) }
    }

    fn is_dropped(&self) -> bool {
        let number = self.writes.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        matches!(self.lie, Some(Lie::Written(one_in)) if number.is_multiple_of(one_in))
    }
}

/// Others go on before it begins and before it is known to have ended.
fn slowly<R>(work: impl FnOnce() -> R) -> R {
    reach(Moment::Disk);
    let done = work();
    reach(Moment::Disk);
    done
}

impl Disk for SlowDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        self.below.len_bytes()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        slowly(|| self.below.read(offset, into))
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        slowly(|| if self.is_dropped() { Ok(()) } else { self.below.write(offset, from) })
    }

    fn sync(&self) -> io::Result<()> {
        slowly(|| if self.lie == Some(Lie::Synced) { Ok(()) } else { self.below.sync() })
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        slowly(|| self.below.set_len(len_bytes))
    }
}
