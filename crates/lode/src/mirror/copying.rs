//! Filling a copy from the other, range by range, while others read and write.

use std::sync::{Arc, TryLockError};

use super::disk::MirroredDisk;
use super::gate::COMPLETE;
use super::pair::Standing;
use super::state::StateFile;
use super::{CopyDisks, Mirror, SIDES, Side, name_of};
use crate::aligned_bytes::AlignedBytes;
use crate::disk::Disk;
use crate::error::{LodeError, Result};

/// Bytes that are copied while nobody writes there: a write waits for so many at most.
const RANGE_BYTES: u64 = 256 << 10;

/// The work done to fill a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remirrored {
    /// Which.
    pub side: Side,
    /// Bytes that were copied, of the volume and the log.
    pub bytes: u64,
}

impl Mirror {
    /// Fill the copy that is gone from the other, in this thread, while others use the database;
    /// `None` if both are in step. When it returns, the copies are in step.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mirror`] while another thread does it, and if a copy fails meanwhile: the
    /// database goes on with the other.
    pub fn remirror(&self) -> Result<Option<Remirrored>> {
        let _alone = match self.copying.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let what = "a copy of the mirror is being filled already: wait until it is";
                return Err(LodeError::Mirror { what: what.to_owned() });
            }
        };
        let gone = SIDES.into_iter().find(|&side| self.pair.standing(side) == Standing::Gone);
        let Some(side) = gone else { return Ok(None) };
        let filled = self.fill(side);
        if let Err(error) = &filled {
            self.pair.stop_filling(side, &error.to_string());
        }
        filled.map(|bytes| Some(Remirrored { side, bytes }))
    }

    fn fill(&self, side: Side) -> Result<u64> {
        let disks = [&self.volume, &self.log];
        for disk in disks {
            // Their locks are given back before the files are made anew.
            disk.set_file(side, None);
        }
        let CopyDisks { state, volume, log } = (self.attach)(side)?;
        let (file, _) = StateFile::open(state).map_err(|error| match error {
            LodeError::Corrupt { .. } => LodeError::Mirror {
                what: format!("the {} copy cannot be filled: {error}", name_of(side)),
            },
            error => error,
        })?;
        self.pair.begin_filling(side, file)?;
        for (disk, file) in disks.into_iter().zip([volume, log]) {
            disk.gate.set_cursor(0);
            disk.set_file(side, Some(file));
        }
        self.pair.start_filling(side);
        let mut bytes = 0;
        for disk in disks {
            bytes += self.fill_file(disk, side)?;
        }
        for disk in disks {
            let file = self.filled(disk, side)?;
            file.sync().map_err(|source| LodeError::io("syncing the copy", source))?;
        }
        self.pair.end_filling(side)?;
        Ok(bytes)
    }

    fn fill_file(&self, disk: &MirroredDisk, side: Side) -> Result<u64> {
        let failed = |source| LodeError::io("filling the copy", source);
        {
            let _alone = disk.gate.alone(0..u64::MAX);
            let len_bytes = disk.len_bytes().map_err(failed)?;
            self.filled(disk, side)?.set_len(len_bytes).map_err(failed)?;
        }
        let mut buffer = AlignedBytes::new(RANGE_BYTES as usize);
        let mut cursor = 0;
        loop {
            let len_bytes = disk.len_bytes().map_err(failed)?;
            if cursor >= len_bytes {
                // A write that makes the file longer now goes to both.
                let _alone = disk.gate.alone(cursor..u64::MAX);
                if cursor >= disk.len_bytes().map_err(failed)? {
                    disk.gate.set_cursor(COMPLETE);
                    return Ok(cursor);
                }
                continue;
            }
            let _alone = disk.gate.alone(cursor..cursor + RANGE_BYTES);
            // It may have been cut meanwhile.
            let len_bytes = disk.len_bytes().map_err(failed)?;
            let count = len_bytes.saturating_sub(cursor).min(RANGE_BYTES);
            let bytes = &mut buffer.bytes()[..count as usize];
            disk.read(cursor, bytes).map_err(failed)?;
            self.filled(disk, side)?.write(cursor, bytes).map_err(failed)?;
            cursor += count;
            disk.gate.set_cursor(cursor);
        }
    }

    /// The file that is being filled, unless a write to it has failed meanwhile.
    fn filled(&self, disk: &MirroredDisk, side: Side) -> Result<Arc<dyn Disk>> {
        let file = disk.file(side).filter(|_| self.pair.standing(side) == Standing::Filling);
        file.ok_or_else(|| {
            let (_, why) = self.pair.reported();
            let what =
                format!("the {} copy failed while it was filled: {}", name_of(side), why[side]);
            LodeError::Mirror { what }
        })
    }
}
