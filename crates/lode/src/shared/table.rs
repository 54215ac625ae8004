//! The pages that running transactions have changed, each with its state before and what of it is
//! in the log.

use super::shadow::Shadow;
use crate::lock::TransactionNumber;
use crate::lock::numbers::{NumberMap, NumberSet};
use crate::log::{BEGUN_BYTES, IMAGE_BYTES, Lsn, Ranges};
use crate::page::{PageBytes, PageNumber};

/// The changed pages of all transactions.
#[derive(Default)]
pub(super) struct Table {
    /// Pages that a running transaction has changed.
    pub(super) changed: NumberMap<PageNumber, Changed>,
    /// The number of these that a transaction has begun.
    pub(super) begun: usize,
    /// Begun pages that no record of the log may list yet. Some may be nobody's any more.
    pub(super) unlisted: Vec<PageNumber>,
    /// The last record that listed some.
    pub(super) listed: Option<Lsn>,
    /// Pages that a transaction had begun before it rolled back, and that were not written since.
    /// In memory they are zeros, which is what the log makes of them, too: no image is needed.
    pub(super) emptied: NumberSet<PageNumber>,
    /// The record from which recovery would build a page, without reading its place: the last
    /// image of it in the log, or the one that says that it was begun.
    pub(super) bases: NumberMap<PageNumber, Lsn>,
    /// Bases before this position are about to be forgotten.
    pub(super) retired_before: Lsn,
    /// The last record of a commit.
    pub(super) committed: Option<Lsn>,
    /// Pages that were changed since they were written, and of which writing may log an image.
    pub(super) unwritten: NumberSet<PageNumber>,
    /// `bulk=logged`: what begun pages become is going to be logged.
    pub(super) begun_is_logged: bool,
    /// The number of times that a range was said (`log=set-range`), since the database was opened.
    pub(super) ranges_said: u64,
    /// Shadows of transactions that ended: memory that was given back and requested again would
    /// cost a page fault for each page that the next one changes.
    pub(super) spare: Vec<Box<PageBytes>>,
}

/// Shadows that are kept: 4 MiB, for as many pages as an OO1 insert changes, and more.
const SPARE_MAX: usize = 1024;

/// A page that a running transaction has changed.
pub(crate) struct Changed {
    pub(super) transaction: TransactionNumber,
    pub(super) origin: Origin,
    /// The parts of it that may have changed since it was last written in place, or ever if it
    /// never was.
    pub(super) unlogged: Unlogged,
    /// Under `log=page-diff`, while it is unlogged: the page before that.
    pub(crate) shadow: Option<Shadow>,
    /// Under `log=set-range`, while it is unlogged: what was said, and what was there.
    pub(crate) ranges: Option<Box<Ranges>>,
    /// Undo records in the log, in their order: they take it further back, or all the way.
    pub(crate) undo: Vec<Lsn>,
    /// The log says what the page became, by an image or by redo: a rollback must be logged, too.
    pub(crate) logged: bool,
}

/// The share of a page that may have been changed and not logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlogged {
    /// Nothing.
    Nothing,
    /// The ranges that were said, and no more (`log=set-range`).
    Ranges,
    /// Anything.
    Page,
}

/// The page before its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Something, which shadow or undo records have kept.
    BeforeImage,
    /// Free: the transaction has begun it, and nothing is kept.
    Free,
    /// The same, and the record of the log at this position lists it.
    FreeAsLogged(Lsn),
    /// Free, and zeros as a record of the log has it; what it becomes is logged as a change of
    /// these. Nothing is kept as long as it was not written (`log=page-diff`).
    Zeros,
}

impl Changed {
    /// A page of which anything may change from now on.
    pub(super) const fn new(
        transaction: TransactionNumber,
        origin: Origin,
        undo: Vec<Lsn>,
    ) -> Self {
        let (unlogged, shadow, ranges) = (Unlogged::Page, None, None);
        Self { transaction, origin, unlogged, shadow, ranges, undo, logged: false }
    }

    /// Whether something of the page may have been changed and not logged.
    pub(super) fn is_unlogged(&self) -> bool {
        self.unlogged != Unlogged::Nothing
    }

    /// Whether its transaction has begun the page.
    pub(crate) fn is_begun(&self) -> bool {
        matches!(self.origin, Origin::Free | Origin::FreeAsLogged(_))
    }

    /// Whether the log has to say how the transaction ended, because of this page.
    pub(crate) fn is_in_log(&self) -> bool {
        let is_listed = matches!(self.origin, Origin::FreeAsLogged(_));
        self.logged || !self.undo.is_empty() || is_listed
    }

    /// The log has an image of the page. Its shadow, which is answered, has done its duty: an undo
    /// record says the same, and the page cannot change until it is written.
    pub(super) fn note_image(&mut self) -> Option<Shadow> {
        self.unlogged = Unlogged::Nothing;
        self.logged = true;
        self.ranges = None;
        self.origin = Origin::BeforeImage;
        self.shadow.take()
    }
}

impl Table {
    pub(super) fn copy(&mut self, page: &PageBytes) -> Box<PageBytes> {
        let Some(mut copy) = self.spare.pop() else { return Box::new(*page) };
        copy.copy_from_slice(page);
        copy
    }

    pub(super) fn forget(&mut self, pages: &[PageNumber]) {
        for page in pages {
            let shadow = self.remove(*page).and_then(|changed| changed.shadow);
            self.spare(shadow);
        }
    }

    /// Only memory of its own: a frame of the cache is given back at once.
    pub(super) fn spare(&mut self, shadow: Option<Shadow>) {
        let bytes = shadow.and_then(Shadow::into_own);
        self.spare.extend(bytes.filter(|_| self.spare.len() < SPARE_MAX));
    }

    /// The room that the log must have, so that whatever happens a full disk stops only those who
    /// begin something: an image of every page that is not written, and for those that are not
    /// committed undo, redo, and an image more; for those that a transaction has begun a word of
    /// that. `more` of the others are about to be added.
    pub(super) fn reserve_bytes(&self, more: usize) -> u64 {
        const { assert!(IMAGE_BYTES > 4096 + 32, "undo and redo of a page are no longer") };
        let retained = self.changed.len() - self.begun;
        let logged = if self.begun_is_logged { self.begun } else { 0 };
        let records = self.unwritten.len() + 3 * retained + 4 * (logged + more) + 16;
        (records * IMAGE_BYTES + self.begun * BEGUN_BYTES) as u64
    }
}
