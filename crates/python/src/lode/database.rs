//! A database in Python: opened, asked for transactions, closed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lode::Tactics;
use lode::internals::error::Result;
use lode::internals::owner::Owner;
use lode::server;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::error::{failure, over};
use super::server::Server;
use super::session::{Place, Session};
use super::tactics::{as_dict, chosen, pairs};
use super::transaction::{Transaction, is_none};

const CLOSED: &str = "the database is closed: open it again";
const BUSY: &str = "a transaction of the database has not ended: end it before closing";

/// A lode database, for all threads: a volume, and beside it its log. A context manager that closes
/// it.
#[pyclass(frozen, module = "loadstone._core", name = "LodeDatabase")]
pub struct Database {
    owner: Owner,
    /// Each call that is under way has a share; None when closed.
    open: Mutex<Option<Arc<lode::Database>>>,
}

impl Database {
    /// Before any lock, ours and the database's: in a child of the process nobody may be there to
    /// release it.
    fn check_owner(&self) -> PyResult<()> {
        self.owner.check("the database").map_err(|error| failure(&error))
    }

    fn database(&self, py: Python<'_>) -> PyResult<Arc<lode::Database>> {
        self.check_owner()?;
        let open = py.detach(|| self.open.lock().unwrap_or_else(PoisonError::into_inner).clone());
        open.ok_or_else(|| over(CLOSED))
    }

    /// Ask something that may wait.
    fn ask<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&lode::Database) -> Result<R> + Send,
    ) -> PyResult<R> {
        let database = self.database(py)?;
        py.detach(|| ask(&database)).map_err(|error| failure(&error))
    }

    /// Take the database away from everybody, which needs that nobody has a transaction; None if
    /// it is closed already.
    fn take(&self, py: Python<'_>) -> PyResult<Option<lode::Database>> {
        self.check_owner()?;
        py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.as_ref().is_some_and(|database| database.is_in_use()) {
                return Err(over(BUSY));
            }
            open.take().map(Arc::try_unwrap).transpose().map_err(|shared| {
                *open = Some(shared);
                over(BUSY)
            })
        })
    }
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (path, mode="any", **tactics))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        mode: &str,
        tactics: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let tactics = chosen(&pairs(tactics)?)?;
        let open: fn(&Path, &Tactics) -> Result<lode::Database> = match mode {
            "any" if path.exists() => lode::Database::open,
            "any" | "create" => lode::Database::create,
            "open" => lode::Database::open,
            "read" => lode::Database::open_read_only,
            _ => {
                let message = format!("no mode {mode:?}: there are any, create, open, read");
                return Err(PyValueError::new_err(message));
            }
        };
        let database = py.detach(move || open(&path, &tactics)).map_err(|error| failure(&error))?;
        Ok(Self { owner: Owner::here(), open: Mutex::new(Some(Arc::new(database))) })
    }

    /// A transaction that reads and writes.
    fn writing(&self, py: Python<'_>) -> PyResult<Transaction> {
        Ok(Transaction::new(Session::writing(Place::Here(&*self.database(py)?))))
    }

    /// A transaction that only reads.
    fn reading(&self, py: Python<'_>) -> PyResult<Transaction> {
        Ok(Transaction::new(Session::reading(Place::Here(&*self.database(py)?))))
    }

    /// The tactics in force, name to value.
    #[getter]
    fn tactics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        as_dict(py, self.database(py)?.tactics())
    }

    /// What opening had to mend; None if the database had been closed.
    #[getter]
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let database = self.database(py)?;
        let Some(found) = database.recovery() else { return Ok(None) };
        named(py, fields!(found; records, ended, taken_back, pages)).map(Some)
    }

    /// What has happened since the database was opened: of the buffer, the log and the locks.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.ask(py, lode::Database::counters)?;
        let (buffer, log, locks) = (found.buffer, found.log, found.locks);
        let counters = PyDict::new(py);
        counters.set_item("buffer", of_buffer(py, buffer)?)?;
        let records = fields!(log; records, record_bytes, writes, written_bytes, syncs, growths);
        counters.set_item("log", named(py, records)?)?;
        counters.set_item("locks", named(py, fields!(locks; waits, deadlocks))?)?;
        Ok(counters)
    }

    /// Copy what is committed to a new database at that path.
    fn backup<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
        let copied = self.ask(py, move |database| database.backup(&path))?;
        named(py, fields!(copied; pages, volume_bytes))
    }

    /// Serve the database, which is the server's alone from then on, as if it were closed here.
    fn serve(&self, py: Python<'_>, address: &str) -> PyResult<Server> {
        // Before a socket is made that nobody would listen at.
        self.check_owner()?;
        let listener = py.detach(|| server::Listener::bind(&address.parse()?));
        let listener = listener.map_err(|error| failure(&error))?;
        let database = self.take(py)?.ok_or_else(|| over(CLOSED))?;
        let server = py.detach(|| server::Server::start(database, listener));
        Ok(Server::new(server.map_err(|error| failure(&error))?))
    }

    /// Write all changed pages to their places.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, lode::Database::checkpoint)
    }

    /// The same, and drop every page from memory: what comes next is cold for the engine.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, lode::Database::forget)
    }

    /// Write everything to its place and close the files. Closing twice is harmless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.take(py)? {
            Some(database) => py.detach(|| database.close()).map_err(|error| failure(&error)),
            None => Ok(()),
        }
    }

    /// Let go of the files as they are, as a crash of the program would: opening recovers them.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(database) = self.take(py)? {
            py.detach(|| database.abandon());
        }
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if is_none(exception) {
            return self.close(py);
        }
        // The exception is what counts: the last transaction to go will close the files, or in a
        // child of the process nobody.
        if !self.owner.is_here() {
            return Ok(());
        }
        py.detach(|| drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()));
        Ok(())
    }
}

type Named<const N: usize> = [(&'static str, u64); N];

/// What happened in a buffer.
pub fn of_buffer(
    py: Python<'_>,
    buffer: lode::internals::buffer::Counters,
) -> PyResult<Bound<'_, PyDict>> {
    let pages = fields!(
        buffer;
        misses, reads, pages_read, pages_read_ahead, writes, pages_written, batches, evictions,
        latch_waits, retries, pages_resident, pages_resident_max
    );
    named(py, pages)
}

pub fn named<const N: usize>(py: Python<'_>, fields: Named<N>) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    fields.into_iter().try_for_each(|(name, value)| row.set_item(name, value))?;
    Ok(row)
}

/// Fields of a value, with their names.
macro_rules! fields {
    ($of:expr; $($field:ident),+ $(,)?) => {
        [$((stringify!($field), $of.$field)),+]
    };
}
pub(super) use fields;
