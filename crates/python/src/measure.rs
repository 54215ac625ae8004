//! Clock, schedules, statistics, coldness and counters, as `_core.pyi` says under "measure".

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use loadstone_measure::memory::MemoryError;
use loadstone_measure::residency::Residency;
use loadstone_measure::statistics::{Interval, StatisticsError};
use loadstone_measure::{awake, clock, counters, eviction, memory, residency, statistics};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;

/// An estimate with its lower and upper bound.
type Bounded = (f64, Option<f64>, Option<f64>);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Awake>()?;
    module.add_function(wrap_pyfunction!(clock_ns, module)?)?;
    module.add_function(wrap_pyfunction!(clock_resolution_ns, module)?)?;
    module.add_function(wrap_pyfunction!(clock_cost_ns, module)?)?;
    module.add_function(wrap_pyfunction!(cpu_ns, module)?)?;
    module.add_function(wrap_pyfunction!(io_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(schedule, module)?)?;
    module.add_function(wrap_pyfunction!(interval_of_median, module)?)?;
    module.add_function(wrap_pyfunction!(interval_of_ratio, module)?)?;
    module.add_function(wrap_pyfunction!(growth_exponent, module)?)?;
    module.add_function(wrap_pyfunction!(resident_pages, module)?)?;
    module.add_function(wrap_pyfunction!(evict, module)?)?;
    module.add_function(wrap_pyfunction!(hold_awake, module)?)?;
    module.add_function(wrap_pyfunction!(pretouch, module)?)?;
    Ok(())
}

#[pyfunction]
fn clock_ns() -> u64 {
    clock::now_ns()
}

#[pyfunction]
fn clock_resolution_ns(py: Python<'_>) -> u64 {
    py.detach(clock::resolution_ns)
}

#[pyfunction]
fn clock_cost_ns(py: Python<'_>) -> f64 {
    py.detach(clock::cost_ns)
}

#[pyfunction]
fn cpu_ns(py: Python<'_>, pid: u32) -> Option<u64> {
    py.detach(|| counters::cpu_ns(pid))
}

#[pyfunction]
fn io_bytes(py: Python<'_>, pid: u32) -> Option<(u64, u64)> {
    py.detach(|| counters::storage_bytes(pid)).map(|bytes| (bytes.read, bytes.written))
}

#[pyfunction]
fn schedule(seed: u64, variants: usize, rounds: usize) -> Vec<Vec<usize>> {
    loadstone_measure::schedule::orders(seed, variants, rounds)
}

#[pyfunction]
#[pyo3(signature = (samples, confidence = 0.95))]
fn interval_of_median(py: Python<'_>, samples: Vec<f64>, confidence: f64) -> PyResult<Bounded> {
    py.detach(move || statistics::interval_of_median(&samples, confidence))
        .map(bounded)
        .map_err(value)
}

#[pyfunction]
#[pyo3(signature = (numerator, denominator, confidence = 0.95, seed = 0))]
fn interval_of_ratio(
    py: Python<'_>,
    numerator: Vec<f64>,
    denominator: Vec<f64>,
    confidence: f64,
    seed: u64,
) -> PyResult<Bounded> {
    py.detach(move || statistics::interval_of_ratio(&numerator, &denominator, confidence, seed))
        .map(bounded)
        .map_err(value)
}

#[pyfunction]
fn growth_exponent(
    py: Python<'_>,
    sizes: Vec<f64>,
    times: Vec<f64>,
) -> PyResult<Option<(f64, Option<f64>)>> {
    let growth = py.detach(move || statistics::growth_exponent(&sizes, &times)).map_err(value)?;
    Ok(growth.map(|growth| (growth.exponent, growth.error)))
}

#[pyfunction]
fn resident_pages(py: Python<'_>, path: PathBuf) -> PyResult<(u64, u64, &'static str)> {
    let Residency { resident, total, method } =
        py.detach(|| residency::residency(&path)).map_err(|error| os_error(&error, path))?;
    Ok((resident, total, method.name()))
}

#[pyfunction]
fn evict(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| eviction::evict(&path)).map_err(|error| os_error(&error, path))
}

#[pyfunction]
fn hold_awake() -> Awake {
    Awake(awake::Awake::hold())
}

#[pyfunction]
fn pretouch(py: Python<'_>, size_bytes: usize) -> PyResult<u64> {
    py.detach(|| memory::pretouch(size_bytes))
        .map_err(|error: MemoryError| PyMemoryError::new_err(error.to_string()))
}

/// While open, idle CPUs stay out of deep sleep states.
#[pyclass(module = "loadstone._core")]
struct Awake(awake::Awake);

#[pymethods]
impl Awake {
    #[getter]
    fn held(&self) -> bool {
        self.0.held()
    }

    #[getter]
    fn reason(&self) -> &str {
        self.0.reason()
    }

    fn close(&mut self) {
        self.0.close();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&mut self, _exception: &Bound<'_, PyAny>) {
        self.0.close();
    }
}

fn bounded(interval: Interval) -> Bounded {
    let Interval { estimate, bounds } = interval;
    (estimate, bounds.map(|(low, _)| low), bounds.map(|(_, high)| high))
}

fn value(error: StatisticsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// With number and file name, so that Python picks the subclass (`FileNotFoundError` …).
fn os_error(error: &io::Error, path: PathBuf) -> PyErr {
    let text = error.to_string();
    let name = OsString::from(path);
    match error.raw_os_error() {
        // Python adds the number itself.
        Some(number) => {
            let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
            PyOSError::new_err((number, text, name))
        }
        None => PyOSError::new_err(text),
    }
}
