//! The changes of running transactions, and how to take them back.

use std::sync::{Arc, OnceLock, PoisonError};

use super::shadow::{self, Space};
use super::table::{Changed, Origin, Table, Unlogged};
use crate::buffer::{Buffer, Frames, Occasion, WriteBack};
use crate::error::{LodeError, Result};
use crate::lock::TransactionNumber;
use crate::log::{BEGUN_BYTES, Body, Log, Lsn, Packed, Runs, Sync as LogSync, difference, ranges};
use crate::owner::Owner;
use crate::page::{self, PAGE_BYTES, PageBytes, PageKind, PageNumber};
use crate::sync::{Mutex, MutexGuard};
use crate::tactics::{Bulk, CacheBytes, Logging, Tactics};

/// The changes of all transactions, beside the log that describes them.
///
/// Its lock is the innermost: who has latched a page may take it, and who has taken it asks the
/// buffer for nothing.
pub(crate) struct Changes {
    pub(super) log: Log,
    pub(super) logging: Logging,
    pub(super) bulk: Bulk,
    /// From so many pages on a transaction places those that it has begun.
    pub(super) placed_min: usize,
    owner: Owner,
    /// Of the cache, for shadows (`shadows=cache`).
    frames: Option<Frames>,
    table: Mutex<Table>,
    broken: OnceLock<String>,
}

/// Fewer begun pages than these are cheaper to log than to place: that takes a sync of the volume.
const PLACED_MIN: usize = 16;

/// Changes larger than this part of the cache will hardly stay in it until the next checkpoint.
const CACHE_DIVISOR: usize = 8;

impl Changes {
    pub(crate) fn new(log: Log, tactics: &Tactics, buffer: &Arc<Buffer>) -> Self {
        let begun_is_logged = tactics.bulk == Bulk::Logged;
        Self {
            log,
            logging: tactics.log,
            bulk: tactics.bulk,
            placed_min: placed_min(tactics.cache),
            owner: Owner::here(),
            frames: shadow::frames(tactics, buffer),
            table: Mutex::new(Table { begun_is_logged, ..Table::default() }),
            broken: OnceLock::new(),
        }
    }

    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    /// Refuse all further work: memory and files may have come apart.
    pub(crate) fn set_broken(&self, why: &LodeError) {
        self.broken.get_or_init(|| why.to_string());
    }

    /// Refuse all further work, without an error to describe.
    pub(crate) fn abandon(&self) {
        if !self.owner.is_here() {
            return;
        }
        self.broken.get_or_init(|| "it was abandoned".to_owned());
    }

    /// The process that opened the database.
    pub(crate) const fn owner(&self) -> Owner {
        self.owner
    }

    /// Whether nothing may be done any more, and nothing is to be tidied up: what a child of the
    /// process has inherited is the process's.
    pub(crate) fn is_broken(&self) -> bool {
        !self.owner.is_here() || self.broken.get().is_some()
    }

    /// # Errors
    ///
    /// [`LodeError::Reopen`] after a failure that only recovery can mend, and
    /// [`LodeError::Forked`] in a child of the process that opened the database.
    pub(crate) fn check_usable(&self) -> Result<()> {
        self.check_owner()?;
        match self.broken.get() {
            None => Ok(()),
            Some(why) => Err(LodeError::Reopen { why: why.clone() }),
        }
    }

    /// # Errors
    ///
    /// [`LodeError::Forked`] in a child of the process that opened the database.
    pub(crate) fn check_owner(&self) -> Result<()> {
        self.owner.check("the database")
    }

    /// A transaction is about to change a page that it has locked and latched: keep what it is
    /// now, unless that is done. Answers whether this is its first change of the page, and the
    /// log's end if the page has been written or was whole until now.
    ///
    /// # Errors
    ///
    /// [`LodeError::Full`] if the log has no room for what may have to be logged before the page
    /// is written; then nothing has happened.
    pub(crate) fn keep_before_image(
        &self,
        transaction: TransactionNumber,
        page: PageNumber,
        before: &PageBytes,
    ) -> Result<BeforeImage> {
        // Before the lock: pages make room for it.
        let space = match &self.frames {
            None => Space::Beside,
            Some(frames) if self.needs_shadow(page, before) => Space::borrow(frames),
            Some(_) => Space::None,
        };
        let mut table = self.table();
        let changed = table.changed.get(&page);
        if changed.is_some_and(|changed| changed.unlogged == Unlogged::Page) {
            return Ok(BeforeImage::Known);
        }
        let first = changed.is_none();
        let retained = self.keep(&mut table, transaction, (page, before, space), first)?;
        if self.logging == Logging::SetRange {
            table.say(page, ranges::WHOLE, before);
        }
        Ok(retained)
    }

