//! A copy of the directory, for looking many keys up in a transaction.

use super::directory::{self, CELLS_BITS};
use super::mixing::prefix;
use crate::error::{LodeError, Result};
use crate::page::{NO_PAGE, PageNumber};
use crate::pages::{PageRead, Version};

/// A directory of more bits is not copied, since each refresh reads all of its pages. So many
/// are 32 pages, for some two million entries.
const DEPTH_COPIED_MAX: u32 = CELLS_BITS + 5;

/// A copy of an index's directory, unless that is large: see [`super::Hash::refresh`].
#[derive(Debug, Clone, Default)]
pub struct Directory {
    /// The pages that it is a copy of, the root first.
    pages: Vec<(PageNumber, Version)>,
    depth: u32,
    /// None where nothing was copied.
    cells: Vec<PageNumber>,
}

impl Directory {
    pub(super) fn refresh<P: PageRead>(&mut self, pages: &P, root: PageNumber) -> Result<()> {
        let is_its = self.pages.first().is_some_and(|&(first, _)| first == root);
        let is_same =
            |&(page, version): &_| pages.try_read_version(page, version, |_| ()).is_some();
        if !is_its || !self.pages.iter().all(is_same) {
            // Nothing, if it cannot be copied.
            *self = Self::default();
            *self = Self::of(pages, root)?;
        }
        Ok(())
    }

    fn of<P: PageRead>(pages: &P, root: PageNumber) -> Result<Self> {
        let versioned = |page| Ok::<_, LodeError>((page, pages.read_with_version(page, |_| ())?.1));
        let mut copied = Self { pages: vec![versioned(root)?], ..Self::default() };
        let depth = directory::depth(pages, root)?;
        if depth > DEPTH_COPIED_MAX {
            return Ok(copied);
        }
        for page in directory::own_pages(pages, root)? {
            copied.pages.push(versioned(page)?);
        }
        let cells = directory::buckets(pages, root)?;
        if cells.contains(&NO_PAGE) {
            return Err(directory::corrupt(root));
        }
        Ok(Self { depth, cells, ..copied })
    }

    /// The first page of a hash's bucket, if the copy says it.
    #[expect(clippy::inline_always, reason = "its answer should stay in registers")]
    #[inline(always)]
    pub(super) fn bucket_of(&self, hash: u64) -> Option<PageNumber> {
        self.cells.get(prefix(hash, self.depth)).copied()
    }
}
