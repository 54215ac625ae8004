//! A transaction that reads and writes.

use std::cell::Cell;

use super::allocating::{self, Allocating};
use super::changes::BeforeImage;
use super::failure::Failure;
use super::lock_set::LockSet;
use crate::buffer::Buffer;
use crate::database::Database;
use crate::error::{LodeError, Result};
use crate::heap;
use crate::lock::{Mode, TransactionNumber};
use crate::page::{self, FileNumber, PageBytes, PageKind, PageNumber};
use crate::pages::{Pages, Version};
use crate::space;
use crate::view::View;

/// A transaction that changes pages. [`Writing::commit`] makes its changes one durable whole;
/// dropping it takes them back, as [`Writing::rollback`] does.
///
/// After an operation that failed nothing can be committed: an access method may have stopped
/// halfway. [`Writing::commit`] then rolls back and says so.
pub struct Writing<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) database: &'a Database,
    pub(super) lock_set: LockSet<'a>,
    pub(super) number: TransactionNumber,
    /// The pages that it has changed, each once.
    pub(super) changed: Vec<PageNumber>,
    pub(super) begun: Cell<bool>,
    pub(super) failure: Failure,
}

impl<'a> Writing<'a> {
    pub(crate) fn begin(database: &'a Database) -> Self {
        let (number, grain) = (database.number(), database.tactics().locks);
        let (locks, owner) = (database.locks(), database.changes().owner());
        Self {
            buffer: database.buffer(),
            database,
            lock_set: LockSet::empty(locks, owner, number, grain, Mode::Exclusive),
            number,
            changed: Vec::new(),
            begun: Cell::new(false),
            failure: Failure::default(),
        }
    }

    /// Its number, in the lock table and the log.
    pub(crate) const fn number(&self) -> TransactionNumber {
        self.number
    }

    /// The pages that it has changed, each once.
    pub(crate) fn changed(&self) -> &[PageNumber] {
        &self.changed
    }

    /// Lock a page, or what it belongs to.
    #[inline]
    pub(crate) fn lock(&self, page: PageNumber, mode: Mode) -> Result<()> {
        if self.lock_set.has_all() { Ok(()) } else { self.lock_page(page, mode) }
    }

    #[inline(never)]
    fn lock_page(&self, page: PageNumber, mode: Mode) -> Result<()> {
        self.noted(self.lock_set.check_owner())?;
        if !self.begun.get() {
            if self.database.is_read_only() {
                return Err(LodeError::ReadOnly);
            }
            self.database.enter(self.number);
            self.begun.set(true);
        }
        self.noted(self.lock_set.lock(page, mode))?;
        // Only now: the last holder may have failed to take its changes back. A lock that is held
        // is not asked for again, so it is not kept.
        let usable =
            self.database.changes().check_usable().inspect_err(|_| self.lock_set.release());
        self.noted(usable)
    }

    /// Note that an operation failed.
    #[inline]
    fn noted<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|error| self.failure.note(error))
    }

    fn change<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageBytes) -> R,
    ) -> Result<R> {
        let mut latched = self.buffer.latch(page)?;
        let changes = self.database.changes();
        let before_image = changes.keep_before_image(self.number, page, &latched)?;
        if before_image == BeforeImage::KeptFirst {
            self.changed.push(page);
        }
        if before_image != BeforeImage::Known {
            page::put_u64(&mut latched, page::offset::LSN, changes.log().end().0);
        }
        Ok(change(&mut latched))
    }
}

impl Allocating for Writing<'_> {
    fn extent_pages(&self) -> u32 {
        self.database.extent_pages()
    }

    fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber> {
        self.database.allocation_hint(file)
    }

    fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.database.set_allocation_hint(file, page);
    }

    fn lock_exclusively(&self, page: PageNumber) -> Result<()> {
        self.lock(page, Mode::Exclusive)
    }
}

impl Pages for Writing<'_> {
    #[inline]
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page, Mode::Shared)?;
        self.noted(self.buffer.read(page, inspect))
    }

    #[inline]
    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        self.lock(page, Mode::Shared).ok()?;
        self.buffer.try_read_version(page, version, inspect)
    }

    #[inline]
    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        self.lock(page, Mode::Shared)?;
        self.noted(self.buffer.read_with_version(page, inspect))
    }

    fn tag_key(&self) -> u64 {
        heap::tag_key(self.database.identity())
    }

    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageBytes) -> R,
    ) -> Result<R> {
        self.lock(page, Mode::Exclusive)?;
        let outcome = self.change(page, change);
        self.noted(outcome)
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        self.lock(space::SPACE_PAGE, Mode::Exclusive)?;
        self.noted(self.buffer.grow(pages_total))
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        self.noted(self.lock_set.check_owner())?;
        let outcome = allocating::allocate(self, file, kind);
        self.noted(outcome)
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        let outcome = allocating::free(self, page);
        self.noted(outcome)
    }
}
