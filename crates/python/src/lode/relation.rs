//! Relations in Python: as they are loaded, as they are listed.

use loadstone_quel::schema::{Attribute, Kind};
use lode::tactics::describe::Tactic;
use lode_query::catalog::{Organisation, RelationInfo};
use lode_query::database::Storage;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// (name, type) as attributes.
pub fn attributes(pairs: Vec<(String, String)>) -> PyResult<Vec<Attribute>> {
    let attribute = |(name, word): (String, String)| {
        let kind = Kind::of_type_name(&word).ok_or_else(|| {
            let message =
                format!("no type {word:?}: there are i1, i2, i4, i8, f4, f8, c1 … c65535");
            PyValueError::new_err(message)
        })?;
        Ok(Attribute { name, kind })
    };
    pairs.into_iter().map(attribute).collect()
}

/// The way in which a relation is to be stored.
pub fn storage(organisation: &str, key: Vec<String>, indexes: Vec<String>) -> Storage {
    Storage { organisation: organisation.to_owned(), key, indexes }
}

/// A relation as the catalog knows it.
pub fn relation<'py>(py: Python<'py>, info: &RelationInfo) -> PyResult<Bound<'py, PyDict>> {
    let name = |at: usize| info.layout.fields[at].name.clone();
    let attributes: Vec<_> = info
        .layout
        .fields
        .iter()
        .map(|field| (field.name.clone(), type_name(field.kind)))
        .collect();
    let (organisation, key) = match info.organisation {
        Organisation::Heap => ("heap", Vec::new()),
        Organisation::Clustered { attribute } => ("clustered", vec![name(attribute)]),
        Organisation::Hash { attribute } => ("hash", vec![name(attribute)]),
    };
    let key =
        info.primary().map_or(key, |index| index.attributes.iter().map(|&at| name(at)).collect());
    let secondary = info.indexes.iter().filter(|index| !index.is_primary);
    let indexes: Vec<Vec<String>> =
        secondary.map(|index| index.attributes.iter().map(|&at| name(at)).collect()).collect();
    let row = PyDict::new(py);
    row.set_item("name", &info.name)?;
    row.set_item("attributes", attributes)?;
    row.set_item("organisation", organisation)?;
    row.set_item("layout", info.file_layout.shown())?;
    row.set_item("key", key)?;
    row.set_item("indexes", indexes)?;
    row.set_item("rows", info.rows)?;
    row.set_item("pages", info.pages)?;
    Ok(row)
}

/// As QUEL has it.
pub fn type_name(kind: Kind) -> String {
    match kind {
        Kind::Integer { bytes } => format!("i{bytes}"),
        Kind::Real { bytes } => format!("f{bytes}"),
        Kind::Text { width } => format!("c{width}"),
    }
}
