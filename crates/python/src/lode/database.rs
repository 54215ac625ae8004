//! A database in Python: opened, asked for transactions, closed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lode::internals::error::Result;
use lode::internals::owner::Owner;
use lode::internals::page::PAGE_BYTES;
use lode::internals::space;
use lode::server;
use lode_query::QueryError;
use lode_query::database::{self, Statement as Program};
use lode_query::tactics::Tactics;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3_arrow::PyRecordBatchReader;

use super::error::{failure, over, query_failure};
use super::query;
use super::rows::Rows;
use super::server::Server;
use super::session::{Place, Session};
use super::tactics::{as_dict, chosen, pairs};
use super::transaction::{Transaction, is_none};

type Open = fn(&Path, &Tactics) -> std::result::Result<database::Database, QueryError>;

const CLOSED: &str = "the database is closed: open it again";
const BUSY: &str = "a transaction of the database has not ended: end it before closing";

/// A lode database, for all threads: a volume, and beside it its log. A context manager that closes
/// it.
#[pyclass(frozen, module = "loadstone._core", name = "LodeDatabase")]
pub struct Database {
    owner: Owner,
    /// Each call that is under way has a share; None when closed.
    open: Mutex<Option<Arc<database::Database>>>,
}

impl Database {
    /// Before any lock, ours and the database's: in a child of the process nobody may be there to
    /// release it.
    fn check_owner(&self) -> PyResult<()> {
        self.owner.check("the database").map_err(|error| failure(&error))
    }

    pub fn database(&self, py: Python<'_>) -> PyResult<Arc<database::Database>> {
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
        py.detach(|| ask(database.storage())).map_err(|error| failure(&error))
    }

