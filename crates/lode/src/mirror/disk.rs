//! One file of both copies, as one disk.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use super::gate::{COMPLETE, Gate};
use super::pair::{Pair, Standing};
use super::{SIDES, Side, Wish};
use crate::aligned_bytes::AlignedBytes;
use crate::aligned_page::AlignedPage;
use crate::disk::{Destination, Disk};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::tactics::Mirroring;

/// Whether the two copies of a call are done by two threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtOnce {
    /// One after the other, so that what is simulated can be repeated.
    Never,
    /// Syncs: a write goes to the system's cache, and is done before a thread has begun.
    Syncs,
    /// Syncs and writes.
    All,
}

/// The kind of a file's content, by which a read of it can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Pages, each with its checksum.
    Pages,
    /// Records, which the log judges.
    Records,
}

/// One file that is there twice.
pub struct MirroredDisk {
    pair: Arc<Pair>,
    files: [RwLock<Option<Arc<dyn Disk>>>; 2],
    holds: Holds,
    policy: Mirroring,
    at_once: AtOnce,
    /// Nothing is mended where nothing may be written.
    read_only: bool,
    pub(super) gate: Gate,
    arms: [Arm; 2],
}

/// The state of one copy's device.
#[derive(Default)]
struct Arm {
    /// The place where its last read ended.
    place: AtomicU64,
    under_way: AtomicU32,
    reads: AtomicU64,
}

impl MirroredDisk {
    /// Of the copies that there are.
    pub(super) fn new(
        pair: Arc<Pair>,
        files: [Option<Arc<dyn Disk>>; 2],
        holds: Holds,
        wish: Wish,
    ) -> Arc<Self> {
        let Wish { policy, at_once, read_only } = wish;
        let files = files.map(RwLock::new);
        let (gate, arms) = (Gate::new(), Default::default());
        Arc::new(Self { pair, files, holds, policy, at_once, read_only, gate, arms })
    }

    /// The number of reads that a copy was given.
    pub(super) fn reads(&self, side: Side) -> u64 {
        self.arms[side].reads.load(Ordering::Relaxed)
    }

    /// The progress of filling a copy.
    pub(super) fn filled_bytes(&self) -> u64 {
        match self.gate.cursor() {
            COMPLETE => self.len_bytes().unwrap_or(0),
            cursor => cursor,
        }
    }

