//! A database kept as two copies: both are written, either is read, one may be lost and be filled
//! again while transactions run. `docs/reference/lode-format.md` draws what a copy knows of both,
//! and says which rules keep what was acknowledged.
//!
//! ```text
//! state      what a copy says of both, in its own file
//! decision   which copies may be read, by what they say
//! pair       who is in step while they are open, and what callers hear when that changes
//! gate       no write touches a range while it is copied
//! disk       one file of both: the door through which volume and log are reached
//! copying    one copy filled from the other, while others write
//! opening    from the files that are there to the two disks
//! files      where the files lie, and what of them can be reported without opening
//! ```
//!
//! Above the disks nobody knows of the mirror: buffer, log and recovery have one volume and one
//! log.

mod copying;
mod decision;
mod disk;
mod files;
mod gate;
mod opening;
mod pair;
mod state;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

pub use copying::Remirrored;
pub use disk::{AtOnce, MirroredDisk};
pub(crate) use files::MirroredFiles;
pub use files::{CopyReported, Inspection, inspect, is_there, take_alone, take_alone_on};
pub use opening::{Attach, CopyDisks, Found, Opened, Wish, assemble, create};

use crate::error::{LodeError, Result};
use crate::sync::Mutex;
use pair::Pair;

/// Which of the two copies: 0 for the first, 1 for the second.
pub type Side = usize;

/// Both.
pub(crate) const SIDES: [Side; 2] = [0, 1];

/// The name of a copy.
pub const fn name_of(side: Side) -> &'static str {
    match side {
        0 => "first",
        _ => "second",
    }
}

/// The mirror of an open database.
pub struct Mirror {
    pair: Arc<Pair>,
    volume: Arc<MirroredDisk>,
    log: Arc<MirroredDisk>,
    attach: Box<Attach>,
    /// Taken by the thread that fills a copy.
    copying: Mutex<()>,
}

/// The way in which the copies are, and what was done with them since they were opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorReport {
    /// Counts the changes of who is in step.
    pub epoch: u64,
    /// The first and the second.
    pub copies: [CopyReport; 2],
    /// Ranges, as a rule pages, that could not be read in one copy, or whose checksum did not fit,
    /// and were written anew from the other.
    pub mended: u64,
}

/// The way in which one copy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    /// `in step`, `being filled` or `gone`.
    pub standing: &'static str,
    /// Why it is gone, where that is known.
    pub why: String,
    /// Reads that it was given.
    pub reads: u64,
    /// Of a copy that is being filled: the bytes that have been.
    pub filled_bytes: u64,
}

impl Mirror {
    fn of(pair: Arc<Pair>, disks: [Arc<MirroredDisk>; 2], attach: Box<Attach>) -> Arc<Self> {
        let [volume, log] = disks;
        Arc::new(Self { pair, volume, log, attach, copying: Mutex::new(()) })
    }

    /// Whether both copies have everything.
    pub fn is_in_step(&self) -> bool {
        SIDES.iter().all(|&side| self.pair.standing(side).is_live())
    }

    /// Let go of a copy, as if its device had been taken away.
    ///
    /// # Errors
    ///
    /// If the other cannot go on alone.
    pub fn take_down(&self, side: Side) -> Result<()> {
        let down = io::Error::other("it was taken down");
        let failed = |source| LodeError::io("taking a copy of the mirror down", source);
        self.pair.lose(side, &down, || true).map_err(failed)
    }

    /// The way in which the copies are now.
    pub fn report(&self) -> MirrorReport {
        let (epoch, why) = self.pair.reported();
        let copies = SIDES.map(|side| CopyReport {
            standing: self.pair.standing(side).name(),
            why: why[side].clone(),
            reads: self.volume.reads(side) + self.log.reads(side),
            filled_bytes: self.volume.filled_bytes() + self.log.filled_bytes(),
        });
        MirrorReport { epoch, copies, mended: self.pair.mended() }
    }
}
