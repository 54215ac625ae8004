//! B+trees: byte strings in order, each with a value.
//!
//! Keys are unique and compare as byte strings; who has numbers writes them big-endian, who has
//! duplicates makes them unique by a suffix. Nothing here knows of transactions: isolation and
//! atomicity are [`Pages`]'s. After an error a change may have happened in part, so the transaction
//! has to be rolled back.
//!
//! The parts that make a page fast and small:
//!
//! * what all its keys begin with is stored once (Bayer and Unterauer 1977), so that the keys of a
//!   page mostly differ in their next four bytes;
//! * these stand in the slots as a number, so that a search mostly touches nothing else, and finds
//!   the place at once where the numbers are about equally far from each other;
//! * separators in inner pages are as short as can be.
//!
//! The root keeps its page for ever, at any height. Leaves are chained both ways. Pages that become
//! empty are given back at once, pages that become a third full are merged with a neighbour below
//! the same parent where both fit. A leaf that is full is split in the middle, or, where keys come
//! in ascending or descending order, at its end, so that it stays full.

mod bulk;
mod bytes;
mod change;
mod check;
mod cursor;
mod destroy;
mod layout;
mod leaves;
mod node;
mod search;
mod split;
#[cfg(test)]
mod tests;
mod unpacked_node;

use std::ops::RangeBounds;

use crate::error::{LodeError, Result};
use crate::page::{FileNumber, NO_PAGE, PAGE_BYTES, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

pub use bytes::Bytes;
pub use check::{Census, check};
pub use cursor::Cursor;
pub use layout::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
pub use leaves::{LeafCursor, PinnedLeaf};
pub use search::Values;

/// A B+tree, known by its root page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Btree {
    root: PageNumber,
}

impl Btree {
    /// Make an empty tree, whose pages belong to `file`.
    pub fn create(pages: &mut impl PageWrite, file: FileNumber) -> Result<Self> {
        let root = pages.allocate(file, PageKind::BtreeLeaf)?;
        let empty = unpacked_node::UnpackedNode::new(0, file);
        pages.write(root, |bytes| empty.write_to(bytes))?;
        Ok(Self { root })
    }

    /// The tree with that root. Whether it is one is seen when it is used.
    pub const fn open(root: PageNumber) -> Self {
        Self { root }
    }

    /// The page of the root, for the catalog.
    pub const fn root(self) -> PageNumber {
        self.root
    }

    /// Read the value of a key, if it is there. `inspect` may be called more than once, and what
    /// it answered the last time is the result.
    #[inline]
    pub fn get<P: PageRead, R>(
        self,
        pages: &P,
        key: &[u8],
        mut inspect: impl FnMut(Bytes<'_>) -> R,
    ) -> Result<Option<R>> {
        let choose = |view: View<'_>| search::find_child(view, key);
        let found = search::descend(
            pages,
            self.root,
            choose,
            |_, _| {},
            |view| {
                let (position, equal) = search::find_in_leaf(view, key);
                if equal {
                    search::value(view, position).map(|value| Some(inspect(value)))
                } else {
                    Ok(None)
                }
            },
        );
        Ok(found?.1)
    }

    /// Put a value at a key, and answer the value that it replaces.
    ///
    /// # Errors
    ///
    /// [`LodeError::TooLong`] beyond [`KEY_BYTES_MAX`] or [`VALUE_BYTES_MAX`].
    pub fn put(
        self,
        pages: &mut impl PageWrite,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        change::put(pages, self.root, key, value, true)
    }

    /// Put a value at a key that is not there; answers whether it was so. A value that is there
    /// stays.
    ///
    /// # Errors
    ///
    /// [`LodeError::TooLong`] beyond [`KEY_BYTES_MAX`] or [`VALUE_BYTES_MAX`].
    pub fn insert(self, pages: &mut impl PageWrite, key: &[u8], value: &[u8]) -> Result<bool> {
        Ok(change::put(pages, self.root, key, value, false)?.is_none())
    }

    /// Remove a key, and answer its value if it was there.
    pub fn remove(self, pages: &mut impl PageWrite, key: &[u8]) -> Result<Option<Vec<u8>>> {
        change::remove(pages, self.root, key)
    }

    /// Put many entries into the tree. As long as it is empty and the keys ascend, pages are filled
    /// one after another up to `fill_percent`, which leaves room for later insertions; entries from
    /// the first on whose key does not ascend are put in singly. Of equal keys the last one stays.
    ///
    /// # Errors
    ///
    /// [`LodeError::TooLong`] beyond [`KEY_BYTES_MAX`] or [`VALUE_BYTES_MAX`].
    pub fn bulk_load<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        self,
        pages: &mut impl PageWrite,
        entries: impl IntoIterator<Item = (K, V)>,
        fill_percent: u8,
    ) -> Result<()> {
        let limit_bytes = PAGE_BYTES * usize::from(fill_percent.min(100)) / 100;
        bulk::load(pages, self, entries, limit_bytes)
    }

    /// Give all pages back, the root too.
    pub fn destroy(self, pages: &mut impl PageWrite) -> Result<()> {
        destroy::destroy(pages, self.root)
    }

    /// The entries whose keys lie in `range`, in ascending order.
    pub fn forwards<P: PageRead>(
        self,
        pages: &P,
        range: impl RangeBounds<[u8]>,
    ) -> Result<Cursor<'_, P>> {
        let mut cursor = Cursor::new(pages, self.root, cursor::Direction::Forwards);
        cursor.seek(range)?;
        Ok(cursor)
    }

    /// Read the values of the keys from `first` up to `end`, in ascending order, where they lie;
    /// `None` if they do not all lie in one leaf. Cheaper than a cursor where there are few, since
    /// nothing is copied.
    #[inline]
    pub fn read_between<P: PageRead, R>(
        self,
        pages: &P,
        first: &[u8],
        end: &[u8],
        mut inspect: impl FnMut(Values<'_>) -> R,
    ) -> Result<Option<R>> {
        let choose = |view: View<'_>| search::find_child(view, first);
        let found = search::descend(
            pages,
            self.root,
            choose,
            |_, _| {},
            |view| {
                let (from, _) = search::find_in_leaf(view, first);
                let to = search::find_in_leaf_from(view, from, end);
                // Behind the leaf's last key there may be more in the next.
                let is_all = to < search::leaf_count(view) || view.next() == NO_PAGE;
                Ok(is_all.then(|| inspect(Values::of(view, from..to))))
            },
        );
        Ok(found?.1)
    }

    /// The entries whose keys lie in `range`, in descending order.
    pub fn backwards<P: PageRead>(
        self,
        pages: &P,
        range: impl RangeBounds<[u8]>,
    ) -> Result<Cursor<'_, P>> {
        let mut cursor = Cursor::new(pages, self.root, cursor::Direction::Backwards);
        cursor.seek(range)?;
        Ok(cursor)
    }
}

/// That a key and its value are not too long.
fn admit(key: &[u8], value: &[u8]) -> Result<()> {
    let too_long = |what, bytes, bytes_max| Err(LodeError::TooLong { what, bytes, bytes_max });
    if key.len() > KEY_BYTES_MAX {
        return too_long("a key", key.len(), KEY_BYTES_MAX);
    }
    if value.len() > VALUE_BYTES_MAX {
        return too_long("a value", value.len(), VALUE_BYTES_MAX);
    }
    Ok(())
}
