//! Pages that were free before a transaction: it has *begun* them.
//!
//! Under `bulk=unlogged` nothing of them is logged but their numbers, before the first of them is
//! written to its place. From that record on the log says: they are zeros, whatever lies there;
//! unless the transaction turns out committed with its pages in their places, for then they are
//! what lies there. So they can be written at any time, without undo, and a torn one needs no
//! image.
//!
//! A transaction that ends with few of them logs them after all, as changes of zeros. So does every
//! one under `bulk=logged` with `log=page-diff`, and before a page of it is written: no copy is
//! made of what nobody will miss, and what the page became is not compared with it.

use super::changes::Changes;
use super::table::{Changed, Origin, Table, Unlogged};
use crate::error::Result;
use crate::lock::TransactionNumber;
use crate::log::{BEGUN_RUNS_MAX, Body, Lsn, Runs, ranges};
use crate::page::{PAGE_BYTES, PageBytes, PageNumber};
use crate::tactics::{Bulk, Logging};

/// A page that was begun and not filled.
pub(super) static ZEROS: PageBytes = [0; PAGE_BYTES];

impl Changes {
    /// A transaction that has changed these pages is about to commit. Answers the pages that it
    /// has begun, to be written to their places and synced before it does; none where there are
    /// few, which are to be logged like others from now on.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Full`] if the log has no room for them.
    pub(crate) fn pages_to_place(
        &self,
        transaction: TransactionNumber,
        pages: &[PageNumber],
    ) -> Result<Vec<PageNumber>> {
        let mut table = self.table();
        let is_begun = |page: &&PageNumber| table.changed.get(page).is_some_and(Changed::is_begun);
        let begun: Vec<PageNumber> = pages.iter().filter(is_begun).copied().collect();
        if begun.is_empty() {
            return Ok(begun);
        }
        let is_listed = begun.iter().any(|page| {
            let changed = table.changed.get(page);
            changed.is_some_and(|changed| matches!(changed.origin, Origin::FreeAsLogged(_)))
        });
        let is_many = is_listed || begun.len() >= self.placed_min;
        if is_many && self.bulk == Bulk::Unlogged {
            self.report(&mut table)?;
            return Ok(begun);
        }
        // Under `bulk=logged` there is room for it since each was begun.
        let more = if self.bulk == Bulk::Logged { 0 } else { begun.len() };
        self.log.make_space(table.reserve_bytes(more))?;
        self.report(&mut table)?;
        for page in begun {
            let undo = match self.logging {
                Logging::PageDiff | Logging::SetRange => None,
                Logging::PageGrain => {
                    let body = Body::Undo { page, runs: Runs::whole(&ZEROS) };
                    Some(self.log.append(&body, transaction)?)
                }
            };
            table.keep_zeros(page, self.logging, undo);
        }
        Ok(Vec::new())
    }

    /// A transaction that has changed these pages is about to be rolled back: those that it has
    /// begun will be zeros, and the log is to say so.
    pub(crate) fn log_begun(&self, pages: &[PageNumber]) -> Result<()> {
        let mut table = self.table();
        let is_unlisted = |page: &PageNumber| {
            table.changed.get(page).is_some_and(|changed| changed.origin == Origin::Free)
        };
        if pages.iter().any(is_unlisted) {
            self.report(&mut table)?;
        }
        Ok(())
    }

    /// A page is to be written. If a transaction has begun it, or had and rolled back, no image of
    /// it is needed, but what the answered position has.
    pub(super) fn log_begun_page(
        &self,
        table: &mut Table,
        page: PageNumber,
    ) -> Result<Option<Lsn>> {
        let Some(changed) = table.changed.get(&page) else {
            return Ok(if table.emptied.contains(&page) { table.listed } else { None });
        };
        if !changed.is_begun() {
            return Ok(None);
        }
        if changed.origin == Origin::Free {
            self.report(table)?;
        }
        if self.bulk == Bulk::Logged {
            // Room for its undo and its image was made when it was begun.
            table.keep_zeros(page, self.logging, None);
            return Ok(None);
        }
        if let Some(changed) = table.changed.get_mut(&page) {
            changed.unlogged = Unlogged::Nothing;
        }
        Ok(table.listed)
    }

    /// Report the log of every page that a transaction has begun and it does not know of.
    fn report(&self, table: &mut Table) -> Result<()> {
        let mut unlisted: Vec<(TransactionNumber, PageNumber)> = Vec::new();
        for &page in &table.unlisted {
            if let Some(changed) = table.changed.get(&page)
                && changed.origin == Origin::Free
            {
                unlisted.push((changed.transaction, page));
            }
        }
        unlisted.sort_unstable();
        unlisted.dedup();
        let mut listed = Vec::with_capacity(unlisted.len());
        for of_one in unlisted.chunk_by(|(one, _), (other, _)| one == other) {
            let follows = |one: &&(_, PageNumber), next: &&(_, PageNumber)| one.1 + 1 == next.1;
            let pages: Vec<&(TransactionNumber, PageNumber)> = of_one.iter().collect();
            let runs: Vec<(PageNumber, u32)> =
                pages.chunk_by(follows).map(|run| (run[0].1, run.len() as u32)).collect();
            for runs in runs.chunks(BEGUN_RUNS_MAX) {
                let body = Body::Begun { runs: runs.to_vec() };
                let lsn = self.log.append(&body, of_one[0].0)?;
                table.listed = Some(lsn);
                let pages = runs.iter().flat_map(|&(first, count)| first..first + count);
                listed.extend(pages.map(|page| (page, lsn)));
            }
        }
        table.unlisted.clear();
        for (page, lsn) in listed {
            if let Some(changed) = table.changed.get_mut(&page) {
                changed.origin = Origin::FreeAsLogged(lsn);
            }
        }
        Ok(())
    }
}

impl Table {
    /// A transaction changes a page that is free.
    pub(super) fn begin(&mut self, transaction: TransactionNumber, page: PageNumber) {
        self.changed.insert(page, Changed::new(transaction, Origin::Free, Vec::new()));
        self.begun += 1;
        self.unlisted.push(page);
        // The page's state before it was free needs no image any more.
        self.unwritten.remove(&page);
        self.emptied.remove(&page);
        // Its transaction may end with the page in its place, and then the log has no base of it.
        self.bases.remove(&page);
    }

    /// A page that was begun counts as one that was zeros, which the log knows. What it becomes is
    /// logged, so its transaction does not end with the page in its place.
    fn keep_zeros(&mut self, page: PageNumber, logging: Logging, undo: Option<Lsn>) {
        let Some(changed) = self.changed.get_mut(&page) else { return };
        if let Origin::FreeAsLogged(base) = changed.origin {
            self.bases.insert(page, base);
        }
        changed.origin = Origin::BeforeImage;
        changed.undo.extend(undo);
        match logging {
            Logging::PageDiff => changed.origin = Origin::Zeros,
            Logging::PageGrain => {}
            Logging::SetRange => self.say(page, ranges::WHOLE, &ZEROS),
        }
        self.begun -= 1;
        self.unwritten.insert(page);
    }

    /// A page is no longer one that a running transaction has changed.
    pub(super) fn remove(&mut self, page: PageNumber) -> Option<Changed> {
        let removed = self.changed.remove(&page)?;
        self.begun -= usize::from(removed.is_begun());
        Some(removed)
    }
}
