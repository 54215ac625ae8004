//! The place where the database is, for the program: one implementation for each value of the
//! tactic `place`. All that a driver does is compiled for each, so that neither pays for the other.

use std::sync::Arc;

use lode::internals::page::PageNumber;
use lode::tactics::Tactics;
use lode::{LodeError, MappedPages, Mapping, PageRead, PageWrite};

use super::failure::Result as Filled;
use super::loading::Loading;
use crate::error::ClientError;
use crate::outcome::Logged;

/// A database, and transactions that own a share of it, since a driver keeps them from call to
/// call.
pub trait Place: Send + Sync + Sized + 'static {
    /// As the tactic has it.
    const NAME: &'static str;

    /// The pages of a transaction that reads.
    type Reading: PageRead;

    /// The pages of a transaction that writes.
    type Writing: PageWrite;

    /// A transaction that reads.
    type Reader: Send;

    /// A transaction that writes. Dropped, it is rolled back.
    type Writer: Send;

    /// Open what is at that address.
    fn open(address: &str, tactics: &Tactics) -> Result<Self, ClientError>;

    /// The tactics in force.
    fn tactics(&self) -> &Tactics;

    /// Begin to read.
    fn reader(&self) -> Self::Reader;

    /// The pages that a reader reads.
    fn pages(reader: &Self::Reader) -> &Self::Reading;

    /// Begin to change.
    fn writer(&self) -> Self::Writer;

    /// The pages that a writer changes.
    fn pages_mut(writer: &mut Self::Writer) -> &mut Self::Writing;

    /// Map pages as plain memory, whose stores are found as `detect` says.
    fn map(writer: &mut Self::Writer, pages: &[PageNumber]) -> Result<Mapping, LodeError>;

    /// The pages that a writer reads and changes, mapped pages as they are in memory.
    fn pages_with(writer: &Self::Writer, mapping: Mapping) -> Result<MappedPages<'_>, LodeError>;

    /// The memory.
    fn memory(writer: &mut Self::Writer, mapping: Mapping) -> Result<&mut [u8], LodeError>;

    /// Make it all visible, and durable as the tactics say.
    fn commit(writer: Self::Writer) -> Result<(), LodeError>;

    /// A new database in place of the one at that address, filled, and durable at return. `open`
    /// is the one that is open there; it stays so where a place refuses. `parts`: how many records
    /// there will be, about.
    fn load<T>(
        address: &str,
        tactics: &Tactics,
        open: &mut Option<Arc<Self>>,
        parts: u64,
        fill: impl FnOnce(&mut Loading<'_>) -> Filled<T>,
    ) -> Result<T, ClientError>;

    /// Bytes and ranges appended to the log; `None` where that is another's.
    fn logged(&self) -> Option<Logged>;

    /// Whether the kernel is asked for huge pages behind the cache now, whatever was requested.
    fn is_huge(&self) -> bool;

    /// Of both files.
    fn size_bytes(address: &str) -> Result<u64, ClientError>;
}
