//! QUEL: trees as JSON, the oracle, and the answers of streams and rows.

mod rows;
mod stream;

use std::sync::{PoisonError, RwLock};

use loadstone_quel::oracle::ROWS_MAX;
use loadstone_quel::{Answer, from_json, parse, print, to_json};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::capsule::BatchesIn;

create_exception!(
    loadstone._core,
    QuelError,
    PyValueError,
    "The text is not QUEL, or means nothing; the message shows line, caret and expectation."
);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("QuelError", module.py().get_type::<QuelError>())?;
    module.add_class::<Oracle>()?;
    module.add_function(wrap_pyfunction!(quel_parse, module)?)?;
    module.add_function(wrap_pyfunction!(quel_format, module)?)?;
    module.add_function(wrap_pyfunction!(answer_of_stream, module)?)?;
    module.add_function(wrap_pyfunction!(answer_of_rows, module)?)
}

/// The program's tree as JSON.
#[pyfunction]
fn quel_parse(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| parse(text).map(|program| to_json(&program))).map_err(|error| quel_error(&error))
}

/// The canonical QUEL text of a JSON tree.
#[pyfunction]
fn quel_format(py: Python<'_>, tree: &str) -> PyResult<String> {
    py.detach(|| from_json(tree).and_then(|tree| print(&tree))).map_err(|error| quel_error(&error))
}

/// Expected answers, evaluated naively over generated relations.
#[pyclass(frozen, module = "loadstone._core")]
struct Oracle {
    oracle: RwLock<loadstone_quel::Oracle>,
}

#[pymethods]
impl Oracle {
    #[new]
    fn new() -> Self {
        Self { oracle: RwLock::default() }
    }

    #[pyo3(signature = (benchmark, edition, relation, rows, seed=0, name=None))]
    #[expect(clippy::too_many_arguments, reason = "the signature of the Python method")]
    fn add(
        &self,
        py: Python<'_>,
        benchmark: &str,
        edition: &str,
        relation: &str,
        rows: u64,
        seed: u64,
        name: Option<String>,
    ) -> PyResult<()> {
        let source = loadstone_datasets::open(benchmark, edition, relation, rows, seed)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        if source.rows() > ROWS_MAX as u64 {
            let count = source.rows();
            let message = format!("{count} rows are too many for the oracle; it takes {ROWS_MAX}");
            return Err(PyValueError::new_err(message));
        }
        py.detach(|| {
            let name = name.unwrap_or_else(|| source.name().to_owned());
            self.oracle.write().unwrap_or_else(PoisonError::into_inner).open(source, &name);
        });
        Ok(())
    }

    /// (rows, checksum) that the program must give.
    fn answer(&self, py: Python<'_>, text: &str) -> PyResult<(u64, String)> {
        py.detach(|| self.oracle.read().unwrap_or_else(PoisonError::into_inner).answer(text))
            .map(pair)
            .map_err(|error| quel_error(&error))
    }

    /// (rows, checksum) of a relation as generated.
    fn contents(&self, py: Python<'_>, name: &str) -> PyResult<(u64, String)> {
        py.detach(|| {
            let oracle = self.oracle.read().unwrap_or_else(PoisonError::into_inner);
            oracle.contents(name).map(pair).ok_or_else(|| {
                let names: Vec<_> = oracle.names().collect();
                let known = names.join(", ");
                QuelError::new_err(format!("there is no relation '{name}'; there are: {known}"))
            })
        })
    }
}

/// (rows, checksum) of anything with `__arrow_c_stream__`.
#[pyfunction]
fn answer_of_stream(py: Python<'_>, stream: BatchesIn) -> PyResult<(u64, String)> {
    py.detach(|| stream::answer(stream.0)).map(pair)
}

/// (rows, checksum) of Python rows.
#[pyfunction]
fn answer_of_rows(rows: &Bound<'_, PyAny>) -> PyResult<(u64, String)> {
    rows::answer(rows).map(pair)
}

fn pair(answer: Answer) -> (u64, String) {
    (answer.rows, answer.checksum_hex())
}

fn quel_error(error: &loadstone_quel::QuelError) -> PyErr {
    QuelError::new_err(error.to_string())
}
