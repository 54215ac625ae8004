//! Statements executed in another thread or another process, in Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lode::internals::owner::Owner;
use lode_query::QueryError;
use lode_query::database;
use lode_query::place::{Beside, Connection as Socket, Server};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::error::{failure, over, query_failure};
use super::rows::Rows;

const ENDED: &str = "the connection is closed: make another";

/// A way to a database in another thread or another process. See `_core.pyi`.
#[pyclass(frozen, name = "LodeConnection")]
pub struct Connection {
    owner: Owner,
    way: Mutex<Option<Arc<Way>>>,
}

enum Way {
    Beside(Beside),
    Socket(Socket),
}

impl Connection {
    /// To a thread of this process.
    pub fn beside(py: Python<'_>, database: Arc<database::Database>) -> PyResult<Self> {
        let started = py.detach(|| Beside::start(database));
        Ok(Self::over(Way::Beside(started.map_err(|error| query_failure(&error))?)))
    }

    fn over(way: Way) -> Self {
        Self { owner: Owner::here(), way: Mutex::new(Some(Arc::new(way))) }
    }

    fn ask<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Way) -> Result<R, QueryError> + Send,
    ) -> PyResult<R> {
        // Before the lock: in a child of the process nobody may be there to release it.
        self.owner.check("the connection").map_err(|error| failure(&error))?;
        let asked = py.detach(|| {
            let way = self.way.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
            Some(ask(&way))
        });
        asked.ok_or_else(|| over(ENDED))?.map_err(|error| query_failure(&error))
    }
}

#[pymethods]
impl Connection {
    /// To a server of statements.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let reached = py.detach(move || Socket::to(&path));
        Ok(Self::over(Way::Socket(reached.map_err(|error| query_failure(&error))?)))
    }

    /// The rows of a text's last command.
    fn query(&self, py: Python<'_>, text: &str) -> PyResult<Rows> {
        let rows = self.ask(py, |way| match way {
            Way::Beside(beside) => beside.query(text),
            Way::Socket(socket) => socket.query(text),
        })?;
        Ok(Rows::new(rows))
    }

    /// Run a text that gives no rows; the tuples that its last command changed.
    fn execute(&self, py: Python<'_>, text: &str) -> PyResult<Option<u64>> {
        self.ask(py, |way| match way {
            Way::Beside(beside) => beside.execute(text),
            Way::Socket(socket) => socket.execute(text),
        })
    }

    /// The process and the thread in which statements are executed.
    fn place(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, |way| match way {
            Way::Beside(beside) => beside.place(),
            Way::Socket(socket) => socket.place(),
        })
    }

    /// The answer of a server about its database.
    #[pyo3(signature = (name, text=""))]
    fn request(&self, py: Python<'_>, name: &str, text: &str) -> PyResult<String> {
        self.ask(py, |way| match way {
            Way::Beside(_) => Err(QueryError::Input {
                what: "a thread has no facts of its database: call the database itself".to_owned(),
            }),
            Way::Socket(socket) => socket.request(name, text),
        })
    }

    /// Let go of it. Closing twice is harmless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.owner.check("the connection").map_err(|error| failure(&error))?;
        py.detach(|| drop(self.way.lock().unwrap_or_else(PoisonError::into_inner).take()));
        Ok(())
    }
}

impl Drop for Connection {
    /// In a child of the process the thread is not there to be waited for.
    fn drop(&mut self) {
        if !self.owner.is_here() {
            let way = self.way.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(way);
        }
    }
}

/// A server of statements at work in this process. A context manager that stops it.
#[pyclass(frozen, name = "LodeStatementServer")]
pub struct StatementServer {
    owner: Owner,
    address: String,
    /// None when stopped.
    serving: Mutex<Option<Server>>,
}

impl StatementServer {
    /// Serve a database, of which it has a share until it is stopped.
    pub fn start(
        py: Python<'_>,
        database: Arc<database::Database>,
        path: PathBuf,
    ) -> PyResult<Self> {
        let address = path.display().to_string();
        let started = py.detach(move || Server::start(database, &path));
        let serving = Mutex::new(Some(started.map_err(|error| query_failure(&error))?));
        Ok(Self { owner: Owner::here(), address, serving })
    }
}

#[pymethods]
impl StatementServer {
    /// The place where it listens.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// End the statements that run and send all clients away; the database stays open. Stopping
    /// twice is harmless.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.owner.check("the server").map_err(|error| failure(&error))?;
        py.detach(|| drop(self.serving.lock().unwrap_or_else(PoisonError::into_inner).take()));
        Ok(())
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

impl Drop for StatementServer {
    /// As of a connection.
    fn drop(&mut self) {
        if !self.owner.is_here() {
            let serving = self.serving.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(serving);
        }
    }
}
