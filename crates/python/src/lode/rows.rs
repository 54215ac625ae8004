//! The rows of a query: an Arrow stream, or Python tuples.

use std::mem;
use std::sync::{Mutex, PoisonError};

use lode::internals::owner::Owner;
use lode_query::database::{Rows as Stream, arrow};
use lode_query::tuple::{Layout, Value, read, trimmed};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyString, PyTuple};

use super::error::{failure, over, query_failure};
use super::relation::type_name;
use crate::capsule::{batches_out, schema_out};

const READ: &str = "the rows have been read: query again";

/// Rows that are read once. See `_core.pyi`.
#[pyclass(frozen, name = "LodeRows")]
pub struct Rows {
    owner: Owner,
    layout: Layout,
    stream: Mutex<Option<Stream>>,
}

impl Rows {
    pub fn new(stream: Stream) -> Self {
        let layout = stream.layout().clone();
        Self { owner: Owner::here(), layout, stream: Mutex::new(Some(stream)) }
    }

    fn take(&self, py: Python<'_>) -> PyResult<Stream> {
        self.owner.check("the answer").map_err(|error| failure(&error))?;
        let take = || self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(take).ok_or_else(|| over(READ))
    }
}

impl Drop for Rows {
    /// In a child of the process the thread that makes the rows is not there to be waited for.
    fn drop(&mut self) {
        if !self.owner.is_here() {
            mem::forget(self.stream.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

#[pymethods]
impl Rows {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.layout.fields.iter().map(|field| field.name.clone()).collect()
    }

    /// The types of the columns, as QUEL has them.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.layout.fields.iter().map(|field| type_name(field.kind)).collect()
    }

    /// The next rows as tuples, as many as came together; none at the end.
    fn fetch_next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut stream = self.take(py)?;
        let tuples = py.detach(|| stream.next_tuples()).map_err(|error| query_failure(&error))?;
        let rows = PyList::empty(py);
        for tuple in tuples.iter().flat_map(|some| some.chunks_exact(self.layout.bytes.max(1))) {
            rows.append(row(py, &self.layout, tuple)?)?;
        }
        *self.stream.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
        Ok(rows)
    }

    /// End the statement. Closing twice is harmless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.owner.check("the answer").map_err(|error| failure(&error))?;
        py.detach(|| drop(self.stream.lock().unwrap_or_else(PoisonError::into_inner).take()));
        Ok(())
    }

    /// All rows as tuples.
    fn fetch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut stream = self.take(py)?;
        let rows = PyList::empty(py);
        while let Some(tuples) =
            py.detach(|| stream.next_tuples()).map_err(|error| query_failure(&error))?
        {
            for tuple in tuples.chunks_exact(self.layout.bytes.max(1)) {
                rows.append(row(py, &self.layout, tuple)?)?;
            }
        }
        py.detach(move || drop(stream));
        Ok(rows)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema); // the rows have the types that they are stored in
        batches_out(py, self.take(py)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_out(py, &arrow::schema_of(&self.layout))
    }
}

fn row<'py>(py: Python<'py>, layout: &Layout, tuple: &[u8]) -> PyResult<Bound<'py, PyTuple>> {
    let value = |field| {
        Ok(match read(tuple, field) {
            Value::Null => py.None().into_bound(py),
            Value::Integer(value) => value.into_pyobject(py)?.into_any(),
            Value::Real(value) => value.into_pyobject(py)?.into_any(),
            Value::Text(text) => PyString::from_bytes(py, trimmed(text))?.into_any(),
        })
    };
    PyTuple::new(py, layout.fields.iter().map(value).collect::<PyResult<Vec<_>>>()?)
}
