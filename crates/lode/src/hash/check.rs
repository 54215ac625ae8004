//! Whether an index is as it should be.

use std::collections::HashSet;

use super::bucket::{self, misplaced};
use super::directory::{self, DEPTH_MAX};
use super::mixing::{mix, prefix};
use super::table::{self, ENTRIES_MAX, QUARTER};
use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, NO_PAGE, PageBytes, PageNumber, u32_at};
use crate::pages::PageRead;

/// The counts of an index's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Keys with their values: a key counts once for each.
    pub entries: u64,
    /// Buckets, each of one page or more.
    pub buckets: u32,
    /// Pages that buckets have besides their first.
    pub pages_behind: u32,
    /// Pages that the directory has besides the root.
    pub directory_pages: u32,
    /// Bits of the hash that the directory distinguishes.
    pub depth: u32,
}

impl Summary {
    /// All pages, with the root.
    pub const fn pages(&self) -> u32 {
        1 + self.directory_pages + self.buckets + self.pages_behind
    }
}

struct Walk<'p, P> {
    pages: &'p P,
    file: FileNumber,
    met: HashSet<PageNumber>,
    summary: Summary,
}

pub(super) fn check<P: PageRead>(pages: &P, root: PageNumber) -> Result<Summary> {
    let depth = directory::depth(pages, root)?;
    let own = directory::own_pages(pages, root)?;
    let cells = directory::buckets(pages, root)?;
    let summary = Summary { depth, directory_pages: own.len() as u32, ..Summary::default() };
    let file = directory::file(pages, root)?;
    let mut walk = Walk { pages, file, met: HashSet::from([root]), summary };
    for page in own {
        let bytes = pages.read(page, super::copy)?;
        walk.meet(page, &bytes)?;
    }
    let mut index = 0;
    let mut sibling: Option<Box<PageBytes>> = None;
    while index < cells.len() {
        let first = cells[index];
        let bytes = bucket::copy(pages, first)?;
        let own = table::depth(&bytes);
        if own > depth {
            return Err(misplaced(first));
        }
        let cells_own = 1 << (depth - own);
        let is_aligned = index.is_multiple_of(cells_own);
        if !is_aligned || cells[index..index + cells_own].iter().any(|&cell| cell != first) {
            return Err(LodeError::corrupt_page(root, "a bucket has other cells than its own"));
        }
        let prefix_own = index >> (depth - own);
        walk.bucket(first, own, prefix_own)?;
        if let Some(sibling) = &sibling
            && prefix_own & 1 == 1
            && [sibling, &bytes].into_iter().all(|bytes| is_nearly_empty(bytes, own))
        {
            return Err(LodeError::corrupt_page(first, "its sibling should have been merged in"));
        }
        sibling = Some(bytes);
        index += cells_own;
    }
    if depth > 0 && cells.chunks(2).all(|pair| pair[0] == pair[1]) {
        return Err(LodeError::corrupt_page(root, "the directory should have been halved"));
    }
    Ok(walk.summary)
}

impl<P: PageRead> Walk<'_, P> {
    fn meet(&mut self, page: PageNumber, bytes: &PageBytes) -> Result<()> {
        if u32_at(bytes, page::offset::FILE) != self.file {
            return Err(LodeError::corrupt_page(page, "it belongs to another file than its index"));
        }
        if self.met.insert(page) {
            return Ok(());
        }
        Err(LodeError::corrupt_page(page, "two places of one hash index lead there"))
    }

    fn bucket(&mut self, first: PageNumber, depth: u32, prefix_own: usize) -> Result<()> {
        let mut page = first;
        let mut hashes = Vec::new();
        for place in 0_u32.. {
            let bytes = bucket::copy(self.pages, page)?;
            self.meet(page, &bytes)?;
            let corruption =
                table::corruption(&bytes).or_else(|| corruption_of_place(&bytes, place, depth));
            if let Some(how) = corruption {
                return Err(LodeError::corrupt_page(page, how));
            }
            hashes.extend(table::entries(&bytes).map(|(key, _)| mix(key)));
            self.summary.entries += table::count(&bytes) as u64;
            self.summary.pages_behind += u32::from(place > 0);
            page = table::next(&bytes);
            if page == NO_PAGE {
                break;
            }
        }
        if hashes.iter().any(|&hash| prefix(hash, depth) != prefix_own) {
            return Err(LodeError::corrupt_page(first, "an entry belongs to another bucket"));
        }
        self.summary.buckets += 1;
        Ok(())
    }
}

/// All pages of a bucket are full, save the second, and the first if it is alone.
fn corruption_of_place(bytes: &PageBytes, place: u32, depth: u32) -> Option<&'static str> {
    let is_full = table::count(bytes) == ENTRIES_MAX;
    let is_alone = place == 0 && table::next(bytes) == NO_PAGE;
    if table::depth(bytes) != depth || depth > DEPTH_MAX {
        Some("it has another depth than its bucket")
    } else if table::count(bytes) == 0 && place > 0 {
        Some("it is empty and should have been given back")
    } else if !is_full && !is_alone && place != 1 {
        Some("it has room that the pages behind should have filled")
    } else {
        None
    }
}

/// Buckets of one depth beside each other, both nearly empty, merge.
fn is_nearly_empty(bytes: &PageBytes, depth: u32) -> bool {
    depth > 0
        && table::depth(bytes) == depth
        && table::count(bytes) < QUARTER
        && table::next(bytes) == NO_PAGE
}
