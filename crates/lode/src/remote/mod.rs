//! The client of a page server ([`crate::server`]): a database that another process has open, used
//! as if this one had.
//!
//! A transaction here is a type of its own, [`RemoteReading`] or [`RemoteWriting`], and the access
//! methods cannot determine it from an embedded one: they know [`crate::PageRead`] and
//! [`crate::PageWrite`] alone. To make [`crate::Database`] itself do both would have put a question
//! before each step of the embedded path, which is the one that is measured in nanoseconds.
//!
//! The pages kept between transactions are in a [`Buffer`], none of them ever dirty: a transaction
//! changes copies. A page's header has, in place of the log position, the commit position as of
//! which the server sent it; the lock of a page, or of all, shows which of them do not hold any
//! more.

mod carried;
mod client;
mod connections;
mod disk;
mod server_locks;
#[cfg(test)]
mod tests;
mod writing;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

pub use carried::Carried;
pub use client::Client;
pub use connections::Traffic;
pub use disk::RemoteDisk;
pub use server_locks::ServerLocks;
pub use writing::RemoteWriting;

use crate::buffer::{self, Buffer, BufferOptions};
use crate::database::PAGES_MAX;
use crate::error::Result;
use crate::tactics::{Grain, HugePages, Tactics};
use crate::transaction::ReadTransaction;
use crate::wire::{Access, Address};
use connections::Connections;

/// A transaction that reads a database which a page server has open.
pub type RemoteReading = ReadTransaction<ServerLocks>;

/// A database at a page server, for all threads of this process.
///
/// A thread has a connection of its own as long as it runs transactions. When the server is gone,
/// everything answers [`crate::LodeError::Server`]; one connects anew then.
///
/// Its transactions own shares of it, and the connections are closed with the last share.
pub struct Remote {
    client: Arc<Client>,
}

/// The counters since the client connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// In the buffer.
    pub buffer: buffer::Counters,
    /// Between here and the server.
    pub traffic: Traffic,
}

impl Remote {
    /// Use the database that is served there. Of the tactics, `cache`, `hugepages`, `replacement`,
    /// `swizzle`, `prefetch` and `readahead` hold here; the others are the server's.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::Server`] if there is none or it speaks otherwise; what the tactics say.
    pub fn connect(address: &Address, tactics: &Tactics) -> Result<Self> {
        Self::connect_to(address, tactics, [0; 16])
    }

    /// The same, if it is the database with that [`crate::Database::identity`].
    ///
    /// # Errors
    ///
    /// As [`Remote::connect`], and [`crate::LodeError::Server`] if another is served.
    pub fn connect_to(address: &Address, tactics: &Tactics, identity: [u8; 16]) -> Result<Self> {
        let connections = Arc::new(Connections::to(address, identity)?);
        let welcome = connections.welcome();
        let theirs: Tactics = welcome.tactics.parse()?;
        let tactics = Tactics {
            cache: tactics.cache,
            huge_pages: tactics.huge_pages,
            replacement: tactics.replacement,
            swizzle: tactics.swizzle,
            prefetch: tactics.prefetch,
            read_ahead: tactics.read_ahead,
            ..theirs
        };
        tactics.check()?;
        let disk = Arc::new(RemoteDisk::new(Arc::clone(&connections), welcome.pages_total));
        let options = BufferOptions {
            cache_bytes: tactics.cache.0,
            replacement: tactics.replacement,
            huge_pages: tactics.huge_pages == HugePages::On,
            read_ahead_pages: match tactics.locks {
                Grain::Database => tactics.read_ahead_pages(),
                // Only a page that is locked can be relied on to be a committed one.
                Grain::Relation | Grain::Page => 0,
            },
            pages_max: PAGES_MAX,
        };
        let buffer = Arc::new(Buffer::new(Arc::clone(&disk) as Arc<_>, &options)?);
        let known = AtomicU64::new(welcome.position);
        let allocation_hints = Mutex::default();
        let client = Client { buffer, disk, connections, tactics, known, allocation_hints };
        Ok(Self { client: Arc::new(client) })
    }

    /// A transaction that reads what is committed.
    pub fn reading(&self) -> RemoteReading {
        let Client { buffer, tactics, .. } = &*self.client;
        let source = ServerLocks::new(&self.client, Access::Reading);
        RemoteReading::over(buffer, source, self.identity(), tactics)
    }

    /// A transaction that changes pages.
    pub fn writing(&self) -> RemoteWriting {
        RemoteWriting::begin(&self.client)
    }

    /// The tactics that hold: this client's, and for the rest the server's.
    pub fn tactics(&self) -> &Tactics {
        &self.client.tactics
    }

    /// Pages of an extent, as the space map counts them.
    pub fn extent_pages(&self) -> u32 {
        self.client.extent_pages()
    }

    /// 16 bytes that no other volume has.
    pub fn identity(&self) -> [u8; 16] {
        self.client.identity()
    }

    /// The counters since the client connected.
    pub fn counters(&self) -> Counters {
        Counters {
            buffer: self.client.buffer.counters(),
            traffic: self.client.connections.traffic(),
        }
    }

    /// Drop all pages from memory: what comes next is cold here, though perhaps not at the server.
    /// Pages that somebody uses meanwhile may stay. In a child made by `fork` it does nothing.
    pub fn forget(&self) {
        if self.check_owner().is_err() {
            return;
        }
        self.client.buffer.forget();
    }

    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in a child of the process that connected: before any lock,
    /// which nobody may be there to release.
    pub(crate) fn check_owner(&self) -> Result<()> {
        self.client.check_owner()
    }
}