    /// Ask something of the query engine that may wait.
    fn ask_engine<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&database::Database) -> std::result::Result<R, QueryError> + Send,
    ) -> PyResult<R> {
        let database = self.database(py)?;
        py.detach(|| ask(&database)).map_err(|error| query_failure(&error))
    }

    /// Take the database away from everybody, which needs that nobody has a transaction; None if
    /// it is closed already.
    fn take(&self, py: Python<'_>) -> PyResult<Option<database::Database>> {
        self.check_owner()?;
        py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.as_ref().is_some_and(|database| database.storage().is_in_use()) {
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
        let open: Open = match mode {
            "any" if path.exists() => database::Database::open,
            "any" | "create" => database::Database::create,
            "open" => database::Database::open,
            "read" => database::Database::open_read_only,
            _ => {
                let message = format!("no mode {mode:?}: there are any, create, open, read");
                return Err(PyValueError::new_err(message));
            }
        };
        let database = py.detach(move || open(&path, &tactics));
        let database = database.map_err(|error| query_failure(&error))?;
        Ok(Self { owner: Owner::here(), open: Mutex::new(Some(Arc::new(database))) })
    }

    /// A transaction that reads and writes.
    fn writing(&self, py: Python<'_>) -> PyResult<Transaction> {
        Ok(Transaction::new(Session::writing(Place::Here(self.database(py)?.storage()))))
    }

    /// A transaction that only reads.
    fn reading(&self, py: Python<'_>) -> PyResult<Transaction> {
        Ok(Transaction::new(Session::reading(Place::Here(self.database(py)?.storage()))))
    }

    /// The tactics in force, name to value.
    #[getter]
    fn tactics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        as_dict(py, &self.database(py)?.tactics().pairs())
    }

    /// What opening had to mend; None if the database had been closed.
    #[getter]
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let database = self.database(py)?;
        let Some(found) = database.storage().recovery() else { return Ok(None) };
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
        let work = self.database(py)?.work();
        let work = fields!(
            work; tuples, pages, comparisons, hash_probes, spilled_bytes, log_bytes, rows
        );
        counters.set_item("query", named(py, work)?)?;
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
        let server = py.detach(|| server::Server::start(database.into_storage(), listener));
        Ok(Server::new(server.map_err(|error| failure(&error))?))
    }

    /// The rows of a text's last command.
    #[pyo3(signature = (text, parameters=None, ranges=None))]
    fn query(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        ranges: Option<BTreeMap<String, String>>,
    ) -> PyResult<Rows> {
        let parameters = parameters.map_or_else(|| Ok(Vec::new()), query::values)?;
        let program = query::program(py, text, ranges)?;
        query::query(py, &*self.database(py)?, &program, &parameters)
    }

    /// Run a text that gives no rows; the tuples that its last command changed.
    #[pyo3(signature = (text, parameters=None, ranges=None))]
    fn execute(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        ranges: Option<BTreeMap<String, String>>,
    ) -> PyResult<Option<u64>> {
        let parameters = parameters.map_or_else(|| Ok(Vec::new()), query::values)?;
        let program = query::program(py, text, ranges)?;
        query::execute(py, &*self.database(py)?, &program, &parameters)
    }

    /// Read a text, to run it with other values each time.
    #[pyo3(signature = (text, ranges=None))]
    fn prepare(
        this: &Bound<'_, Self>,
        text: &str,
        ranges: Option<BTreeMap<String, String>>,
    ) -> PyResult<Statement> {
        this.get().check_owner()?;
        let program = query::program(this.py(), text, ranges)?;
        Ok(Statement::new(this.clone().unbind(), program))
    }

    /// How the last command of a text would be run.
    #[pyo3(signature = (text, parameters=None, ranges=None))]
    fn explain(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        ranges: Option<BTreeMap<String, String>>,
    ) -> PyResult<String> {
        let parameters = parameters.map_or_else(|| Ok(Vec::new()), query::values)?;
        let program = query::program(py, text, ranges)?;
        self.ask_engine(py, |database| Ok(database.plan(&program, &parameters)?.explain(None)))
    }

    /// The storage structures by which the last command of a text would reach relations.
    #[pyo3(signature = (text, parameters=None))]
    fn access_paths(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<&'static str>> {
        let parameters = parameters.map_or_else(|| Ok(Vec::new()), query::values)?;
        let program = query::program(py, text, None)?;
        self.ask_engine(py, |database| Ok(database.plan(&program, &parameters)?.access_paths()))
    }

    /// End the statements that are running.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.database(py)?.cancel();
        Ok(())
    }

    /// Make a relation of these rows.
    #[pyo3(signature = (name, attributes, rows, organisation="heap", key=None, indexes=None))]
    #[expect(clippy::too_many_arguments, reason = "the signature of the Python method")]
    fn load(
        &self,
        py: Python<'_>,
        name: &str,
        attributes: Vec<(String, String)>,
        rows: PyRecordBatchReader,
        organisation: &str,
        key: Option<Vec<String>>,
        indexes: Option<Vec<String>>,
    ) -> PyResult<u64> {
        let attributes = query::attributes(attributes)?;
        let (key, indexes) = (key.unwrap_or_default(), indexes.unwrap_or_default());
        let storage = query::storage(organisation, key, indexes);
        let rows = rows.into_reader()?;
        self.ask_engine(py, |database| database.load(name, &attributes, &storage, rows))
    }

    /// Remove a relation; whether there was one.
    fn destroy(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.ask_engine(py, |database| database.remove(name))
    }

    /// The relations, by name.
    fn relations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let relations = self.ask_engine(py, database::Database::relations)?;
        relations.iter().map(|info| query::relation(py, info)).collect()
    }

    /// Bytes of the volume's pages that are in use.
    fn used_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.ask(py, |database| {
            let used = space::usage(&database.reading(), database.extent_pages())?;
            Ok(used.pages_used * PAGE_BYTES as u64)
        })
    }

    /// Gather statistics of relations.
    #[pyo3(signature = (*names))]
    fn settle(&self, py: Python<'_>, names: &Bound<'_, PyTuple>) -> PyResult<()> {
        let names: Vec<String> = names.extract()?;
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        self.ask_engine(py, |database| database.settle(&names))
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
            Some(database) => py.detach(|| database.close()).map_err(|error| query_failure(&error)),
            None => Ok(()),
        }
    }

    /// Let go of the files as they are, as a crash of the program would: opening recovers them.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(database) = self.take(py)? {
            py.detach(|| database.into_storage().abandon());
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

/// A text of QUEL that has been read, to be run with other values each time. See `_core.pyi`.
#[pyclass(frozen, module = "loadstone._core", name = "LodeStatement")]
pub struct Statement {
    database: Py<Database>,
    program: Program,
}

impl Statement {
    pub const fn new(database: Py<Database>, program: Program) -> Self {
        Self { database, program }
    }
}

#[pymethods]
impl Statement {
    /// Run it for its rows.
    #[pyo3(signature = (*parameters))]
    fn query(&self, py: Python<'_>, parameters: &Bound<'_, PyTuple>) -> PyResult<Rows> {
        let parameters = query::values(parameters.as_any())?;
        query::query(py, &*self.database.get().database(py)?, &self.program, &parameters)
    }

    /// Run it for what it changes.
    #[pyo3(signature = (*parameters))]
    fn execute(&self, py: Python<'_>, parameters: &Bound<'_, PyTuple>) -> PyResult<Option<u64>> {
        let parameters = query::values(parameters.as_any())?;
        query::execute(py, &*self.database.get().database(py)?, &self.program, &parameters)
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
