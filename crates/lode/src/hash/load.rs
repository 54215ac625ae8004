//! A whole index at once: entries in the order of their hashes, cut where buckets would divide.

use std::ops::Range;

use super::bucket::middle;
use super::directory::{self, DEPTH_MAX};
use super::mixing::{mix, prefix};
use super::table::{self, ENTRIES_MAX, Entry};
use crate::error::{LodeError, Result};
use crate::page::{FileNumber, NO_PAGE, PageKind, PageNumber};
use crate::pages::PageWrite;

/// Answers the entry of a number.
type EntryAt<'a, E> = &'a mut dyn FnMut(usize) -> Result<Entry, E>;

/// A bucket to be: the bits that its hashes share, and its run of the entries.
struct Share {
    depth: u32,
    run: Range<usize>,
}

/// Fill an index whose root page is empty.
pub(super) fn load<P: PageWrite>(
    pages: &mut P,
    root: PageNumber,
    mut entries: Vec<Entry>,
) -> Result<()> {
    // The mixing is so cheap that it is done again at each comparison.
    entries.sort_unstable_by_key(|&(key, _)| mix(key));
    load_sorted::<_, LodeError>(pages, root, entries.len(), &mut |at| Ok(entries[at]))
}

/// The same from entries that are in the order of their hashes, wherever they lie.
pub(super) fn load_sorted<P: PageWrite, E: From<LodeError>>(
    pages: &mut P,
    root: PageNumber,
    count: usize,
    entry_at: EntryAt<'_, E>,
) -> Result<(), E> {
    let mut shares = Vec::new();
    cut(entry_at, Share { depth: 0, run: 0..count }, &mut shares)?;
    let depth = shares.iter().map(|share| share.depth).max().unwrap_or(0);
    let file = directory::file(pages, root)?;
    let mut buckets = Vec::with_capacity(1 << depth);
    for share in shares {
        let first = lay(pages, file, &share, entry_at)?;
        buckets.resize(buckets.len() + (1 << (depth - share.depth)), first);
    }
    Ok(directory::lay(pages, root, depth, &buckets)?)
}

/// Cut a run of entries until each part fits a page, or no cut helps. Calls itself at most
/// [`DEPTH_MAX`] deep.
fn cut<E>(entry_at: EntryAt<'_, E>, share: Share, shares: &mut Vec<Share>) -> Result<(), E> {
    let Share { depth, run } = share;
    if run.len() <= ENTRIES_MAX || shared(entry_at, &run)? >= DEPTH_MAX {
        shares.push(Share { depth, run });
        return Ok(());
    }
    let (mut below, mut above) = (run.start, run.end);
    while below < above {
        let middle = usize::midpoint(below, above);
        if prefix(mix(entry_at(middle)?.0), depth + 1) & 1 == 0 {
            below = middle + 1;
        } else {
            above = middle;
        }
    }
    cut(entry_at, Share { depth: depth + 1, run: run.start..below }, shares)?;
    cut(entry_at, Share { depth: depth + 1, run: below..run.end }, shares)
}

/// The first bits that the middle of a run of more than one entry shares.
fn shared<E>(entry_at: EntryAt<'_, E>, run: &Range<usize>) -> Result<u32, E> {
    let [low, high] = middle(run.len()).map(|at| run.start + at);
    Ok((mix(entry_at(low)?.0) ^ mix(entry_at(high)?.0)).leading_zeros())
}

/// Lay a bucket out as `bucket::lay` does, page by page; its first page.
fn lay<P: PageWrite, E: From<LodeError>>(
    pages: &mut P,
    file: FileNumber,
    share: &Share,
    entry_at: EntryAt<'_, E>,
) -> Result<PageNumber, E> {
    let first = pages.allocate(file, PageKind::HashBucket)?;
    let own = share.run.start..share.run.end.min(share.run.start + ENTRIES_MAX);
    let (mut end, mut next) = (share.run.end, NO_PAGE);
    while end > own.end {
        let start = own.end.max(end.saturating_sub(ENTRIES_MAX));
        let entries = (start..end).map(&mut *entry_at).collect::<Result<Vec<_>, E>>()?;
        let page = pages.allocate(file, PageKind::HashBucket)?;
        pages.write(page, |bytes| table::fill(bytes, share.depth, next, &entries))?;
        (end, next) = (start, page);
    }
    let entries = own.map(&mut *entry_at).collect::<Result<Vec<_>, E>>()?;
    pages.write(first, |bytes| table::fill(bytes, share.depth, next, &entries))?;
    Ok(first)
}
