//! A copy of the directory, for who looks many keys up in a transaction.

use super::directory::{self, CELLS_BITS};
use super::mixing::prefix;
use crate::error::{LodeError, Result};
use crate::page::{NO_PAGE, PageNumber};
use crate::pages::{Pages, Stamp};

/// A directory of more bits is not copied, since each renewal looks at all of its pages. So many
/// are 32 pages, for some two million entries.
const DEPTH_COPIED_MAX: u32 = CELLS_BITS + 5;

/// A copy of an index's directory, unless that is large: see [`super::Hash::renew`].
#[derive(Debug, Clone, Default)]
pub struct Directory {
    /// The pages that it is a copy of, the root first.
    pages: Vec<(PageNumber, Stamp)>,
    depth: u32,
    /// None where nothing was copied.
    cells: Vec<PageNumber>,
}

impl Directory {
    pub(super) fn renew<P: Pages>(&mut self, pages: &P, root: PageNumber) -> Result<()> {
        let is_its = self.pages.first().is_some_and(|&(first, _)| first == root);
        let is_same = |&(page, stamp): &_| pages.read_stamped(page, stamp, |_| ()).is_some();
        if !is_its || !self.pages.iter().all(is_same) {
            // Nothing, if it cannot be copied.
            *self = Self::default();
            *self = Self::of(pages, root)?;
        }
        Ok(())
    }

    fn of<P: Pages>(pages: &P, root: PageNumber) -> Result<Self> {
        let stamped = |page| Ok::<_, LodeError>((page, pages.read_and_stamp(page, |_| ())?.1));
        let mut copied = Self { pages: vec![stamped(root)?], ..Self::default() };
        let depth = directory::depth(pages, root)?;
        if depth > DEPTH_COPIED_MAX {
            return Ok(copied);
        }
        for page in directory::own_pages(pages, root)? {
            copied.pages.push(stamped(page)?);
        }
        let cells = directory::buckets(pages, root)?;
        if cells.contains(&NO_PAGE) {
            return Err(directory::damaged(root));
        }
        Ok(Self { depth, cells, ..copied })
    }

    /// The first page of a hash's bucket, if the copy says it.
    #[expect(clippy::inline_always, reason = "its answer should stay in registers")]
    #[inline(always)]
    pub(super) fn glance(&self, hash: u64) -> Option<PageNumber> {
        self.cells.get(prefix(hash, self.depth)).copied()
    }
}
