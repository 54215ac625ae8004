//! What an access method asks of the layer below: pages by number, and nothing else.

#[cfg(test)]
pub(crate) mod counting;
#[cfg(test)]
pub(crate) mod memory;

use crate::error::{LodeError, Result};
use crate::page::{FileNumber, PageBytes, PageKind, PageNumber};
use crate::view::View;

/// When a page came to memory or was changed last, as 48 bits that never repeat for a page while
/// the database is open: equal versions mean equal bytes. 0 is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Version(pub u64);

/// Pages within a transaction: what one reads is what has been committed, and one's own changes.
///
/// A reading transaction and a writing one implement this; so does a plain array of pages in tests.
/// Isolation is below: a page that was read or written is locked as the tactics say, and any call
/// may answer [`crate::LodeError::Deadlock`].
pub trait Pages {
    /// Read a page. `inspect` is called again if the page changed or was evicted meanwhile, so it
    /// must have no effect but its result; what it saw the last time was consistent.
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R>;

    /// Read a page if it can be had at once; `None` says nothing, [`Pages::read`] does. For
    /// the fast path; waiting and errors are the caller's slow path.
    fn try_read<R>(&self, _page: PageNumber, _inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        None
    }

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

    /// What the tags of records are mixed with ([`crate::heap`]): a number of the volume's own,
    /// drawn when that was made.
    fn tag_key(&self) -> u64;

    /// Whether the place that a reference names is believed, once the record there carries the tag
    /// that it must: the tactic `swizzle`.
    fn swizzles(&self) -> bool {
        false
    }

    /// Prefetch what lies there in memory into the processor's caches.
    fn prefetch(&self, _page: PageNumber, _at: usize) {}

    /// Change a page. Nobody else sees the page while `change` runs, nor its effect before the
    /// commit. The header's checksum and LSN are not the access method's to touch.
    ///
    /// This and what follows answer [`LodeError::ReadOnly`] where a transaction only reads.
    fn write<R>(
        &mut self,
        _page: PageNumber,
        _change: impl FnOnce(&mut PageBytes) -> R,
    ) -> Result<R> {
        Err(LodeError::ReadOnly)
    }

    /// Make the volume hold at least that many pages; new ones are zeros. Not undone by a rollback.
    /// For [`crate::space`] only.
    fn grow(&mut self, _pages_total: PageNumber) -> Result<()> {
        Err(LodeError::ReadOnly)
    }

    /// Take a free page for a file, formatted as that kind: near the file's last one if possible.
    fn allocate(&mut self, _file: FileNumber, _kind: PageKind) -> Result<PageNumber> {
        Err(LodeError::ReadOnly)
    }

    /// Give a page back.
    fn free(&mut self, _page: PageNumber) -> Result<()> {
        Err(LodeError::ReadOnly)
    }
}
