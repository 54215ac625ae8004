//! The bytes that have reached the medium, and those that a crash leaves of the rest.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::disk::Memory;
use crate::disk::contents::{Contents, Patch};
use crate::disk::simulated::Simulation;
use crate::random::Random;

/// The bytes that a medium writes as one. Sectors lie at multiples of this in the file.
pub const SECTOR_BYTES: usize = 512;

/// The part of one change that survives a crash if it was not durable.
///
/// Changes that were kept take effect in the order in which they were made. That covers other
/// orders, too: that the second of two writes to a sector came first and was overwritten looks as
/// if it had been lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// Nothing of it arrived.
    Lost,
    /// All of it.
    Whole,
    /// Some sectors of a write; the file has grown as if all had. A changed length is kept.
    Torn(Tear),
}

/// Which sectors of a write arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tear {
    /// So many at the beginning.
    First(usize),
    /// All but so many at the beginning.
    AllBut(usize),
    /// Each by the toss of a coin, with this seed.
    Scattered(u64),
    /// So many at the beginning, and the next one holds random bytes: a medium that breaks its
    /// word about sectors. A log that writes a block again after adding to it, as ours does, may
    /// then lose what was durable in the block.
    Garbage(usize),
}

/// The files after a crash. Copies are cheap.
#[derive(Clone)]
pub struct Image {
    pub(super) names: Vec<&'static str>,
    pub(super) files: Vec<Contents>,
}

impl Image {
    /// The file of that name, empty if there is none: a copy, so that what is written to it does
    /// not change the image.
    pub fn disk(&self, name: &str) -> Arc<Memory> {
        let file = self.names.iter().position(|&known| known == name);
        let contents = file.map(|file| self.files[file].clone());
        Arc::new(Memory::of(contents.unwrap_or_default()))
    }

    /// The files, ready to crash again.
    pub fn simulation(&self) -> Simulation {
        Simulation::of(self)
    }

    /// A hash of all of it: images of equal files have equal ones.
    pub fn fingerprint(&self) -> u64 {
        let mut all = 0;
        for contents in &self.files {
            all = Random::new(all ^ contents.fingerprint()).next();
        }
        all
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths = self.files.iter().map(Contents::len_bytes);
        formatter.debug_map().entries(self.names.iter().zip(lengths)).finish()
    }
}

/// A change of one file.
#[derive(Clone)]
pub(super) enum Change {
    Write(Patch),
    SetLen(u64),
}

/// The events, in order.
#[derive(Clone)]
pub(super) enum Event {
    Change { file: usize, change: Change },
    Sync { file: usize },
    SyncFailed { file: usize },
    Mark(u64),
}

/// A change that is not durable.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) file: usize,
    change: Change,
    /// A sync of it failed: the next will not make it durable.
    orphan: bool,
    /// Of an orphan: a later sync has made the file's length durable.
    grown: bool,
    /// Of an orphan: sectors that a later change has replaced for good.
    replaced: BTreeSet<u64>,
}

impl Pending {
    /// The number of sectors to tear; 0 of a changed length.
    pub(super) fn sector_count(&self) -> usize {
        match &self.change {
            Change::Write(patch) => sectors(patch).count(),
            Change::SetLen(_) => 0,
        }
    }

    fn put(&self, into: &mut Contents, survival: Survival) {
        const FITS: &str = "what fitted into the cache fits into a copy of it";
        let patch = match &self.change {
            _ if survival == Survival::Lost => return,
            Change::SetLen(len_bytes) => return into.set_len(*len_bytes).expect(FITS),
            Change::Write(patch) => patch,
        };
        if survival == Survival::Whole && self.replaced.is_empty() {
            return into.apply(patch, 0..patch.count()).expect(FITS);
        }
        if !self.grown {
            grow(into, end_of(patch));
        }
        let mut coin = Random::new(match survival {
            Survival::Torn(Tear::Scattered(seed)) => seed,
            _ => 0,
        });
        for (at, (sector, range)) in sectors(patch).enumerate() {
            let arrives = match survival {
                Survival::Lost => false,
                Survival::Whole => true,
                Survival::Torn(Tear::First(count)) => at < count,
                Survival::Torn(Tear::AllBut(count)) => at >= count,
                Survival::Torn(Tear::Scattered(_)) => coin.below(2) == 1,
                Survival::Torn(Tear::Garbage(count)) => at <= count,
            };
            if !arrives || self.replaced.contains(&sector) {
                continue;
            }
            if survival == Survival::Torn(Tear::Garbage(at)) {
                let mut random = Random::new(sector);
                let start = patch.offset() + range.start as u64;
                let garbage: Vec<u8> = range.map(|_| random.next() as u8).collect();
                into.write(start, &garbage).expect(FITS);
            } else {
                into.apply(patch, range).expect(FITS);
            }
        }
    }

