//! The sampler of the CPU clock, as `_core.pyi` says.

use loadstone_measure::sampling::{self, FREQUENCY_HZ_MAX, Profile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// (of a server, thread, object, function, entry, samples).
type Count = (bool, u32, String, String, String, u64);
/// (of a server, thread, name, CPU ns, ns waited for a CPU).
type Spent = (bool, u32, String, u64, Option<u64>);
/// (ns between samples, share shown, elapsed ns, lost, counts, threads).
type Profiled = (u64, Option<f64>, u64, u64, Vec<Count>, Vec<Spent>);

/// Follows this process and its servers from its making to its closing.
#[pyclass(module = "loadstone._core")]
pub struct Sampler(Option<sampling::Sampler>);

#[pymethods]
impl Sampler {
    #[new]
    #[pyo3(signature = (servers, frequency_hz = 997))]
    #[expect(clippy::needless_pass_by_value, reason = "Python gives it away")]
    fn new(py: Python<'_>, servers: Vec<u32>, frequency_hz: u32) -> PyResult<Self> {
        if !(1..=FREQUENCY_HZ_MAX).contains(&frequency_hz) {
            let text = format!("a sampler takes 1 to {FREQUENCY_HZ_MAX} samples a second");
            return Err(PyValueError::new_err(text));
        }
        Ok(Self(Some(py.detach(|| sampling::Sampler::start(&servers, frequency_hz)))))
    }

    #[getter]
    fn reason(&self) -> String {
        let closed = || "the sampler is closed".to_owned();
        self.0.as_ref().map_or_else(closed, sampling::Sampler::reason)
    }

    #[getter]
    fn samples_programs(&self) -> bool {
        self.0.as_ref().is_some_and(|open| open.samples().0)
    }

    #[getter]
    fn samples_kernel(&self) -> bool {
        self.0.as_ref().is_some_and(|open| open.samples().1)
    }

    fn begin(&mut self, py: Python<'_>) -> PyResult<()> {
        let open = self.opened()?;
        py.detach(|| open.begin());
        Ok(())
    }

    fn end(&mut self, py: Python<'_>, start_ns: u64, end_ns: u64) -> PyResult<()> {
        let open = self.opened()?;
        py.detach(|| open.end(start_ns, end_ns));
        Ok(())
    }

    fn take(&mut self, py: Python<'_>) -> PyResult<Profiled> {
        let open = self.opened()?;
        Ok(profiled(py.detach(|| open.take())))
    }

    fn pause(&mut self, py: Python<'_>) -> PyResult<()> {
        let open = self.opened()?;
        py.detach(|| open.pause());
        Ok(())
    }

    fn resume(&mut self, py: Python<'_>) -> PyResult<()> {
        let open = self.opened()?;
        py.detach(|| open.resume());
        Ok(())
    }

    fn close(&mut self) {
        self.0 = None;
    }
}

impl Sampler {
    fn opened(&mut self) -> PyResult<&mut sampling::Sampler> {
        self.0.as_mut().ok_or_else(|| PyValueError::new_err("the sampler is closed"))
    }
}

fn profiled(profile: Profile) -> Profiled {
    let counts = profile.counts.into_iter().map(|it| {
        let place = it.place;
        (it.server, it.thread, place.object, place.function, place.entry, it.samples)
    });
    let threads = profile
        .threads
        .into_iter()
        .map(|it| (it.server, it.thread, it.name, it.cpu_ns, it.waited_ns));
    let (counts, threads) = (counts.collect(), threads.collect());
    let Profile { period_ns, shown, elapsed_ns, lost, .. } = profile;
    (period_ns, shown, elapsed_ns, lost, counts, threads)
}
