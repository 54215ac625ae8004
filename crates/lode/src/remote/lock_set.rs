//! What one transaction has locked at the server.

use std::cell::{Cell, OnceCell, RefCell};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use super::Remote;
use super::connections::{Shared, lock};
use crate::error::Result;
use crate::lock::Mode;
use crate::lock::numbers::NumberMap;
use crate::page::{self, PageNumber};
use crate::server::wire::{Access, Lock, Reply, Request, Stale};
use crate::tactics::Grain;

/// The locks of a transaction, and its name at the server. It stays in its thread: the thread's
/// connection is the transaction's.
pub(super) struct LockSet<'a> {
    remote: &'a Remote,
    access: Access,
    session: OnceCell<Session>,
    whole: Cell<bool>,
    pages: RefCell<NumberMap<PageNumber, Mode>>,
    stays_in_its_thread: PhantomData<*const ()>,
}

struct Session {
    connection: Shared,
    slot: u32,
}

impl<'a> LockSet<'a> {
    pub(super) fn empty(remote: &'a Remote, access: Access) -> Self {
        let (whole, pages) = (Cell::new(false), RefCell::default());
        let session = OnceCell::new();
        Self { remote, access, session, whole, pages, stays_in_its_thread: PhantomData }
    }

    /// Whether everything is locked that the transaction may ever need.
    #[inline]
    pub(super) fn has_all(&self) -> bool {
        self.whole.get() && self.remote.connections.is_here()
    }

    /// Lock a page, or what it belongs to, and take note of what others have changed.
    pub(super) fn lock(&self, page: PageNumber, mode: Mode) -> Result<()> {
        self.remote.check_owner()?;
        match self.remote.tactics.locks {
            Grain::Database if self.whole.get() => Ok(()),
            Grain::Database => self.lock_all(),
            Grain::Page if self.pages.borrow().get(&page).is_some_and(|&held| held >= mode) => {
                Ok(())
            }
            Grain::Page => self.lock_page(page, mode),
        }
    }

    fn lock_all(&self) -> Result<()> {
        let mode = match self.access {
            Access::Reading => Mode::Shared,
            Access::Writing => Mode::Exclusive,
        };
        let known = self.remote.known.load(Ordering::Acquire);
        let (position, stale) = self.ask(page::NO_PAGE, mode, known)?;
        match stale {
            Stale::Nothing => self.remote.note_changes(Some(&[]), position),
            Stale::Some(mut pages) => {
                pages.sort_unstable();
                self.remote.note_changes(Some(&pages), position);
            }
            Stale::All => self.remote.note_changes(None, position),
            Stale::This(_) => return Err(self.nonsense()),
        }
        self.whole.set(true);
        Ok(())
    }

    fn lock_page(&self, page: PageNumber, mode: Mode) -> Result<()> {
        let known = self.remote.buffer.peek(page, |view| view.u64(page::offset::LSN)).unwrap_or(0);
        let (position, stale) = self.ask(page, mode, known)?;
        match stale {
            Stale::Nothing => {}
            Stale::This(bytes) => {
                self.remote.drop_before(Some(&[page]), position);
                lock(&self.session()?.connection).keep(page, position, bytes);
            }
            Stale::Some(_) | Stale::All => return Err(self.nonsense()),
        }
        self.pages.borrow_mut().insert(page, mode);
        Ok(())
    }

    fn ask(&self, page: PageNumber, mode: Mode, known: u64) -> Result<(u64, Stale)> {
        let Session { connection, slot } = self.session()?;
        let request = Lock { slot: *slot, access: self.access, mode, page, known };
        let reply = lock(connection).ask(&Request::Lock(request))?;
        let Reply::Locked { position, pages_total, stale } = reply else {
            return Err(self.nonsense());
        };
        self.remote.note_total(pages_total)?;
        Ok((position, stale))
    }

    /// Where the transaction is known, and as what.
    pub(super) fn name(&self) -> Result<(&Shared, u32)> {
        let Session { connection, slot } = self.session()?;
        Ok((connection, *slot))
    }

    /// Nothing was asked of the server in this transaction.
    pub(super) fn is_unknown(&self) -> bool {
        self.session.get().is_none()
    }

    fn session(&self) -> Result<&Session> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let connection = self.remote.connections.enter()?;
        let slot = lock(&connection).slot();
        Ok(self.session.get_or_init(|| Session { connection, slot }))
    }

    fn nonsense(&self) -> crate::error::LodeError {
        match self.session() {
            Ok(session) => lock(&session.connection).nonsense(),
            Err(error) => error,
        }
    }

    /// The server has ended the transaction: there is nothing to give back.
    pub(super) fn forget(&mut self) {
        if self.session.take().is_some() {
            self.remote.connections.leave();
        }
        self.whole.set(false);
        self.pages.borrow_mut().clear();
    }
}

impl Drop for LockSet<'_> {
    /// Give everything back.
    fn drop(&mut self) {
        if !self.remote.connections.is_here() {
            return;
        }
        if let Some(Session { connection, slot }) = self.session.get() {
            // Where this fails there is nobody who keeps a lock for us.
            let _ = lock(connection).tell(&Request::End { slot: *slot });
        }
        self.forget();
    }
}
