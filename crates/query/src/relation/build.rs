//! Indexes made at once from the tuples that are there: entries sorted, then put in from below.

use lode::{PageRead, PageWrite};

use super::every::each_tuple;
use super::key;
use super::sorted::{EntryScan, SortedEntries, SortedEntry, SortedHashes};
use super::workspace::Workspace;
use crate::catalog::{self, NewStructure, RelationInfo, Structure};
use crate::error::{QueryError, Result};
use crate::sort::compare_keys;
use crate::tuple::{self, Value};

/// The fill of the pages of a B-tree, which leaves room for some insertions.
const FILL_PERCENT: u8 = 90;

/// An index to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIndex {
    /// The attributes' positions, most significant first; one at least.
    pub attributes: Vec<usize>,
    /// Whether no two tuples may have the same values.
    pub is_unique: bool,
    /// Whether it is the relation's own: see [`catalog::IndexInfo::is_primary`].
    pub is_primary: bool,
    /// A hash index; else a B-tree. Of several attributes it holds the first.
    pub is_hash: bool,
}

/// Make an index of all tuples of a relation.
///
/// # Errors
///
/// [`QueryError::Duplicate`] if it is to be unique and is not; [`QueryError::Memory`] if the budget
/// has not even the buffers of a sort, [`QueryError::Spill`] where its file cannot be written.
pub fn add_index(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    new: &NewIndex,
    workspace: &Workspace,
) -> Result<()> {
    let flags = (new.is_unique, new.is_primary);
    if new.is_hash {
        let sorted = SortedHashes::of(pages, info, new.attributes[0], workspace)?;
        let structure = NewStructure::Hash(sorted.len(), &mut sorted.entries());
        catalog::add_index(pages, info, &new.attributes, flags, structure)?;
        return Ok(());
    }
    // The tuples report where keys are cut off, and are sorted for that; else the keys do.
    let is_cut = new.is_unique && key::may_be_cut(&info.layout, &new.attributes);
    let is_double = is_cut && have_duplicate(pages, info, &new.attributes, workspace)?;
    let entries = SortedEntries::of(pages, info, &new.attributes, workspace)?;
    if is_double || new.is_unique && !is_cut && has_duplicate(entries.scan())? {
        return Err(duplicate(info, &new.attributes));
    }
    let made = catalog::add_index(pages, info, &new.attributes, flags, NewStructure::Btree)?;
    let Structure::Btree(tree) = made.structure else { return Ok(()) };
    let mut sorted = entries.scan();
    let all = sorted.by_ref().map(|entry| (entry.bytes, []));
    tree.bulk_load::<_, [u8; 0]>(pages, all, FILL_PERCENT)?;
    sorted.ended()
}

/// Whether two entries that hold all values of their tuples hold the same.
fn has_duplicate(mut sorted: EntryScan<'_>) -> Result<bool> {
    let mut before: Option<SortedEntry> = None;
    for entry in sorted.by_ref().filter(|entry| entry.is_whole) {
        if before.as_ref().is_some_and(|before| before.key() == entry.key()) {
            return Ok(true);
        }
        before = Some(entry);
    }
    sorted.ended()?;
    Ok(false)
}

/// Whether two tuples have the same values, none of which is null.
fn have_duplicate(
    pages: &impl PageRead,
    info: &RelationInfo,
    attributes: &[usize],
    workspace: &Workspace,
) -> Result<bool> {
    let of: Vec<_> = attributes.iter().map(|&at| info.layout.fields[at].clone()).collect();
    let mut sorter = workspace.sorter(&info.layout, attributes)?;
    each_tuple(pages, info, |_, bytes| {
        let is_null = |field| matches!(tuple::read(bytes, field), Value::Null);
        if of.iter().any(is_null) { Ok(()) } else { sorter.add(bytes) }
    })?;
    let tuples = sorter.finish(&|| workspace.check())?;
    let (mut scan, mut before) = (tuples.scan(), None::<Vec<u8>>);
    while let Some(bytes) = scan.next_tuple()? {
        if before.is_some_and(|before| compare_keys(&before, &of, bytes, &of).is_eq()) {
            return Ok(true);
        }
        before = Some(bytes.to_vec());
    }
    Ok(false)
}

/// That a unique index would not be.
pub(super) fn duplicate(info: &RelationInfo, attributes: &[usize]) -> QueryError {
    let names: Vec<_> = attributes.iter().map(|&at| info.layout.fields[at].name.as_str()).collect();
    QueryError::Duplicate { relation: info.name.clone(), attributes: names.join("`, `") }
}
