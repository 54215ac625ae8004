//! Datasets: Arrow streams made on demand, and exports to files.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use loadstone_datasets::{DatasetError, Source};
use loadstone_export::arrow::{Batches, schema};
use loadstone_export::{ExportError, Request, Summary};
use loadstone_measure::clock;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule::{batches_out, schema_out};

/// Progress is reported, and signals are looked for, at most this often.
const PROGRESS_INTERVAL_NS: u64 = 100_000_000;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RelationStream>()?;
    module.add_function(wrap_pyfunction!(relations, module)?)?;
    module.add_function(wrap_pyfunction!(attributes, module)?)?;
    module.add_function(wrap_pyfunction!(built_and_late, module)?)?;
    module.add_function(wrap_pyfunction!(export, module)?)
}

/// Names of an edition's relations, in the paper's order.
#[pyfunction]
fn relations(benchmark: &str, edition: &str) -> PyResult<Vec<&'static str>> {
    let edition =
        loadstone_datasets::edition(benchmark, edition).map_err(|error| dataset_error(&error))?;
    Ok(edition.relations().to_vec())
}

/// (name, type) of a relation in order.
#[pyfunction]
fn attributes(benchmark: &str, edition: &str, relation: &str) -> PyResult<Vec<(String, String)>> {
    let attributes = loadstone_datasets::edition(benchmark, edition)
        .and_then(|edition| edition.attributes(relation))
        .map_err(|error| dataset_error(&error))?;
    Ok(attributes.into_iter().map(|each| (each.name, each.kind.to_string())).collect())
}

/// The number of rows of a relation that it is built of, and how many, its last ones, the paper
/// inserts afterwards.
#[pyfunction]
fn built_and_late(
    benchmark: &str,
    edition: &str,
    relation: &str,
    rows: u64,
) -> PyResult<(u64, u64)> {
    let edition =
        loadstone_datasets::edition(benchmark, edition).map_err(|error| dataset_error(&error))?;
    let source = edition.open(relation, rows, 0).map_err(|error| dataset_error(&error))?;
    let late = edition.late_rows(relation, rows);
    Ok((source.rows() - late, late))
}

/// Rows `first .. first + count` of a relation as Arrow record batches, made on demand.
#[pyclass(frozen, module = "loadstone._core")]
struct RelationStream {
    source: Arc<dyn Source>,
    first: u64,
    count: u64,
    batch_rows: u64,
}

#[pymethods]
impl RelationStream {
    #[new]
    #[pyo3(signature = (
        benchmark, edition, relation, rows, seed=0, first=0, count=None, batch_rows=65536
    ))]
    #[expect(clippy::too_many_arguments, reason = "the signature of the Python class")]
    fn new(
        benchmark: &str,
        edition: &str,
        relation: &str,
        rows: u64,
        seed: u64,
        first: u64,
        count: Option<u64>,
        batch_rows: u64,
    ) -> PyResult<Self> {
        let source = open(benchmark, edition, relation, rows, seed)?;
        if first > source.rows() {
            let rows = source.rows();
            return Err(PyValueError::new_err(format!(
                "{relation} has {rows} rows, no row {first}"
            )));
        }
        let count = count.unwrap_or(u64::MAX).min(source.rows() - first);
        Ok(Self { source, first, count, batch_rows })
    }

    /// Rows this stream yields in all.
    #[getter]
    fn row_count(&self) -> u64 {
        self.count
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema); // a producer may leave it alone
        let source = Arc::clone(&self.source);
        batches_out(py, Batches::new(source, self.first, self.count, self.batch_rows))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_out(py, schema(self.source.as_ref()).as_ref())
    }
}

/// Write a part of a relation to a file; see the stub.
#[pyfunction]
#[pyo3(signature = (
    benchmark, edition, relation, rows, path, format, seed=0, part=1, part_count=1, threads=1,
    compression="none", progress=None
))]
#[expect(clippy::too_many_arguments, reason = "the signature of the Python function")]
fn export<'py>(
    py: Python<'py>,
    benchmark: &str,
    edition: &str,
    relation: &str,
    rows: u64,
    path: PathBuf,
    format: &str,
    seed: u64,
    part: u64,
    part_count: u64,
    threads: usize,
    compression: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = Request {
        source: open(benchmark, edition, relation, rows, seed)?,
        path,
        format: format.parse().map_err(|error| export_error(&error))?,
        compression: compression.parse().map_err(|error| export_error(&error))?,
        part,
        part_count,
        threads,
    };
    let progress = progress.map(|progress| progress.clone().unbind());
    let started_ns = clock::now_ns();
    let Summary { rows, bytes } = py.detach(|| run(&request, progress.as_ref()))?;
    let result = PyDict::new(py);
    result.set_item("rows", rows)?;
    result.set_item("bytes", bytes)?;
    result.set_item("elapsed_ns", clock::now_ns() - started_ns)?;
    Ok(result)
}

/// Export, returning to Python a few times a second; what it raises there ends the export.
fn run(request: &Request, progress: Option<&Py<PyAny>>) -> PyResult<Summary> {
    let mut raised = None;
    let mut reported_ns = clock::now_ns();
    let mut observe = |rows_done: u64| {
        let now_ns = clock::now_ns();
        if now_ns - reported_ns < PROGRESS_INTERVAL_NS {
            return ControlFlow::Continue(());
        }
        reported_ns = now_ns;
        match Python::attach(|py| report(py, progress, rows_done)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let result = loadstone_export::export(request, &mut observe);
    match (raised, result) {
        (Some(raised), _) => Err(raised),
        (None, result) => result.map_err(|error| export_error(&error)),
    }
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, rows_done: u64) -> PyResult<()> {
    py.check_signals()?;
    progress.map_or(Ok(()), |progress| progress.call1(py, (rows_done,)).map(drop))
}

fn open(
    benchmark: &str,
    edition: &str,
    relation: &str,
    rows: u64,
    seed: u64,
) -> PyResult<Arc<dyn Source>> {
    loadstone_datasets::open(benchmark, edition, relation, rows, seed)
        .map_err(|error| dataset_error(&error))
}

fn dataset_error(error: &DatasetError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The operating system's refusals become `OSError` and its subclasses, the rest `ValueError`.
fn export_error(error: &ExportError) -> PyErr {
    match error.io() {
        Some(cause) => io::Error::new(cause.kind(), error.to_string()).into(),
        None => PyValueError::new_err(error.to_string()),
    }
}
