//! A transaction that reads and writes.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use super::allocating::{self, Allocating};
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::local_locks::LocalLocks;
use super::lock_set::{LockSet, LockSource};
use super::mapped::{self, Mapped};
use super::reading::Reading;
use crate::buffer::{Buffer, Latched};
use crate::error::{LodeError, Result};
use crate::lock::{Mode, Resource, TransactionNumber};
use crate::log::{self, Runs};
use crate::page::{self, FileNumber, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite, Pinned, Version};
use crate::shared::{BeforeImage, Changes, Shared};
use crate::space;
use crate::superblock;
use crate::tactics::{Logging, Prefetch, Swizzle};
use crate::view::View;

/// A transaction that changes pages. [`Writing::commit`] makes its changes one durable whole;
/// dropping it takes them back, as [`Writing::rollback`] does.
///
/// After an operation that failed nothing can be committed: an access method may have stopped
/// halfway. [`Writing::commit`] then rolls back and says so.
pub struct Writing {
    pub(super) buffer: Arc<Buffer>,
    pub(super) lock_set: LockSet<LocalLocks>,
    /// The pages that it has changed, each once.
    pub(super) changed: Vec<PageNumber>,
    pub(super) begun: Cell<bool>,
    pub(super) failure: Failure,
    /// Pages that the program stores to.
    pub(super) mapped: Vec<Mapped>,
    salt: u64,
    swizzles: bool,
    prefetches: bool,
    /// `log=set-range`.
    says_ranges: bool,
}

impl Writing {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        Self {
            buffer: Arc::clone(&shared.buffer),
            lock_set: LockSet::empty(LocalLocks::new(shared, Mode::Exclusive)),
            changed: Vec::new(),
            begun: Cell::new(false),
            failure: Failure::default(),
            mapped: Vec::new(),
            salt: superblock::salt(shared.superblock.identity),
            swizzles: shared.tactics.swizzle == Swizzle::On,
            prefetches: shared.tactics.prefetch == Prefetch::On,
            says_ranges: shared.tactics.log == Logging::SetRange,
        }
    }

    /// Another handle to this transaction, for another thread, which only reads: it sees what this
    /// one has changed, under the same locks, and is to be gone when this one commits. A page that
    /// it has pinned cannot be changed meanwhile. No thread that has one waits in another
    /// transaction, or a deadlock may go unseen.
    ///
    /// # Errors
    ///
    /// [`LodeError::ReadOnly`] for a database that was opened to be read.
    pub fn share_reading(&self) -> Result<Reading> {
        self.noted(self.lock_set.source().check_owner())?;
        self.enter()?;
        let (buffer, lock_set) = (Arc::clone(&self.buffer), self.lock_set.share());
        let Self { salt, swizzles, prefetches, .. } = *self;
        Ok(Reading { buffer, lock_set, salt, swizzles, prefetches })
    }

    /// The handle by which another thread ends it, until its commit begins.
    pub fn interrupt(&self) -> Interrupt {
        self.lock_set.source().interrupt()
    }

    /// Its number, in the lock table and the log.
    pub(crate) fn number(&self) -> TransactionNumber {
        self.lock_set.source().transaction()
    }

    /// Its share of the database.
    pub(super) fn shared(&self) -> &Shared {
        self.lock_set.source().shared()
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
        self.noted(self.lock_set.source().check_owner())?;
        self.enter()?;
        self.noted(self.lock_set.lock(page, mode))
    }

    /// Lock something itself, to change it.
    pub(super) fn lock_exclusively_as(&self, resource: Resource) -> Result<()> {
        self.noted(self.lock_set.source().check_owner())?;
        self.enter()?;
        self.noted(self.lock_set.lock_resource(resource, Mode::Exclusive).map(drop))
    }

    /// Be counted among those that change the database, before the first lock.
    fn enter(&self) -> Result<()> {
        if !self.begun.get() {
            if self.shared().read_only {
                return Err(LodeError::ReadOnly);
            }
            self.shared().enter(self.number());
            self.begun.set(true);
        }
        Ok(())
    }

    /// Note that an operation failed.
    #[inline]
    fn noted<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|error| self.failure.note(error))
    }

    fn change<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R> {
        let mut latched = self.buffer.latch(page)?;
        mapped::note_call(&mut self.mapped, page, &latched);
        let changes = &self.lock_set.source().shared().changes;
        let before_image = changes.keep_before_image(self.number(), page, &latched)?;
        if note_before_image(changes, before_image, &mut latched) {
            self.changed.push(page);
        }
        Ok(change(&mut latched.page_mut()))
    }

    fn change_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>> {
        let mut latched = self.buffer.latch(page)?;
        let range = match place(&latched) {
            Ok(range) => range,
            Err(error) => return Ok(Err(error)),
        };
        mapped::note_call(&mut self.mapped, page, &latched);
        let changes = &self.lock_set.source().shared().changes;
        let before_image = if self.says_ranges {
            changes.keep_range(self.number(), page, &latched, range.clone())?
        } else {
            changes.keep_before_image(self.number(), page, &latched)?
        };
        if note_before_image(changes, before_image, &mut latched) {
            self.changed.push(page);
        }
        Ok(Ok(latched.page_mut().change(range, change)))
    }

    /// Change a page to what runs say; they are what is said of it, where ranges are.
    pub(crate) fn apply(&mut self, page: PageNumber, runs: &Runs) -> Result<()> {
        // A page becomes another file's at once: what its header names is read by others.
        if self.lock_owner_after(page, runs)? || !self.says_ranges {
            return self.write(page, |bytes| log::apply(runs, bytes))?;
        }
        for (at, bytes) in runs.pieces() {
            let place = |_: &PageBytes| Ok(at..at + bytes.len());
            self.write_range(page, place, |into| into.copy_from_slice(bytes))??;
        }
        Ok(())
    }
}

