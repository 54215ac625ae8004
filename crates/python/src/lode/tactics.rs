//! The switches of lode, as its code describes them.

use lode::tactics::{self as storage, Description};
use lode_query::QueryError;
use lode_query::tactics::{self, Tactics};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::query_failure;

/// Each tactic of lode: see `_core.pyi`.
#[pyfunction]
pub fn lode_tactics(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let defaults = Tactics::default().pairs();
    let all = tactics::all().into_iter().chain(storage::all());
    let described = all.zip(defaults);
    let mut rows = described
        .map(|(tactic, (_, default))| row(py, tactic, default))
        .collect::<PyResult<Vec<_>>>()?;
    let place = storage::place();
    let default = place.values[0].name.to_owned();
    rows.push(row(py, place, default)?);
    Ok(rows)
}

/// Tactics as they stand in a variant, name to value: see `_core.pyi`.
#[pyfunction]
pub fn lode_tactics_of(text: &str) -> PyResult<Vec<(&'static str, String)>> {
    let tactics: Tactics =
        text.parse().map_err(|error: QueryError| PyValueError::new_err(error.to_string()))?;
    Ok(tactics.pairs())
}

/// Each profile: see `_core.pyi`.
#[pyfunction]
pub fn lode_profiles(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let mut rows = Vec::new();
    for (name, about, profile) in tactics::profiles() {
        let settings = profile.settings().into_iter().map(|one| (one.tactic, one.value, one.why));
        let missing = profile.missing().into_iter().map(|one| (one.what, one.instead));
        let row = PyDict::new(py);
        row.set_item("name", name)?;
        row.set_item("about", about)?;
        row.set_item("settings", settings.collect::<Vec<_>>())?;
        row.set_item("missing", missing.collect::<Vec<_>>())?;
        rows.push(row);
    }
    Ok(rows)
}

/// Names and values as a caller gave them; a value may be a number.
pub fn pairs(tactics: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((name.extract()?, value.str()?.extract()?))
    };
    tactics.map_or_else(|| Ok(Vec::new()), |tactics| tactics.iter().map(pair).collect())
}

/// The tactics of these names and values, the others as by default.
pub fn chosen(pairs: &[(String, String)]) -> PyResult<Tactics> {
    let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Tactics::of(pairs).map_err(|error| query_failure(&error))
}

/// Name to value.
pub fn as_dict<'py>(
    py: Python<'py>,
    pairs: &[(&'static str, String)],
) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    pairs.iter().try_for_each(|(name, value)| named.set_item(name, value))?;
    Ok(named)
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
