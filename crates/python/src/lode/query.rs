//! What a database is asked in QUEL, in Python.

use std::collections::BTreeMap;

use loadstone_quel::schema::{Attribute, Kind};
use lode_query::QueryError;
use lode_query::catalog::{Organisation, RelationInfo};
use lode_query::database::{Outcome, Statement as Program, Storage};
use lode_query::execution::Parameter;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use super::error::query_failure;
use super::rows::Rows;

/// A text read, after declarations of range variables.
pub fn program(
    py: Python<'_>,
    text: &str,
    ranges: Option<BTreeMap<String, String>>,
) -> PyResult<Program> {
    let program = py.detach(|| Program::new(text)).map_err(|error| query_failure(&error))?;
    Ok(program.with_ranges(ranges.unwrap_or_default()))
}

/// The rows that a program gives.
pub fn query(
    py: Python<'_>,
    database: &lode_query::database::Database,
    program: &Program,
    parameters: &[Parameter],
) -> PyResult<Rows> {
    if !program.gives_rows() {
        let what = "the text gives no rows: its last command is no `retrieve` to the client";
        return Err(query_failure(&QueryError::Input { what: what.to_owned() }));
    }
    match py.detach(|| database.run(program, parameters)) {
        Ok(Outcome::Rows(rows)) => Ok(Rows::new(rows)),
        Ok(Outcome::Changed(_)) => unreachable!("a program that gives rows"),
        Err(error) => Err(query_failure(&error)),
    }
}

/// The tuples that a program changes.
pub fn execute(
    py: Python<'_>,
    database: &lode_query::database::Database,
    program: &Program,
    parameters: &[Parameter],
) -> PyResult<Option<u64>> {
    if program.gives_rows() {
        let what = "the rows of the text's last `retrieve` would be lost: query it";
        return Err(query_failure(&QueryError::Input { what: what.to_owned() }));
    }
    match py.detach(|| database.run(program, parameters)) {
        Ok(Outcome::Changed(tuples)) => Ok(tuples),
        Ok(Outcome::Rows(_)) => unreachable!("a program that gives no rows"),
        Err(error) => Err(query_failure(&error)),
    }
}

/// Parameters from Python.
pub fn values(parameters: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    parameters.try_iter()?.map(|value| parameter(&value?)).collect()
}

fn parameter(value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        Ok(Parameter::Integer(value.extract()?))
    } else if let Ok(real) = value.cast::<PyFloat>() {
        let real = real.value();
        let is_finite = real.is_finite().then_some(Parameter::Real(real));
        is_finite.ok_or_else(|| PyValueError::new_err("a parameter is a finite number"))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Parameter::Text(text.to_str()?.as_bytes().to_vec()))
    } else {
        let name = value.get_type().name()?;
        let message = format!("a parameter is an int, a float or a str, no {name}");
        Err(PyTypeError::new_err(message))
    }
}

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

/// How a relation is to be stored.
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
    row.set_item("key", key)?;
    row.set_item("indexes", indexes)?;
    row.set_item("rows", info.rows)?;
    row.set_item("pages", info.pages)?;
    Ok(row)
}

fn type_name(kind: Kind) -> String {
    match kind {
        Kind::Integer { bytes } => format!("i{bytes}"),
        Kind::Real { bytes } => format!("f{bytes}"),
        Kind::Text { width } => format!("c{width}"),
    }
}