    /// A later change has become durable.
    fn replace(&mut self, later: &Change) {
        let Change::Write(patch) = &self.change else { return };
        let later = match later {
            Change::Write(later) => sector_range(later),
            Change::SetLen(len_bytes) => len_bytes / SECTOR_BYTES as u64..u64::MAX,
        };
        let mine = sector_range(patch);
        self.replaced.extend(mine.start.max(later.start)..mine.end.min(later.end));
    }

    fn is_replaced(&self) -> bool {
        self.orphan && self.replaced.len() == self.sector_count()
    }
}

fn grow(contents: &mut Contents, len_bytes: u64) {
    if contents.len_bytes() < len_bytes {
        contents.set_len(len_bytes).expect("the cache was as long");
    }
}

fn end_of(patch: &Patch) -> u64 {
    patch.offset() + patch.count() as u64
}

/// The numbers of the sectors that a write touches.
fn sector_range(patch: &Patch) -> Range<u64> {
    patch.offset() / SECTOR_BYTES as u64..end_of(patch).div_ceil(SECTOR_BYTES as u64)
}

/// The sectors that a write touches, each with the range of the write's bytes that lies in it.
fn sectors(patch: &Patch) -> impl Iterator<Item = (u64, Range<usize>)> {
    let (offset, count) = (patch.offset(), patch.count());
    sector_range(patch).map(move |sector| {
        let start = sector * SECTOR_BYTES as u64;
        let from = start.saturating_sub(offset) as usize;
        let to = (start + SECTOR_BYTES as u64 - offset) as usize;
        (sector, from..to.min(count))
    })
}

/// Durable bytes of every file, and the changes that are not durable.
#[derive(Clone, Default)]
pub(super) struct Medium {
    files: Vec<Contents>,
    pub(super) pending: Vec<Pending>,
}

impl Medium {
    pub(super) const fn of(files: Vec<Contents>) -> Self {
        Self { files, pending: Vec::new() }
    }

    pub(super) fn happen(&mut self, event: &Event) {
        match event {
            Event::Change { file, change } => {
                let (file, change) = (*file, change.clone());
                let replaced = BTreeSet::new();
                self.pending.push(Pending { file, change, orphan: false, grown: false, replaced });
            }
            Event::Sync { file } => self.sync(*file),
            Event::SyncFailed { file } => {
                // Lengths go through the file system's journal, which goes on.
                for pending in self.pending.iter_mut().filter(|pending| pending.file == *file) {
                    pending.orphan = matches!(pending.change, Change::Write(_));
                }
            }
            Event::Mark(_) => {}
        }
    }

    fn sync(&mut self, file: usize) {
        let files = self.files.len().max(file + 1);
        self.files.resize(files, Contents::default());
        let contents = &mut self.files[file];
        let mut left: Vec<Pending> = Vec::new();
        for mut pending in std::mem::take(&mut self.pending) {
            if pending.file != file {
                left.push(pending);
                continue;
            }
            if !pending.orphan {
                pending.put(contents, Survival::Whole);
                for earlier in left.iter_mut().filter(|earlier| earlier.file == file) {
                    earlier.replace(&pending.change);
                }
                continue;
            }
            if let Change::Write(patch) = &pending.change
                && !pending.grown
            {
                grow(contents, end_of(patch));
                pending.grown = true;
            }
            left.push(pending);
        }
        left.retain(|pending| !pending.is_replaced());
        self.pending = left;
    }

    /// The files that a crash leaves. Changes beyond the end of `survivals` are lost.
    pub(super) fn image(&self, names: &[&'static str], survivals: &[Survival]) -> Image {
        let mut files = self.files.clone();
        files.resize(names.len(), Contents::default());
        for (pending, survival) in self.pending.iter().zip(survivals) {
            pending.put(&mut files[pending.file], *survival);
        }
        Image { names: names.to_vec(), files }
    }
}
