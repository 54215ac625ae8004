//! The page server: one process has a database open, others use it as if they had.
//!
//! ```text
//! client's process                          server's process
//!   access methods                            Database: volume, log, locks, recovery
//!   RemoteReading, RemoteWriting  (remote)    Connection: a client's transactions, each of them
//!   Buffer over a RemoteDisk      <-- wire -->     a Reading or Writing here
//!                                             History: what was changed when
//! ```
//!
//! Pages are cached where they are used, and locked here. A lock's answer says which of the
//! client's pages others have changed since it knew (validation: Franklin, Carey and Livny,
//! "Transactional Client-Server Cache Consistency", TODS 1997), so that a transaction that reads
//! what its process has read before costs one question under `locks=database`, as in OO1's INDEX.
//! A client changes copies of its own and sends, at commit, what differs; the server logs it,
//! makes it durable as its tactic says, and answers. So whatever happens to a client, nothing of
//! its transaction is left, and whatever happens to the server, what it answered is in its log.
//!
//! A program that may open the socket may read and change everything: it is the owner's alone, or
//! on loopback. A client's changes are taken as they are; that they make sense is the access
//! methods' affair there as it is here.

mod connection;
pub(crate) mod door;
mod history;

use std::mem;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub use crate::wire::{Address, Listener, Stream};
pub(crate) use history::History;

use crate::database::Database;
use crate::error::{LodeError, Result};
use crate::mirror::Mirror;
use crate::owner::Owner;
use crate::random;
use crate::wire::{Refusal, Reply};
use connection::serve_client;
use door::{CONNECTIONS_MAX, Door};

/// A server at work. Dropping it stops it, as [`Server::stop`] does; in a child made by `fork`
/// nothing happens then: the server is the parent's.
pub struct Server {
    owner: Owner,
    door: Arc<Door>,
    mirror: Option<Arc<Mirror>>,
    accepting: Option<JoinHandle<Result<()>>>,
    /// Its other end is the accepting thread's, and goes with it.
    ending: UnixStream,
}

/// The state that all connections serve.
struct Served {
    database: Database,
    history: History,
    /// A number that no other life of a server has: what a client knows of one means nothing to
    /// the next.
    session: u64,
}

/// Serve a database until the process ends or something fails that ends the listening.
///
/// # Errors
///
/// The system's error of listening, and the database's of closing.
pub fn serve(database: Database, listener: Listener) -> Result<()> {
    Server::start(database, listener)?.wait()
}

impl Server {
    /// Begin to serve a database, which is the server's alone from now on.
    ///
    /// # Errors
    ///
    /// [`LodeError::Io`] if there is no thread to be had.
    pub fn start(database: Database, listener: Listener) -> Result<Self> {
        Self::start_with(database, listener, History::new())
    }

    pub(crate) fn start_with(
        database: Database,
        listener: Listener,
        history: History,
    ) -> Result<Self> {
        database.changes().check_owner()?;
        // Clients would not be informed of changes by a transaction of this process.
        database.check_idle()?;
        let door = Arc::new(Door::new(listener, CONNECTIONS_MAX, refusal));
        let mirror = database.copies_shared();
        let mut session = [0; 8];
        random::fill(&mut session)?;
        let session = u64::from_le_bytes(session).max(1);
        let served = Served { database, history, session };
        let failed = |source| LodeError::io("starting to serve", source);
        let (ending, at_work) = UnixStream::pair().map_err(failed)?;
        let accepting = thread::Builder::new().name("lode-serve".to_owned()).spawn({
            let door = Arc::clone(&door);
            move || {
                let _at_work = at_work;
                run(&door, served)
            }
        });
        let accepting = Some(accepting.map_err(failed)?);
        Ok(Self { owner: Owner::here(), door, mirror, accepting, ending })
    }

    /// The place where it listens.
    pub fn address(&self) -> &Address {
        self.door.address()
    }

    /// The mirror of the database, to be reported and filled while clients go on; none if it is not
    /// mirrored.
    pub fn mirror(&self) -> Option<Arc<Mirror>> {
        self.mirror.clone()
    }

    /// A stream on which nothing ever comes, and which ends when the serving does, however it ended
    /// it: for who waits for that, and for signals beside it. [`Server::stop`] shows how it went.
    ///
    /// # Errors
    ///
    /// [`LodeError::Io`] if the process has no more descriptors.
    pub fn ending(&self) -> Result<UnixStream> {
        self.owner.check("the server")?;
        self.ending.try_clone().map_err(|source| LodeError::io("watching the server", source))
    }

    /// Send all clients away, which takes back what they have not committed, and close the
    /// database.
    ///
    /// # Errors
    ///
    /// The error of closing.
    pub fn stop(mut self) -> Result<()> {
        self.owner.check("the server")?;
        self.door.close();
        self.end()
    }

    /// Send all clients away and let go of the files as they are, as a crash would. For tests.
    pub fn abandon(mut self) {
        if self.owner.is_here() {
            self.door.abandon();
        }
        // There is nothing to be closed that could fail.
        let _ = self.end();
    }

    /// Return when it has been stopped by what failed.
    fn wait(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        self.owner.check("the server")?;
        let Some(accepting) = self.accepting.take() else { return Ok(()) };
        accepting.join().unwrap_or_else(|_| {
            Err(LodeError::Server { what: "has failed: start it again".to_owned() })
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.owner.is_here() {
            // The thread is not here: there is nothing to be let go of.
            mem::forget(self.accepting.take());
            return;
        }
        self.door.close();
        // Call `stop` to observe errors.
        let _ = self.end();
    }
}

/// Words for a client that is not served.
fn refusal(what: &str) -> Vec<u8> {
    let mut frame = Vec::new();
    Reply::Refused(Refusal::other(what.to_owned())).encode(&mut frame);
    frame
}

/// Let clients in until the door is closed; then close the database, when all have gone.
fn run(door: &Arc<Door>, served: Served) -> Result<()> {
    let served = Arc::new(served);
    let outcome = door.let_in({
        let served = Arc::clone(&served);
        move |stream| serve_client(&served, stream)
    });
    let Some(Served { database, .. }) = Arc::into_inner(served) else { return outcome };
    if door.is_abandoning() {
        database.abandon();
        return outcome;
    }
    outcome.and(database.close())
}
