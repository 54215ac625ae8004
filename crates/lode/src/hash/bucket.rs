//! A bucket of one page or more: how it grows, divides, shrinks and merges.
//!
//! Further pages come only where dividing does not help: for many values of one key, for keys made
//! to collide, and when the directory is as deep as it can be. Then all pages but the second are
//! full, so that a new entry finds room in the first or the second, and a chain is never longer
//! than its entries need.

use super::directory::{self, DEPTH_MAX, Place};
use super::mixing::{mix, prefix};
use super::table::{self, Change, ENTRIES_MAX, Entry, QUARTER};
use crate::error::{LodeError, Result};
use crate::page::{NO_PAGE, PageBytes, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};

/// Walks a chain and notices if it bites its tail (Brent's algorithm): a page met at a power of two
/// is remembered until the next.
pub(super) struct Chain {
    mark: PageNumber,
    steps: u32,
    steps_max: u32,
}

impl Chain {
    /// From a bucket's first page.
    pub(super) const fn from(first: PageNumber) -> Self {
        Self { mark: first, steps: 0, steps_max: 1 }
    }

    /// Go on to `next`.
    pub(super) fn follow(&mut self, next: PageNumber) -> Result<()> {
        if next == self.mark {
            return Err(LodeError::corrupt_page(next, "its chain of pages has no end"));
        }
        self.steps += 1;
        if self.steps == self.steps_max {
            *self = Self { mark: next, steps: 0, steps_max: self.steps_max.saturating_mul(2) };
        }
        Ok(())
    }
}

/// A bucket's page as it is now.
pub(super) fn copy<P: PageRead>(pages: &P, page: PageNumber) -> Result<Box<PageBytes>> {
    let bytes = pages.read(page, super::copy)?;
    if table::is_bucket(&bytes) { Ok(bytes) } else { Err(foreign(page)) }
}

/// All pages of a bucket and all its entries.
pub(super) fn whole<P: PageRead>(
    pages: &P,
    first: PageNumber,
) -> Result<(Vec<PageNumber>, Vec<Entry>)> {
    let (mut numbers, mut entries) = (Vec::new(), Vec::new());
    let (mut chain, mut page) = (Chain::from(first), first);
    while page != NO_PAGE {
        let bytes = copy(pages, page)?;
        numbers.push(page);
        entries.extend(table::entries(&bytes));
        page = table::next(&bytes);
        if page != NO_PAGE {
            chain.follow(page)?;
        }
    }
    Ok((numbers, entries))
}

/// Lay a bucket's entries out over its first page and as many more as they need, taking those from
/// `spare` before others.
pub(super) fn lay<P: PageWrite>(
    pages: &mut P,
    first: PageNumber,
    depth: u32,
    entries: &[Entry],
    spare: &mut Vec<PageNumber>,
) -> Result<()> {
    let (own, mut others) = entries.split_at(entries.len().min(ENTRIES_MAX));
    let mut next = NO_PAGE;
    // From the last page to the second: that one takes what is left over.
    while !others.is_empty() {
        let (left, full) = others.split_at(others.len().saturating_sub(ENTRIES_MAX));
        let page = if let Some(page) = spare.pop() {
            page
        } else {
            let file = directory::file(pages, first)?;
            pages.allocate(file, PageKind::HashBucket)?
        };
        pages.write(page, |bytes| table::fill(bytes, depth, next, full))?;
        (others, next) = (left, page);
    }
    pages.write(first, |bytes| table::fill(bytes, depth, next, own))
}

/// The number of first bits that the middle three quarters of `count` sorted hashes share. One bit
/// more divides the entries so that each part has an eighth of them or more. Many values of one
/// key make it 64: no division helps.
pub(super) fn bits_shared(count: usize, hash_at: impl Fn(usize) -> u64) -> u32 {
    if count == 0 {
        return u64::BITS;
    }
    let [low, high] = middle(count).map(hash_at);
    (low ^ high).leading_zeros()
}

/// The first and the last of the middle three quarters of `count` hashes, which are not none.
pub(super) const fn middle(count: usize) -> [usize; 2] {
    let margin = count / 8;
    [margin, count - 1 - margin]
}

/// Divide the full bucket of this hash, or give it a further page.
pub(super) fn make_space<P: PageWrite>(pages: &mut P, root: PageNumber, hash: u64) -> Result<()> {
    let place = directory::locate(pages, root, hash)?;
    let first = copy(pages, place.bucket)?;
    let (depth, next) = (table::depth(&first), table::next(&first));
    let mut hashes: Vec<_> = table::entries(&first).map(|(key, _)| mix(key)).collect();
    if next != NO_PAGE {
        // The second page has the latest comers; older ones add nothing but time.
        hashes.extend(table::entries(&*copy(pages, next)?).map(|(key, _)| mix(key)));
    }
    hashes.sort_unstable();
    let shared = bits_shared(hashes.len(), |at| hashes[at]);
    if depth > place.depth || shared < depth {
        return Err(misplaced(place.bucket));
    }
    if shared < DEPTH_MAX {
        return divide(pages, root, hash, depth, place);
    }
    let file = directory::file(pages, root)?;
    let page = pages.allocate(file, PageKind::HashBucket)?;
    pages.write(page, |bytes| table::fill(bytes, depth, next, &[]))?;
    pages.write(place.bucket, |bytes| table::set_next(bytes, page))
}