    /// The file of a copy; none of one that is gone.
    pub(super) fn file(&self, side: Side) -> Option<Arc<dyn Disk>> {
        self.files[side].read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether that is the copy's file still: it gets another when it is filled.
    fn is_current(&self, side: Side, file: &Arc<dyn Disk>) -> bool {
        self.file(side).is_some_and(|current| Arc::ptr_eq(&current, file))
    }

    pub(super) fn set_file(&self, side: Side, file: Option<Arc<dyn Disk>>) {
        *self.files[side].write().unwrap_or_else(PoisonError::into_inner) = file;
    }

    /// The copies that may be read, the one to be asked first in front.
    fn readable(&self, offset: u64) -> impl Iterator<Item = (Side, Arc<dyn Disk>)> {
        let preferred = if self.pair_is_live() { self.preferred(offset) } else { 0 };
        let order = [preferred, SIDES[1 - preferred]].into_iter();
        let live = order.filter(|&side| self.pair.standing(side).is_live());
        live.filter_map(|side| self.file(side).map(|file| (side, file)))
    }

    fn pair_is_live(&self) -> bool {
        SIDES.iter().all(|&side| self.pair.standing(side).is_live())
    }

    fn preferred(&self, offset: u64) -> Side {
        let [first, second] = &self.arms;
        let way = |arm: &Arm| arm.place.load(Ordering::Relaxed).abs_diff(offset);
        let busy = |arm: &Arm| arm.under_way.load(Ordering::Relaxed);
        let is_second = match self.policy {
            Mirroring::Off | Mirroring::First => false,
            Mirroring::Idle => (busy(second), way(second)) < (busy(first), way(first)),
            Mirroring::Nearer => (way(second), busy(second)) < (way(first), busy(first)),
        };
        Side::from(is_second)
    }

    fn read_one(
        &self,
        side: Side,
        file: &dyn Disk,
        at: u64,
        into: Destination<'_>,
    ) -> io::Result<()> {
        let end = at + into.len() as u64;
        let arm = &self.arms[side];
        arm.under_way.fetch_add(1, Ordering::Relaxed);
        arm.reads.fetch_add(1, Ordering::Relaxed);
        let read = file.read_into(at, into);
        arm.place.store(end, Ordering::Relaxed);
        arm.under_way.fetch_sub(1, Ordering::Relaxed);
        read
    }

    /// Read again, from the other copy, what one could not give.
    fn read_other(
        &self,
        failed: (Side, io::Error),
        offset: u64,
        into: Destination<'_>,
    ) -> io::Result<()> {
        let (side, error) = failed;
        let range = offset..offset + into.len() as u64;
        // Asked now: it may have been filled while the read was under way.
        let mut others = self.readable(offset).filter(|(other, _)| *other != side);
        let Some((other, file)) = others.next() else { return Err(error) };
        // The same error twice is reported as the first had it.
        self.read_one(other, &*file, offset, into).map_err(|_| error)?;
        self.mend(side, range);
        Ok(())
    }

    /// Read the pages whose checksums do not fit from the other copy, and those of zeros: a device
    /// that lost a write gives zeros, which are whole as a page that was never written. What fits
    /// in neither stays for those above, who know whether anybody needs it.
    fn check_pages(
        &self,
        side: Side,
        other: &(Side, Arc<dyn Disk>),
        at: u64,
        into: Destination<'_>,
    ) {
        let starts = (at..).step_by(PAGE_BYTES);
        let mut page = Box::new(AlignedPage::zeros());
        let whole_pages = into.len() / PAGE_BYTES;
        for (start, mut bytes) in starts.zip(into.chunks(PAGE_BYTES)).take(whole_pages) {
            bytes.copy_to(&mut page[..]);
            let whole = is_whole(&page, start);
            if whole && !is_unwritten(&page) {
                continue;
            }
            let read = self.read_one(other.0, &*other.1, start, (&mut page[..]).into());
            if read.is_ok() && is_whole(&page, start) && !(whole && is_unwritten(&page)) {
                bytes.put(&page[..]);
                self.mend(side, start..start + PAGE_BYTES as u64);
            }
        }
    }

    /// Write a range of one copy anew from the other, while nobody else writes there. A copy that
    /// does not take it is lost.
    fn mend(&self, side: Side, range: Range<u64>) {
        if self.read_only {
            return;
        }
        let _alone = self.gate.alone(range.clone());
        if !self.pair_is_live() {
            return;
        }
        let (Some(from), Some(to)) = (self.file(SIDES[1 - side]), self.file(side)) else { return };
        let mut bytes = AlignedBytes::new((range.end - range.start) as usize);
        if from.read(range.start, bytes.bytes()).is_err() {
            return;
        }
        if self.holds == Holds::Pages && !all_whole(bytes.bytes(), range.start) {
            return;
        }
        match to.write(range.start, bytes.bytes()) {
            Ok(()) => self.pair.count_mended(),
            // The bytes read are right all the same; where the other cannot say that it is alone
            // now, the next write finds that out.
            Err(error) => drop(self.pair.lose(side, &error, || self.is_current(side, &to))),
        }
    }

    /// Do a call on each copy that is to be written, at once if it pays; `act` is given how much of
    /// the copy takes part. Where the only copy that is in step fails, and the other was filled
    /// meanwhile, it is done on the other, all of it: as long as that was being filled it had taken
    /// a part alone. The one that failed is lost and not tried again: a system forgets what it
    /// could not sync, and calls the next sync a success.
    fn on_each(
        &self,
        at_once: bool,
        act: impl Fn(&dyn Disk, Standing) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        let standings = SIDES.map(|side| self.pair.standing(side));
        let files = SIDES.map(|side| self.file(side));
        self.try_each(at_once, standings, &act).or_else(|error| {
            let is_new =
                |side: &Side| !standings[*side].is_live() && self.pair.standing(*side).is_live();
            let Some(filled) = SIDES.into_iter().find(is_new) else { return Err(error) };
            let Some(file) = self.file(filled) else { return Err(error) };
            act(&*file, Standing::Live)?;
            let failed = SIDES[1 - filled];
            let is_current =
                || files[failed].as_ref().is_some_and(|file| self.is_current(failed, file));
            self.pair.lose(failed, &error, is_current)
        })
    }

    fn try_each(
        &self,
        at_once: bool,
        standings: [Standing; 2],
        act: &(impl Fn(&dyn Disk, Standing) -> io::Result<()> + Sync),
    ) -> io::Result<()> {
        let files = SIDES.map(|side| match standings[side] {
            Standing::Gone => None,
            _ => self.file(side),
        });
        let one = |side: Side| files[side].as_ref().map(|file| act(&**file, standings[side]));
        let outcomes = if at_once && files.iter().all(Option::is_some) {
            both(|| one(0), || one(1))
        } else {
            SIDES.map(one)
        };
        self.settle(standings, outcomes, &files)
    }

    /// The outcome of a call made on the copies.
    fn settle(
        &self,
        standings: [Standing; 2],
        outcomes: [Option<io::Result<()>>; 2],
        files: &[Option<Arc<dyn Disk>>; 2],
    ) -> io::Result<()> {
        let succeeded = SIDES
            .iter()
            .any(|&side| standings[side].is_live() && matches!(outcomes[side], Some(Ok(()))));
        let mut failed = None;
        for (side, outcome) in outcomes.into_iter().enumerate() {
            let Some(Err(error)) = outcome else { continue };
            if succeeded || standings[side] == Standing::Filling {
                let is_current =
                    || files[side].as_ref().is_some_and(|file| self.is_current(side, file));
                self.pair.lose(side, &error, is_current)?;
            } else {
                failed.get_or_insert(error);
            }
        }
        match failed {
            Some(error) => Err(error),
            None if succeeded => Ok(()),
            None => Err(io::Error::other("no copy of the mirror is there")),
        }
    }
}

fn is_whole(bytes: &PageBytes, offset: u64) -> bool {
    page::check(bytes, (offset / PAGE_BYTES as u64) as PageNumber).is_ok()
}

/// Whether a page that is whole is one of zeros.
fn is_unwritten(bytes: &PageBytes) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn all_whole(bytes: &[u8], offset: u64) -> bool {
    let starts = (offset..).step_by(PAGE_BYTES);
    starts.zip(bytes.chunks_exact(PAGE_BYTES)).all(|(start, bytes)| {
        is_whole(bytes.try_into().expect("a chunk is as long as a page"), start)
    })
}

/// Two things by two threads; one after the other where no thread is to be had.
fn both<R: Send>(one: impl FnOnce() -> R + Send, two: impl Fn() -> R + Send + Sync) -> [R; 2] {
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, &two);
        let first = one();
        let second = match other {
            Ok(other) => other.join().expect("a disk does not panic"),
            Err(_) => two(),
        };
        [first, second]
    })
}

