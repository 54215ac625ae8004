//! Whether a tree is whole.

use crate::error::{LodeError, Result};
use crate::page::{FileNumber, NO_PAGE, PageNumber};
use crate::pages::PageRead;

use super::unpacked_node::UnpackedNode;

/// The counts of a walk over a whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Census {
    /// Levels, the leaves' included: 1 for a tree that is only a root.
    pub levels: usize,
    /// Inner pages.
    pub inner_pages: usize,
    /// Leaves.
    pub leaves: usize,
    /// Entries of leaves.
    pub entries: usize,
    /// Bytes that leaves need for their entries, headers included.
    pub leaf_bytes: usize,
}

/// Walk over a whole tree and check it: each page's slots, entries and order; that keys lie between
/// the separators above them; that levels descend by one and all pages are of one file; that the
/// chain of the leaves is their order, both ways, and none but a root is empty.
///
/// # Errors
///
/// [`LodeError::Corrupt`] with the first page that contradicts.
pub fn check(pages: &impl PageRead, root: PageNumber) -> Result<Census> {
    let top = UnpackedNode::read(pages, root)?;
    let mut walk =
        Walk { pages, file: top.file, census: Census::default(), leaf: NO_PAGE, next: NO_PAGE };
    walk.census.levels = usize::from(top.level) + 1;
    if top.level > 0 && top.count() == 0 {
        return Err(LodeError::corrupt_page(root, "a root has a single child"));
    }
    if top.level > 0 || top.count() > 0 {
        walk.page(root, top.level, None, None)?;
    } else {
        walk.census = Census { leaves: 1, leaf_bytes: top.page_bytes(), ..walk.census };
        walk.next = top.next;
    }
    if walk.next != NO_PAGE {
        return Err(LodeError::corrupt_page(walk.leaf, "the chain goes on after the last leaf"));
    }
    Ok(walk.census)
}

struct Walk<'p, P> {
    pages: &'p P,
    file: FileNumber,
    census: Census,
    /// The leaf visited last, and the one that it says is next.
    leaf: PageNumber,
    next: PageNumber,
}

impl<P: PageRead> Walk<'_, P> {
    /// Check a page and those below it; its keys must be at least `low` and below `high`. Levels
    /// descend and no range of keys is visited twice, so the walk ends.
    fn page(
        &mut self,
        page: PageNumber,
        level: u8,
        low: Option<&[u8]>,
        high: Option<&[u8]>,
    ) -> Result<()> {
        let corrupt = |how: &str| Err(LodeError::corrupt_page(page, how));
        let unpacked = UnpackedNode::read(self.pages, page)?;
        if unpacked.level != level || unpacked.file != self.file {
            return corrupt("its level or file is another than above it");
        }
        if let Some(last) = unpacked.count().checked_sub(1) {
            let below = low.is_some_and(|low| unpacked.key(0) < low);
            if below || high.is_some_and(|high| unpacked.key(last) >= high) {
                return corrupt("its keys do not lie between the separators above it");
            }
        }
        if level > 0 {
            self.census.inner_pages += 1;
            if unpacked.next != NO_PAGE || unpacked.previous != NO_PAGE {
                return corrupt("an inner page is in a chain");
            }
            return self.children(&unpacked, low, high);
        }
        if unpacked.count() == 0 {
            return corrupt("a leaf is empty");
        }
        let first = self.leaf == NO_PAGE;
        if unpacked.previous != self.leaf || !first && self.next != page {
            return corrupt("it is not where the chain of leaves has it");
        }
        (self.leaf, self.next) = (page, unpacked.next);
        self.census.leaves += 1;
        self.census.entries += unpacked.count();
        self.census.leaf_bytes += unpacked.page_bytes();
        Ok(())
    }

    fn children(
        &mut self,
        unpacked: &UnpackedNode,
        low: Option<&[u8]>,
        high: Option<&[u8]>,
    ) -> Result<()> {
        for index in 0..=unpacked.count() {
            let low = index.checked_sub(1).map_or(low, |position| Some(unpacked.key(position)));
            let high = if index < unpacked.count() { Some(unpacked.key(index)) } else { high };
            self.page(unpacked.child(index), unpacked.level - 1, low, high)?;
        }
        Ok(())
    }
}
