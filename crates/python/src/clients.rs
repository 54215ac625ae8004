//! The calling programs in Rust, and the oracles of their answers.

mod drawing;
mod inputs;
mod oo7;
mod oo7_rows;
mod rvm;
mod statements;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::users::{self, Pacing, Users};
use loadstone_clients::oo1::{self, Database, Measure};
use loadstone_clients::{Address, ClientError as Failure, Outcome, Tactics};
use loadstone_measure::work;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::measure::{Metered, Tally, metered};

create_exception!(
    loadstone._core,
    ClientError,
    PyRuntimeError,
    "What an engine answered to a calling program in Rust, or could not."
);
create_exception!(
    loadstone._core,
    ClientGapError,
    ClientError,
    "The engine has no such measure or tactic: a gap, with its reason."
);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ClientError", module.py().get_type::<ClientError>())?;
    module.add("ClientGapError", module.py().get_type::<ClientGapError>())?;
    module.add_class::<Client>()?;
    module.add_class::<Oo1Oracle>()?;
    module.add_class::<drawing::Drawing>()?;
    module.add_class::<statements::StatementUsers>()?;
    module.add_class::<statements::UsersAsked>()?;
    module.add_function(wrap_pyfunction!(drawing::drawn_values, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::oo1_inputs, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::oo1_checksum, module)?)?;
    module.add_function(wrap_pyfunction!(oo1_client, module)?)?;
    module.add_function(wrap_pyfunction!(oo1_measures, module)?)?;
    module.add_function(wrap_pyfunction!(versions_built_in, module)?)?;
    oo7::register(module)?;
    oo7_rows::register(module)?;
    rvm::register(module)
}

fn failure(error: &Failure) -> PyErr {
    match error {
        Failure::Unsupported { .. } => ClientGapError::new_err(error.to_string()),
        Failure::Unknown { .. } => PyValueError::new_err(error.to_string()),
        _ => ClientError::new_err(error.to_string()),
    }
}

fn database(parts: u64, seed: u64, locality: bool) -> PyResult<Database> {
    Database::new(parts, seed, locality).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The names of OO1's measures.
#[pyfunction]
fn oo1_measures() -> Vec<&'static str> {
    Measure::ALL.iter().map(|(name, _)| *name).collect()
}

/// By engine: see `_core.pyi`.
#[pyfunction]
fn versions_built_in() -> HashMap<&'static str, String> {
    loadstone_clients::versions_built_in().into_iter().collect()
}

type Counted = (Option<u64>, Option<u64>, Option<u64>);
type Measured = (u64, u64, u64, String, u64, Counted, Metered);
type Served = (u64, Tally, Tally, u64, Metered);

/// A benchmark's program, with one engine at the other side of its seam.
enum Held {
    Oo1(Box<dyn oo1::Client>),
    Oo7(Box<dyn loadstone_clients::oo7::Client>),
    Rvm(Box<dyn loadstone_clients::rvm::Client>),
}

/// A calling program: see `oo1_client`, `oo7_client` and `rvm_client`.
#[pyclass(frozen, module = "loadstone._core")]
struct Client {
    client: Mutex<Held>,
}

/// OO1's program on an engine.
#[pyfunction]
#[pyo3(signature = (engine, database, tactics, parts, seed=1, locality=true, library=None))]
#[expect(clippy::too_many_arguments, reason = "the signature of the Python function")]
fn oo1_client(
    py: Python<'_>,
    engine: &str,
    database: String,
    tactics: Vec<(String, String)>,
    parts: u64,
    seed: u64,
    locality: bool,
    library: Option<PathBuf>,
) -> PyResult<Client> {
    let held = self::database(parts, seed, locality)?;
    let address = Address { database, library };
    let client = py
        .detach(|| open(engine, &address, Tactics::new(tactics), held))
        .map_err(|error| failure(&error))?;
    Ok(Client { client: Mutex::new(Held::Oo1(client)) })
}