impl Disk for MirroredDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        let mut outcome: io::Result<u64> = Err(io::Error::other("no copy of the mirror is there"));
        for (_, file) in self.readable(0) {
            let found = file.len_bytes();
            if !self.read_only && found.is_ok() {
                return found;
            }
            // Nobody gave them one length: a copy that is cut short can be read no further.
            outcome = match (outcome, found) {
                (Ok(one), Ok(other)) => Ok(one.max(other)),
                (Err(_), found) => found,
                (one, Err(_)) => one,
            };
        }
        outcome
    }

    fn read_into(&self, offset: u64, mut into: Destination<'_>) -> io::Result<()> {
        let mut readable = self.readable(offset);
        let Some((side, file)) = readable.next() else {
            return Err(io::Error::other("no copy of the mirror is there"));
        };
        let other = readable.next();
        match self.read_one(side, &*file, offset, into.reborrow()) {
            Ok(()) => {}
            // The copies have one length, unless nothing may be written.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !self.read_only => {
                return Err(error);
            }
            Err(error) => self.read_other((side, error), offset, into.reborrow())?,
        }
        if let Some(other) = other
            && self.holds == Holds::Pages
            && offset.is_multiple_of(PAGE_BYTES as u64)
        {
            self.check_pages(side, &other, offset, into);
        }
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let end = offset.saturating_add(from.len() as u64);
        let writing = self.gate.write(offset..end);
        let before_cursor = (writing.cursor.clamp(offset, end) - offset) as usize;
        self.on_each(self.at_once == AtOnce::All, |file, standing| match standing {
            Standing::Filling if before_cursor == 0 => Ok(()),
            Standing::Filling => file.write(offset, &from[..before_cursor]),
            _ => file.write(offset, from),
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.on_each(self.at_once != AtOnce::Never, |file, _| file.sync())
    }

    /// If one copy has no space, the others give back what they took: nothing was missed, and
    /// the caller gets the error of a full disk as any other.
    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        let _writing = self.gate.write(0..u64::MAX);
        let before = self.len_bytes()?;
        let full = std::sync::Mutex::new(None);
        let outcome = self.on_each(false, |file, _| {
            let done = file.set_len(len_bytes);
            match done {
                Err(error) if len_bytes > before && is_full(&error) => {
                    *full.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Ok(())
                }
                done => done,
            }
        });
        let full = full.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (outcome, full) {
            (Ok(()), Some(full)) => {
                self.on_each(false, |file, _| {
                    if file.len_bytes()? == before { Ok(()) } else { file.set_len(before) }
                })?;
                Err(full)
            }
            (outcome, _) => outcome,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
