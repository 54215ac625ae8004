//! Recovery: what the log says is made true in the volume, before anybody looks.
//!
//! For each page that the log names, in the order of the log:
//!
//! 1. its last image, if there is one: whatever lies in the volume, also half of it, is replaced.
//!    Nothing before the image matters; as an image of zeros counts that a transaction has begun
//!    the page, unless it is committed with its pages in their places;
//! 2. else what lies in the volume, which is whole, because a page is written only while the log
//!    has one of these behind the checkpoint;
//! 3. redo of transactions that have ended (committed, or rolled back and said so);
//! 4. undo of all others, the last first. Such a transaction had locked the page to the end.
//!
//! Then the page is final; it is written after its image has been logged, and when all are synced
//! the log begins anew. If recovery is cut short, the next one finds these images and comes to the
//! same. Pages are mended in groups that fit the cache, the log being read once for each group.

use std::collections::BTreeMap;
use std::io;

use crate::aligned_page::AlignedPage;
use crate::disk::Disk;
use crate::error::{LodeError, Result};
use crate::lock::TransactionNumber;
use crate::lock::numbers::{NumberMap, NumberSet};
use crate::log::{Body, Log, Lsn, Record, Runs, Sync as LogSync, apply};
use crate::page::{self, PAGE_BYTES, PageNumber};
use crate::page_mut::PageMut;

/// The counts of opening a database that had not been closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Records read.
    pub records: u64,
    /// Transactions that had ended.
    pub ended: u64,
    /// Transactions that had not, and were taken back.
    pub taken_back: u64,
    /// Pages written.
    pub pages: u64,
}

/// The facts of the log as a whole.
#[derive(Default)]
struct Analysis {
    records: u64,
    /// The place where the log ended when recovery began; what is appended meanwhile is recovery's
    /// own.
    end: Lsn,
    ended: NumberMap<TransactionNumber, Ended>,
    undone: NumberSet<TransactionNumber>,
    /// Every page that is named, with what its changes begin from.
    pages: BTreeMap<PageNumber, Base>,
}

/// The way in which a transaction ended that did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// Its changes of pages are in the log.
    Logged,
    /// The pages that it had begun lie in their places.
    Placed,
}

/// The state from which the changes of a page begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Base {
    /// The page in the volume; nothing in the log comes before it.
    #[default]
    Volume,
    /// The image at this position.
    Image(Lsn),
    /// That a transaction began the page, as this position says: zeros, or what lies in the volume.
    Begun(Lsn, TransactionNumber),
}

impl Base {
    /// Whether a change at that position comes behind it.
    fn is_before(self, lsn: Lsn) -> bool {
        match self {
            Self::Volume => true,
            Self::Image(base) | Self::Begun(base, _) => base < lsn,
        }
    }
}

/// Make the volume what the log says, `pages_max` pages at a time, and begin the log anew.
///
/// # Errors
///
/// [`LodeError::Corrupt`] if a page is damaged that no image mends; what the disks say. It can be
/// tried again.
pub(crate) fn recover(volume: &dyn Disk, log: &Log, pages_max: usize) -> Result<Recovery> {
    // Images that only came from the system's cache mend nothing after the next crash.
    log.rewrite()?;
    let analysis = Analysis::of(log)?;
    let pages: Vec<PageNumber> = analysis.pages.keys().copied().collect();
    check_length(volume, pages.last().copied().unwrap_or_default())?;
    let mut pages_written = 0;
    for group in pages.chunks(pages_max.max(1)) {
        let mut mending = Mending::new(volume, &analysis, group);
        for record in log.read(log.checkpoint())? {
            let record = record?;
            if record.lsn >= analysis.end {
                break;
            }
            mending.take(record)?;
        }
        mending.undo()?;
        pages_written += mending.write(log)?;
    }
    volume.sync().map_err(|source| LodeError::io("recovering the volume", source))?;
    log.begin_anew()?;
    Ok(Recovery {
        records: analysis.records,
        ended: analysis.ended.len() as u64,
        taken_back: analysis.undone.len() as u64,
        pages: pages_written,
    })
}

/// Pages are named only after the volume has durably grown to hold them: what would be made of one
/// that was cut off is what changed of it, and zeros.
fn check_length(volume: &dyn Disk, last: PageNumber) -> Result<()> {
    let len_bytes = volume.len_bytes().map_err(|source| failed_at(last, source))?;
    if offset_of(last) + PAGE_BYTES as u64 <= len_bytes {
        return Ok(());
    }
    let how = format!("it ends before page {last}, which the log names");
    Err(LodeError::Corrupt { what: "the volume".to_owned(), how })
}

impl Analysis {
    fn of(log: &Log) -> Result<Self> {
        let mut analysis = Self { end: log.end(), ..Self::default() };
        for record in log.read(log.checkpoint())? {
            let Record { lsn, transaction, body } = record?;
            analysis.records += 1;
            match body {
                Body::Redo { page, .. } => {
                    analysis.pages.entry(page).or_default();
                }
                Body::Packed { changes, commits } => {
                    for (page, _) in changes.pages() {
                        analysis.pages.entry(page).or_default();
                    }
                    if commits {
                        analysis.ended.insert(transaction, Ended::Logged);
                    }
                }
                Body::Undo { page, .. } => {
                    analysis.pages.entry(page).or_default();
                    analysis.undone.insert(transaction);
                }
                Body::Image { page, .. } => {
                    analysis.pages.insert(page, Base::Image(lsn));
                }
                Body::Begun { runs } => {
                    for page in runs.iter().flat_map(|&(first, count)| first..first + count) {
                        analysis.pages.insert(page, Base::Begun(lsn, transaction));
                    }
                    analysis.undone.insert(transaction);
                }
                Body::Commit | Body::End => {
                    analysis.ended.insert(transaction, Ended::Logged);
                }
                Body::Placed => {
                    analysis.ended.insert(transaction, Ended::Placed);
                }
                Body::Checkpoint { .. } => {}
            }
        }
        let ended = &analysis.ended;
        analysis.undone.retain(|transaction| !ended.contains_key(transaction));
        Ok(analysis)
    }

