//! The directory: for each prefix of `depth` bits, the page of its bucket. It lies in the root page
//! as long as it fits there, so that small databases read one page less; then in pages of its own,
//! whose numbers the root page holds.

use super::mixing::prefix;
use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, HEADER_BYTES, PAGE_BYTES, PageBytes, PageKind, PageNumber};
use crate::page::{NO_PAGE, u32_at};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

/// Page numbers in a page: a power of two, so that bits of the hash are the place.
pub(super) const CELLS: usize = 1 << CELLS_BITS;
pub(super) const CELLS_BITS: u32 = 9;

/// Bits of the hash that a directory can determine apart: a root page full of directory pages. Some
/// 40 million entries fill the buckets of that; then these get further pages.
pub(super) const DEPTH_MAX: u32 = 2 * CELLS_BITS;

/// Offsets within the root page and a directory page.
mod offset {
    /// u32 each: bucket pages in prefix order; in a root page of a depth above 9, directory pages.
    pub(super) const CELLS: usize = 32;
}

const _: () = assert!(offset::CELLS == HEADER_BYTES);
const _: () = assert!(offset::CELLS + CELLS * 4 <= PAGE_BYTES);

/// The place where a hash's bucket is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Bits that the directory distinguishes.
    pub(super) depth: u32,
    /// The bucket's first page.
    pub(super) bucket: PageNumber,
}

/// Find a hash's bucket.
#[expect(clippy::inline_always, reason = "what is read should stay in registers")]
#[inline(always)]
pub(super) fn locate<P: PageRead>(pages: &P, root: PageNumber, hash: u64) -> Result<Place> {
    let (header, cell) = pages.read(root, |view| {
        let header = Header::of(view);
        let index = prefix(hash, header.depth);
        let is_here = header.depth <= CELLS_BITS;
        (header, cell(view, if is_here { index } else { index >> CELLS_BITS }))
    })?;
    if !header.is_root() || cell == NO_PAGE {
        return Err(corrupt(root));
    }
    let depth = header.depth;
    if depth <= CELLS_BITS {
        return Ok(Place { depth, bucket: cell });
    }
    let bucket = cell_of(pages, cell, prefix(hash, depth))?;
    Ok(Place { depth, bucket })
}

/// The bucket of a prefix of `depth` bits, in a directory of that depth.
pub(super) fn bucket_at<P: PageRead>(
    pages: &P,
    root: PageNumber,
    depth: u32,
    index: usize,
) -> Result<PageNumber> {
    // The hash with this prefix, and zeros.
    let hash = ((index as u64) << 32 >> depth) << 32;
    Ok(locate(pages, root, hash)?.bucket)
}

/// Let `count` prefixes from `first` on lead to a bucket.
pub(super) fn point<P: PageWrite>(
    pages: &mut P,
    root: PageNumber,
    (first, count): (usize, usize),
    bucket: PageNumber,
) -> Result<()> {
    let depth = depth(pages, root)?;
    let mut index = first;
    while index < first + count {
        let end = (first + count).min((index / CELLS + 1) * CELLS);
        let page = if depth <= CELLS_BITS {
            root
        } else {
            pages.read(root, |view| cell(view, index / CELLS))?
        };
        if page == NO_PAGE {
            return Err(corrupt(root));
        }
        pages.write(page, |bytes| {
            for index in index..end {
                bytes.put_u32(cell_at(index), bucket);
            }
        })?;
        index = end;
    }
    Ok(())
}

/// Bits that the directory distinguishes.
pub(super) fn depth<P: PageRead>(pages: &P, root: PageNumber) -> Result<u32> {
    let header = pages.read(root, Header::of)?;
    if header.is_root() { Ok(header.depth) } else { Err(corrupt(root)) }
}

/// The file that the index belongs to, as any of its pages says.
pub(super) fn file<P: PageRead>(pages: &P, page: PageNumber) -> Result<FileNumber> {
    pages.read(page, |view| view.u32(page::offset::FILE))
}

/// All of it, in prefix order.
pub(super) fn buckets<P: PageRead>(pages: &P, root: PageNumber) -> Result<Vec<PageNumber>> {
    let depth = depth(pages, root)?;
    let own = own_pages(pages, root)?;
    let mut cells = Vec::with_capacity(1 << depth);
    if own.is_empty() {
        let bytes = pages.read(root, super::copy)?;
        cells.extend((0..1 << depth).map(|index| u32_at(&bytes, cell_at(index))));
    }
    for page in own {
        let bytes = directory_page(pages, page)?;
        cells.extend((0..CELLS).map(|index| u32_at(&bytes, cell_at(index))));
    }
    Ok(cells)
}

/// The pages that the directory has besides the root.
pub(super) fn own_pages<P: PageRead>(pages: &P, root: PageNumber) -> Result<Vec<PageNumber>> {
    let count = own_pages_of(depth(pages, root)?);
    let bytes = pages.read(root, super::copy)?;
    Ok((0..count).map(|index| u32_at(&bytes, cell_at(index))).collect())
}

