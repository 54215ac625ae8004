//! The copies of a mirrored database, reported to Python.

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

/// The way in which the copies of an open database are.
pub fn of_mirror<'py>(py: Python<'py>, report: &MirrorReport) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("epoch", report.epoch)?;
    row.set_item("mended", report.mended)?;
    for (side, copy) in report.copies.iter().enumerate() {
        let reported = PyDict::new(py);
        reported.set_item("standing", copy.standing)?;
        reported.set_item("why", &copy.why)?;
        reported.set_item("reads", copy.reads)?;
        reported.set_item("filled_bytes", copy.filled_bytes)?;
        row.set_item(mirror::name_of(side), reported)?;
    }
    Ok(row)
}

/// The state of the copies at a path, after one of them was instructed to go on alone: see
/// `_core.pyi`.
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
        mirror::inspect(&path)
    });
    let Some(inspection) = found.map_err(|error| failure(&error))? else { return Ok(None) };
    let row = PyDict::new(py);
    row.set_item("verdict", &inspection.verdict)?;
    for (side, copy) in inspection.copies.iter().enumerate() {
        let reported = PyDict::new(py);
        reported.set_item("path", &copy.path)?;
        reported.set_item("says", &copy.says)?;
        reported.set_item("epoch", copy.epoch)?;
        row.set_item(mirror::name_of(side), reported)?;
    }
    Ok(Some(row))
}
