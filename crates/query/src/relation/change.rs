//! Tuples put in, replaced and taken out, and the indexes with them.
//!
//! All of a statement's changes come at once, at its end: tuples first, then each index in the
//! order of its keys, what goes before what comes. So a `replace` may give tuples each other's
//! values under a unique index.

use std::ops::Bound;

use lode::{Btree, Hash, LodeError, PageRead, PageWrite, RecordId};

use super::build::duplicate;
use super::entries::{Entries, Entry};
use super::key;
use super::load::compare;
use crate::catalog::{self, IndexInfo, Organisation, RelationInfo, Structure};
use crate::error::Result;
use crate::tuple::{self, Layout};

/// The number of tuples is noted anew when it may be off by this part of it.
const ROWS_DRIFT: u64 = 16;

/// Put tuples in.
///
/// # Errors
///
/// [`crate::QueryError::Duplicate`] where a unique index has their values already.
pub fn append<'t>(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    tuples: impl IntoIterator<Item = &'t [u8]>,
) -> Result<u64> {
    let mut upkeep = Upkeep::of(info);
    let mut count = 0;
    for tuple in tuples {
        count += 1;
        let id = insert(pages, info, tuple)?;
        upkeep.add(&info.layout, id, tuple);
    }
    upkeep.apply(pages, info)?;
    info.is_ordered &= count == 0;
    info.rows += count;
    note(pages, info, count)?;
    Ok(count)
}

/// Take tuples out, each named once.
///
/// # Errors
///
/// [`LodeError::Missing`] where there is no such tuple.
pub fn delete(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    ids: &[RecordId],
) -> Result<u64> {
    let mut upkeep = Upkeep::of(info);
    for &id in ids {
        let tuple = own_tuple(pages, info, id)?;
        info.tuples.delete(pages, id)?;
        upkeep.remove(&info.layout, id, &tuple);
    }
    upkeep.apply(pages, info)?;
    let count = ids.len() as u64;
    info.rows = info.rows.saturating_sub(count);
    note(pages, info, count)?;
    Ok(count)
}

/// Put other tuples in the place of some, each named once. In a clustered relation, one whose key
/// changes moves to where its new neighbours are.
///
/// # Errors
///
/// [`LodeError::Missing`] where there is no such tuple; as [`append`].
pub fn replace<'t>(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    changes: impl IntoIterator<Item = (RecordId, &'t [u8])>,
) -> Result<u64> {
    let mut upkeep = Upkeep::of(info);
    let clustered = match info.organisation {
        Organisation::Clustered { .. } => info.primary().map(|index| index.attributes.clone()),
        _ => None,
    };
    let (mut count, mut moved) = (0, Vec::new());
    for (id, new) in changes {
        count += 1;
        let old = own_tuple(pages, info, id)?;
        let is_to_move = clustered
            .as_deref()
            .is_some_and(|attributes| compare(&old, new, &info.layout, attributes).is_ne());
        if is_to_move {
            info.tuples.delete(pages, id)?;
            upkeep.remove(&info.layout, id, &old);
            moved.push(new);
        } else if old != new {
            info.tuples.replace(pages, id, (&old, new))?;
            upkeep.replace(&info.layout, id, (&old, new));
        }
    }
    // Only now, so that no new tuple takes the id of one that is still to be found.
    for new in moved {
        info.is_ordered = false;
        let id = insert(pages, info, new)?;
        upkeep.add(&info.layout, id, new);
    }
    upkeep.apply(pages, info)?;
    note(pages, info, 0)?;
    Ok(count)
}

/// A tuple by its record id.
fn own_tuple(pages: &impl PageRead, info: &RelationInfo, id: RecordId) -> Result<Vec<u8>> {
    let tuple = info.tuples.get(pages, id)?;
    if tuple.len() == info.layout.bytes {
        return Ok(tuple);
    }
    let how = format!("it is no tuple of `{}`", info.name);
    Err(LodeError::Corrupt { what: id.to_string(), how }.into())
}

/// Put a tuple into the file; in a clustered relation beside the one before it, where tuples lie in
/// rows.
fn insert(pages: &mut impl PageWrite, info: &RelationInfo, tuple: &[u8]) -> Result<RecordId> {
    let near = match (info.organisation, info.primary()) {
        (Organisation::Clustered { .. }, Some(IndexInfo { structure, attributes, .. })) => {
            let Structure::Btree(tree) = structure else {
                return Ok(info.tuples.insert(pages, tuple, None)?);
            };
            let mut key = Vec::new();
            key::of_tuple(&mut key, &info.layout, attributes, tuple);
            let above = key::successor(&key);
            let to = above.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let mut before = tree.backwards(pages, (Bound::Unbounded, to))?;
            before.entry()?.and_then(|(entry, _)| key::id_of(entry))
        }
        _ => None,
    };
    Ok(info.tuples.insert(pages, tuple, near.map(|id| id.page))?)
}

