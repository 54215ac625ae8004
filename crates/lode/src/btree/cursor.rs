//! Walking through the entries of a range.

use std::ops::{Bound, Range, RangeBounds};

use crate::error::{LodeError, Result};
use crate::page::{NO_PAGE, PageKind, PageNumber};
use crate::pages::PageRead;
use crate::view::View;

use super::layout::Corruption;
use super::search::{self, append_key, find_in_leaf, leaf_count};

/// Entries that a cursor copies out at first; each time it comes back for more, it takes four times
/// as many, so that a range of three does not pay for a page, and a long one not for each entry.
const BATCH_FIRST: usize = 4;

/// Room for the first entries, if they are short.
const TEXT_BYTES_FIRST: usize = 256;

/// Which way a cursor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forwards,
    Backwards,
}

/// The entries of a range, one after another. It borrows the pages, so that the tree stays as it is
/// while the cursor lives.
pub struct Cursor<'p, P> {
    pages: &'p P,
    root: PageNumber,
    direction: Direction,
    /// The place where the range ends in the cursor's direction.
    far: Bound<Vec<u8>>,
    leaf: PageNumber,
    /// The entries still to be copied from the leaf.
    rest: Rest,
    batch: usize,
    copied: Copied,
    /// Entries of those copied that have been handed out.
    handed: usize,
}

/// Positions in a leaf that lie in the range and have not been copied.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rest {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The next leaf of the walk; none where the range or the chain ends.
    pub(super) following: PageNumber,
}

/// Entries outside the pages.
struct Copied {
    text: Vec<u8>,
    /// The place where each entry's key begins, where its value does, and where that ends.
    entries: Vec<(u32, u32, u32)>,
}

impl Copied {
    fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
    }

    fn take(&mut self, view: View<'_>, position: usize) -> Result<(), Corruption> {
        let key_at = self.text.len() as u32;
        append_key(view, position, &mut self.text)?;
        let value_at = self.text.len() as u32;
        search::value(view, position)?.append_to(&mut self.text);
        self.entries.push((key_at, value_at, self.text.len() as u32));
        Ok(())
    }

    fn entry(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let &(key_at, value_at, end) = self.entries.get(index)?;
        let text = |range: Range<u32>| &self.text[range.start as usize..range.end as usize];
        Some((text(key_at..value_at), text(value_at..end)))
    }
}

impl<'p, P: PageRead> Cursor<'p, P> {
    pub(super) fn new(pages: &'p P, root: PageNumber, direction: Direction) -> Self {
        Self {
            pages,
            root,
            direction,
            far: Bound::Unbounded,
            leaf: NO_PAGE,
            rest: Rest::default(),
            batch: BATCH_FIRST,
            copied: Copied {
                text: Vec::with_capacity(TEXT_BYTES_FIRST),
                entries: Vec::with_capacity(BATCH_FIRST),
            },
            handed: 0,
        }
    }

