//! What lode can switch, as its code describes it.

use lode::tactics::{self, Description, Tactics};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Each tactic of lode: see `_core.pyi`.
#[pyfunction]
pub fn lode_tactics(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let defaults = Tactics::default().pairs();
    let described = tactics::all().into_iter().zip(defaults);
    described.map(|(tactic, (_, default))| row(py, tactic, default)).collect()
}

fn row(py: Python<'_>, tactic: Description, default: String) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    let values = tactic.values.iter().map(|value| (value.name, value.about));
    row.set_item("name", tactic.name)?;
    row.set_item("default", default)?;
    row.set_item("values", values.collect::<Vec<_>>())?;
    row.set_item("does", tactic.does)?;
    row.set_item("buys", tactic.buys)?;
    row.set_item("costs", tactic.costs)?;
    row.set_item("loses", tactic.loses)?;
    row.set_item("excludes", tactic.excludes)?;
    row.set_item("source", tactic.source)?;
    Ok(row)
}
