//! The contract between the loop and an engine: one implementation per engine, in a file of its
//! folder.

use loadstone_datasets::rvm::{Database, Place};

use crate::error::ClientError;
use crate::outcome::{Logged, Sent};
use crate::rvm::History;
use crate::rvm::contents::Contents;

/// An engine as the calling program sees it: records that are changed in place, and a ring. A
/// driver is opened on an address, before or after the load, and makes what it needs to be fast
/// once, outside every clock.
pub trait Driver: Send + Sized {
    /// The engine's name, as [`crate::engines`] knows it.
    const ENGINE: &'static str;

    /// Whether it holds what it was given; else no answer means anything.
    const KEEPS: bool = true;

    /// Create the database in place of any other, its ring full of zeros, durable at return.
    fn load(&mut self, database: &Database) -> Result<(), ClientError>;

    /// Begin a transaction that writes.
    fn begin(&mut self) -> Result<(), ClientError>;

    /// Read a record, add to every word of it, and write it; its first word afterwards.
    fn change(&mut self, place: Place, by: u64) -> Result<u64, ClientError>;

    /// Put a record into the ring.
    fn put(&mut self, slot: u32, record: &History) -> Result<(), ClientError>;

    /// Make what was written since [`Driver::begin`] durable, as the tactics say.
    fn commit(&mut self) -> Result<(), ClientError>;

    /// Give up what was written since [`Driver::begin`]; harmless if nothing was.
    fn rollback(&mut self) -> Result<(), ClientError>;

    /// Everything that is stored, in one transaction of its own that reads.
    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError>;

    /// Statements sent and round trips made since the driver was opened; `None` where it speaks no
    /// statements.
    fn sent(&self) -> Option<Sent> {
        None
    }

    /// Bytes and ranges that the engine has appended to its log since it was opened; `None` where
    /// nobody counts it.
    fn logged(&self) -> Option<Logged> {
        None
    }

    /// Bytes that the database takes where it is kept, log included.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// The engine's terms, read back from it.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;
}
