//! A database at a page server in Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lode::internals::owner::Owner;
use lode::server::Address;
use lode::{LodeError, remote};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::database::{fields, named, of_buffer};
use super::error::{failure, over};
use super::session::{Place, Session};
use super::tactics::{as_dict, chosen, pairs};
use super::transaction::{Transaction, is_none};

const CLOSED: &str = "the connection is closed: connect again";

/// The tactics that are a client's.
const OWN: [&str; 6] = ["cache", "hugepages", "replacement", "swizzle", "prefetch", "readahead"];

/// A database that a page server has open, for all threads. A context manager that closes the
/// connections.
#[pyclass(frozen, name = "LodeRemote")]
pub struct Remote {
    owner: Owner,
    /// None when closed.
    open: Mutex<Option<Arc<remote::Remote>>>,
}

/// Use the database that is served there: see `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (address, **tactics))]
pub fn lode_connect(
    py: Python<'_>,
    address: &str,
    tactics: Option<&Bound<'_, PyDict>>,
) -> PyResult<Remote> {
    let pairs = pairs(tactics)?;
    let tactics = chosen(&pairs)?;
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !OWN.contains(&name.as_str())) {
        let what = format!("{name} is the server's; a client chooses {}", OWN.join(", "));
        return Err(failure(&LodeError::Tactic { what }));
    }
    let remote =
        py.detach(|| remote::Remote::connect(&address.parse::<Address>()?, &tactics.storage));
    let remote = Arc::new(remote.map_err(|error| failure(&error))?);
    Ok(Remote { owner: Owner::here(), open: Mutex::new(Some(remote)) })
}

impl Remote {
    /// Before any lock, ours and the connection's: in a child of the process nobody may be there
    /// to release it.
    fn check_owner(&self) -> PyResult<()> {
        self.owner.check("the connection").map_err(|error| failure(&error))
    }

    fn remote(&self, py: Python<'_>) -> PyResult<Arc<remote::Remote>> {
        self.check_owner()?;
        let open = py.detach(|| self.open.lock().unwrap_or_else(PoisonError::into_inner).clone());
        open.ok_or_else(|| over(CLOSED))
    }
}

#[pymethods]
impl Remote {
    /// A transaction that reads and writes.
    fn writing(&self, py: Python<'_>) -> PyResult<Transaction> {
        Ok(Transaction::new(Session::writing(Place::There(&*self.remote(py)?))))
    }

    /// A transaction that only reads.
    fn reading(&self, py: Python<'_>) -> PyResult<Transaction> {
        Ok(Transaction::new(Session::reading(Place::There(&*self.remote(py)?))))
    }

    /// The tactics in force: this client's, and for the rest the server's.
    #[getter]
    fn tactics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        as_dict(py, &self.remote(py)?.tactics().pairs())
    }

    /// The counters since the client connected: in the client's buffer, and on the way.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let remote::Counters { buffer, traffic } = self.remote(py)?.counters();
        let counters = PyDict::new(py);
        counters.set_item("buffer", of_buffer(py, buffer)?)?;
        let way = fields!(traffic; round_trips, one_way, sent_bytes, received_bytes);
        counters.set_item("traffic", named(py, way)?)?;
        Ok(counters)
    }

    /// Copy what is committed to a new database at that path, which is made here.
    fn backup<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
        let remote = self.remote(py)?;
        let copied = py.detach(move || remote.backup(&path)).map_err(|error| failure(&error))?;
        named(py, fields!(copied; pages, volume_bytes))
    }

    /// Drop every page from the client's memory: what comes next is fetched again.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        let remote = self.remote(py)?;
        py.detach(|| remote.forget());
        Ok(())
    }

    /// Let go of the server, when the last transaction has ended. Closing twice is harmless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.check_owner()?;
        py.detach(|| drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()));
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        // The exception is what counts.
        self.close(py).or_else(|error| if is_none(exception) { Err(error) } else { Ok(()) })
    }
}