#[pymethods]
impl Client {
    /// Load the database; elapsed ns.
    fn load(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |client| match client {
            Held::Oo1(client) => client.load(),
            Held::Oo7(client) => client.load(),
            Held::Rvm(client) => client.load(),
        })
    }

    /// Run a measure: see `_core.pyi`.
    #[pyo3(signature = (measure, iteration, servers=Vec::new()))]
    fn measure(
        &self,
        py: Python<'_>,
        measure: &str,
        iteration: u32,
        servers: Vec<u32>,
    ) -> PyResult<Measured> {
        let meter = work::Meter::new(servers);
        let found = self.with(py, |client| match client {
            Held::Oo1(client) => client.metered(Measure::named(measure)?, iteration, &meter),
            Held::Oo7(client) => {
                let asked = loadstone_clients::oo7::Measure::named(measure)?;
                client.metered(asked, iteration, &meter)
            }
            Held::Rvm(client) => {
                let asked = loadstone_clients::rvm::Measure::named(measure)?;
                client.metered(asked, iteration, &meter)
            }
        })?;
        let Outcome { elapsed_ns, commit_ns, visits, checksum, calls, sent, logged, work } = found;
        let checksum = format!("{checksum:016x}");
        let trips = sent.and_then(|sent| sent.round_trips);
        let counted = (sent.map(|sent| sent.statements), trips, logged.map(|logged| logged.bytes));
        Ok((elapsed_ns, commit_ns, visits, checksum, calls, counted, metered(work)))
    }

    /// Concurrent users: see `_core.pyi`.
    #[pyo3(signature = (
        readers, writers, duration_ns, starts_ns=None, servers=Vec::new(), measures=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "the signature of the Python function")]
    fn users(
        &self,
        py: Python<'_>,
        readers: u32,
        writers: u32,
        duration_ns: u64,
        starts_ns: Option<Vec<u64>>,
        servers: Vec<u32>,
        measures: Option<(String, String)>,
    ) -> PyResult<Served> {
        let pacing = match starts_ns {
            None => Pacing::Closed { duration_ns },
            Some(starts_ns) => Pacing::Open { starts_ns, duration_ns },
        };
        let meter = work::Meter::new(servers);
        self.with(py, |client| match client {
            Held::Oo1(client) => {
                let users = Users { readers, writers, pacing };
                let served = client.metered_users(&users, &meter)?;
                let users::Served { elapsed_ns, lookups, inserts, links_found, work } = served;
                Ok((elapsed_ns, Tally(lookups), Tally(inserts), links_found, metered(work)))
            }
            Held::Oo7(client) => oo7::served(client, measures, [readers, writers], pacing, &meter),
            Held::Rvm(client) => Err(Failure::Unsupported {
                engine: client.engine(),
                what: "concurrent users",
                reason: "RVM's benchmark has one user",
            }),
        })
    }

    /// Bytes that the database takes.
    fn size_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |client| match client {
            Held::Oo1(client) => client.size_bytes(),
            Held::Oo7(client) => client.size_bytes(),
            Held::Rvm(client) => client.size_bytes(),
        })
    }

    /// The engine's terms.
    fn terms(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.with(py, |client| match client {
            Held::Oo1(client) => client.terms(),
            Held::Oo7(client) => client.terms(),
            Held::Rvm(client) => client.terms(),
        })
    }
}

impl Client {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut Held) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            ask(&mut client)
        })
        .map_err(|error| failure(&error))
    }
}

/// The expected answer of each measure, by a plain evaluation in memory.
#[pyclass(frozen, module = "loadstone._core")]
struct Oo1Oracle {
    oracle: Oracle,
}

#[pymethods]
impl Oo1Oracle {
    #[new]
    #[pyo3(signature = (parts, seed=1, locality=true))]
    fn new(py: Python<'_>, parts: u64, seed: u64, locality: bool) -> PyResult<Self> {
        let held = database(parts, seed, locality)?;
        Ok(Self { oracle: py.detach(|| Oracle::new(held)) })
    }

    /// (visits, checksum) of one iteration of a measure; None for a rung of the ladder.
    fn answer(
        &self,
        py: Python<'_>,
        measure: &str,
        iteration: u32,
    ) -> PyResult<Option<(u64, String)>> {
        let asked = Measure::named(measure).map_err(|error| failure(&error))?;
        let seen = py.detach(|| self.oracle.expected(asked, iteration));
        Ok(seen.map(|(visits, checksum)| (visits, format!("{checksum:016x}"))))
    }
}
