//! One client's connection: its transactions, and the thread that does what it asks.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Served, Stream, door};
use crate::error::{LodeError, Result};
use crate::lock::TransactionNumber;
use crate::page::{PAGE_BYTES, PageNumber};
use crate::space;
use crate::superblock;
use crate::tactics::Grain;
use crate::transaction::{Reading, Writing};
use crate::view::View;
use crate::wire::{self, Access, Change, Hello, Link, Lock, Refusal, Reply, Request, Stale};

/// Transactions of one connection at once, which is one thread of the client's.
const TRANSACTIONS_MAX: usize = 64;

/// A client that has connected says hello within this time; else it is no client of ours.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);

/// A message that has begun ends within this time. Between messages a client is silent for as long
/// as it likes.
const FRAME_PATIENCE: Duration = Duration::from_secs(60);

/// Do what a client asks, until it has left or cannot be understood. Then nothing is left of what
/// it has not committed, and its locks are free.
pub(super) fn serve_client(served: &Served, stream: &Arc<Stream>) {
    let running = Running::default();
    // Its thread may be waiting for a lock when it hangs up, for as long as others like, and
    // holding some that they want.
    let gone = || {
        for &transaction in &running.seal().transactions {
            served.database.locks().cancel(transaction);
        }
    };
    door::watched(stream, gone, || {
        let mut connection = Connection { served, running: &running, open: HashMap::new() };
        let mut link = Link::over(Arc::clone(stream)).impatient(FRAME_PATIENCE);
        // A client that cannot be understood, or has gone, is reported nothing.
        let _ = connection.converse(&mut link);
    });
}

/// Which transactions end when the client hangs up.
#[derive(Default)]
struct Running(Mutex<RunningList>);

#[derive(Default)]
struct RunningList {
    transactions: Vec<TransactionNumber>,
    sealed: bool,
}

impl Running {
    /// A transaction has begun; `false` if the client has gone.
    fn add(&self, transaction: TransactionNumber) -> bool {
        let mut list = self.list();
        list.transactions.push(transaction);
        !list.sealed
    }

    /// A transaction is about to end.
    fn remove(&self, transaction: TransactionNumber) {
        self.list().transactions.retain(|&one| one != transaction);
    }

    /// The client has gone.
    fn seal(&self) -> MutexGuard<'_, RunningList> {
        let mut list = self.list();
        list.sealed = true;
        list
    }

    fn list(&self) -> MutexGuard<'_, RunningList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client's transaction.
enum Open {
    Reading(Reading),
    Writing {
        writing: Writing,
        /// The error of changes that were not to be answered.
        failed: Option<LodeError>,
    },
}

impl Open {
    fn number(&self) -> TransactionNumber {
        match self {
            Self::Reading(reading) => reading.number(),
            Self::Writing { writing, .. } => writing.number(),
        }
    }
}

struct Connection<'a> {
    served: &'a Served,
    running: &'a Running,
    open: HashMap<u32, Open>,
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for (_, open) in mem::take(&mut self.open) {
            self.running.remove(open.number());
            self.note_rollback(&open);
        }
    }
}

