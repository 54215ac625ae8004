//! Trees against a `BTreeMap`, at their edges, and damaged.

mod damage;
mod destroy;
mod edges;
mod model;
mod places;
mod speed;

use std::ops::{Bound, RangeBounds};

use super::{Btree, Census, Cursor, check};
use crate::pages::PageRead;
use crate::pages::memory::MemoryPages;

/// An empty tree in a memory of its own.
fn empty() -> (MemoryPages, Btree) {
    let mut pages = MemoryPages::new();
    let tree = Btree::create(&mut pages, 7).unwrap();
    (pages, tree)
}

/// The tree is whole, and no page is allocated that is not part of it.
fn whole(pages: &MemoryPages, tree: Btree) -> Census {
    let census = check(pages, tree.root()).unwrap();
    assert_eq!(census.inner_pages + census.leaves, pages.allocated());
    census
}

fn get(pages: &impl PageRead, tree: Btree, key: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let found = tree.get(pages, key, |value| {
        bytes.clear();
        value.append_to(&mut bytes);
    });
    found.unwrap().map(|()| bytes)
}

fn collect<P: PageRead>(mut cursor: Cursor<'_, P>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    while let Some((key, value)) = cursor.entry().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    entries
}

/// The entries in the leaves of a range.
fn collect_leaves(
    pages: &impl PageRead,
    tree: Btree,
    range: impl RangeBounds<[u8]>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    let mut leaves = tree.leaves(pages, range).unwrap();
    while let Some(leaf) = leaves.next_leaf(pages).unwrap() {
        for index in 0..leaf.count() {
            let mut key = Vec::new();
            leaf.append_key(index, &mut key).unwrap();
            entries.push((key, leaf.value(index).to_vec()));
        }
    }
    entries
}

/// A range with ends like those of `RangeBounds`, for a tree and for the model alike.
fn bounds<'a>(
    low: &'a Bound<Vec<u8>>,
    high: &'a Bound<Vec<u8>>,
) -> impl RangeBounds<[u8]> + use<'a> {
    (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice))
}

/// A number as a key whose order is the number's.
fn number(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}
