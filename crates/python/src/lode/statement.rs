//! A prepared text in Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use lode_query::database::Statement as Program;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::open::Opened;
use super::query;
use super::rows::Rows;

/// A text of QUEL that has been read, to be run with other values each time. See `_core.pyi`.
#[pyclass(frozen, name = "LodeStatement")]
pub struct Statement {
    database: Arc<Opened>,
    program: Arc<Program>,
}

impl Statement {
    pub const fn new(database: Arc<Opened>, program: Arc<Program>) -> Self {
        Self { database, program }
    }
}

#[pymethods]
impl Statement {
    /// Whether it is run for rows.
    #[getter]
    fn gives_rows(&self) -> bool {
        self.program.gives_rows()
    }

    /// The range variables that it declares, with their relations.
    #[getter]
    fn declares(&self) -> BTreeMap<String, String> {
        self.program.declares()
    }

    /// The same after these declarations.
    fn after(&self, ranges: BTreeMap<String, String>) -> Self {
        let program = Program::clone(&self.program).with_ranges(ranges);
        Self::new(Arc::clone(&self.database), Arc::new(program))
    }

    /// The way in which it would be run; or, run, how it was.
    #[pyo3(signature = (*parameters, counted=false))]
    fn explain(
        &self,
        py: Python<'_>,
        parameters: &Bound<'_, PyTuple>,
        counted: bool,
    ) -> PyResult<String> {
        let parameters = query::values(parameters.as_any())?;
        query::explain(py, &*self.database.database(py)?, &self.program, &parameters, counted)
    }

    /// Run it for its rows.
    #[pyo3(signature = (*parameters))]
    fn query(&self, py: Python<'_>, parameters: &Bound<'_, PyTuple>) -> PyResult<Rows> {
        let parameters = query::values(parameters.as_any())?;
        query::query(py, &*self.database.database(py)?, &self.program, &parameters)
    }

    /// Run it for what it changes.
    #[pyo3(signature = (*parameters))]
    fn execute(&self, py: Python<'_>, parameters: &Bound<'_, PyTuple>) -> PyResult<Option<u64>> {
        let parameters = query::values(parameters.as_any())?;
        query::execute(py, &*self.database.database(py)?, &self.program, &parameters)
    }
}
