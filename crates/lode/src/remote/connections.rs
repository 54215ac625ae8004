//! Connections to a server: one for each thread that runs transactions.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::error::{LodeError, Result};
use crate::owner::Owner;
use crate::page::{PageBytes, PageNumber};
use crate::wire::{self, Address, Hello, Link, Reply, Request, Stream, Welcome, unreached};

/// The traffic between a client and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Questions, for each of which somebody waited until it was answered.
    pub round_trips: u64,
    /// Messages that nobody waited for.
    pub one_way: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
}

#[derive(Default)]
struct Counted {
    round_trips: AtomicU64,
    one_way: AtomicU64,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
}

/// All connections of a client.
///
/// A thread that runs several transactions at once has one connection for all: so two of them that
/// wait for each other are a deadlock that the server sees, as it sees any other.
pub(super) struct Connections {
    address: Address,
    welcome: Welcome,
    pool: Mutex<Pool>,
    counted: Arc<Counted>,
    owner: Owner,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Shared>,
    used: HashMap<ThreadId, Used>,
}

struct Used {
    connection: Shared,
    transactions: usize,
}

pub(super) type Shared = Arc<Mutex<Connection>>;

impl Connections {
    /// Meet the server there, which must have that volume, if it is not zeros.
    pub(super) fn to(address: &Address, identity: [u8; 16]) -> Result<Self> {
        let counted = Arc::default();
        let hello = Hello { version: wire::VERSION, identity, session: 0 };
        let (connection, welcome) = Connection::dial(address, hello, &counted)?;
        let idle = vec![Arc::new(Mutex::new(connection))];
        let pool = Mutex::new(Pool { idle, used: HashMap::new() });
        let owner = Owner::here();
        Ok(Self { address: address.clone(), welcome, pool, counted, owner })
    }

    /// The server's welcome.
    pub(super) const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    pub(super) fn traffic(&self) -> Traffic {
        let so_far = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            round_trips: so_far(&self.counted.round_trips),
            one_way: so_far(&self.counted.one_way),
            sent_bytes: so_far(&self.counted.sent_bytes),
            received_bytes: so_far(&self.counted.received_bytes),
        }
    }

    /// A transaction of this thread begins: the thread's connection.
    pub(super) fn enter(&self) -> Result<Shared> {
        self.check_owner()?;
        let thread = thread::current().id();
        let mut pool = self.pool();
        if let Some(used) = pool.used.get_mut(&thread) {
            used.transactions += 1;
            return Ok(Arc::clone(&used.connection));
        }
        let connection = if let Some(connection) = pool.idle.pop() {
            connection
        } else {
            drop(pool);
            let connection = self.dial()?;
            pool = self.pool();
            connection
        };
        let used = Used { connection: Arc::clone(&connection), transactions: 1 };
        pool.used.insert(thread, used);
        Ok(connection)
    }

    /// A transaction of this thread has ended.
    pub(super) fn leave(&self) {
        if !self.owner.is_here() {
            return;
        }
        let thread = thread::current().id();
        let mut pool = self.pool();
        let Some(used) = pool.used.get_mut(&thread) else { return };
        used.transactions -= 1;
        if used.transactions > 0 {
            return;
        }
        if let Some(used) = pool.used.remove(&thread)
            && !lock(&used.connection).broken
        {
            pool.idle.push(used.connection);
        }
    }

    /// # Errors
    ///
    /// [`LodeError::Forked`] in a child of the process that connected.
    pub(super) fn check_owner(&self) -> Result<()> {
        self.owner.check(CONNECTION)
    }

    /// The process that connected.
    pub(super) const fn owner(&self) -> Owner {
        self.owner
    }

    fn dial(&self) -> Result<Shared> {
        let Welcome { identity, session, .. } = self.welcome;
        let hello = Hello { version: wire::VERSION, identity, session };
        let (connection, _) = Connection::dial(&self.address, hello, &self.counted)?;
        Ok(Arc::new(Mutex::new(connection)))
    }

    /// Nothing that is done under this lock can panic halfway.
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const CONNECTION: &str = "the connection";

