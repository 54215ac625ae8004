//! A database that this process serves.

use std::io::{ErrorKind, Read};
use std::sync::{Mutex, PoisonError};

use lode::internals::owner::Owner;
use lode::server;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::error::failure;

/// A page server at work in this process. A context manager that stops it.
#[pyclass(frozen, name = "LodeServer")]
pub struct Server {
    address: String,
    owner: Owner,
    /// None when stopped.
    serving: Mutex<Option<server::Server>>,
}

impl Server {
    pub fn new(server: server::Server) -> Self {
        let address = server.address().to_string();
        Self { address, owner: Owner::here(), serving: Mutex::new(Some(server)) }
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Option<server::Server>) -> R + Send,
    ) -> PyResult<R> {
        // Before the lock: in a child of the process nobody may be there to release it.
        self.owner.check("the server").map_err(|error| failure(&error))?;
        let act = || act(&mut self.serving.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(py.detach(act))
    }
}

#[pymethods]
impl Server {
    /// The place where it listens, with the port that was free.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Wait until it has been stopped, or has failed. A signal's handler runs meanwhile, and what
    /// it raises ends the waiting.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        let ending = self.with(py, |serving| serving.as_ref().map(server::Server::ending))?;
        let Some(ending) = ending else { return Ok(()) };
        let mut ending = ending.map_err(|error| failure(&error))?;
        py.check_signals()?;
        while let Err(error) = py.detach(|| ending.read(&mut [0])) {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error.into());
            }
            py.check_signals()?;
        }
        Ok(())
    }

    /// Fill the copy that is gone from the other, while clients go on; the bytes copied, None if
    /// there was nothing to do.
    fn remirror(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let mirror = self.with(py, |serving| serving.as_ref().and_then(server::Server::mirror))?;
        let Some(mirror) = mirror else { return Ok(None) };
        let filled = py.detach(|| mirror.remirror()).map_err(|error| failure(&error))?;
        Ok(filled.map(|filled| filled.bytes))
    }

    /// Send all clients away, which takes back what they have not committed, and close the
    /// database. Stopping twice is harmless.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let stop = |serving: &mut Option<server::Server>| serving.take().map(server::Server::stop);
        self.with(py, stop)?.unwrap_or(Ok(())).map_err(|error| failure(&error))
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let _ = exception;
        self.stop(py)
    }
}
