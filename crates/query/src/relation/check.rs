//! Everything that must hold of a relation, its indexes and the catalog.

use std::collections::BTreeSet;
use std::ops::Bound;

use lode::internals::{btree, catalog as files};
use lode::{Btree, Hash, LodeError, PageRead};

use super::entries::Entries;
use super::every::each_tuple;
use super::key;
use super::load::compare;
use crate::catalog::{Catalog, IndexInfo, Organisation, RelationInfo, Structure};
use crate::error::{QueryError, Result};
use crate::tuple;

/// Read all relations and hold tuples, indexes and catalog against each other; how many tuples each
/// relation has, by name. [`LodeError::Corrupt`] shows the first contradiction.
pub fn check_all(pages: &impl PageRead) -> Result<Vec<(String, u64)>> {
    let catalog = Catalog::read(pages)?;
    let mut known = BTreeSet::new();
    let mut counts = Vec::new();
    for info in catalog.relations() {
        known.insert(format!("r{}", info.number));
        known.extend(info.indexes.iter().map(|index| format!("i{}.{}", info.number, index.number)));
        counts.push((info.name.clone(), check(pages, info)?));
    }
    let is_own = |name: &str| {
        name.strip_prefix(['r', 'i'])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let there: BTreeSet<String> = files::all(pages)?
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| is_own(name))
        .collect();
    match there.symmetric_difference(&known).next() {
        Some(name) => Err(corrupt("the catalog", format!("the file `{name}` is not in both"))),
        None => Ok(counts),
    }
}

/// Read a relation and hold its tuples and its indexes against each other; how many tuples it has.
/// [`LodeError::Corrupt`] shows the first contradiction.
pub fn check(pages: &impl PageRead, info: &RelationInfo) -> Result<u64> {
    let name = format!("`{}`", info.name);
    let count = info.tuples.check(pages)?;
    let mut seen = 0;
    let order = match info.organisation {
        Organisation::Clustered { .. } if info.is_ordered => {
            info.primary().map(|index| index.attributes.clone())
        }
        _ => None,
    };
    let mut before: Option<Vec<u8>> = None;
    each_tuple(pages, info, |id, bytes| {
        seen += 1;
        if let Some(attributes) = &order {
            if before
                .as_deref()
                .is_some_and(|before| compare(before, bytes, &info.layout, attributes).is_gt())
            {
                return Err(corrupt(&name, format!("{id} lies behind one with a higher key")));
            }
            before = Some(bytes.to_vec());
        }
        Ok(())
    })?;
    if seen != count {
        return Err(corrupt(&name, format!("{seen} of its {count} tuples are found")));
    }
    if (info.organisation == Organisation::Heap) != info.primary().is_none() {
        return Err(corrupt(&name, "its organisation has another index".to_owned()));
    }
    for index in &info.indexes {
        match index.structure {
            Structure::Btree(tree) => check_tree(pages, info, index, tree)?,
            Structure::Hash(hash) => check_hash(pages, info, index, hash)?,
        }
    }
    Ok(count)
}

fn corrupt(what: &str, how: String) -> QueryError {
    LodeError::Corrupt { what: what.to_owned(), how }.into()
}

fn of_index(info: &RelationInfo, index: &IndexInfo, how: &str) -> QueryError {
    let what = format!("index {} of `{}`", index.number, info.name);
    corrupt(&what, how.to_owned())
}

fn check_tree(
    pages: &impl PageRead,
    info: &RelationInfo,
    index: &IndexInfo,
    tree: Btree,
) -> Result<()> {
    btree::check(pages, tree.root())?;
    let mut expected = Entries::default();
    each_tuple(pages, info, |id, bytes| {
        expected.push(&info.layout, &index.attributes, id, bytes);
        Ok(())
    })?;
    expected.sort();
    let mut found = tree.forwards(pages, (Bound::Unbounded, Bound::Unbounded))?;
    let mut before: Option<Vec<u8>> = None;
    for entry in expected.iter() {
        if found.entry()?.is_none_or(|(key, _)| key != entry.bytes) {
            return Err(of_index(info, index, "it lacks the entry of a tuple"));
        }
        let is_equal = before.as_deref() == Some(entry.key());
        if index.is_unique && entry.is_exact() && is_equal {
            return Err(of_index(info, index, "it is unique, and two tuples have equal values"));
        }
        before = Some(entry.key().to_vec());
    }
    match found.entry()? {
        Some(_) => Err(of_index(info, index, "it has an entry without a tuple")),
        None => Ok(()),
    }
}

fn check_hash(
    pages: &impl PageRead,
    info: &RelationInfo,
    index: &IndexInfo,
    hash: Hash,
) -> Result<()> {
    hash.check(pages)?;
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    let field = &info.layout.fields[index.attributes[0]];
    each_tuple(pages, info, |id, bytes| {
        expected.extend(key::hash(field, tuple::read(bytes, field)).map(|key| (key, id.to_u64())));
        Ok(())
    })?;
    hash.scan(pages, |key, id| found.push((key, id)))?;
    expected.sort_unstable();
    found.sort_unstable();
    if expected == found { Ok(()) } else { Err(of_index(info, index, "it and the tuples differ")) }
}