impl Connection<'_> {
    fn converse(&mut self, link: &mut Link) -> io::Result<()> {
        link.expect_within(HELLO_PATIENCE);
        let Some(Request::Hello(hello)) = link.receive_request()? else { return Ok(()) };
        let welcome = self.greet(&hello);
        let is_welcome = welcome.is_ok();
        link.send_reply(&welcome.unwrap_or_else(Reply::Refused))?;
        if !is_welcome {
            return Ok(());
        }
        while let Some(request) = link.receive_request()? {
            let answer = match request {
                Request::Hello(_) => return Ok(()),
                Request::End { slot } => {
                    self.end(slot);
                    continue;
                }
                Request::Changes { slot, changes } => {
                    self.change(slot, &changes);
                    continue;
                }
                Request::Lock(lock) => self.lock(&lock),
                Request::Fetch { first, count } => self.fetch(first, count),
                Request::Grow { pages_total } => self.grow(pages_total),
                Request::Commit { slot, changes } => self.commit(slot, &changes),
            };
            let reply = answer.unwrap_or_else(|error| Reply::Refused(Refusal::from(&error)));
            link.send_reply(&reply)?;
        }
        Ok(())
    }

    fn greet(&self, hello: &Hello) -> Result<Reply, Refusal> {
        let Served { database, history, session } = self.served;
        if hello.version != wire::VERSION {
            return Err(Refusal::other(format!(
                "speaks version {} of the wire and its client version {}: use one release for both",
                wire::VERSION,
                hello.version
            )));
        }
        if hello.identity != [0; 16] && hello.identity != database.identity() {
            return Err(Refusal::other(
                "has another database open than the one that is wanted: connect to the right one",
            ));
        }
        if hello.session != 0 && hello.session != *session {
            return Err(Refusal::other(
                "was started again since: connect anew and run the transaction again",
            ));
        }
        Ok(Reply::Welcome(wire::Welcome {
            version: wire::VERSION,
            extent_pages: database.extent_pages(),
            identity: database.identity(),
            session: *session,
            position: history.position(),
            pages_total: database.buffer().pages_total(),
            tactics: database.tactics().to_string(),
        }))
    }

    fn lock(&mut self, lock: &Lock) -> Result<Reply> {
        match self.open(lock.slot, lock.access)? {
            Open::Reading(reading) => reading.lock(lock.page)?,
            Open::Writing { writing, .. } => writing.lock(lock.page, lock.mode)?,
        }
        let Served { database, history, .. } = self.served;
        let (position, stale) = match database.tactics().locks {
            Grain::Database => history.since(lock.known),
            Grain::Relation | Grain::Page if history.changed(lock.page) <= lock.known => {
                (history.position(), Stale::Nothing)
            }
            Grain::Relation | Grain::Page => {
                let copy = |view: View<'_>| Stale::This(view.copy());
                let stale = database.buffer().read(lock.page, copy)?;
                (history.position(), stale)
            }
        };
        let pages_total = database.buffer().pages_total();
        Ok(Reply::Locked { position, pages_total, stale })
    }

    /// The transaction of that number, which begins if it is new.
    fn open(&mut self, slot: u32, access: Access) -> Result<&mut Open> {
        let database = &self.served.database;
        let is_new = !self.open.contains_key(&slot);
        if is_new && self.open.len() == TRANSACTIONS_MAX {
            let what = format!("runs {TRANSACTIONS_MAX} transactions for one thread, not more");
            return Err(LodeError::Server { what });
        }
        let open = self.open.entry(slot).or_insert_with(|| match access {
            Access::Reading => Open::Reading(database.reading()),
            Access::Writing => Open::Writing { writing: database.writing(), failed: None },
        });
        if is_new && !self.running.add(open.number()) {
            return Err(LodeError::Deadlock);
        }
        if matches!(open, Open::Reading(_)) != (access == Access::Reading) {
            return Err(out_of_order());
        }
        Ok(open)
    }

    fn end(&mut self, slot: u32) {
        if let Some(open) = self.open.remove(&slot) {
            self.running.remove(open.number());
            self.note_rollback(&open);
        }
    }

    /// A transaction is about to be rolled back. Pages that it had begun are zeros then, which is
    /// all one to those who find them free, but not to a client that compares with what it has.
    fn note_rollback(&self, open: &Open) {
        if let Open::Writing { writing, .. } = open {
            self.served.history.note(writing.changed());
        }
    }

    /// The client has locked the pages, so they are as they were committed.
    fn fetch(&self, first: PageNumber, count: u32) -> Result<Reply> {
        let Served { database, history, .. } = self.served;
        database.changes().check_usable()?;
        let position = history.position();
        let mut bytes = Vec::with_capacity(count as usize * PAGE_BYTES);
        for page in first..first + count {
            let read_bytes = bytes.len();
            database.buffer().read(page, |view| {
                bytes.truncate(read_bytes);
                bytes.extend_from_slice(&view.copy()[..]);
            })?;
        }
        Ok(Reply::Pages { position, first, bytes })
    }

    /// The client has locked the first space page.
    fn grow(&self, pages_total: PageNumber) -> Result<Reply> {
        let database = &self.served.database;
        database.changes().check_usable()?;
        if database.is_read_only() {
            return Err(LodeError::ReadOnly);
        }
        if !self.open.values().any(|open| matches!(open, Open::Writing { .. })) {
            return Err(out_of_order());
        }
        // One number of four bytes must not take the whole disk.
        let growth = space::growth_pages_max(database.extent_pages());
        let pages_max = database.buffer().pages_total().saturating_add(growth);
        if pages_total > pages_max {
            let what = format!(
                "makes the volume {growth} pages longer at once, not more: {pages_total} pages are \
                 requested, {pages_max} are the most"
            );
            return Err(LodeError::Server { what });
        }
        database.buffer().grow(pages_total)?;
        Ok(Reply::Grown { pages_total: database.buffer().pages_total() })
    }

    /// Make changes that the client does not wait for; it learns at the commit what went wrong.
    fn change(&mut self, slot: u32, changes: &[Change]) {
        if let Some(Open::Writing { writing, failed }) = self.open.get_mut(&slot)
            && failed.is_none()
        {
            *failed = changes.iter().try_for_each(|change| make(writing, change)).err();
        }
    }

    fn commit(&mut self, slot: u32, changes: &[Change]) -> Result<Reply> {
        self.change(slot, changes);
        let Some(Open::Writing { writing, failed }) = self.open.remove(&slot) else {
            return Err(out_of_order());
        };
        self.running.remove(writing.number());
        // While the pages are locked. Should the commit fail, they are thought changed that are
        // not, and are fetched once more.
        let position = self.served.history.note(writing.changed());
        if let Some(error) = failed {
            return Err(error);
        }
        writing.commit()?;
        Ok(Reply::Committed { position })
    }
}

fn make(writing: &mut Writing, change: &Change) -> Result<()> {
    if change.runs.is_empty() {
        // To keep a page that does not change would take memory for many with one short frame.
        return Ok(());
    }
    if change.page < superblock::COPIES {
        let what = "changes no superblock for a client".to_owned();
        return Err(LodeError::Server { what });
    }
    writing.apply(change.page, &change.runs)
}

fn out_of_order() -> LodeError {
    LodeError::Server { what: "got a request that does not fit the transaction".to_owned() }
}
