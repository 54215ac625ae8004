//! The catalog: which relations a database has, how each is stored, and what is known of its
//! values.
//!
//! It lies in three heaps of the database itself (`docs/reference/lode-query-format.md` draws their
//! records) and is read and changed within transactions like any relation: a relation that a
//! transaction made is there for that transaction at once, and for others when it has committed.

mod cached;
mod change;
mod naming;
mod record;
mod tuples;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use loadstone_quel::schema::{Attribute, Catalogue};
use lode::internals::heap;
use lode::internals::named;
use lode::internals::page::{FileNumber, PageNumber};
use lode::{Btree, Hash, Heap, LodeError, PageRead, RecordId};

use crate::error::Result;
use crate::tactics::FileLayout;
use crate::tuple::{Layout, Value};

pub(crate) use cached::CatalogCache;
pub(crate) use change::{
    NewStructure, Unnamed, add_index, define, prepare, put_order, put_relation, put_statistics,
    remove,
};
#[cfg(test)]
pub(crate) use record::NAME_BYTES_MAX;
use record::{AttributeRecord, IndexRecord, RelationRecord};
pub(crate) use tuples::Tuples;

/// The longest tuple: alone in its page.
pub const TUPLE_BYTES_MAX: usize = heap::RECORD_BYTES_MAX;

/// The names of the catalog's own files.
mod file {
    pub(super) const RELATIONS: &str = "_relation";
    pub(super) const ATTRIBUTES: &str = "_attribute";
    pub(super) const INDEXES: &str = "_index";
}

/// The way in which a relation's tuples are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Organisation {
    /// In the order in which they came.
    Heap,
    /// In the order of an attribute, with a B-tree over it.
    Clustered {
        /// The attribute's position; of several, the first.
        attribute: usize,
    },
    /// In the order in which they came, with a hash index on an attribute.
    Hash {
        /// The attribute's position; of several, the first.
        attribute: usize,
    },
}

/// A constant of an attribute's own type.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// Of an integer attribute.
    Integer(i64),
    /// Of a real attribute; finite.
    Real(f64),
    /// Of a text attribute, without trailing blanks; statistics keep 64 bytes of it.
    Text(Vec<u8>),
}

impl Constant {
    /// A value with its own text; None for a null.
    pub fn of(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Integer(value) => Some(Self::Integer(value)),
            Value::Real(value) => Some(Self::Real(value)),
            Value::Text(text) => Some(Self::Text(text.to_vec())),
        }
    }

    /// The same as a value.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Integer(value) => Value::Integer(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Text(text) => Value::Text(text),
        }
    }
}

/// The statistics that `settle` gathered of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeStatistics {
    /// The number of different values, about; nulls are none.
    pub distinct: u64,
    /// The least and the greatest value; None where all are null or there are no tuples.
    pub range: Option<(Constant, Constant)>,
}

/// A structure that leads from values to tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// A B-tree of (encoded values, record id).
    Btree(Btree),
    /// A hash index from the values' hash to the record id.
    Hash(Hash),
}

/// An index of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexInfo {
    /// Its number among the relation's indexes, from 1: its file is `i<relation>.<number>`.
    pub number: u16,
    /// The attributes' positions, most significant first.
    pub attributes: Vec<usize>,
    /// Whether no two tuples may have the same values.
    pub is_unique: bool,
    /// Whether it belongs to the relation's organisation: the B-tree of a clustered relation, the
    /// hash index of a hashed one.
    pub is_primary: bool,
    /// The structure.
    pub structure: Structure,
    /// The place where the catalog has it.
    pub(crate) record: RecordId,
}

/// A relation as the catalog knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationInfo {
    /// Its number, from 1, in no other relation's use: its file is `r<number>`.
    pub number: u32,
    /// Its name in lower case.
    pub name: String,
    /// The form of its tuples.
    pub layout: Layout,
    /// The way in which they are kept.
    pub organisation: Organisation,
    /// The number of tuples that it has: exact when it was loaded, stored or settled, an estimate
    /// since.
    pub rows: u64,
    /// The number of pages that they take, known as `rows` are.
    pub pages: u64,
    /// The statistics that `settle` gathered of each attribute; empty if it never ran.
    pub statistics: Vec<AttributeStatistics>,
    /// Its indexes, the organisation's own among them.
    pub indexes: Vec<IndexInfo>,
    /// Whether the tuples of a clustered relation lie in the order of its key, page after page: so
    /// they do until one is put in or its key changes.
    pub is_ordered: bool,
    /// The way in which they lie in their file: the tactic `layout` when it was stored.
    pub file_layout: FileLayout,
    /// The tuples.
    pub(crate) tuples: Tuples,
    /// The place where the catalog has the relation, and each attribute.
    pub(crate) record: RecordId,
    pub(crate) attribute_records: Vec<RecordId>,
}

impl RelationInfo {
    /// The index of the organisation; None for a heap.
    pub fn primary(&self) -> Option<&IndexInfo> {
        self.indexes.iter().find(|index| index.is_primary)
    }

    /// The best secondary B-tree whose first attribute is that one.
    pub fn secondary(&self, attribute: usize) -> Option<&IndexInfo> {
        let fits = |index: &&IndexInfo| !index.is_primary && index.attributes[0] == attribute;
        self.indexes.iter().filter(fits).min_by_key(|index| index.attributes.len())
    }

    /// The attributes as a program may speak of them.
    pub fn attributes(&self) -> Vec<Attribute> {
        let attribute =
            |field: &crate::tuple::Field| Attribute { name: field.name.clone(), kind: field.kind };
        self.layout.fields.iter().map(attribute).collect()
    }
}

