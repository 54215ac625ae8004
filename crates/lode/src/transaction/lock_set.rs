//! The locks that one transaction holds, wherever they are given out.

use std::cell::{Cell, RefCell};

use crate::error::Result;
use crate::lock::Mode;
use crate::lock::numbers::NumberMap;
use crate::page::PageNumber;
use crate::tactics::Grain;

/// Who gives locks to one transaction: the database's lock table, or a page server.
///
/// What only the type of a transaction needs is not for others to call.
pub trait LockSource {
    /// Whether this is the process that has the database open, or that connected.
    fn is_here(&self) -> bool;

    /// Before any lock, latch or mutex: in a child of the process nobody may be there to release
    /// it.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in such a child.
    fn check_owner(&self) -> Result<()>;

    /// What is locked.
    fn grain(&self) -> Grain;

    /// Lock the whole volume, in the one mode that the transaction needs.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Deadlock`], or that there is nobody to ask.
    fn lock_all(&self) -> Result<()>;

    /// Lock a page.
    ///
    /// # Errors
    ///
    /// As of [`LockSource::lock_all`].
    fn lock_page(&self, page: PageNumber, mode: Mode) -> Result<()>;

    /// Whether what is locked may be read: the last holder may have failed to take its changes
    /// back.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Reopen`] if it may not.
    fn check_usable(&self) -> Result<()>;

    /// Give back everything: the volume, or these pages.
    fn release(&self, whole: bool, pages: impl Iterator<Item = PageNumber>);
}

/// What a transaction has locked, so that it asks for each lock once. Dropped, it gives everything
/// back.
pub(crate) struct LockSet<S: LockSource> {
    source: S,
    whole: Cell<bool>,
    pages: RefCell<NumberMap<PageNumber, Mode>>,
}

impl<S: LockSource> LockSet<S> {
    /// No lock yet.
    pub(crate) fn empty(source: S) -> Self {
        Self { source, whole: Cell::new(false), pages: RefCell::default() }
    }

    pub(crate) const fn source(&self) -> &S {
        &self.source
    }

    /// Whether everything is locked that the transaction may ever need: all that reading a page
    /// costs under `locks=database`.
    #[inline]
    pub(crate) fn has_all(&self) -> bool {
        self.whole.get() && self.source.is_here()
    }

    /// Lock a page, or what it belongs to.
    pub(crate) fn lock(&self, page: PageNumber, mode: Mode) -> Result<()> {
        self.source.check_owner()?;
        match self.source.grain() {
            Grain::Database => {
                if !self.whole.get() {
                    self.source.lock_all()?;
                    self.whole.set(true);
                }
            }
            Grain::Page => {
                let has_it = self.pages.borrow().get(&page).is_some_and(|&held| held >= mode);
                if !has_it {
                    self.source.lock_page(page, mode)?;
                    self.pages.borrow_mut().insert(page, mode);
                }
            }
        }
        // Only now: the last holder may have failed to take its changes back. A lock that is held
        // is not asked for again, so it is not kept.
        self.source.check_usable().inspect_err(|_| self.release())
    }

    /// Give everything back.
    pub(crate) fn release(&self) {
        if self.source.is_here() {
            let pages = self.pages.take();
            self.source.release(self.whole.replace(false), pages.into_keys());
        }
    }
}

impl<S: LockSource> Drop for LockSet<S> {
    fn drop(&mut self) {
        self.release();
    }
}