/// Make the directory one of `depth` bits that leads to these buckets, 2^depth of them.
pub(super) fn lay<P: PageWrite>(
    pages: &mut P,
    root: PageNumber,
    depth: u32,
    buckets: &[PageNumber],
) -> Result<()> {
    assert!(depth <= DEPTH_MAX && buckets.len() == 1 << depth, "one bucket for each prefix");
    let mut own = own_pages(pages, root)?;
    let surplus = own.split_off(own.len().min(own_pages_of(depth)));
    while own.len() < own_pages_of(depth) {
        let file = file(pages, root)?;
        own.push(pages.allocate(file, PageKind::HashDirectory)?);
    }
    for (&page, buckets) in own.iter().zip(buckets.chunks(CELLS)) {
        pages.write(page, |bytes| put_cells(bytes, buckets))?;
    }
    pages.write(root, |bytes| {
        bytes.put_u8(page::offset::LEVEL, depth as u8);
        put_cells(bytes, if own.is_empty() { buckets } else { &own });
    })?;
    surplus.into_iter().try_for_each(|page| pages.free(page))
}

/// Report one bit more apart: each bucket stands for two prefixes then.
pub(super) fn double<P: PageWrite>(pages: &mut P, root: PageNumber) -> Result<()> {
    let depth = depth(pages, root)?;
    let doubled: Vec<_> = buckets(pages, root)?.into_iter().flat_map(|page| [page; 2]).collect();
    lay(pages, root, depth + 1, &doubled)
}

/// Report one bit less apart, if no bucket needs it.
pub(super) fn halve<P: PageWrite>(pages: &mut P, root: PageNumber) -> Result<()> {
    let depth = depth(pages, root)?;
    if depth == 0 || !is_doubled(pages, root, depth)? {
        return Ok(());
    }
    let halved: Vec<_> = buckets(pages, root)?.into_iter().step_by(2).collect();
    lay(pages, root, depth - 1, &halved)
}

/// Whether all pairs of prefixes that differ in the last bit lead to one bucket. It ends at the
/// first that does not: while buckets merge one after another, as a rule that is soon.
fn is_doubled<P: PageRead>(pages: &P, root: PageNumber, depth: u32) -> Result<bool> {
    let all_equal = |view: View<'_>, count: usize| {
        (0..count).step_by(2).all(|index| cell(view, index) == cell(view, index + 1))
    };
    if depth <= CELLS_BITS {
        return pages.read(root, |view| all_equal(view, 1 << depth));
    }
    for page in own_pages(pages, root)? {
        if !pages.read(page, |view| all_equal(view, CELLS))? {
            return Ok(false);
        }
    }
    Ok(true)
}

const fn own_pages_of(depth: u32) -> usize {
    if depth <= CELLS_BITS { 0 } else { 1 << (depth - CELLS_BITS) }
}

/// Kind and depth of a page, read as one.
#[derive(Clone, Copy)]
struct Header {
    kind: u8,
    depth: u32,
}

impl Header {
    #[inline]
    fn of(view: View<'_>) -> Self {
        Self { kind: view.kind(), depth: u32::from(view.level()) }
    }

    #[inline]
    const fn is_root(self) -> bool {
        self.kind == PageKind::HashRoot as u8 && self.depth <= DEPTH_MAX
    }
}

/// A bucket's page from a directory page.
#[inline]
fn cell_of<P: PageRead>(pages: &P, page: PageNumber, index: usize) -> Result<PageNumber> {
    let (kind, cell) = pages.read(page, |view| (view.kind(), cell(view, index)))?;
    if kind != PageKind::HashDirectory as u8 || cell == NO_PAGE {
        return Err(corrupt(page));
    }
    Ok(cell)
}

fn directory_page<P: PageRead>(pages: &P, page: PageNumber) -> Result<Box<PageBytes>> {
    let bytes = pages.read(page, super::copy)?;
    if bytes[page::offset::KIND] != PageKind::HashDirectory as u8 {
        return Err(corrupt(page));
    }
    Ok(bytes)
}

fn put_cells(bytes: &mut PageMut<'_>, cells: &[PageNumber]) {
    bytes.clear(HEADER_BYTES..PAGE_BYTES);
    for (index, &cell) in cells.iter().enumerate() {
        bytes.put_u32(cell_at(index), cell);
    }
}

#[inline]
fn cell(view: View<'_>, index: usize) -> PageNumber {
    view.u32(cell_at(index))
}

/// A page holds one run of cells, so the prefix's last bits say which.
#[inline]
const fn cell_at(index: usize) -> usize {
    offset::CELLS + (index % CELLS) * 4
}

#[cold]
pub(super) fn corrupt(page: PageNumber) -> LodeError {
    LodeError::corrupt_page(page, "a hash index's directory leads there, and it is no part of one")
}
