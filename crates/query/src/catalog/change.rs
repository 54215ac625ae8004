//! Making, changing and removing what the catalog describes.

use std::collections::BTreeSet;

use lode::internals::catalog::{self as files, FileKind};
use lode::internals::named;
use lode::{Btree, Hash, Heap, LodeError, PageRead, PageWrite};

use super::naming;
use super::record::{AttributeRecord, INDEX_ATTRIBUTES_MAX, IndexRecord, RelationRecord};
use super::{
    AttributeStatistics, IndexInfo, Organisation, Place, RelationInfo, Structure, TUPLE_BYTES_MAX,
    Tuples, amiss, file, find_heap, index_file, tuples_file,
};
use crate::error::Result;
use crate::tactics::FileLayout;
use crate::tuple::Layout;

/// The tuples of a relation to be, which has no name yet.
#[derive(Debug, Clone)]
pub(crate) struct Unnamed {
    number: u32,
    file_layout: FileLayout,
    /// Its tuples.
    pub(crate) tuples: Tuples,
}

/// Make a file for the tuples of a new relation, which is to have that name. No transaction but
/// this one knows of it until [`define`] gives it the name.
///
/// # Errors
///
/// [`LodeError::TooLong`] where a tuple does not fit a page, [`LodeError::Limit`] where it has more
/// values than a file of columns can have; what [`naming::judge`] says.
pub(crate) fn prepare(
    pages: &mut impl PageWrite,
    name: &str,
    layout: &Layout,
    file_layout: FileLayout,
) -> Result<Unnamed> {
    naming::judge(name, layout)?;
    if layout.bytes > TUPLE_BYTES_MAX {
        let (bytes, bytes_max) = (layout.bytes, TUPLE_BYTES_MAX);
        return Err(LodeError::TooLong { what: "a tuple", bytes, bytes_max }.into());
    }
    let number = free_number(pages)?;
    let tuples = Tuples::create(pages, &tuples_file(number), layout, file_layout)?;
    Ok(Unnamed { number, file_layout, tuples })
}

/// Make a relation of these tuples: a heap without indexes. No relation has the name, with which
/// they were prepared.
pub(crate) fn define(
    pages: &mut impl PageWrite,
    unnamed: Unnamed,
    name: &str,
    layout: &Layout,
    rows: u64,
) -> Result<RelationInfo> {
    let Unnamed { number, file_layout, tuples } = unnamed;
    let record = RelationRecord {
        number,
        organisation: Organisation::Heap,
        is_ordered: false,
        file_layout,
        place: tuples.place(),
        rows,
        pages: tuples.pages(pages)?,
        name: name.to_owned(),
    };
    let relations: Heap = named::find_or_create(pages, file::RELATIONS)?;
    let id = relations.insert(pages, &record.write(), None)?;
    let attributes: Heap = named::find_or_create(pages, file::ATTRIBUTES)?;
    let mut info = record.into_info(id);
    info.tuples = tuples;
    for (position, field) in layout.fields.iter().enumerate() {
        let record = AttributeRecord {
            relation: number,
            position: position as u16,
            kind: field.kind,
            is_nullable: field.null_at.is_some(),
            statistics: None,
            name: field.name.clone(),
        };
        info.attribute_records.push(attributes.insert(pages, &record.write(), None)?);
    }
    info.layout = layout.clone();
    Ok(info)
}

/// Remove a relation with its tuples and indexes.
pub(crate) fn remove(pages: &mut impl PageWrite, info: &RelationInfo) -> Result<()> {
    for index in &info.indexes {
        remove_index(pages, info, index)?;
    }
    info.tuples.destroy(pages)?;
    files::remove(pages, &tuples_file(info.number))?;
    let attributes = own_heap(pages, file::ATTRIBUTES)?;
    for &id in &info.attribute_records {
        attributes.delete(pages, id)?;
    }
    own_heap(pages, file::RELATIONS)?.delete(pages, info.record)?;
    Ok(())
}

/// A structure to be made, which leads from values to tuples.
pub(crate) enum NewStructure<'a> {
    /// A B-tree without entries.
    Btree,
    /// A hash index of so many entries, as [`Hash::load_sorted`] wants them.
    Hash(usize, &'a mut dyn FnMut(usize) -> Result<(u64, u64)>),
}

