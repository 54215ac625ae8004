//! The contract of access methods with the layer below: pages by number, and nothing else.
//!
//! To read and to write are two contracts, so that what only reads cannot be asked to write:
//!
//! ```compile_fail,E0277
//! # fn heap_and_database() -> (lode::Heap, lode::Database) { unimplemented!() }
//! let (heap, database) = heap_and_database();
//! let mut reading = database.reading();
//! heap.insert(&mut reading, b"a record", None).unwrap();
//! ```

#[cfg(test)]
pub(crate) mod counting;
#[cfg(test)]
pub(crate) mod memory;
mod pinned;

use std::ops::Range;

use crate::error::Result;
use crate::page::{FileNumber, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::view::View;

pub(crate) use pinned::Keeper;
pub use pinned::Pinned;

/// When a page came to memory or was changed last, as 48 bits that never repeat for a page while
/// the database is open: equal versions mean equal bytes. 0 is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Version(pub u64);

/// Pages within a transaction, to be read: what was committed, and the transaction's own changes.
///
/// Every transaction implements this; so does a plain array of pages in tests. Isolation is below:
/// a page that was read is locked as the tactics say, and any call may answer
/// [`crate::LodeError::Deadlock`]. Nothing has a default here: one that says "never at once" or "no
/// swizzling" would be taken over without anybody deciding so.
pub trait PageRead {
    /// Read a page. `inspect` is called again if the page changed or was evicted meanwhile, so it
    /// must have no effect but its result; what it saw the last time was consistent. What the page
    /// is, and that it is no free one, is for `inspect` to see.
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R>;

    /// Read a page if it can be had at once; `None` says nothing, [`PageRead::read`] does. For the
    /// fast path; waiting and errors are the caller's slow path.
    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R>;

    /// Read a page only if it is in memory and has that version: a direct reference.
    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R>;

    /// Read a page and learn the version that it had then.
    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)>;

    /// Keep a page in memory as this transaction sees it now, to be read as a plain slice for as
    /// long as the answer lives, which may be longer than the transaction.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::PinsFull`] where half of the cache is pinned already. A transaction that
    /// wants to change a page which it has pinned before is reported [`crate::LodeError::Pinned`].
    fn pin(&self, page: PageNumber) -> Result<Pinned>;

    /// A number of the volume's own, drawn when that was made: record tags are mixed with it
    /// (`heap`).
    fn salt(&self) -> u64;

    /// Whether a reference's offset hint is followed, and validated by the record tag that stands
    /// there: the tactic `swizzle`.
    fn swizzles(&self) -> bool;

    /// Whether a walk prefetches the records that it will visit: the tactic `prefetch`. It asks
    /// once, before it begins.
    fn prefetches(&self) -> bool;

    /// Prefetch what lies there in memory into the processor's caches.
    fn prefetch(&self, page: PageNumber, at: usize);

    /// Have a page that will be read soon brought from the disk meanwhile, with its extent: the
    /// tactic `readahead`. Nothing is locked, and nothing is wrong if it is not read after all.
    fn read_ahead(&self, page: PageNumber);

    /// Count that a walk has prefetched so many records.
    fn note_prefetches(&self, count: u64);
}

/// Pages within a transaction that may change them.
pub trait PageWrite: PageRead {
    /// Change a page. Nobody else sees the page while `change` runs, nor its effect before the
    /// commit. The header's checksum and LSN are not the access method's to touch.
    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R>;

    /// Change a range of a page and nothing else: `place` finds it there, or says why not, in which
    /// case nothing has happened, and `change` gets its bytes. With `log=set-range` it is this
    /// range that is logged; [`PageWrite::write`] says the whole page.
    fn write_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>>;

    /// Make the volume hold at least that many pages; new ones are zeros. Not undone by a rollback.
    /// For the layer `space` only.
    fn grow(&mut self, pages_total: PageNumber) -> Result<()>;

    /// Take a free page for a file, formatted as that kind: near the file's last one if possible.
    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber>;

    /// Give a page back.
    fn free(&mut self, page: PageNumber) -> Result<()>;
}
