//! Statistics of samples.

use loadstone_measure::statistics::{self, Interval, StatisticsError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An estimate with its lower and upper bound.
type Bounded = (f64, Option<f64>, Option<f64>);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(interval_of_median, module)?)?;
    module.add_function(wrap_pyfunction!(interval_of_paired_ratio, module)?)?;
    module.add_function(wrap_pyfunction!(effective_samples, module)?)?;
    module.add_function(wrap_pyfunction!(outliers, module)?)?;
    module.add_function(wrap_pyfunction!(growth_exponent, module)?)?;
    Ok(())
}

#[pyfunction]
#[pyo3(signature = (samples, confidence = 0.95))]
fn interval_of_median(py: Python<'_>, samples: Vec<f64>, confidence: f64) -> PyResult<Bounded> {
    py.detach(move || statistics::interval_of_median(&samples, confidence))
        .map(bounded)
        .map_err(value)
}

#[pyfunction]
#[pyo3(signature = (numerator, denominator, confidence = 0.95))]
fn interval_of_paired_ratio(
    py: Python<'_>,
    numerator: Vec<f64>,
    denominator: Vec<f64>,
    confidence: f64,
) -> PyResult<Bounded> {
    py.detach(move || statistics::interval_of_paired_ratio(&numerator, &denominator, confidence))
        .map(bounded)
        .map_err(value)
}

#[pyfunction]
fn effective_samples(py: Python<'_>, samples: Vec<f64>) -> PyResult<f64> {
    py.detach(move || statistics::effective_samples(&samples)).map_err(value)
}

#[pyfunction]
fn outliers(py: Python<'_>, samples: Vec<f64>) -> PyResult<Vec<usize>> {
    py.detach(move || statistics::outliers(&samples)).map_err(value)
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

fn bounded(interval: Interval) -> Bounded {
    let Interval { estimate, bounds } = interval;
    (estimate, bounds.map(|(low, _)| low), bounds.map(|(_, high)| high))
}

fn value(error: StatisticsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