    /// Whether what becomes of a page depends on what lies in the volume.
    fn needs_volume(&self, page: PageNumber) -> bool {
        match self.pages.get(&page) {
            None | Some(Base::Volume) => true,
            Some(Base::Image(_)) => false,
            Some(Base::Begun(_, by)) => self.ended.get(by) == Some(&Ended::Placed),
        }
    }
}

/// A group of pages that are being mended.
struct Mending<'a> {
    volume: &'a dyn Disk,
    analysis: &'a Analysis,
    /// The first and last page of the group.
    first: PageNumber,
    last: PageNumber,
    pages: BTreeMap<PageNumber, Box<AlignedPage>>,
    undo: Vec<(PageNumber, Runs)>,
}

impl<'a> Mending<'a> {
    fn new(volume: &'a dyn Disk, analysis: &'a Analysis, group: &[PageNumber]) -> Self {
        let first = group.first().copied().unwrap_or_default();
        let last = group.last().copied().unwrap_or_default();
        let (pages, undo) = (BTreeMap::new(), Vec::new());
        Self { volume, analysis, first, last, pages, undo }
    }

    /// Do what a record says, if it is about this group and still counts.
    fn take(&mut self, record: Record) -> Result<()> {
        let Record { lsn, transaction, body } = record;
        match body {
            Body::Image { page, bytes } if self.base_of(page) == Some(Base::Image(lsn)) => {
                self.pages.insert(page, Box::new(AlignedPage::new(*bytes)));
            }
            Body::Begun { runs } if !self.is_placed(transaction) => {
                let begun = runs.iter().flat_map(|&(first, count)| first..first + count);
                for page in begun {
                    if self.base_of(page) == Some(Base::Begun(lsn, transaction)) {
                        self.pages.insert(page, Box::new(AlignedPage::zeros()));
                    }
                }
            }
            Body::Redo { page, runs } => self.redo((lsn, transaction), page, &runs)?,
            Body::Packed { changes, .. } => {
                for (page, runs) in changes.pages() {
                    self.redo((lsn, transaction), page, &runs)?;
                }
            }
            Body::Undo { page, runs }
                if self.is_here(page) && self.analysis.undone.contains(&transaction) =>
            {
                self.undo.push((page, runs));
            }
            _ => {}
        }
        Ok(())
    }

    /// Do what a record at that position says of a page, for a transaction that has ended.
    fn redo(
        &mut self,
        (lsn, transaction): (Lsn, TransactionNumber),
        page: PageNumber,
        runs: &Runs,
    ) -> Result<()> {
        let counts = self.analysis.ended.contains_key(&transaction);
        if counts && self.base_of(page).is_some_and(|base| base.is_before(lsn)) {
            let mut bytes = self.page(page)?;
            apply(runs, &mut bytes)?;
            bytes.put_u64(page::offset::LSN, lsn.0);
        }
        Ok(())
    }

    fn undo(&mut self) -> Result<()> {
        for (page, runs) in std::mem::take(&mut self.undo).into_iter().rev() {
            apply(&runs, &mut self.page(page)?)?;
        }
        Ok(())
    }

    /// Write the group's pages to their places, after images of those that need what is there.
    fn write(mut self, log: &Log) -> Result<u64> {
        let mut last = None;
        for (&page, bytes) in &mut self.pages {
            page::seal(bytes, page);
            if self.analysis.needs_volume(page) {
                let body = Body::Image { page, bytes: Box::new(***bytes) };
                last = Some(log.append(&body, 0)?);
            }
        }
        if let Some(last) = last {
            log.make_durable(last, LogSync::Own)?;
        }
        for (&page, bytes) in &self.pages {
            let written = self.volume.write(offset_of(page), &bytes[..]);
            written.map_err(|source| failed_at(page, source))?;
        }
        Ok(self.pages.len() as u64)
    }

    fn is_placed(&self, transaction: TransactionNumber) -> bool {
        self.analysis.ended.get(&transaction) == Some(&Ended::Placed)
    }

    fn is_here(&self, page: PageNumber) -> bool {
        (self.first..=self.last).contains(&page)
    }

    /// The state from which the changes of a page of this group begin.
    fn base_of(&self, page: PageNumber) -> Option<Base> {
        let named = self.is_here(page).then(|| self.analysis.pages.get(&page)).flatten();
        named.copied()
    }

    /// A page as it is so far.
    fn page(&mut self, page: PageNumber) -> Result<PageMut<'_>> {
        if !self.pages.contains_key(&page) {
            let mut bytes = Box::new(AlignedPage::zeros());
            let read = self.volume.read(offset_of(page), &mut bytes[..]);
            read.map_err(|source| failed_at(page, source))?;
            page::check(&bytes, page)?;
            self.pages.insert(page, bytes);
        }
        let bytes = self.pages.get_mut(&page).expect("the page is here or was just brought");
        Ok(bytes.page_mut())
    }
}

fn offset_of(page: PageNumber) -> u64 {
    u64::from(page) * PAGE_BYTES as u64
}

fn failed_at(page: PageNumber, source: io::Error) -> LodeError {
    LodeError::io(format!("recovering page {page}"), source)
}