/// The connection, which one thread alone uses; the lock is for the compiler.
pub(super) fn lock(connection: &Shared) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A conversation with the server.
///
/// In a child made by `fork` nothing is said on it: the parent is talking there.
pub(super) struct Connection {
    owner: Owner,
    link: Link,
    stream: Arc<Stream>,
    slots: u32,
    /// A page that came with its lock: for the reading of it that follows at once.
    arrived: Option<(PageNumber, u64, Box<PageBytes>)>,
    broken: bool,
    counted: Arc<Counted>,
}

impl Connection {
    fn dial(address: &Address, hello: Hello, counted: &Arc<Counted>) -> Result<(Self, Welcome)> {
        let stream = address.dial().map_err(|error| unreached(address, &error))?;
        let stream = Arc::new(stream);
        let mut connection = Self {
            owner: Owner::here(),
            link: Link::over(Arc::clone(&stream)),
            stream,
            slots: 0,
            arrived: None,
            broken: false,
            counted: Arc::clone(counted),
        };
        match connection.ask(&Request::Hello(hello))? {
            Reply::Welcome(welcome) if welcome.version == wire::VERSION => {
                Ok((connection, welcome))
            }
            _ => Err(connection.nonsense()),
        }
    }

    /// A number for a new transaction.
    pub(super) const fn slot(&mut self) -> u32 {
        self.slots = self.slots.wrapping_add(1);
        self.slots
    }

    /// Ask, and wait for the answer. What the server refuses is an error.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Reply> {
        self.counted.round_trips.fetch_add(1, Ordering::Relaxed);
        self.arrived = None;
        self.check()?;
        let sent = self.link.send_request(request);
        // A server that turns a client away says so and hangs up: that may be there to be read
        // although nothing can be sent any more.
        let reply = self.link.receive_reply();
        let reply = match (sent, reply) {
            (Err(error), Ok(None) | Err(_)) => Err(error),
            (_, reply) => reply,
        };
        self.count();
        match reply {
            Ok(Some(Reply::Refused(refusal))) => Err(refusal.into()),
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.gone("it hung up")),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(self.nonsense()),
            Err(error) => Err(self.gone(&error.to_string())),
        }
    }

    /// Say what is not answered.
    pub(super) fn report(&mut self, request: &Request) -> Result<()> {
        self.counted.one_way.fetch_add(1, Ordering::Relaxed);
        self.arrived = None;
        self.check()?;
        let sent = self.link.send_request(request);
        self.count();
        sent.map_err(|error| self.gone(&error.to_string()))
    }

    /// Whether nothing more can be said.
    pub(super) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Keep a page that came with its lock.
    pub(super) fn keep(&mut self, page: PageNumber, position: u64, bytes: Box<PageBytes>) {
        self.arrived = Some((page, position, bytes));
    }

    /// That page, if it is the one.
    pub(super) fn take(&mut self, page: PageNumber) -> Option<(u64, Box<PageBytes>)> {
        let (_, position, bytes) = self.arrived.take_if(|(arrived, ..)| *arrived == page)?;
        Some((position, bytes))
    }

    /// The server answered what is no answer to that.
    pub(super) fn nonsense(&mut self) -> LodeError {
        self.broken = true;
        let what = "sends an unreadable message: is it a server of lode, of this release?";
        LodeError::Server { what: what.to_owned() }
    }

    fn gone(&mut self, how: &str) -> LodeError {
        self.broken = true;
        LodeError::Server { what: gone(how) }
    }

    fn check(&self) -> Result<()> {
        self.owner.check(CONNECTION)?;
        if self.broken { Err(LodeError::Server { what: gone("since before") }) } else { Ok(()) }
    }

    fn count(&mut self) {
        let (sent, received) = self.link.take_traffic();
        self.counted.sent_bytes.fetch_add(sent, Ordering::Relaxed);
        self.counted.received_bytes.fetch_add(received, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.owner.is_here() {
            // A child that was forked has the socket, too, and would keep the server waiting.
            self.stream.shut();
        }
    }
}

fn gone(how: &str) -> String {
    format!("is gone ({how}): start it again, connect anew and run the transaction again")
}
