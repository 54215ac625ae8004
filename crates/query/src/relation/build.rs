//! Indexes made at once from the tuples that are there: entries sorted, then put in from below.

use std::sync::Arc;

use loadstone_quel::schema::Kind;
use lode::{Btree, LodeError, PageRead, PageWrite, RecordId};

use super::entries::Entries;
use super::key;
use super::{Relation, TupleBatch};
use crate::catalog::{self, NewStructure, RelationInfo, Structure};
use crate::error::{QueryError, Result};
use crate::sort::compare_keys;
use crate::tuple::{self, Value};

/// How full the pages of a B-tree are made, which leaves room for some insertions.
const FILL_PERCENT: u8 = 90;

/// Tuples that are looked at together.
pub(super) const BATCH_TUPLES: usize = 512;

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
/// [`QueryError::Duplicate`] if it is to be unique and is not.
pub fn add_index(
    pages: &mut impl PageWrite,
    info: &mut RelationInfo,
    new: &NewIndex,
) -> Result<()> {
    let flags = (new.is_unique, new.is_primary);
    if new.is_hash {
        let entries = hashes(pages, info, new.attributes[0])?;
        catalog::add_index(pages, info, &new.attributes, flags, NewStructure::Hash(entries))?;
        return Ok(());
    }
    let entries = Sorted::of(pages, info, &new.attributes)?;
    if new.is_unique && entries.has_duplicate(pages, info, &new.attributes)? {
        return Err(duplicate(info, &new.attributes));
    }
    let made = catalog::add_index(pages, info, &new.attributes, flags, NewStructure::Btree)?;
    let Structure::Btree(tree) = made.structure else { return Ok(()) };
    entries.load(pages, tree)
}

/// That a unique index would not be.
pub(super) fn duplicate(info: &RelationInfo, attributes: &[usize]) -> QueryError {
    let names: Vec<_> = attributes.iter().map(|&at| info.layout.fields[at].name.as_str()).collect();
    QueryError::Duplicate { relation: info.name.clone(), attributes: names.join("`, `") }
}

/// Show every tuple of a relation with its record id.
pub(super) fn each_tuple(
    pages: &impl PageRead,
    info: &RelationInfo,
    mut each: impl FnMut(RecordId, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut scan = Relation::open(&Arc::new(info.clone())).scan(pages)?;
    let mut batch = TupleBatch::new();
    while scan.next_batch(pages, &mut batch, BATCH_TUPLES)? {
        for at in 0..batch.len() {
            if let Some(id) = RecordId::of(batch.record_id(at)) {
                each(id, batch.tuple(at))?;
            }
        }
    }
    Ok(())
}

fn hashes(pages: &impl PageRead, info: &RelationInfo, attribute: usize) -> Result<Vec<(u64, u64)>> {
    let field = &info.layout.fields[attribute];
    let mut entries = Vec::with_capacity(info.rows as usize);
    each_tuple(pages, info, |id, bytes| {
        entries.extend(key::hash(field, tuple::read(bytes, field)).map(|key| (key, id.to_u64())));
        Ok(())
    })?;
    Ok(entries)
}

/// The entries of a B-tree, in order.
enum Sorted {
    /// Of one number: its key's bits and the record id.
    Numbers(Vec<(u64, u64)>),
    /// Of anything.
    Strings(Entries),
}

impl Sorted {
    fn of(pages: &impl PageRead, info: &RelationInfo, attributes: &[usize]) -> Result<Self> {
        let first = info.layout.fields[attributes[0]].kind;
        if attributes.len() == 1 && !matches!(first, Kind::Text { .. }) {
            return Self::numbers(pages, info, attributes[0]);
        }
        let mut entries = Entries::default();
        each_tuple(pages, info, |id, bytes| {
            entries.push(&info.layout, attributes, id, bytes);
            Ok(())
        })?;
        entries.sort();
        Ok(Self::Strings(entries))
    }

    fn numbers(pages: &impl PageRead, info: &RelationInfo, attribute: usize) -> Result<Self> {
        let field = &info.layout.fields[attribute];
        let mut entries = Vec::with_capacity(info.rows as usize);
        each_tuple(pages, info, |id, bytes| {
            let key = match tuple::read(bytes, field) {
                Value::Integer(value) => key::integer(value),
                Value::Real(value) => key::real(value),
                Value::Null | Value::Text(_) => return Ok(()),
            };
            entries.push((key, id.to_u64()));
            Ok(())
        })?;
        entries.sort_unstable();
        Ok(Self::Numbers(entries))
    }

    /// Whether two tuples have the same values. Where keys were cut off, the tuples tell.
    fn has_duplicate(
        &self,
        pages: &impl PageRead,
        info: &RelationInfo,
        attributes: &[usize],
    ) -> Result<bool> {
        let entries = match self {
            Self::Numbers(entries) => {
                return Ok(entries.windows(2).any(|pair| pair[0].0 == pair[1].0));
            }
            Self::Strings(entries) => entries,
        };
        let of: Vec<_> = attributes.iter().map(|&at| info.layout.fields[at].clone()).collect();
        let entries: Vec<_> = entries.iter().filter(|entry| entry.is_whole).collect();
        let groups = entries.chunk_by(|one, other| one.key() == other.key());
        for group in groups.filter(|group| group.len() > 1) {
            if group[0].is_exact() {
                return Ok(true);
            }
            let ids = group.iter().filter_map(|entry| key::id_of(entry.bytes));
            let tuples = ids.map(|id| info.tuples.get(pages, id));
            let mut tuples = tuples.collect::<Result<Vec<_>, LodeError>>()?;
            let order = |one: &Vec<u8>, other: &Vec<u8>| compare_keys(one, &of, other, &of);
            tuples.sort_by(order);
            if tuples.windows(2).any(|pair| order(&pair[0], &pair[1]).is_eq()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn load(&self, pages: &mut impl PageWrite, tree: Btree) -> Result<()> {
        match self {
            Self::Numbers(entries) => {
                let entries = entries.iter().map(|&(key, id)| (number_entry(key, id), []));
                tree.bulk_load::<_, [u8; 0]>(pages, entries, FILL_PERCENT)?;
            }
            Self::Strings(entries) => {
                let entries = entries.iter().map(|entry| (entry.bytes, []));
                tree.bulk_load::<_, [u8; 0]>(pages, entries, FILL_PERCENT)?;
            }
        }
        Ok(())
    }
}

/// The B-tree's key of a number and a record id.
fn number_entry(key: u64, id: u64) -> [u8; 8 + key::RECORD_ID_BYTES] {
    let mut entry = [0; 8 + key::RECORD_ID_BYTES];
    entry[..8].copy_from_slice(&key.to_be_bytes());
    entry[8..].copy_from_slice(&id.to_be_bytes()[2..]);
    entry
}