/// The relations of a database, as one transaction sees them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    relations: BTreeMap<String, Arc<RelationInfo>>,
}

impl Catalog {
    /// Read it. A database in which no relation was ever made has an empty one.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] where its records contradict each other.
    pub fn read(pages: &impl PageRead) -> Result<Self> {
        let Some(heap) = find_heap(pages, file::RELATIONS)? else { return Ok(Self::default()) };
        let mut by_number = BTreeMap::new();
        each_record(pages, heap, |id, bytes| {
            let relation = RelationRecord::read(bytes).ok_or_else(|| amiss("relation", id))?;
            by_number.insert(relation.number, relation.into_info(id));
            Ok(())
        })?;
        read_attributes(pages, &mut by_number)?;
        read_indexes(pages, &mut by_number)?;
        let named = by_number.into_values().map(|info| (info.name.clone(), Arc::new(info)));
        Ok(Self { relations: named.collect() })
    }

    /// All relations, by name.
    pub fn relations(&self) -> impl Iterator<Item = &Arc<RelationInfo>> {
        self.relations.values()
    }

    /// The relation of that name, in lower case.
    pub fn relation(&self, name: &str) -> Option<&Arc<RelationInfo>> {
        self.relations.get(name)
    }

    /// Have the relations of which another says the same as it has them, so that they are known by
    /// their addresses; whether it says the same of all.
    fn take_over(&mut self, other: &Self) -> bool {
        let mut is_same = self.relations.len() == other.relations.len();
        for (name, own) in &mut self.relations {
            match other.relations.get(name) {
                Some(known) if known == own => *own = Arc::clone(known),
                _ => is_same = false,
            }
        }
        is_same
    }

    /// The same for [`loadstone_quel::check::Checker`].
    pub fn quel_catalogue(&self) -> Catalogue {
        let entry = |(name, info): (&String, &Arc<RelationInfo>)| (name.clone(), info.attributes());
        self.relations.iter().map(entry).collect()
    }
}

fn read_attributes(
    pages: &impl PageRead,
    by_number: &mut BTreeMap<u32, RelationInfo>,
) -> Result<()> {
    let mut attributes: BTreeMap<(u32, u16), (RecordId, AttributeRecord)> = BTreeMap::new();
    let Some(heap) = find_heap(pages, file::ATTRIBUTES)? else { return Ok(()) };
    each_record(pages, heap, |id, bytes| {
        let attribute = AttributeRecord::read(bytes).ok_or_else(|| amiss("attribute", id))?;
        attributes.insert((attribute.relation, attribute.position), (id, attribute));
        Ok(())
    })?;
    for info in by_number.values_mut() {
        let own = attributes.range((info.number, 0)..=(info.number, u16::MAX));
        let own: Vec<_> = own.map(|(_, (id, attribute))| (*id, attribute)).collect();
        if own.is_empty()
            || own.iter().enumerate().any(|(at, (_, a))| usize::from(a.position) != at)
        {
            return Err(amiss("relation without all of its attributes,", info.record).into());
        }
        info.layout = Layout::of(own.iter().map(|(_, a)| (a.name.clone(), a.kind, a.is_nullable)));
        info.tuples = Tuples::open(info.tuples.place(), &info.layout, info.file_layout)?;
        info.attribute_records = own.iter().map(|(id, _)| *id).collect();
        let statistics: Option<Vec<_>> = own.iter().map(|(_, a)| a.statistics.clone()).collect();
        info.statistics = statistics.unwrap_or_default();
    }
    Ok(())
}

fn read_indexes(pages: &impl PageRead, by_number: &mut BTreeMap<u32, RelationInfo>) -> Result<()> {
    let Some(heap) = find_heap(pages, file::INDEXES)? else { return Ok(()) };
    each_record(pages, heap, |id, bytes| {
        let index = IndexRecord::read(bytes).ok_or_else(|| amiss("index", id))?;
        let info = by_number.get_mut(&index.relation).ok_or_else(|| amiss("index", id))?;
        if index.attributes.iter().any(|&at| usize::from(at) >= info.layout.fields.len()) {
            return Err(amiss("index", id).into());
        }
        info.indexes.push(index.into_info(id));
        info.indexes.sort_by_key(|index| index.number);
        Ok(())
    })
}

/// One of the catalog's heaps, if it has been made.
fn find_heap(pages: &impl PageRead, name: &str) -> Result<Option<Heap>> {
    match named::find(pages, name) {
        Ok(heap) => Ok(Some(heap)),
        Err(LodeError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Show every record of a heap.
fn each_record(
    pages: &impl PageRead,
    heap: Heap,
    mut each: impl FnMut(RecordId, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut failure = None;
    let ended = heap.scan(pages, |id, bytes| {
        Ok(match each(id, bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })
    })?;
    match (ended, failure) {
        (ControlFlow::Break(()), Some(error)) => Err(error),
        _ => Ok(()),
    }
}

/// A record that says what cannot be.
fn amiss(what: &str, id: RecordId) -> LodeError {
    LodeError::Corrupt {
        what: format!("the catalog's {what} {id}"),
        how: "its fields contradict each other".to_owned(),
    }
}

/// The name of the file that holds a relation's tuples.
fn tuples_file(number: u32) -> String {
    format!("r{number}")
}

/// The name of an index's file.
fn index_file(relation: u32, number: u16) -> String {
    format!("i{relation}.{number}")
}

/// The place where a heap lies: what its record describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    file: FileNumber,
    root: PageNumber,
}