    /// Go to the beginning of another range, or to its end if the cursor goes backwards. Cheaper
    /// than another cursor.
    pub fn seek(&mut self, range: impl RangeBounds<[u8]>) -> Result<()> {
        let (near, far) = match self.direction {
            Direction::Forwards => (range.start_bound(), range.end_bound()),
            Direction::Backwards => (range.end_bound(), range.start_bound()),
        };
        (self.handed, self.batch) = (0, BATCH_FIRST);
        let (direction, copied) = (self.direction, &mut self.copied);
        let choose = |view: View<'_>| match (near, direction) {
            (Bound::Included(key) | Bound::Excluded(key), _) => search::find_child(view, key),
            (Bound::Unbounded, Direction::Forwards) => 0,
            (Bound::Unbounded, Direction::Backwards) => search::last_child(view),
        };
        let copy_first = |view: View<'_>| {
            let near = match near {
                Bound::Unbounded => None,
                bound => Some(boundary(view, bound, direction == Direction::Backwards)),
            };
            let mut rest = rest(view, direction, near, far);
            copy(view, direction, &mut rest, BATCH_FIRST, copied)?;
            Ok(rest)
        };
        (self.leaf, self.rest) =
            search::descend(self.pages, self.root, choose, |_, _| {}, copy_first)?;
        self.far = far.map(<[u8]>::to_vec);
        Ok(())
    }

    /// The next entry's key and value, until there are no more.
    pub fn entry(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.handed == self.copied.entries.len() {
            self.fill()?;
        }
        let entry = self.copied.entry(self.handed);
        self.handed += usize::from(entry.is_some());
        Ok(entry)
    }

    /// Copy more entries, if there are.
    fn fill(&mut self) -> Result<()> {
        self.batch = self.batch.saturating_mul(4);
        self.handed = 0;
        if self.rest.from < self.rest.to {
            let (rest, direction, batch) = (self.rest, self.direction, self.batch);
            let copied = &mut self.copied;
            let more = self.pages.read(self.leaf, |view| {
                let mut rest = rest;
                copy(view, direction, &mut rest, batch, copied).map(|()| rest)
            })?;
            self.rest =
                more.map_err(|corruption| LodeError::corrupt_page(self.leaf, corruption))?;
            return Ok(());
        }
        let last = self.copied.entries.len().checked_sub(1);
        let last = last.and_then(|last| self.copied.entry(last)).map(|(key, _)| key.to_vec());
        self.copied.clear();
        if self.rest.following == NO_PAGE {
            return Ok(());
        }
        let (direction, batch, here) = (self.direction, self.batch, self.leaf);
        let (far, copied) = (self.far.as_ref().map(Vec::as_slice), &mut self.copied);
        let leaf = self.rest.following;
        let more = self.pages.read(leaf, |view| {
            follows(view, direction, here, last.as_deref())?;
            let mut rest = rest(view, direction, None, far);
            copy(view, direction, &mut rest, batch, copied).map(|()| rest)
        })?;
        self.rest = more.map_err(|corruption| LodeError::corrupt_page(leaf, corruption))?;
        self.leaf = leaf;
        Ok(())
    }
}

/// The number of the leaf's keys that are before a bound. What lies at the bound itself is before
/// it if `above` and the bound includes it, or if neither.
pub(super) fn boundary(view: View<'_>, bound: Bound<&[u8]>, above: bool) -> usize {
    let (key, over) = match bound {
        Bound::Included(key) => (key, above),
        Bound::Excluded(key) => (key, !above),
        Bound::Unbounded => return if above { leaf_count(view) } else { 0 },
    };
    let (position, equal) = find_in_leaf(view, key);
    position + usize::from(equal && over)
}

/// The part of a leaf that lies in the range: from `near` on if that is known, else from the leaf's
/// own beginning, up to the bound that is far.
pub(super) fn rest(
    view: View<'_>,
    direction: Direction,
    near: Option<usize>,
    far: Bound<&[u8]>,
) -> Rest {
    let count = leaf_count(view);
    let (from, to, following, goes_on) = match direction {
        Direction::Forwards => {
            let to = boundary(view, far, true);
            (near.unwrap_or(0), to, view.next(), to == count)
        }
        Direction::Backwards => {
            let from = boundary(view, far, false);
            (from, near.unwrap_or(count), view.previous(), from == 0)
        }
    };
    Rest { from, to, following: if goes_on { following } else { NO_PAGE } }
}

/// Copy up to `batch` entries out of what is left of a leaf.
fn copy(
    view: View<'_>,
    direction: Direction,
    rest: &mut Rest,
    batch: usize,
    copied: &mut Copied,
) -> Result<(), Corruption> {
    copied.clear();
    let take = rest.to.saturating_sub(rest.from).min(batch);
    match direction {
        Direction::Forwards => {
            (rest.from..rest.from + take).try_for_each(|at| copied.take(view, at))?;
            rest.from += take;
        }
        Direction::Backwards => {
            (rest.to - take..rest.to).rev().try_for_each(|at| copied.take(view, at))?;
            rest.to -= take;
        }
    }
    Ok(())
}

/// That a leaf is what the chain says. Keys go on from leaf to leaf, so a walk ends even if the
/// chain were a circle.
pub(super) fn follows(
    view: View<'_>,
    direction: Direction,
    here: PageNumber,
    last: Option<&[u8]>,
) -> Result<(), Corruption> {
    let count = leaf_count(view);
    let (back, between) = match direction {
        Direction::Forwards => (view.previous(), (0, false)),
        Direction::Backwards => (view.next(), (count, false)),
    };
    let leaf = view.kind() == PageKind::BtreeLeaf as u8 && view.level() == 0;
    if !leaf || back != here {
        return Err("its neighbour in the chain is another");
    }
    if count == 0 || last.is_some_and(|last| find_in_leaf(view, last) != between) {
        return Err("its keys do not follow its neighbour's");
    }
    Ok(())
}
