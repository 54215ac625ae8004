//! Locks of a transaction from a page server.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::client::Client;
use super::connections::{Shared, lock};
use crate::error::{LodeError, Result};
use crate::lock::{Mode, Resource};
use crate::owner::Owner;
use crate::page::{self, PageNumber};
use crate::pages::Pinned;
use crate::tactics::Grain;
use crate::transaction::{GrantedLocks, LockSource};
use crate::wire::{Access, Lock, Reply, Request, Stale};

/// A transaction's name at the server, and its share of the client. It stays in its thread: the
/// thread's connection is the transaction's.
pub struct ServerLocks {
    client: Arc<Client>,
    access: Access,
    session: RefCell<Option<Session>>,
    stays_in_its_thread: PhantomData<*const ()>,
}

#[derive(Clone)]
struct Session {
    connection: Shared,
    slot: u32,
}

impl ServerLocks {
    pub(super) fn new(client: &Arc<Client>, access: Access) -> Self {
        let (client, session) = (Arc::clone(client), RefCell::new(None));
        Self { client, access, session, stays_in_its_thread: PhantomData }
    }

    pub(super) const fn client(&self) -> &Arc<Client> {
        &self.client
    }

    fn ask(&self, page: PageNumber, mode: Mode, known: u64) -> Result<(u64, Stale)> {
        let Session { connection, slot } = self.session()?;
        let request = Lock { slot, access: self.access, mode, page, known };
        let reply = lock(&connection).ask(&Request::Lock(request))?;
        let Reply::Locked { position, pages_total, stale } = reply else {
            return Err(self.nonsense());
        };
        self.client.note_total(pages_total)?;
        Ok((position, stale))
    }

    /// The place where the transaction is known, and as what.
    pub(super) fn name(&self) -> Result<(Shared, u32)> {
        let Session { connection, slot } = self.session()?;
        Ok((connection, slot))
    }

    /// Nothing was asked of the server in this transaction.
    pub(super) fn is_unknown(&self) -> bool {
        self.session.borrow().is_none()
    }

    /// The server has ended the transaction: there is nothing to give back.
    pub(super) fn forget(&self) {
        if self.session.take().is_some() {
            self.client.connections.leave();
        }
    }

    fn session(&self) -> Result<Session> {
        if let Some(session) = &*self.session.borrow() {
            return Ok(session.clone());
        }
        let connection = self.client.connections.enter()?;
        let slot = lock(&connection).slot();
        let session = Session { connection, slot };
        self.session.replace(Some(session.clone()));
        Ok(session)
    }

    fn nonsense(&self) -> LodeError {
        match self.session() {
            Ok(session) => lock(&session.connection).nonsense(),
            Err(error) => error,
        }
    }
}

impl LockSource for ServerLocks {
    type Pins = ();

    fn owner(&self) -> Owner {
        self.client.connections.owner()
    }

    fn pins(_: &Arc<GrantedLocks<Self>>) {}

    /// A transaction ends in its thread, and a page may be pinned in any: it is copied.
    fn pin(_: &Arc<()>, _: PageNumber) -> Result<Option<Pinned>> {
        Ok(None)
    }

    fn check_owner(&self) -> Result<()> {
        self.client.check_owner()
    }

    /// The server alone knows the file of a page now, so it is requested each.
    fn resource(&self, page: PageNumber) -> Result<Resource> {
        Ok(match self.client.tactics.locks {
            Grain::Database => Resource::Volume,
            Grain::Relation | Grain::Page => Resource::Page(page),
        })
    }

    fn lock(&self, resource: Resource, mode: Mode) -> Result<()> {
        match resource {
            Resource::Volume => self.lock_all(),
            Resource::Page(page) => self.lock_page(page, mode),
            Resource::Relation(_) => unreachable!("of a server pages are asked, see `resource`"),
        }
    }

    /// The server has looked.
    fn check_usable(&self) -> Result<()> {
        Ok(())
    }

    fn release(&self, _: impl Iterator<Item = Resource>) {
        if let Some(Session { connection, slot }) = self.session.borrow().as_ref() {
            // Where this fails there is nobody who keeps a lock for us.
            let _ = lock(connection).report(&Request::End { slot: *slot });
        }
        self.forget();
    }
}

impl ServerLocks {
    /// Takes note of what others have changed.
    fn lock_all(&self) -> Result<()> {
        let mode = match self.access {
            Access::Reading => Mode::Shared,
            Access::Writing => Mode::Exclusive,
        };
        let known = self.client.known.load(Ordering::Acquire);
        let (position, stale) = self.ask(page::NO_PAGE, mode, known)?;
        match stale {
            Stale::Nothing => self.client.note_changes(Some(&[]), position),
            Stale::Some(mut pages) => {
                pages.sort_unstable();
                self.client.note_changes(Some(&pages), position);
            }
            Stale::All => self.client.note_changes(None, position),
            Stale::This(_) => return Err(self.nonsense()),
        }
        Ok(())
    }

    fn lock_page(&self, page: PageNumber, mode: Mode) -> Result<()> {
        let known = self.client.buffer.peek(page, |view| view.u64(page::offset::LSN)).unwrap_or(0);
        let (position, stale) = self.ask(page, mode, known)?;
        match stale {
            Stale::Nothing => {}
            Stale::This(bytes) => {
                self.client.drop_before(Some(&[page]), position);
                lock(&self.session()?.connection).keep(page, position, bytes);
            }
            Stale::Some(_) | Stale::All => return Err(self.nonsense()),
        }
        Ok(())
    }
}
