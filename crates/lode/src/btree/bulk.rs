//! Filling an empty tree from below: leaves one after another, and above them, as each page is
//! full, the pages that name them.

use std::mem;

use crate::error::{LodeError, Result};
use crate::page::{FileNumber, NO_PAGE, PAGE_BYTES, PageNumber, offset};
use crate::pages::PageWrite;
use crate::view::View;

use super::layout::{LEVELS_MAX, kind};
use super::split::separator_bytes;
use super::unpacked_node::{Item, Size, UnpackedNode};
use super::{Btree, admit, search};

/// Fill the tree; see [`Btree::bulk_load`].
pub(super) fn load<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    pages: &mut impl PageWrite,
    tree: Btree,
    entries: impl IntoIterator<Item = (K, V)>,
    limit_bytes: usize,
) -> Result<()> {
    let mut entries = entries.into_iter();
    let root = tree.root();
    let empty = |view: View<'_>| Ok(search::leaf_count(view) == 0);
    let (leaf, empty) = search::descend(&*pages, root, |_| 0, |_, _| {}, empty)?;
    let mut single = None;
    if leaf == root && empty {
        let file = pages.read(root, |view| view.u32(offset::FILE))?;
        let mut loader = Loader { pages: &mut *pages, file, limit_bytes, levels: Vec::new() };
        loader.levels.push(Level::new(UnpackedNode::new(0, file)));
        for (key, value) in entries.by_ref() {
            admit(key.as_ref(), value.as_ref())?;
            if !loader.append(&Item::value(key.as_ref(), value.as_ref()))? {
                single = Some((key, value));
                break;
            }
        }
        loader.finish(root)?;
    }
    for (key, value) in single.into_iter().chain(entries) {
        tree.put(pages, key.as_ref(), value.as_ref())?;
    }
    Ok(())
}

/// The last page of a level, which is being filled.
struct Level {
    unpacked: UnpackedNode,
    size: Size,
    /// Its page, or none as long as it may become the root.
    page: PageNumber,
}

impl Level {
    fn new(unpacked: UnpackedNode) -> Self {
        Self { unpacked, size: Size::default(), page: NO_PAGE }
    }

    /// Append an entry, if the page is empty or stays within the limit.
    fn take(&mut self, item: &Item<'_>, limit_bytes: usize) -> bool {
        let size = self.unpacked.size_with(item, self.size);
        let fits = size.page_bytes <= limit_bytes || self.unpacked.count() == 0;
        if fits {
            self.size = size;
            self.unpacked.push(item);
        }
        fits
    }
}

struct Loader<'p, P> {
    pages: &'p mut P,
    file: FileNumber,
    limit_bytes: usize,
    levels: Vec<Level>,
}

impl<P: PageWrite> Loader<'_, P> {
    /// Append an entry, if its key is above all others.
    fn append(&mut self, item: &Item<'_>) -> Result<bool> {
        debug_assert!(self.limit_bytes <= PAGE_BYTES);
        let leaf = &mut self.levels[0];
        let Some(last) = leaf.unpacked.count().checked_sub(1) else {
            return Ok(leaf.take(item, self.limit_bytes));
        };
        let last = leaf.unpacked.key(last);
        if item.key <= last {
            return Ok(false);
        }
        let separator_bytes = separator_bytes(last, item.key);
        if leaf.take(item, self.limit_bytes) {
            return Ok(true);
        }
        let (left, right) = self.next_page(0)?;
        let taken = self.levels[0].take(item, self.limit_bytes);
        self.raise(&item.key[..separator_bytes], left, right)?;
        Ok(taken)
    }

    /// Write a level's page and begin the next; answers both numbers.
    fn next_page(&mut self, level: usize) -> Result<(PageNumber, PageNumber)> {
        let kind = kind(level as u8);
        if self.levels[level].page == NO_PAGE {
            self.levels[level].page = self.pages.allocate(self.file, kind)?;
        }
        let next = self.pages.allocate(self.file, kind)?;
        let mut full = mem::replace(
            &mut self.levels[level],
            Level { page: next, ..Level::new(UnpackedNode::new(level as u8, self.file)) },
        );
        if level == 0 {
            full.unpacked.next = next;
            self.levels[level].unpacked.previous = full.page;
        }
        self.pages.write(full.page, |bytes| full.unpacked.write_to(bytes))?;
        Ok((full.page, next))
    }

    /// Report the levels above that `right`, with the keys from `separator` on, follows `left`.
    fn raise(&mut self, separator: &[u8], left: PageNumber, right: PageNumber) -> Result<()> {
        let (mut left, mut right) = (left, right);
        for level in 1..=LEVELS_MAX {
            let at = usize::from(level);
            if at == self.levels.len() {
                let mut unpacked = UnpackedNode::new(level, self.file);
                unpacked.first_child = left;
                self.levels.push(Level::new(unpacked));
            }
            if self.levels[at].take(&Item::child(separator, right), self.limit_bytes) {
                return Ok(());
            }
            // The full page's successor begins with the child; its separator goes further up.
            let first_child = right;
            (left, right) = self.next_page(at)?;
            self.levels[at].unpacked.first_child = first_child;
        }
        let what = format!("a tree has {LEVELS_MAX} levels at most: make one of shorter keys");
        Err(LodeError::Limit { what })
    }

    /// Write what is still being filled; what is at the top becomes the root.
    fn finish(self, root: PageNumber) -> Result<()> {
        let top = self.levels.len() - 1;
        for (at, level) in self.levels.into_iter().enumerate() {
            let page = if at == top { root } else { level.page };
            self.pages.write(page, |bytes| level.unpacked.write_to(bytes))?;
        }
        Ok(())
    }
}
