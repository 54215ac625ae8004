//! The copies of a mirrored database, told to Python.

use std::path::PathBuf;

use lode::internals::mirror::{self, MirrorReport, Side};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::failure;

/// A copy by its name.
pub fn side_of(copy: &str) -> PyResult<Side> {
    let named = [0, 1].into_iter().find(|&side| mirror::name_of(side) == copy);
    named.ok_or_else(|| {
        PyValueError::new_err(format!("no copy is called {copy:?}: there are first and second"))
    })
}

/// How the copies of an open database are.
pub fn of_mirror<'py>(py: Python<'py>, report: &MirrorReport) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("epoch", report.epoch)?;
    row.set_item("mended", report.mended)?;
    for (side, copy) in report.copies.iter().enumerate() {
        let told = PyDict::new(py);
        told.set_item("standing", copy.standing)?;
        told.set_item("why", &copy.why)?;
        told.set_item("reads", copy.reads)?;
        told.set_item("filled_bytes", copy.filled_bytes)?;
        row.set_item(mirror::name_of(side), told)?;
    }
    Ok(row)
}

/// The state of the copies at a path, after one of them was told to go on alone: see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (path, alone=None))]
pub fn lode_mirror<'py>(
    py: Python<'py>,
    path: PathBuf,
    alone: Option<&str>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let alone = alone.map(side_of).transpose()?;
    let found = py.detach(move || {
        alone.map_or(Ok(()), |side| mirror::take_alone(&path, side))?;
        mirror::look(&path)
    });
    let Some(look) = found.map_err(|error| failure(&error))? else { return Ok(None) };
    let row = PyDict::new(py);
    row.set_item("verdict", &look.verdict)?;
    for (side, copy) in look.copies.iter().enumerate() {
        let told = PyDict::new(py);
        told.set_item("path", &copy.path)?;
        told.set_item("says", &copy.says)?;
        told.set_item("epoch", copy.epoch)?;
        row.set_item(mirror::name_of(side), told)?;
    }
    Ok(Some(row))
}
