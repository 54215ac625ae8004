//! QUEL for programs in Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use lode_query::QueryError;
use lode_query::database::{Outcome, Statement as Program};
use lode_query::execution::Parameter;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use super::error::query_failure;
use super::rows::Rows;

/// A text read, after declarations of range variables. The database knows the last ones.
pub fn program(
    py: Python<'_>,
    database: &lode_query::database::Database,
    text: &str,
    ranges: Option<BTreeMap<String, String>>,
) -> PyResult<Arc<Program>> {
    let program = py.detach(|| database.statement(text)).map_err(|error| query_failure(&error))?;
    Ok(match ranges {
        Some(ranges) if !ranges.is_empty() => {
            Arc::new(Program::clone(&program).with_ranges(ranges))
        }
        _ => program,
    })
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

/// The plan of a program; with counted rows and work of one that is run for it.
pub fn explain(
    py: Python<'_>,
    database: &lode_query::database::Database,
    program: &Program,
    parameters: &[Parameter],
    counted: bool,
) -> PyResult<String> {
    let explained = py.detach(|| {
        if counted {
            Ok(database.run_counted(program, parameters)?.explain())
        } else {
            database.explain(program, parameters)
        }
    });
    explained.map_err(|error: QueryError| query_failure(&error))
}

/// Parameters from Python.
pub fn values(parameters: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    let value = |(at, value): (usize, PyResult<Bound<'_, PyAny>>)| parameter(at + 1, &value?);
    parameters.try_iter()?.enumerate().map(value).collect()
}

fn parameter(number: usize, value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        let integer = value.extract().map_err(|_| {
            PyValueError::new_err(format!("${number} is an integer of more than 8 bytes"))
        })?;
        Ok(Parameter::Integer(integer))
    } else if let Ok(real) = value.cast::<PyFloat>() {
        let real = real.value();
        let is_finite = real.is_finite().then_some(Parameter::Real(real));
        is_finite.ok_or_else(|| {
            PyValueError::new_err(format!("${number} is {real}: a parameter is a finite number"))
        })
    } else if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str().map_err(|_| {
            PyValueError::new_err(format!("${number} is a text that is not valid Unicode"))
        })?;
        Ok(Parameter::Text(text.as_bytes().to_vec()))
    } else {
        let name = value.get_type().name()?;
        let message = format!("${number}: a parameter is an int, a float or a str, no {name}");
        Err(PyTypeError::new_err(message))
    }
}
