//! Loops: when requests are due, and what became of them.

use loadstone_measure::pace::{self, Pace};
use loadstone_measure::tally;
use loadstone_measure::timeline::{self, Interval};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Tally>()?;
    module.add_class::<Timeline>()?;
    module.add_function(wrap_pyfunction!(intended_starts, module)?)?;
    Ok(())
}

#[pyfunction]
#[pyo3(signature = (seed, rate_per_s, duration_ns, model = "poisson"))]
fn intended_starts(
    py: Python<'_>,
    seed: u64,
    rate_per_s: f64,
    duration_ns: u64,
    model: &str,
) -> PyResult<Vec<u64>> {
    let pace = Pace::of_name(model).map_err(value)?;
    py.detach(|| pace::intended_starts(seed, rate_per_s, duration_ns, pace)).map_err(value)
}

/// Latencies of one loop in auto-resizing HDR histograms.
#[pyclass(module = "loadstone._core")]
pub struct Tally(pub tally::Tally);

#[pymethods]
impl Tally {
    #[new]
    fn new() -> Self {
        Self(tally::Tally::new())
    }

    fn add(&mut self, intended_ns: u64, started_ns: u64, ended_ns: u64) -> PyResult<()> {
        self.0.add(intended_ns, started_ns, ended_ns).map_err(value)
    }

    fn skip(&mut self) {
        self.0.skip();
    }

    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        // A copy, because a tally may be added to itself, and two to each other from two threads.
        let theirs = other.try_borrow()?.0.clone();
        slf.try_borrow_mut()?.0.merge(&theirs);
        Ok(())
    }

    fn latency_ns(&self, percentile: f64) -> PyResult<Option<u64>> {
        self.0.latency_ns(percentile).map_err(value)
    }

    fn lag_ns(&self, percentile: f64) -> PyResult<Option<u64>> {
        self.0.lag_ns(percentile).map_err(value)
    }

    fn service_ns(&self, percentile: f64) -> PyResult<Option<u64>> {
        self.0.service_ns(percentile).map_err(value)
    }

    #[getter]
    fn completed(&self) -> u64 {
        self.0.completed()
    }

    #[getter]
    fn late(&self) -> u64 {
        self.0.late()
    }

    #[getter]
    fn skipped(&self) -> u64 {
        self.0.skipped()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }
}

/// (completed, failed, median, p99, longest) of each interval.
pub type Intervals = Vec<(u64, u64, u64, u64, u64)>;

pub fn intervals(found: Vec<Interval>) -> Intervals {
    let fields = |one: Interval| (one.completed, one.failed, one.median_ns, one.p99_ns, one.max_ns);
    found.into_iter().map(fields).collect()
}

/// A loop over time. See `_core.pyi`.
#[pyclass(frozen, module = "loadstone._core")]
pub struct Timeline(timeline::Timeline);

#[pymethods]
impl Timeline {
    #[new]
    fn new(interval_ns: u64) -> Self {
        Self(timeline::Timeline::new(interval_ns))
    }

    #[pyo3(signature = (ended_ns, latency_ns=None))]
    fn add(&self, py: Python<'_>, ended_ns: u64, latency_ns: Option<u64>) {
        py.detach(|| self.0.add(ended_ns, latency_ns));
    }

    fn intervals(&self) -> Intervals {
        intervals(self.0.intervals())
    }
}

fn value(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
