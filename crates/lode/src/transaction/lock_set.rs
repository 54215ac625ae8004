//! The locks that one transaction holds, wherever they are given out.

use std::cell::{Cell, RefCell};
use std::mem;
use std::sync::{Arc, PoisonError};

use crate::error::Result;
use crate::lock::Mode;
use crate::lock::numbers::NumberMap;
use crate::owner::Owner;
use crate::page::PageNumber;
use crate::pages::Pinned;
use crate::sync::{Mutex, MutexGuard};
use crate::tactics::Grain;

/// The source of one transaction's locks: the database's lock table, or a page server.
///
/// What only the type of a transaction needs is not for others to call.
pub trait LockSource: Sized {
    /// The process that has the database open, or that connected.
    fn owner(&self) -> Owner;

    /// Whether this is that process.
    fn is_here(&self) -> bool {
        self.owner().is_here()
    }

    /// Pin a page that is locked, where it lies; it keeps the locks. `None` where it is to be
    /// copied instead.
    ///
    /// # Errors
    ///
    /// As of [`crate::PageRead::pin`].
    fn pin(held: &Arc<HeldLocks<Self>>, page: PageNumber) -> Result<Option<Pinned>>;

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

/// What one transaction holds, for all who use it: its handles, and the pages that it has pinned.
/// With the last of them it gives everything back.
pub struct HeldLocks<S: LockSource> {
    source: S,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    whole: bool,
    /// A page is there twice if two handles have asked for it, or one for more of it.
    pages: Vec<PageNumber>,
}

impl<S: LockSource> HeldLocks<S> {
    pub(crate) const fn source(&self) -> &S {
        &self.source
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lock the volume, or that page, if `grain` says so. While one thread waits for a lock, the
    /// others that use the transaction wait behind it: so it waits for one thing at a time, as the
    /// lock table expects of a transaction.
    fn take(&self, page: PageNumber, mode: Mode) -> Result<()> {
        let mut taken = self.taken();
        match self.source.grain() {
            Grain::Database if taken.whole => {}
            Grain::Database => {
                self.source.lock_all()?;
                taken.whole = true;
            }
            Grain::Page => {
                self.source.lock_page(page, mode)?;
                taken.pages.push(page);
            }
        }
        Ok(())
    }

    fn release(&self) {
        if self.source.is_here() {
            let Taken { whole, pages } = mem::take(&mut *self.taken());
            self.source.release(whole, pages.into_iter());
        }
    }
}

impl<S: LockSource> Drop for HeldLocks<S> {
    fn drop(&mut self) {
        self.release();
    }
}

/// What a transaction has locked as one of its handles knows it, so that it asks for each lock
/// once.
pub(crate) struct LockSet<S: LockSource> {
    held: Arc<HeldLocks<S>>,
    owner: Owner,
    whole: Cell<bool>,
    pages: RefCell<NumberMap<PageNumber, Mode>>,
}

impl<S: LockSource> LockSet<S> {
    /// No lock yet.
    pub(crate) fn empty(source: S) -> Self {
        Self::of(Arc::new(HeldLocks { source, taken: Mutex::default() }))
    }

    /// Another handle to the same transaction.
    pub(crate) fn share(&self) -> Self {
        Self::of(Arc::clone(&self.held))
    }

    fn of(held: Arc<HeldLocks<S>>) -> Self {
        let owner = held.source.owner();
        Self { held, owner, whole: Cell::new(false), pages: RefCell::default() }
    }

    pub(crate) fn source(&self) -> &S {
        &self.held.source
    }

    /// What keeps the locks when this handle has gone.
    pub(crate) const fn held(&self) -> &Arc<HeldLocks<S>> {
        &self.held
    }

    /// Whether everything is locked that the transaction may ever need: all that reading a page
    /// costs under `locks=database`.
    #[inline]
    pub(crate) fn has_all(&self) -> bool {
        self.whole.get() && self.owner.is_here()
    }

    /// Lock a page, or what it belongs to.
    pub(crate) fn lock(&self, page: PageNumber, mode: Mode) -> Result<()> {
        let source = self.source();
        source.check_owner()?;
        let is_whole = source.grain() == Grain::Database;
        let has_it = if is_whole {
            self.whole.get()
        } else {
            self.pages.borrow().get(&page).is_some_and(|&held| held >= mode)
        };
        if !has_it {
            self.held.take(page, mode)?;
        }
        // Behind the lock: the last holder may have failed to take its changes back. Noted last, so
        // that who asks again after an error is told again; until then nobody has to wait for it.
        source.check_usable().inspect_err(|_| self.release())?;
        if is_whole {
            self.whole.set(true);
        } else if !has_it {
            self.pages.borrow_mut().insert(page, mode);
        }
        Ok(())
    }

    /// Give everything back, unless another handle, or a page that is pinned, still needs it: then
    /// that one does when it goes.
    pub(crate) fn release(&self) {
        // Nobody but this handle could make it more than one.
        if Arc::strong_count(&self.held) == 1 {
            self.held.release();
        }
        self.whole.set(false);
        self.pages.borrow_mut().clear();
    }
}
