//! The meter of CPU time and storage traffic, as `_core.pyi` says.

use loadstone_measure::work::{self, Begun, Work};
use pyo3::prelude::*;

/// (client's CPU ns and threads, servers' CPU ns and threads, bytes read, bytes written).
pub type Metered = (Option<u64>, Option<u32>, Option<u64>, Option<u32>, Option<u64>, Option<u64>);

/// As Python gets it.
pub fn metered(work: Work) -> Metered {
    (
        work.client_cpu_ns,
        work.client_threads,
        work.server_cpu_ns,
        work.server_threads,
        work.read_bytes,
        work.written_bytes,
    )
}

/// A meter that runs from its making to its reading.
#[pyclass(module = "loadstone._core")]
pub struct Meter(Option<Begun>);

#[pymethods]
impl Meter {
    #[new]
    fn new(servers: Vec<u32>) -> Self {
        Self(Some(work::Meter::new(servers).begin()))
    }

    /// The work since it was made; None the second time.
    fn read(&mut self) -> Option<Metered> {
        self.0.take().map(|begun| metered(begun.end()))
    }
}
