//! Clock, schedules, coldness and counters, as `_core.pyi` says under "measure"; statistics and
//! loops have a file each.

mod loops;
mod meter;
mod sampler;
mod statistics;

pub use loops::{Intervals, Tally, intervals};
pub use meter::{Metered, metered};

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use loadstone_measure::memory::MemoryError;
use loadstone_measure::processor::ProcessorTimes;
use loadstone_measure::residency::Residency;
use loadstone_measure::speed_probe;
use loadstone_measure::{
    clock, counters, eviction, idle_states, mappings, memory, processor, residency, spin,
};
use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    statistics::register(module)?;
    loops::register(module)?;
    module.add_class::<IdleStates>()?;
    module.add_class::<meter::Meter>()?;
    module.add_class::<sampler::Sampler>()?;
    module.add_class::<SpeedProbe>()?;
    module.add_function(wrap_pyfunction!(clock_ns, module)?)?;
    module.add_function(wrap_pyfunction!(clock_resolution_ns, module)?)?;
    module.add_function(wrap_pyfunction!(clock_cost_ns, module)?)?;
    module.add_function(wrap_pyfunction!(cpu_ns, module)?)?;
    module.add_function(wrap_pyfunction!(io_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(called_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(reads_past_calls, module)?)?;
    module.add_function(wrap_pyfunction!(schedule, module)?)?;
    module.add_function(wrap_pyfunction!(spin_ns, module)?)?;
    module.add_function(wrap_pyfunction!(processor_times, module)?)?;
    module.add_function(wrap_pyfunction!(resident_pages, module)?)?;
    module.add_function(wrap_pyfunction!(evict, module)?)?;
    module.add_function(wrap_pyfunction!(mapped_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(page_out, module)?)?;
    module.add_function(wrap_pyfunction!(disable_idle_states, module)?)?;
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
fn called_bytes(py: Python<'_>, pid: u32) -> Option<u64> {
    py.detach(|| counters::storage_bytes(pid)).map(|bytes| bytes.called)
}

#[pyfunction]
fn reads_past_calls(py: Python<'_>, pid: u32) -> Option<bool> {
    py.detach(|| counters::reads_past_calls(pid))
}

#[pyfunction]
fn schedule(seed: u64, variants: usize, rounds: usize) -> Vec<Vec<usize>> {
    loadstone_measure::schedule::orders(seed, variants, rounds)
}

#[pyfunction]
fn spin_ns(py: Python<'_>, iterations: u64) -> u64 {
    py.detach(|| spin::spin_ns(iterations))
}

#[pyfunction]
fn processor_times(py: Python<'_>) -> Option<(u128, u128, u128)> {
    let ProcessorTimes { busy_ns, idle_ns, stolen_ns } = py.detach(processor::processor_times)?;
    Some((busy_ns, idle_ns, stolen_ns))
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
fn mapped_bytes(py: Python<'_>, pid: u32, files: Vec<PathBuf>) -> PyResult<u64> {
    let smaps = PathBuf::from(format!("/proc/{pid}/smaps"));
    py.detach(move || mappings::mapped_bytes(pid, &files)).map_err(|error| os_error(&error, smaps))
}

#[pyfunction]
fn page_out(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<()> {
    py.detach(move || mappings::page_out(&files))
        .map_err(|error| os_error(&error, PathBuf::from("/proc/self/smaps")))
}

#[pyfunction]
fn disable_idle_states() -> IdleStates {
    IdleStates(idle_states::IdleStates::disable())
}

#[pyfunction]
fn pretouch(py: Python<'_>, size_bytes: usize) -> PyResult<u64> {
    py.detach(|| memory::pretouch(size_bytes))
        .map_err(|error: MemoryError| PyMemoryError::new_err(error.to_string()))
}

/// A fixed piece of work like an engine's.
#[pyclass(module = "loadstone._core")]
struct SpeedProbe(speed_probe::SpeedProbe);

#[pymethods]
impl SpeedProbe {
    #[new]
    fn new() -> Self {
        Self(speed_probe::SpeedProbe::new())
    }

    fn run_ns(&mut self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.run_ns())
            .map_err(|error: MemoryError| PyMemoryError::new_err(error.to_string()))
    }
}

/// While open, idle CPUs stay out of deep sleep states.
#[pyclass(module = "loadstone._core")]
struct IdleStates(idle_states::IdleStates);

#[pymethods]
impl IdleStates {
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
