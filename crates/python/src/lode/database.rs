//! A database in Python: opened, requested transactions, closed.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lode::internals::mirror::{self, Remirrored};
use lode::internals::page::PAGE_BYTES;
use lode::internals::space;
use lode::server;
use lode_query::QueryError;
use lode_query::database;
use lode_query::tactics::Tactics;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::error::{failure, query_failure};
use super::mirror::{of_mirror, side_of};
use super::open::{Opened, closed};
use super::place::{Connection, StatementServer};
use super::query;
use super::relation;
use super::rows::Rows;
use super::server::Server;
use super::session::{Place, Session};
use super::statement::Statement;
use super::tactics::{as_dict, chosen, pairs};
use super::transaction::{Transaction, is_none};
use crate::capsule::BatchesIn;

type Open = fn(&Path, &Tactics) -> Result<database::Database, QueryError>;

/// A lode database, for all threads: a volume, and beside it its log. A context manager that closes
/// it.
#[pyclass(frozen, name = "LodeDatabase")]
pub struct Database(Arc<Opened>);

impl Deref for Database {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.0
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
            "any" if mirror::is_there(&path) => database::Database::open,
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
        Ok(Self(Arc::new(Opened::new(database))))
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
        let database = self.database(py)?;
        // Whether both copies are in step is known now, and not when it was opened.
        let storage = database.storage().tactics_in_force();
        as_dict(py, &Tactics { storage, ..*database.tactics() }.pairs())
    }

    /// The way in which the copies of the mirror are; None if the database is not mirrored.
    #[getter]
    fn mirror<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = self.database(py)?.storage().mirror();
        found.map(|report| of_mirror(py, &report)).transpose()
    }

    /// Fill the copy that is gone from the other; the bytes copied, None where none is gone.
    fn remirror(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let filled = self.ask(py, lode::Database::remirror)?;
        Ok(filled.map(|Remirrored { bytes, .. }| bytes))
    }

    /// Let go of a copy, as if its device had been taken away.
    fn take_down(&self, py: Python<'_>, copy: &str) -> PyResult<()> {
        let side = side_of(copy)?;
        self.ask(py, move |database| database.take_down(side))
    }

    /// The repairs that opening had to make; None if the database had been closed.
    #[getter]
    fn recovery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let database = self.database(py)?;
        let Some(found) = database.storage().recovery() else { return Ok(None) };
        named(py, fields!(found; records, ended, taken_back, pages)).map(Some)
    }

    /// The counters since the database was opened: of the buffer, the log and the locks.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.ask(py, lode::Database::counters)?;
        let (buffer, log, locks) = (found.buffer, found.log, found.locks);
        let counters = PyDict::new(py);
        counters.set_item("buffer", of_buffer(py, buffer)?)?;
        let records = fields!(log; records, record_bytes, writes, written_bytes, syncs, growths);
        let log = named(py, records)?;
        log.set_item("ranges_said", found.ranges_said)?;
        counters.set_item("log", log)?;
        counters.set_item("locks", named(py, fields!(locks; waits, deadlocks))?)?;
        let work = self.ask_engine(py, database::Database::work)?;
        let work = fields!(
            work;
            tuples, pages, tuples_judged, pages_judged, batches_ahead, comparisons, hash_probes,
            spilled_bytes, log_bytes, scalar_loops, baseline_loops, avx2_loops, avx512_loops,
            functions_compiled, code_bytes, compile_ns, rows, threads_beside, tuples_beside
        );
        counters.set_item("query", named(py, work)?)?;
        let phases = self.ask_engine(py, |database| Ok(database.phases()))?;
        counters.set_item("phases_ns", named(py, phases.named())?)?;
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
        let database = self.take(py)?.ok_or_else(closed)?;
        let server = py.detach(|| server::Server::start(database.into_storage(), listener));
        Ok(Server::new(server.map_err(|error| failure(&error))?))
    }

    /// Answer statements that come through a Unix socket; the database stays open here.
    fn answer(&self, py: Python<'_>, path: PathBuf) -> PyResult<StatementServer> {
        StatementServer::start(py, self.database(py)?, path)
    }

    /// A thread that executes statements beside the one that asks.
    fn beside(&self, py: Python<'_>) -> PyResult<Connection> {
        Connection::beside(py, self.database(py)?)
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
        let database = self.database(py)?;
        let program = query::program(py, &database, text, ranges)?;
        query::query(py, &database, &program, &parameters)
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
        let database = self.database(py)?;
        let program = query::program(py, &database, text, ranges)?;
        query::execute(py, &database, &program, &parameters)
    }

    /// Read a text, to run it with other values each time.
    #[pyo3(signature = (text, ranges=None))]
    fn prepare(
        &self,
        py: Python<'_>,
        text: &str,
        ranges: Option<BTreeMap<String, String>>,
    ) -> PyResult<Statement> {
        let program = query::program(py, &*self.database(py)?, text, ranges)?;
        Ok(Statement::new(Arc::clone(&self.0), program))
    }

    /// The commands of a text, each of which is run as a transaction of its own.
    fn statements(&self, py: Python<'_>, text: &str) -> PyResult<Vec<Statement>> {
        self.check_owner()?;
        let programs = py.detach(|| database::Statement::each(text));
        let programs = programs.map_err(|error| query_failure(&error))?;
        let statement = |program| Statement::new(Arc::clone(&self.0), Arc::new(program));
        Ok(programs.into_iter().map(statement).collect())
    }

    /// The way in which the last command of a text would be run; or, run with all of the text, how
    /// it was.
    #[pyo3(signature = (text, parameters=None, ranges=None, counted=false))]
    fn explain(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        ranges: Option<BTreeMap<String, String>>,
        counted: bool,
    ) -> PyResult<String> {
        let parameters = parameters.map_or_else(|| Ok(Vec::new()), query::values)?;
        let database = self.database(py)?;
        let program = query::program(py, &database, text, ranges)?;
        query::explain(py, &database, &program, &parameters, counted)
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
        let program = query::program(py, &*self.database(py)?, text, None)?;
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
        rows: BatchesIn,
        organisation: &str,
        key: Option<Vec<String>>,
        indexes: Option<Vec<String>>,
    ) -> PyResult<u64> {
        let attributes = relation::attributes(attributes)?;
        let (key, indexes) = (key.unwrap_or_default(), indexes.unwrap_or_default());
        let storage = relation::storage(organisation, key, indexes);
        self.ask_engine(py, |database| database.load(name, &attributes, &storage, rows.0))
    }

    /// Remove a relation; whether there was one.
    fn destroy(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.ask_engine(py, |database| database.remove(name))
    }

    /// The relations, by name.
    fn relations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let relations = self.ask_engine(py, database::Database::relations)?;
        relations.iter().map(|info| relation::relation(py, info)).collect()
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
        self.let_go(py);
        Ok(())
    }
}

type Named<const N: usize> = [(&'static str, u64); N];

/// A buffer's counters.
pub fn of_buffer(
    py: Python<'_>,
    buffer: lode::internals::buffer::Counters,
) -> PyResult<Bound<'_, PyDict>> {
    let pages = fields!(
        buffer;
        misses, reads, pages_read, pages_read_ahead, writes, pages_written, batches, evictions,
        latch_waits, retries, prefetches, pages_resident, pages_resident_max,
        pages_lent, pages_lent_max, pages_huge
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
