//! A database: a volume, its log, and what holds them together while they are open.
//!
//! All work on it is done within transactions ([`Reading`], [`Writing`]); how its files become a
//! whole again after a crash is [`crate::recovery`]'s, when changed pages are written to their
//! places [`crate::checkpoint`]'s.

mod opening;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::buffer::{self, Buffer, Frames, Prefetcher};
use crate::error::{LodeError, Result};
use crate::lock::{LockCounters, Locks};
use crate::log;
use crate::mirror::{Mirror, MirrorReport, Remirrored, Side};
use crate::recovery::Recovery;
use crate::shared::{Changes, Shared};
use crate::tactics::{Mirroring, Tactics};
use crate::transaction::{Reading, Writing};

pub(crate) use opening::PAGES_MAX;

/// An open database, for all threads.
///
/// Its transactions own shares of it. Dropping the last share closes the files as well as that can
/// be done; [`Database::close`] says whether it went well. In a child made by `fork` it does
/// nothing and ends without a trace: the files are the parent's.
pub struct Database {
    /// Only where the database is in files: what reads ahead by itself, reads at any time.
    prefetcher: Option<Prefetcher>,
    shared: Arc<Shared>,
    recovery: Option<Recovery>,
    /// Only where it is kept as two copies.
    mirror: Option<Arc<Mirror>>,
}

/// The counters since a database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// In the buffer.
    pub buffer: buffer::Counters,
    /// In the log.
    pub log: log::Counters,
    /// In the lock table.
    pub locks: LockCounters,
    /// The number of times that a range was said before it was written: `log=set-range`.
    pub ranges_said: u64,
}

impl Database {
    /// A transaction that reads what is committed.
    pub fn reading(&self) -> Reading {
        Reading::begin(&self.shared)
    }

    /// A transaction that changes pages.
    pub fn writing(&self) -> Writing {
        Writing::begin(&self.shared)
    }

    /// The tactics that it was opened with; `extent` is what it was created with.
    pub fn tactics(&self) -> &Tactics {
        &self.shared.tactics
    }

    /// The tactics as they are in force now: `mirror` is off while only one copy is in step.
    pub fn tactics_in_force(&self) -> Tactics {
        let is_mirrored = self.mirror.as_ref().is_some_and(|mirror| mirror.is_in_step());
        let tactics = self.shared.tactics;
        if is_mirrored { tactics } else { Tactics { mirror: Mirroring::Off, ..tactics } }
    }

    /// The way in which its copies are; `None` if it is not mirrored.
    pub fn mirror(&self) -> Option<MirrorReport> {
        self.mirror.as_ref().map(|mirror| mirror.report())
    }

    /// Fill the copy that is gone from the other, in this thread, while other threads run
    /// transactions; `None` if there is nothing to fill.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Mirror`] if the database was opened with `mirror=off`, while another
    /// thread does the same, and if a copy fails meanwhile: the database goes on with the other.
    pub fn remirror(&self) -> Result<Option<Remirrored>> {
        self.copies()?.remirror()
    }

    /// Let go of a copy while the database is open, as if its device had been taken away: 0 for
    /// the first, 1 for the second. [`Database::remirror`] fills it again.
    ///
    /// # Errors
    ///
    /// As there, and if the other copy is gone.
    pub fn take_down(&self, side: Side) -> Result<()> {
        self.copies()?.take_down(side)
    }

    /// The mirror, for a server of the database.
    pub(crate) fn copies_shared(&self) -> Option<Arc<Mirror>> {
        self.mirror.clone()
    }

    /// The mirror, to be changed.
    fn copies(&self) -> Result<&Mirror> {
        self.shared.changes.check_owner()?;
        if self.shared.read_only {
            return Err(LodeError::ReadOnly);
        }
        let none = || {
            let what = "the database is opened with mirror=off: open it with mirror=idle first";
            LodeError::Mirror { what: what.to_owned() }
        };
        self.mirror.as_deref().ok_or_else(none)
    }

    /// Pages of an extent, as the space map counts them.
    pub fn extent_pages(&self) -> u32 {
        self.shared.superblock.extent_pages
    }

    /// 16 bytes that no other volume has.
    pub fn identity(&self) -> [u8; 16] {
        self.shared.superblock.identity
    }

    /// The repairs that opening had to make; `None` if the database had been closed.
    pub const fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// The counters since it was opened.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in a child of the process that opened it.
    pub fn counters(&self) -> Result<Counters> {
        self.shared.changes.check_owner()?;
        Ok(Counters {
            buffer: self.shared.buffer.counters(),
            log: self.shared.changes.log().counters(),
            locks: self.shared.locks.counters(),
            ranges_said: self.shared.changes.ranges_said(),
        })
    }

    /// Have its frames lent from now on: what a program keeps beside pages counts to `cache=` then.
    pub fn frames(&self) -> Frames {
        Frames::of(&self.shared.buffer)
    }

    /// Write everything to its place and drop it from memory: what comes next is cold for the
    /// engine. Pages that somebody uses meanwhile may stay.
    pub fn forget(&self) -> Result<()> {
        self.shared.changes.check_owner()?;
        if !self.shared.read_only {
            self.checkpoint()?;
        }
        self.shared.buffer.forget();
        Ok(())
    }

    /// Write all changed pages to their places.
    ///
    /// # Errors
    ///
    /// The error of the log or the volume; the database must be opened again then.
    pub fn checkpoint(&self) -> Result<()> {
        self.shared.checkpoint()
    }

    /// Whether a transaction has a share of it, which keeps it from being closed.
    pub fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.shared) > 1
    }

    /// # Errors
    ///
    /// [`LodeError::Busy`] while a transaction has not ended.
    pub(crate) fn check_idle(&self) -> Result<()> {
        if self.is_in_use() { Err(LodeError::Busy) } else { Ok(()) }
    }

    /// Write everything to its place and begin the log anew, so that opening has nothing to do.
    ///
    /// # Errors
    ///
    /// [`LodeError::Busy`] if a transaction has not ended: the files are closed when it has. What
    /// the log or the volume say.
    pub fn close(self) -> Result<()> {
        self.shared.changes.check_owner()?;
        self.check_idle()?;
        self.shared.finish()
    }

    /// Let go of the files as they are, as a crash would: the next opening recovers them. For
    /// tests.
    pub fn abandon(self) {
        self.shared.changes.abandon();
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.shared.buffer
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.shared.changes
    }

    pub(crate) fn locks(&self) -> &Locks {
        &self.shared.locks
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.shared.read_only
    }
}
