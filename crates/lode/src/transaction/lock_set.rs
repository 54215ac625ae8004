//! The locks that one transaction holds, wherever they are given out.

use std::cell::{Cell, OnceCell, RefCell};
use std::mem;
use std::sync::{Arc, PoisonError};

use crate::error::Result;
use crate::lock::numbers::NumberMap;
use crate::lock::{Mode, Resource};
use crate::owner::Owner;
use crate::page::PageNumber;
use crate::pages::Pinned;
use crate::sync::{Mutex, MutexGuard};

/// The source of one transaction's locks: the database's lock table, or a page server.
///
/// Methods that only the type of a transaction needs are not for others to call.
pub trait LockSource: Sized {
    /// The process that has the database open, or that connected.
    fn owner(&self) -> Owner;

    /// Whether this is that process.
    fn is_here(&self) -> bool {
        self.owner().is_here()
    }

    /// The keeper of the pages that one handle has pinned.
    type Pins;

    /// For a handle that pins its first page.
    fn pins(granted: &Arc<GrantedLocks<Self>>) -> Self::Pins;

    /// Pin a page that is locked, where it lies; it keeps the locks. `None` where it is to be
    /// copied instead.
    ///
    /// # Errors
    ///
    /// As of [`crate::PageRead::pin`].
    fn pin(pins: &Arc<Self::Pins>, page: PageNumber) -> Result<Option<Pinned>>;

    /// Before any lock, latch or mutex: in a child of the process nobody may be there to release
    /// it.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in such a child.
    fn check_owner(&self) -> Result<()>;

    /// The granule that stands for a page now, which may change until it is locked.
    ///
    /// # Errors
    ///
    /// As of reading the page.
    fn resource(&self, page: PageNumber) -> Result<Resource>;

    /// Lock something; the whole volume in the one mode that the transaction needs.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Deadlock`], or that there is nobody to ask.
    fn lock(&self, resource: Resource, mode: Mode) -> Result<()>;

    /// Whether what is locked may be read: the last holder may have failed to take its changes
    /// back.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Reopen`] if it may not.
    fn check_usable(&self) -> Result<()>;

    /// Give back everything, which is these.
    fn release(&self, resources: impl Iterator<Item = Resource>);
}

/// The locks of one transaction, shared by all who use it: its handles, and the pages that it has
/// pinned. With the last of them it gives everything back.
pub struct GrantedLocks<S: LockSource> {
    source: S,
    /// Its locks: one twice if two handles have requested it, or one for more of it.
    taken: Mutex<Vec<Resource>>,
}

impl<S: LockSource> GrantedLocks<S> {
    pub(crate) const fn source(&self) -> &S {
        &self.source
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Resource>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lock something. While one thread waits for a lock, the others that use the transaction wait
    /// behind it: so it waits for one thing at a time, as the lock table expects of a transaction.
    fn take(&self, resource: Resource, mode: Mode) -> Result<()> {
        let mut taken = self.taken();
        // The volume is locked in one mode alone, and of a server it is asked once.
        if resource != Resource::Volume || taken.is_empty() {
            self.source.lock(resource, mode)?;
            taken.push(resource);
        }
        Ok(())
    }

    fn release(&self) {
        if self.source.is_here() {
            let taken = mem::take(&mut *self.taken());
            self.source.release(taken.into_iter());
        }
    }
}

impl<S: LockSource> Drop for GrantedLocks<S> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The locks of a transaction as one of its handles knows them, so that it requests each lock once.
pub(crate) struct LockSet<S: LockSource> {
    granted: Arc<GrantedLocks<S>>,
    /// There from the first page on that it pins.
    pins: OnceCell<Arc<S::Pins>>,
    owner: Owner,
    whole: Cell<bool>,
    locked: RefCell<NumberMap<Resource, Mode>>,
    /// One of them: often the next page is locked as the same.
    last: Cell<Option<(Resource, Mode)>>,
}

impl<S: LockSource> LockSet<S> {
    /// No lock yet.
    pub(crate) fn empty(source: S) -> Self {
        Self::of(Arc::new(GrantedLocks { source, taken: Mutex::default() }))
    }

    /// Another handle to the same transaction.
    pub(crate) fn share(&self) -> Self {
        Self::of(Arc::clone(&self.granted))
    }

    fn of(granted: Arc<GrantedLocks<S>>) -> Self {
        let owner = granted.source.owner();
        let (whole, last, pins) = (Cell::new(false), Cell::new(None), OnceCell::new());
        Self { granted, pins, owner, whole, locked: RefCell::default(), last }
    }

    pub(crate) fn source(&self) -> &S {
        &self.granted.source
    }

    /// Pin a page that is locked, where it lies; it keeps the locks when this handle has gone.
    /// `None` where it is to be copied instead.
    #[inline]
    pub(crate) fn pin(&self, page: PageNumber) -> Result<Option<Pinned>> {
        S::pin(self.pins.get_or_init(|| Arc::new(S::pins(&self.granted))), page)
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
        let mut resource = source.resource(page)?;
        while self.lock_resource(resource, mode)? {
            // Until it was locked the page may have become another's.
            let locked = mem::replace(&mut resource, source.resource(page)?);
            if locked == resource {
                break;
            }
        }
        Ok(())
    }

    /// Lock something; `true` if that was new.
    pub(crate) fn lock_resource(&self, resource: Resource, mode: Mode) -> Result<bool> {
        let has_it = self.has(resource, mode);
        if !has_it {
            self.granted.take(resource, mode)?;
        }
        // Behind the lock: the last holder may have failed to take its changes back. Noted last, so
        // that who asks again after an error is reported again; until then nobody has to wait for
        // it.
        self.source().check_usable().inspect_err(|_| self.release())?;
        if resource == Resource::Volume {
            self.whole.set(true);
        } else if !has_it {
            self.locked.borrow_mut().insert(resource, mode);
            self.last.set(Some((resource, mode)));
        }
        Ok(!has_it)
    }

    fn has(&self, resource: Resource, mode: Mode) -> bool {
        if resource == Resource::Volume {
            return self.whole.get();
        }
        if self.last.get().is_some_and(|(last, granted)| last == resource && granted >= mode) {
            return true;
        }
        let Some(&granted) = self.locked.borrow().get(&resource) else { return false };
        self.last.set(Some((resource, granted)));
        granted >= mode
    }

    /// Give everything back, unless another handle, or a page that is pinned, still needs it: then
    /// that one does when it goes.
    pub(crate) fn release(&self) {
        // Nobody but this handle could make them more.
        let (pins, own) = match self.pins.get() {
            Some(pins) => (Arc::strong_count(pins) - 1, 2),
            None => (0, 1),
        };
        if pins == 0 && Arc::strong_count(&self.granted) == own {
            self.granted.release();
        }
        self.whole.set(false);
        self.last.set(None);
        self.locked.borrow_mut().clear();
    }
}