/// Divide a bucket by the first bit that its hashes need not share.
fn divide<P: PageWrite>(
    pages: &mut P,
    root: PageNumber,
    hash: u64,
    depth: u32,
    place: Place,
) -> Result<()> {
    if depth == place.depth {
        directory::double(pages, root)?;
    }
    let bits_behind = place.depth.max(depth + 1) - (depth + 1);
    let (mut spare, entries) = whole(pages, place.bucket)?;
    spare.remove(0);
    let is_upper = |(key, _): &Entry| prefix(mix(*key), depth + 1) & 1 == 1;
    let (upper, lower): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_upper);
    let file = directory::file(pages, root)?;
    let sibling = pages.allocate(file, PageKind::HashBucket)?;
    lay(pages, place.bucket, depth + 1, &lower, &mut spare)?;
    lay(pages, sibling, depth + 1, &upper, &mut spare)?;
    for page in spare {
        pages.free(page)?;
    }
    let upper_half = ((prefix(hash, depth) << 1 | 1) << bits_behind, 1 << bits_behind);
    directory::point(pages, root, upper_half, sibling)
}

/// Take an entry out of a bucket's further pages; whether it was there.
pub(super) fn remove_behind<P: PageWrite>(
    pages: &mut P,
    first: PageNumber,
    second: PageNumber,
    entry: Entry,
) -> Result<bool> {
    let (mut chain, mut page) = (Chain::from(first), second);
    while page != NO_PAGE {
        chain.follow(page)?;
        let bytes = copy(pages, page)?;
        if table::has(&bytes, entry) {
            pages.write(page, |bytes| table::remove(bytes, entry))?;
            refill(pages, first, second, page)?;
            return Ok(true);
        }
        page = table::next(&bytes);
    }
    Ok(false)
}

/// An entry was taken out of `page`: fill its place from the second page, and give that one back
/// when it is empty.
pub(super) fn refill<P: PageWrite>(
    pages: &mut P,
    first: PageNumber,
    second: PageNumber,
    page: PageNumber,
) -> Result<()> {
    if page != second {
        let moved = pages.write(second, table::remove_any)?.ok_or_else(|| foreign(second))?;
        match pages.write(page, |bytes| table::insert(bytes, moved))? {
            Change::Done { .. } => {}
            Change::Not { .. } | Change::Foreign => return Err(foreign(page)),
        }
    }
    let bytes = copy(pages, second)?;
    if table::count(&bytes) > 0 {
        return Ok(());
    }
    let third = table::next(&bytes);
    pages.write(first, |bytes| table::set_next(bytes, third))?;
    pages.free(second)
}

/// Merge the bucket of this hash with its sibling as long as both are nearly empty, and make the
/// directory smaller where that allows it.
pub(super) fn merge<P: PageWrite>(pages: &mut P, root: PageNumber, hash: u64) -> Result<()> {
    loop {
        let place = directory::locate(pages, root, hash)?;
        let own = copy(pages, place.bucket)?;
        let depth = table::depth(&own);
        if depth > place.depth {
            return Err(misplaced(place.bucket));
        }
        if depth == 0 || !is_nearly_empty(&own) {
            return Ok(());
        }
        let bits_behind = place.depth - depth;
        let index = (prefix(hash, depth) ^ 1) << bits_behind;
        let sibling = directory::bucket_at(pages, root, place.depth, index)?;
        if sibling == place.bucket {
            return Err(misplaced(sibling));
        }
        let others = copy(pages, sibling)?;
        if table::depth(&others) != depth || !is_nearly_empty(&others) {
            return Ok(());
        }
        let entries: Vec<_> = table::entries(&own).chain(table::entries(&others)).collect();
        lay(pages, place.bucket, depth - 1, &entries, &mut Vec::new())?;
        pages.free(sibling)?;
        directory::point(pages, root, (index, 1 << bits_behind), place.bucket)?;
        // Once is enough: the merged bucket needs all bits but the last.
        directory::halve(pages, root)?;
    }
}

fn is_nearly_empty(bytes: &PageBytes) -> bool {
    table::count(bytes) < QUARTER && table::next(bytes) == NO_PAGE
}

#[cold]
pub(super) fn foreign(page: PageNumber) -> LodeError {
    LodeError::corrupt_page(page, "a hash index leads there, and it is no bucket with entries")
}

#[cold]
pub(super) fn misplaced(page: PageNumber) -> LodeError {
    LodeError::corrupt_page(page, "it is not the bucket for which the directory takes it")
}
