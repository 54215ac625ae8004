//! The program of RVM's benchmark, its transactions and the oracle of its answers.

use std::path::PathBuf;
use std::sync::Mutex;

use loadstone_clients::engines::rvm::{ENGINES, open};
use loadstone_clients::rvm::oracle::Oracle;
use loadstone_clients::rvm::{Database, Measure};
use loadstone_clients::{Address, Tactics};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Client, Held, failure};

/// Transactions of which the inputs are shown.
const SHOWN: usize = 10;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(rvm_answer, module)?)?;
    module.add_function(wrap_pyfunction!(rvm_client, module)?)?;
    module.add_function(wrap_pyfunction!(rvm_engines, module)?)?;
    module.add_function(wrap_pyfunction!(rvm_lacks, module)?)?;
    module.add_function(wrap_pyfunction!(rvm_inputs, module)?)?;
    module.add_function(wrap_pyfunction!(rvm_measures, module)?)
}

fn database(accounts: u64, seed: u64) -> PyResult<Database> {
    Database::new(accounts, seed).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The engines that have a program for RVM's benchmark.
#[pyfunction]
fn rvm_engines() -> Vec<&'static str> {
    ENGINES.to_vec()
}

/// Values of tactics that the program lacks. See `_core.pyi`.
#[pyfunction]
fn rvm_lacks() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    loadstone_clients::engines::rvm::lacks()
}

/// The names of its measures.
#[pyfunction]
fn rvm_measures() -> Vec<&'static str> {
    Measure::ALL.iter().map(|(name, _)| *name).collect()
}

/// The program on an engine.
#[pyfunction]
#[pyo3(signature = (engine, database, tactics, accounts, seed=1, library=None))]
fn rvm_client(
    py: Python<'_>,
    engine: &str,
    database: String,
    tactics: Vec<(String, String)>,
    accounts: u64,
    seed: u64,
    library: Option<PathBuf>,
) -> PyResult<Client> {
    let held = self::database(accounts, seed)?;
    let address = Address { database, library };
    let client = py
        .detach(|| open(engine, &address, Tactics::new(tactics), held))
        .map_err(|error| failure(&error))?;
    Ok(Client { client: Mutex::new(Held::Rvm(client)) })
}

/// The changes of the first transactions of an iteration of a measure: see `_core.pyi`.
#[pyfunction]
fn rvm_inputs(
    accounts: u64,
    seed: u64,
    measure: &str,
    iteration: u32,
) -> PyResult<Vec<(u32, u32)>> {
    let database = database(accounts, seed)?;
    Ok(match Measure::named(measure).map_err(|error| failure(&error))? {
        Measure::Trial(pattern) => {
            let all = database.transactions(pattern, iteration);
            all.iter().take(SHOWN).map(|one| (one.teller, one.account)).collect()
        }
        Measure::Audit => Vec::new(),
    })
}

/// (count, checksum) of one iteration of a measure, by a plain evaluation in memory.
#[pyfunction]
fn rvm_answer(
    py: Python<'_>,
    accounts: u64,
    seed: u64,
    measure: &str,
    iteration: u32,
) -> PyResult<(u64, String)> {
    let oracle = Oracle::new(database(accounts, seed)?);
    let asked = Measure::named(measure).map_err(|error| failure(&error))?;
    let (count, checksum) = py.detach(|| oracle.expected(asked, iteration));
    Ok((count, format!("{checksum:016x}")))
}