/// Report the catalog what has changed. The number of tuples is written only now and then: it
/// stands beside those of all other relations, which others would have to wait for.
fn note(pages: &mut impl PageWrite, info: &mut RelationInfo, changed: u64) -> Result<()> {
    if changed * ROWS_DRIFT >= info.rows {
        info.pages = info.tuples.pages(pages)?;
        return catalog::put_relation(pages, info);
    }
    catalog::put_order(pages, info)
}

/// The upkeep of a relation's indexes.
struct Upkeep {
    trees: Vec<TreeUpkeep>,
    hashes: Vec<HashUpkeep>,
}

struct TreeUpkeep {
    tree: Btree,
    attributes: Vec<usize>,
    is_unique: bool,
    removed: Entries,
    added: Entries,
}

struct HashUpkeep {
    hash: Hash,
    attribute: usize,
    removed: Vec<(u64, u64)>,
    added: Vec<(u64, u64)>,
}

impl Upkeep {
    fn of(info: &RelationInfo) -> Self {
        let (mut trees, mut hashes) = (Vec::new(), Vec::new());
        for index in &info.indexes {
            match index.structure {
                Structure::Btree(tree) => trees.push(TreeUpkeep {
                    tree,
                    attributes: index.attributes.clone(),
                    is_unique: index.is_unique,
                    removed: Entries::default(),
                    added: Entries::default(),
                }),
                Structure::Hash(hash) => hashes.push(HashUpkeep {
                    hash,
                    attribute: index.attributes[0],
                    removed: Vec::new(),
                    added: Vec::new(),
                }),
            }
        }
        Self { trees, hashes }
    }

    fn add(&mut self, layout: &Layout, id: RecordId, tuple: &[u8]) {
        for index in &mut self.trees {
            index.added.push(layout, &index.attributes, id, tuple);
        }
        for index in &mut self.hashes {
            index.added.extend(hash_entry(layout, index.attribute, id, tuple));
        }
    }

    fn remove(&mut self, layout: &Layout, id: RecordId, tuple: &[u8]) {
        for index in &mut self.trees {
            index.removed.push(layout, &index.attributes, id, tuple);
        }
        for index in &mut self.hashes {
            index.removed.extend(hash_entry(layout, index.attribute, id, tuple));
        }
    }

    /// The same tuple with other values: only the indexes of those that differ.
    fn replace(&mut self, layout: &Layout, id: RecordId, (old, new): (&[u8], &[u8])) {
        for index in &mut self.trees {
            let before = (index.removed.len(), index.added.len());
            index.removed.push(layout, &index.attributes, id, old);
            index.added.push(layout, &index.attributes, id, new);
            let is_both = (index.removed.len(), index.added.len()) == (before.0 + 1, before.1 + 1);
            if is_both && index.removed.last() == index.added.last() {
                index.removed.pop();
                index.added.pop();
            }
        }
        for index in &mut self.hashes {
            let old = hash_entry(layout, index.attribute, id, old);
            let new = hash_entry(layout, index.attribute, id, new);
            if old != new {
                index.removed.extend(old);
                index.added.extend(new);
            }
        }
    }

    fn apply(self, pages: &mut impl PageWrite, info: &RelationInfo) -> Result<()> {
        for mut index in self.trees {
            index.removed.sort();
            for entry in index.removed.iter() {
                if index.tree.remove(pages, entry.bytes)?.is_none() {
                    return Err(lost(info).into());
                }
            }
            index.added.sort();
            for entry in index.added.iter() {
                if index.is_unique && has_equal(pages, info, &index, entry)? {
                    return Err(duplicate(info, &index.attributes));
                }
                index.tree.insert(pages, entry.bytes, &[])?;
            }
        }
        for index in self.hashes {
            for (key, id) in index.removed {
                if !index.hash.remove(pages, key, id)? {
                    return Err(lost(info).into());
                }
            }
            for (key, id) in index.added {
                index.hash.insert(pages, key, id)?;
            }
        }
        Ok(())
    }
}

fn hash_entry(layout: &Layout, attribute: usize, id: RecordId, bytes: &[u8]) -> Option<(u64, u64)> {
    let field = &layout.fields[attribute];
    key::hash(field, tuple::read(bytes, field)).map(|key| (key, id.to_u64()))
}

/// An index did not have what a tuple should have there.
fn lost(info: &RelationInfo) -> LodeError {
    let how = "it has no entry for a tuple that is there".to_owned();
    LodeError::Corrupt { what: format!("an index of `{}`", info.name), how }
}

/// Whether a unique index has the values of an entry already.
fn has_equal(
    pages: &impl PageRead,
    info: &RelationInfo,
    index: &TreeUpkeep,
    entry: Entry<'_>,
) -> Result<bool> {
    if !entry.is_whole {
        return Ok(false);
    }
    let above = key::successor(entry.key());
    let to = above.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut equal = index.tree.forwards(pages, (Bound::Included(entry.key()), to))?;
    while let Some((other, _)) = equal.entry()? {
        if entry.is_exact() {
            return Ok(true);
        }
        if let (Some(own), Some(other)) = (key::id_of(entry.bytes), key::id_of(other)) {
            let (own, other) = (own_tuple(pages, info, own)?, own_tuple(pages, info, other)?);
            if compare(&own, &other, &info.layout, &index.attributes).is_eq() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
