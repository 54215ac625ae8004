//! A range as leaves: each pinned, with the places of its values, so that what lies there in the
//! order of the keys is read where it lies.

use std::ops::{Bound, Range, RangeBounds};

use crate::error::{LodeError, Result};
use crate::page::{NO_PAGE, PageNumber};
use crate::pages::{PageRead, Pinned};
use crate::view::View;

use super::Btree;
use super::cursor::{Direction, boundary, follows, rest};
use super::search;

/// A leaf, pinned, and those of its entries that lie in the range.
#[derive(Debug)]
pub struct PinnedLeaf {
    page: Pinned,
    positions: Range<usize>,
    values: Vec<(u16, u16)>,
}

impl PinnedLeaf {
    /// The number of entries; in a range that begins or ends here it may be none.
    pub const fn count(&self) -> usize {
        self.values.len()
    }

    /// An entry's value. Panics beyond [`PinnedLeaf::count`].
    pub fn value(&self, index: usize) -> &[u8] {
        let (at, len) = self.values[index];
        &self.page[usize::from(at)..][..usize::from(len)]
    }

    /// For each entry, where its value lies in the page, in bytes, at any offset, and its length.
    pub fn values(&self) -> &[(u16, u16)] {
        &self.values
    }

    /// Append an entry's key, which a leaf holds in parts.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] if the parts do not lie in the page.
    pub fn append_key(&self, index: usize, into: &mut Vec<u8>) -> Result<()> {
        let appended = search::append_key(self.page.view(), self.positions.start + index, into);
        appended.map_err(|corruption| LodeError::corrupt_page(self.page.page(), corruption))
    }

    /// The page itself.
    pub const fn page(&self) -> &Pinned {
        &self.page
    }
}

/// The leaves of a range in ascending order. The tree must stay as it is until the walk ends: it
/// goes on where the leaf before said.
pub struct LeafCursor {
    leaf: PageNumber,
    /// The leaf before this one, and its last key; none at the range's beginning.
    before: Option<(PageNumber, Vec<u8>)>,
    near: Bound<Vec<u8>>,
    far: Bound<Vec<u8>>,
}

impl Btree {
    /// The leaves that hold the entries of a range, pinned one by one.
    ///
    /// # Errors
    ///
    /// As [`Btree::forwards`].
    pub fn leaves(
        self,
        pages: &impl PageRead,
        range: impl RangeBounds<[u8]>,
    ) -> Result<LeafCursor> {
        let (near, far) = (range.start_bound(), range.end_bound());
        let choose = |view: View<'_>| match near {
            Bound::Included(key) | Bound::Excluded(key) => search::find_child(view, key),
            Bound::Unbounded => 0,
        };
        let (leaf, ()) = search::descend(pages, self.root(), choose, |_, _| {}, |_| Ok(()))?;
        let [near, far] = [near, far].map(|bound| bound.map(<[u8]>::to_vec));
        Ok(LeafCursor { leaf, before: None, near, far })
    }
}

impl LeafCursor {
    /// The next leaf, until there are no more.
    ///
    /// # Errors
    ///
    /// As [`Btree::forwards`] and [`PageRead::pin`].
    pub fn next_leaf(&mut self, pages: &impl PageRead) -> Result<Option<PinnedLeaf>> {
        if self.leaf == NO_PAGE {
            return Ok(None);
        }
        let page = pages.pin(self.leaf)?;
        let (leaf, last, following) =
            self.take(page).map_err(|corruption| LodeError::corrupt_page(self.leaf, corruption))?;
        self.before = Some((self.leaf, last));
        self.leaf = following;
        Ok(Some(leaf))
    }

    /// The part of a leaf that lies in the range, its last key, and the leaf that follows.
    fn take(&self, page: Pinned) -> Result<(PinnedLeaf, Vec<u8>, PageNumber), &'static str> {
        let view = page.view();
        let near = match &self.before {
            None => {
                let near = self.near.as_ref().map(Vec::as_slice);
                Some(boundary(view, near, false))
            }
            Some((before, last)) => {
                follows(view, Direction::Forwards, *before, Some(last))?;
                None
            }
        };
        let rest = rest(view, Direction::Forwards, near, self.far.as_ref().map(Vec::as_slice));
        let positions = rest.from..rest.to.max(rest.from);
        let mut values = Vec::with_capacity(positions.len());
        for position in positions.clone() {
            let (at, len) = search::value(view, position)?.place();
            values.push((at as u16, len as u16));
        }
        let mut last = Vec::new();
        if let Some(position) = search::leaf_count(view).checked_sub(1) {
            search::append_key(view, position, &mut last)?;
        }
        Ok((PinnedLeaf { page, positions, values }, last, rest.following))
    }
}