    /// The same of a page of which nothing is kept, or not enough.
    pub(super) fn keep(
        &self,
        table: &mut Table,
        transaction: TransactionNumber,
        (page, before, space): (PageNumber, &PageBytes, Space),
        first: bool,
    ) -> Result<BeforeImage> {
        self.check_usable()?;
        if first && self.begins_free() && is_free(before) {
            let more = usize::from(self.bulk == Bulk::Logged);
            self.log.make_space(table.reserve_bytes(more) + BEGUN_BYTES as u64)?;
            table.begin(transaction, page);
            return Ok(BeforeImage::StoredFirst);
        }
        if let Some(changed) = table.changed.get_mut(&page).filter(|changed| changed.is_begun()) {
            changed.unlogged = Unlogged::Page;
            return Ok(BeforeImage::StoredAgain);
        }
        self.log.make_space(table.reserve_bytes(1))?;
        let shadow = match self.logging {
            Logging::PageDiff => space.shadow(before, || table.copy(before)),
            Logging::PageGrain | Logging::SetRange => None,
        };
        let is_undone_by_log = match self.logging {
            Logging::PageDiff => shadow.is_none(),
            // What was logged first takes it all the way back.
            Logging::PageGrain => first,
            Logging::SetRange => false,
        };
        let undo = if is_undone_by_log {
            let body = Body::Undo { page, runs: Runs::whole(before) };
            vec![self.log.append(&body, transaction)?]
        } else {
            Vec::new()
        };
        table.unwritten.insert(page);
        table.emptied.remove(&page);
        let new = || Changed::new(transaction, Origin::BeforeImage, Vec::new());
        let changed = table.changed.entry(page).or_insert_with(new);
        changed.undo.extend(undo);
        changed.unlogged = Unlogged::Page;
        changed.shadow = shadow;
        Ok(if first { BeforeImage::StoredFirst } else { BeforeImage::StoredAgain })
    }

    /// Whether a shadow will be made of a page before it is changed.
    fn needs_shadow(&self, page: PageNumber, before: &PageBytes) -> bool {
        match self.table().changed.get(&page) {
            None => !(self.begins_free() && is_free(before)),
            Some(changed) => changed.unlogged != Unlogged::Page && !changed.is_begun(),
        }
    }

    /// Whether a transaction that changes a free page begins it: nothing of what lies there is
    /// kept. The other values of `log` say what they say of any page.
    fn begins_free(&self) -> bool {
        self.bulk == Bulk::Unlogged || self.logging == Logging::PageDiff
    }

    /// Log what a transaction made of a page, which the caller has latched; or pack it, to be
    /// logged with others of the transaction. Pages come in ascending order.
    pub(crate) fn log_redo(
        &self,
        page: PageNumber,
        after: &PageBytes,
        packed: &mut Packed,
    ) -> Result<()> {
        let mut table = self.table();
        let reserve_bytes = table.reserve_bytes(0);
        // A page that was written since its last change is in the log as an image.
        let to_log = |changed: &&mut Changed| changed.is_unlogged() && !changed.is_begun();
        let Some(changed) = table.changed.get_mut(&page).filter(to_log) else {
            return Ok(());
        };
        let runs = match &changed.shadow {
            Some(shadow) => difference(shadow, after),
            None if changed.origin == Origin::Zeros => Runs::of_zeros(after),
            None if changed.ranges.is_some() => {
                return self.log_ranges(page, after, changed, reserve_bytes);
            }
            None => Runs::whole(after),
        };
        if runs.is_empty() {
            return Ok(());
        }
        if self.logging == Logging::PageDiff {
            packed.push(page, &runs, changed.shadow.as_deref());
            // Before it is, too: that a rollback is logged where it need not be does no harm.
            changed.logged = true;
            if packed.is_full() {
                let body = Body::Packed { changes: std::mem::take(packed), commits: false };
                self.log.make_space(reserve_bytes + body.record_bytes() as u64)?;
                self.log.append(&body, changed.transaction)?;
            }
            return Ok(());
        }
        let body = Body::Redo { page, runs };
        self.log.make_space(reserve_bytes + body.record_bytes() as u64)?;
        self.log.append(&body, changed.transaction)?;
        changed.logged = true;
        Ok(())
    }

    /// Whether a page was changed since it was written, and perhaps not logged.
    pub(crate) fn is_unlogged(&self, page: PageNumber) -> bool {
        self.table().changed.get(&page).is_some_and(Changed::is_unlogged)
    }

