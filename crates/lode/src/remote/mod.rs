//! The client of a page server ([`crate::server`]): a database that another process has open, used
//! as if this one had.
//!
//! A transaction here is a type of its own, [`RemoteReading`] or [`RemoteWriting`], and the access
//! methods cannot tell it from an embedded one: they know [`crate::Pages`] alone. To make
//! [`crate::Database`] itself do both would have put a question before each step of the embedded
//! path, which is the one that is measured in nanoseconds.
//!
//! What is kept between transactions are pages in a [`Buffer`], none of them ever dirty: a
//! transaction changes copies. A page's header has, in place of the log position, the commit
//! position as of which the server sent it; the lock of a page, or of all, tells which of them do
//! not hold any more.

mod connections;
mod disk;
mod lock_set;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use connections::Traffic;
pub use disk::RemoteDisk;
pub use reading::RemoteReading;
pub use writing::RemoteWriting;

use crate::buffer::{self, Buffer, BufferOptions};
use crate::database::{self, PAGES_MAX};
use crate::error::Result;
use crate::lock::numbers::NumberMap;
use crate::page::{self, FileNumber, PageNumber};
use crate::server::Address;
use crate::tactics::{Grain, HugePages, Tactics};
use connections::Connections;

/// A database at a page server, for all threads of this process.
///
/// A thread has a connection of its own as long as it runs transactions. When the server is gone,
/// everything answers [`crate::LodeError::Server`]; one connects anew then.
pub struct Remote {
    buffer: Buffer,
    disk: Arc<RemoteDisk>,
    connections: Arc<Connections>,
    tactics: Tactics,
    /// Under `locks=database`: all changes up to this commit position have been taken note of.
    known: AtomicU64,
    allocation_hint: Mutex<NumberMap<FileNumber, PageNumber>>,
}

/// What has happened since one connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// In the buffer.
    pub buffer: buffer::Counters,
    /// Between here and the server.
    pub traffic: Traffic,
}

impl Remote {
    /// Use the database that is served there. Of the tactics, `cache`, `hugepages`, `replacement`,
    /// `swizzle` and `readahead` hold here; the others are the server's.
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
            read_ahead: tactics.read_ahead,
            ..theirs
        };
        tactics.check()?;
        let disk = Arc::new(RemoteDisk::new(Arc::clone(&connections), welcome.pages_total));
        let options = BufferOptions {
            cache_bytes: tactics.cache.0,
            replacement: database::replacement(&tactics),
            huge_pages: tactics.huge_pages == HugePages::On,
            read_ahead_pages: match tactics.locks {
                Grain::Database => tactics.read_ahead_pages(),
                // Only a page that is locked can be relied on to be a committed one.
                Grain::Page => 0,
            },
            pages_max: PAGES_MAX,
        };
        let buffer = Buffer::new(Arc::clone(&disk) as Arc<_>, &options)?;
        let known = AtomicU64::new(welcome.position);
        Ok(Self { buffer, disk, connections, tactics, known, allocation_hint: Mutex::default() })
    }

    /// A transaction that reads what is committed.
    pub fn reading(&self) -> RemoteReading<'_> {
        RemoteReading::begin(self)
    }

    /// A transaction that changes pages.
    pub fn writing(&self) -> RemoteWriting<'_> {
        RemoteWriting::begin(self)
    }

    /// The tactics that hold: this client's, and for the rest the server's.
    pub const fn tactics(&self) -> &Tactics {
        &self.tactics
    }

    /// Pages of an extent, as [`crate::space`] wants to know it.
    pub fn extent_pages(&self) -> u32 {
        self.connections.welcome().extent_pages
    }

    /// 16 bytes that no other volume has.
    pub fn identity(&self) -> [u8; 16] {
        self.connections.welcome().identity
    }

    /// What has happened since one connected.
    pub fn counters(&self) -> Counters {
        Counters { buffer: self.buffer.counters(), traffic: self.connections.traffic() }
    }

    /// Drop all pages from memory: what comes next is cold here, though perhaps not at the server.
    /// Pages that somebody uses meanwhile may stay. In a child made by `fork` it does nothing.
    pub fn forget(&self) {
        if self.check_owner().is_err() {
            return;
        }
        self.buffer.forget();
    }

    /// # Errors
    ///
    /// [`crate::LodeError::Forked`] in a child of the process that connected: before any lock,
    /// which nobody may be there to release.
    pub(crate) fn check_owner(&self) -> Result<()> {
        self.connections.check_owner()
    }

    /// Take note of how long the volume is.
    fn note_total(&self, pages_total: PageNumber) -> Result<()> {
        if pages_total <= self.buffer.pages_total() {
            return Ok(());
        }
        self.disk.note_total(pages_total);
        self.buffer.grow(pages_total)
    }

    /// Under `locks=database`: take note of what was changed up to a position. Whoever does holds a
    /// lock, so that nothing was changed since.
    fn note_changes(&self, pages: Option<&[PageNumber]>, position: u64) {
        self.drop_before(pages, position);
        self.known.fetch_max(position, Ordering::Release);
    }

    /// Drop those of the pages that were sent as of an earlier position.
    fn drop_before(&self, pages: Option<&[PageNumber]>, position: u64) {
        self.buffer.drop_stale(pages, |view| view.u64(page::offset::LSN) < position);
    }

    fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber> {
        self.allocation_hint.lock().unwrap_or_else(PoisonError::into_inner).get(&file).copied()
    }

    fn set_allocation_hint(&self, file: FileNumber, page: PageNumber) {
        self.allocation_hint.lock().unwrap_or_else(PoisonError::into_inner).insert(file, page);
    }
}
