//! A disk whose work takes time, during which others go on; disks that lie, so that the simulation
//! can be seen to notice; and devices that die.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::scheduler::{Moment, reach};
use crate::disk::simulated::SimulatedDisk;
use crate::disk::{Destination, Disk};

/// A lie of the disk.
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
    pub(super) life: Life,
}

/// Whether a device has died: shared by its files.
pub(super) type Life = Arc<AtomicBool>;

impl SlowDisk {
    pub(super) fn over(below: SimulatedDisk, lie: Option<Lie>) -> Self {
        Self::on(Life::default(), below, lie)
    }

    /// A file of a device.
    pub(super) const fn on(device: Life, below: SimulatedDisk, lie: Option<Lie>) -> Self {
        Self { below, lie, writes: std::sync::atomic::AtomicU64::new(0), life: device }
    }

    /// Others go on before it begins and before it is known to have ended.
    fn slowly<R>(&self, work: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        reach(Moment::Disk);
        self.check_life()?;
        let done = work();
        reach(Moment::Disk);
        done
    }

    fn check_life(&self) -> io::Result<()> {
        if self.life.load(Ordering::Relaxed) {
            return Err(io::Error::other("the device is dead"));
        }
        Ok(())
    }

    fn is_dropped(&self) -> bool {
        let number = self.writes.fetch_add(1, Ordering::Relaxed) + 1;
        matches!(self.lie, Some(Lie::Written(one_in)) if number.is_multiple_of(one_in))
    }
}

impl Disk for SlowDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        self.check_life()?;
        self.below.len_bytes()
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        self.slowly(|| self.below.read_into(offset, into))
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.slowly(|| if self.is_dropped() { Ok(()) } else { self.below.write(offset, from) })
    }

    fn sync(&self) -> io::Result<()> {
        self.slowly(|| if self.lie == Some(Lie::Synced) { Ok(()) } else { self.below.sync() })
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.slowly(|| self.below.set_len(len_bytes))
    }
}