    /// Whether a running transaction has changed a page.
    pub(crate) fn has_changed(&self, page: PageNumber) -> bool {
        self.table().changed.contains_key(&page)
    }

    /// Log that a transaction is committed that has changed these pages, with what is packed of
    /// them; `None` if the log says nothing of it. `is_placed`: those that it has begun lie in
    /// their places. From then on they count as not changed, at once: a thread that
    /// writes one of them would otherwise log what takes it back, behind the word that it is
    /// committed, and recovery might begin to read in between.
    pub(crate) fn commit(
        &self,
        transaction: TransactionNumber,
        pages: &[PageNumber],
        packed: Packed,
        is_placed: bool,
    ) -> Result<Option<Lsn>> {
        let mut table = self.table();
        let mut changed = pages.iter().filter_map(|page| table.changed.get(page));
        if !changed.any(Changed::is_in_log) {
            return Ok(None);
        }
        let mut commit = None;
        if !packed.is_empty() {
            let body = Body::Packed { changes: packed, commits: !is_placed };
            self.log.make_space(table.reserve_bytes(0) + body.record_bytes() as u64)?;
            commit = Some(self.log.append(&body, transaction)?).filter(|_| !is_placed);
        }
        let commit = match commit {
            Some(commit) => commit,
            None if is_placed => self.log.append(&Body::Placed, transaction)?,
            None => self.log.append(&Body::Commit, transaction)?,
        };
        table.committed = Some(commit);
        table.forget(pages);
        Ok(Some(commit))
    }

    /// Take the record of a page's change, to restore the page: from now on it counts as not
    /// changed.
    pub(crate) fn take(&self, page: PageNumber) -> Option<Changed> {
        let mut table = self.table();
        let taken = table.remove(page)?;
        if taken.is_begun() {
            table.emptied.insert(page);
        }
        Some(taken)
    }

    /// The transaction that changed these pages has ended.
    pub(crate) fn forget(&self, pages: &[PageNumber]) {
        self.table().forget(pages);
    }

    fn log_before_write(
        &self,
        pages: &[(PageNumber, &PageBytes)],
        occasion: Occasion,
    ) -> Result<()> {
        self.check_usable()?;
        let mut last = None;
        for &(page, bytes) in pages {
            let mut table = self.table();
            if let Some(listed) = self.log_begun_page(&mut table, page)? {
                last = last.max(Some(listed));
                continue;
            }
            if let Some(needed) = table.rebuilt_by(page, occasion) {
                last = last.max(Some(needed));
                continue;
            }
            let image = Body::Image { page, bytes: Box::new(*bytes) };
            if let Some(changed) = table.changed.get_mut(&page) {
                self.log_undo(page, bytes, changed)?;
            }
            let base = self.log.append(&image, 0)?;
            table.bases.insert(page, base);
            last = last.max(Some(base));
            // Only now, and nobody could ask in between: a transaction that commits what the image
            // shows logs no redo of it, so the image has to stand before its commit.
            if let Some(changed) = table.changed.get_mut(&page) {
                let shadow = changed.note_image();
                table.spare(shadow);
            }
        }
        let Some(last) = last else { return Ok(()) };
        self.log.make_durable(last, LogSync::Group)?;
        let mut table = self.table();
        for (page, _) in pages {
            table.unwritten.remove(page);
            table.emptied.remove(page);
        }
        Ok(())
    }

    /// A page is to be written that its transaction has not committed.
    fn log_undo(&self, page: PageNumber, bytes: &PageBytes, changed: &mut Changed) -> Result<()> {
        if let Some(before) = changed.before(bytes) {
            let runs = difference(bytes, &before);
            if !runs.is_empty() {
                let body = Body::Undo { page, runs };
                changed.undo.push(self.log.append(&body, changed.transaction)?);
            }
        }
        Ok(())
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// From how many pages on a transaction places those that it has begun.
fn placed_min(cache: CacheBytes) -> usize {
    let pages = (cache.0 / PAGE_BYTES as u64) as usize;
    (pages / CACHE_DIVISOR).clamp(1, PLACED_MIN)
}

/// Whether nobody will miss what a page is.
fn is_free(bytes: &PageBytes) -> bool {
    bytes[page::offset::KIND] == PageKind::Free as u8
}

/// Whether a page's old bytes had to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BeforeImage {
    /// They are since an earlier change.
    Known,
    /// Yes, once more: the page was written out meanwhile.
    StoredAgain,
    /// Yes: the transaction changes the page for the first time.
    StoredFirst,
}

impl WriteBack for Changes {
    fn before_write(&self, pages: &[(PageNumber, &PageBytes)], occasion: Occasion) -> Result<()> {
        self.log_before_write(pages, occasion)
    }
}
