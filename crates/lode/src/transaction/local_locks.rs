//! Locks of a transaction from the lock table of a database that this process has open.
//!
//! Under `locks=relation` a page is locked as a part of the file that owns it, and by itself if it
//! belongs to none. A page changes hands only by a transaction that has locked, exclusively, the
//! page itself and every file that it leaves or enters ([`super::Writing`] sees to that). So who
//! has locked what a page's header names, and finds the same there afterwards, reads nothing that
//! is uncommitted, even where an old reference led it to a page that is being given away.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::interrupt::Interrupt;
use super::lock_set::{GrantedLocks, LockSource};
use crate::buffer::{Buffer, Reserve};
use crate::error::{LodeError, Result};
use crate::lock::{Mode, Resource, TransactionNumber};
use crate::owner::Owner;
use crate::page::{self, NO_FILE, PageNumber};
use crate::pages::{Keeper, Pinned};
use crate::shared::Shared;
use crate::space::SPACE_PAGE;
use crate::tactics::Grain;

/// A transaction's name at the lock table, and its share of the database.
pub struct LocalLocks {
    shared: Arc<Shared>,
    owner: Owner,
    transaction: TransactionNumber,
    grain: Grain,
    /// In which it locks the whole volume under `locks=database`.
    mode: Mode,
    /// Set to end the transaction, where somebody requested a way to.
    interrupted: OnceLock<Arc<AtomicBool>>,
}

impl LocalLocks {
    /// For a new transaction, which reads or writes as the mode says.
    pub(super) fn new(shared: &Arc<Shared>, mode: Mode) -> Self {
        let (owner, transaction) = (shared.changes.owner(), shared.number());
        let (grain, interrupted) = (shared.tactics.locks, OnceLock::new());
        Self { owner, transaction, grain, mode, interrupted, shared: Arc::clone(shared) }
    }

    pub(super) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) const fn transaction(&self) -> TransactionNumber {
        self.transaction
    }

    /// The handle by which another thread ends the transaction.
    pub(super) fn interrupt(&self) -> Interrupt {
        let flag = self.interrupted.get_or_init(Arc::default);
        Interrupt::new(flag, &self.shared.locks, self.transaction)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Whether nobody wants it to end.
    ///
    /// # Errors
    ///
    /// [`LodeError::Interrupted`] if somebody does.
    #[inline]
    pub(super) fn check_interrupted(&self) -> Result<()> {
        if self.is_interrupted() { Err(LodeError::Interrupted) } else { Ok(()) }
    }

    fn acquire(&self, resource: Resource, mode: Mode) -> Result<()> {
        let (locks, is_over) = (&self.shared.locks, || self.is_interrupted());
        let outcome = locks.acquire_unless(self.transaction, resource, mode, is_over);
        // A lock that was given nevertheless is held, and given back at the transaction's end.
        outcome.map_err(|error| self.check_interrupted().err().unwrap_or(error))
    }
}

impl LockSource for LocalLocks {
    type Pins = Pins;

    fn owner(&self) -> Owner {
        self.owner
    }

    #[inline]
    fn pins(granted: &Arc<GrantedLocks<Self>>) -> Pins {
        Pins::of(granted)
    }

    #[inline]
    fn pin(pins: &Arc<Pins>, page: PageNumber) -> Result<Option<Pinned>> {
        pins.pin(page)
    }

    fn check_owner(&self) -> Result<()> {
        self.owner.check("the database")
    }

    /// The owner of a page stands in its header, which is read without a lock: who has locked what
    /// it names asks again.
    fn resource(&self, page: PageNumber) -> Result<Resource> {
        let buffer = &self.shared.buffer;
        let file = match self.grain {
            Grain::Database => return Ok(Resource::Volume),
            Grain::Page => NO_FILE,
            // The first pages never change hands. Those that are not there yet have no header.
            Grain::Relation if page <= SPACE_PAGE || page >= buffer.pages_total() => NO_FILE,
            Grain::Relation => buffer
                .read(page, |view| view.u32(page::offset::FILE))
                .map_err(|error| self.check_usable().err().unwrap_or(error))?,
        };
        Ok(if file == NO_FILE { Resource::Page(page) } else { Resource::Relation(file) })
    }

    fn lock(&self, resource: Resource, mode: Mode) -> Result<()> {
        let mode = if resource == Resource::Volume { self.mode } else { mode };
        self.acquire(resource, mode)
    }

    fn check_usable(&self) -> Result<()> {
        self.shared.changes.check_usable()
    }

    fn release(&self, resources: impl Iterator<Item = Resource>) {
        self.shared.locks.release(self.transaction, resources);
    }
}

/// The keeper of the pages that a handle has pinned: it has the locks of the transaction, and the
/// pages that it has reserved.
///
/// Each handle has its own, on cache lines of its own. Threads that pin pages would otherwise count
/// them in one place, and each page cost both of them a wait for the other's.
#[repr(align(128))]
pub struct Pins {
    granted: Arc<GrantedLocks<LocalLocks>>,
    reserve: Reserve,
}

impl Pins {
    pub(super) fn of(granted: &Arc<GrantedLocks<LocalLocks>>) -> Self {
        Self { granted: Arc::clone(granted), reserve: Reserve::default() }
    }

    fn buffer(&self) -> &Buffer {
        &self.granted.source().shared().buffer
    }

    /// Pin a page that is locked; None where as many readers have pinned it as can be counted.
    #[inline]
    pub(super) fn pin(self: &Arc<Self>, page: PageNumber) -> Result<Option<Pinned>> {
        let buffer = self.buffer();
        if !buffer.pin(page, &self.reserve)? {
            return Ok(None);
        }
        let at = buffer.pinned_bytes(page).cast_mut();
        let at = NonNull::new(at).expect("the buffer begins behind address 0");
        let keeper = Arc::clone(self) as Arc<dyn Keeper>;
        // SAFETY: the page lies within the reservation, which lives as long as the share of the
        // buffer that `keeper` has. As long as a reader has it pinned, its state word cannot be
        // latched (`State::latch`, `State::latch_pinned`), and only who has latched a page writes
        // to it or drops its memory. So no plain store meets the slice, under whatever `locks`;
        // optimistic readers and the thread that writes the page out only load.
        #[expect(unsafe_code, reason = "a page that is pinned is handed out as a slice")]
        let pinned = unsafe { Pinned::frame(keeper, page, at) };
        Ok(Some(pinned))
    }
}

impl Keeper for Pins {
    #[inline]
    fn unpin(&self, page: PageNumber) {
        self.buffer().unpin(page, &self.reserve);
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        self.buffer().give_back_all(&self.reserve);
    }
}