/// A page's old bytes are kept: say since when it is another. Whether that is the first time.
#[inline]
fn note_before_image(
    changes: &Changes,
    before_image: BeforeImage,
    latched: &mut Latched<'_>,
) -> bool {
    if before_image != BeforeImage::Known {
        latched.page_mut().put_u64(page::offset::LSN, changes.log().end().0);
    }
    before_image == BeforeImage::StoredFirst
}

impl Allocating for Writing {
    fn extent_pages(&self) -> u32 {
        self.shared().superblock.extent_pages
    }

    fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber> {
        self.shared().allocation_hint(file)
    }

    fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.shared().set_allocation_hint(file, page);
    }

    fn lock_exclusively(&self, page: PageNumber) -> Result<()> {
        self.lock(page, Mode::Exclusive)
    }
}

impl PageRead for Writing {
    #[inline]
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.lock(page, Mode::Shared)?;
        self.noted(self.buffer.read(page, inspect))
    }

    #[inline]
    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        self.lock(page, Mode::Shared).ok()?;
        self.buffer.try_read(page, inspect)
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

    fn pin(&self, page: PageNumber) -> Result<Pinned> {
        // A scan requests each of its pages so: what is read to be stored otherwise may take long.
        self.noted(self.lock_set.source().check_interrupted())?;
        self.lock(page, Mode::Shared)?;
        // A page that it changed itself may change again.
        let is_own = !self.changed.is_empty() && self.shared().changes.has_changed(page);
        if !is_own && let Some(pinned) = self.lock_set.pin(page)? {
            return Ok(pinned);
        }
        let copy = self.read(page, |view| Arc::new(view.aligned_copy()))?;
        Ok(Pinned::copy(page, copy))
    }

    #[inline]
    fn salt(&self) -> u64 {
        self.salt
    }

    #[inline]
    fn swizzles(&self) -> bool {
        self.swizzles
    }

    #[inline]
    fn prefetches(&self) -> bool {
        self.prefetches
    }

    #[inline]
    fn prefetch(&self, page: PageNumber, at: usize) {
        self.buffer.prefetch(page, at);
    }

    fn read_ahead(&self, page: PageNumber) {
        self.buffer.expect(page);
    }

    fn note_prefetches(&self, count: u64) {
        self.buffer.note_prefetches(count);
    }
}

impl PageWrite for Writing {
    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R> {
        self.lock(page, Mode::Exclusive)?;
        self.noted(self.lock_set.source().check_interrupted())?;
        let outcome = self.change(page, change);
        self.noted(outcome)
    }

    fn write_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>> {
        self.lock(page, Mode::Exclusive)?;
        self.noted(self.lock_set.source().check_interrupted())?;
        let outcome = self.change_range(page, place, change);
        self.noted(outcome)
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        self.lock(space::SPACE_PAGE, Mode::Exclusive)?;
        self.noted(self.buffer.grow(pages_total))
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        self.noted(self.lock_set.source().check_owner())?;
        self.lock_receiver(file)?;
        let outcome = allocating::allocate(self, file, kind);
        self.noted(outcome)
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        self.lock_given_back(page)?;
        let outcome = allocating::free(self, page);
        self.noted(outcome)
    }
}