/// Make an index.
///
/// # Errors
///
/// [`LodeError::Limit`] for more than 255 attributes.
pub(crate) fn add_index(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    attributes: &[usize],
    (is_unique, is_primary): (bool, bool),
    structure: NewStructure<'_>,
) -> Result<IndexInfo> {
    if attributes.len() > INDEX_ATTRIBUTES_MAX {
        let what = format!("an index has {INDEX_ATTRIBUTES_MAX} attributes at most: name fewer");
        return Err(LodeError::Limit { what }.into());
    }
    let taken: BTreeSet<u16> = info.indexes.iter().map(|index| index.number).collect();
    let number = (1..=u16::MAX).find(|number| !taken.contains(number));
    let number = number.ok_or_else(|| LodeError::Limit {
        what: format!("`{}` has 65,535 indexes: remove one first", info.name),
    })?;
    let (kind, is_hash) = match structure {
        NewStructure::Btree => (FileKind::Btree, false),
        NewStructure::Hash(..) => (FileKind::Hash, true),
    };
    let mut entry = files::create(pages, &index_file(info.number, number), kind)?;
    entry.root = match structure {
        NewStructure::Btree => Btree::create(pages, entry.file)?.root(),
        NewStructure::Hash(count, entry_at) => {
            Hash::load_sorted(pages, entry.file, count, entry_at)?
        }
    };
    files::put(pages, &entry)?;
    let record = IndexRecord {
        relation: info.number,
        number,
        is_unique,
        is_primary,
        is_hash,
        place: Place { file: entry.file, root: entry.root },
        attributes: attributes.iter().map(|&at| at as u16).collect(),
    };
    let indexes: Heap = named::find_or_create(pages, file::INDEXES)?;
    let id = indexes.insert(pages, &record.write(), None)?;
    let index = record.into_info(id);
    info.indexes.push(index.clone());
    Ok(index)
}

/// Remove an index.
pub(crate) fn remove_index(
    pages: &mut impl PageWrite,
    info: &RelationInfo,
    index: &IndexInfo,
) -> Result<()> {
    match index.structure {
        Structure::Btree(tree) => tree.destroy(pages)?,
        Structure::Hash(hash) => hash.destroy(pages)?,
    }
    files::remove(pages, &index_file(info.number, index.number))?;
    own_heap(pages, file::INDEXES)?.delete(pages, index.record)?;
    Ok(())
}

/// Note how many tuples and pages there are, how they are kept and whether they are ordered; only
/// what differs from the record is written.
pub(crate) fn put_relation(pages: &mut impl PageWrite, info: &RelationInfo) -> Result<()> {
    change_relation(pages, info, |record| {
        record.organisation = info.organisation;
        record.is_ordered = info.is_ordered;
        (record.rows, record.pages) = (info.rows, info.pages);
    })
}

/// Note whether the tuples of a clustered relation are ordered, and nothing else.
pub(crate) fn put_order(pages: &mut impl PageWrite, info: &RelationInfo) -> Result<()> {
    match info.organisation {
        Organisation::Clustered { .. } => {
            change_relation(pages, info, |record| record.is_ordered = info.is_ordered)
        }
        _ => Ok(()),
    }
}

fn change_relation(
    pages: &mut impl PageWrite,
    info: &RelationInfo,
    change: impl FnOnce(&mut RelationRecord),
) -> Result<()> {
    let relations = own_heap(pages, file::RELATIONS)?;
    let bytes = relations.get(pages, info.record)?;
    let was = RelationRecord::read(&bytes).ok_or_else(|| amiss("relation", info.record))?;
    let mut record = was.clone();
    change(&mut record);
    if record != was {
        relations.update(pages, info.record, &record.write())?;
    }
    Ok(())
}

/// Note what `settle` found in each attribute.
pub(crate) fn put_statistics(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    statistics: Vec<AttributeStatistics>,
) -> Result<()> {
    let attributes = own_heap(pages, file::ATTRIBUTES)?;
    for (&id, found) in info.attribute_records.iter().zip(&statistics) {
        let bytes = attributes.get(pages, id)?;
        let mut record = AttributeRecord::read(&bytes).ok_or_else(|| amiss("attribute", id))?;
        record.statistics = Some(found.clone());
        attributes.update(pages, id, &record.write())?;
    }
    info.statistics = statistics;
    Ok(())
}

/// A heap of the catalog that must be there, since a record of it is known.
fn own_heap(pages: &impl PageRead, name: &'static str) -> Result<Heap> {
    find_heap(pages, name)?.ok_or_else(|| {
        let how = "it is gone, though one of its records is known".to_owned();
        LodeError::Corrupt { what: format!("the catalog's file `{name}`"), how }.into()
    })
}

/// The least number that no relation has, and that none prepared in this transaction has either.
fn free_number(pages: &impl PageRead) -> Result<u32> {
    let files = files::all(pages)?;
    let of_file = |entry: &files::Entry| entry.name.strip_prefix('r')?.parse::<u32>().ok();
    let taken: Vec<u32> = files.iter().filter_map(of_file).collect();
    Ok(files::least_free(taken.into_iter()))
}
