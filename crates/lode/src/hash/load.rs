//! A whole index at once: entries in the order of their hashes, cut where buckets would divide.

use std::ops::Range;

use super::bucket::{self, bits_shared};
use super::directory::{self, DEPTH_MAX};
use super::mixing::{mix, prefix};
use super::table::{ENTRIES_MAX, Entry};
use crate::error::Result;
use crate::page::{PageKind, PageNumber};
use crate::pages::PageWrite;

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
    let mut shares = Vec::new();
    cut(&entries, Share { depth: 0, run: 0..entries.len() }, &mut shares);
    let depth = shares.iter().map(|share| share.depth).max().unwrap_or(0);
    let file = directory::file(pages, root)?;
    let mut buckets = Vec::with_capacity(1 << depth);
    for share in shares {
        let first = pages.allocate(file, PageKind::HashBucket)?;
        bucket::lay(pages, first, share.depth, &entries[share.run], &mut Vec::new())?;
        buckets.resize(buckets.len() + (1 << (depth - share.depth)), first);
    }
    directory::lay(pages, root, depth, &buckets)
}

/// Cut a run of entries until each part fits a page, or no cut helps. Calls itself at most
/// [`DEPTH_MAX`] deep.
fn cut(entries: &[Entry], share: Share, shares: &mut Vec<Share>) {
    let Share { depth, run } = share;
    let part = &entries[run.clone()];
    if part.len() <= ENTRIES_MAX || bits_shared(part.len(), |at| mix(part[at].0)) >= DEPTH_MAX {
        shares.push(Share { depth, run });
        return;
    }
    let below = part.partition_point(|&(key, _)| prefix(mix(key), depth + 1) & 1 == 0);
    let middle = run.start + below;
    cut(entries, Share { depth: depth + 1, run: run.start..middle }, shares);
    cut(entries, Share { depth: depth + 1, run: middle..run.end }, shares);
}
