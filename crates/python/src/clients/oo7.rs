//! OO7's program, its inputs and the oracle of its answers.

use std::path::PathBuf;
use std::sync::Mutex;

use loadstone_clients::engines::oo7::{ENGINES, open};
use loadstone_clients::oo7::oracle::Oracle;
use loadstone_clients::oo7::users::{Pacing, Served, Users};
use loadstone_clients::oo7::{Database, Measure};
use loadstone_clients::{Address, ClientError as Failure, Tactics};
use loadstone_measure::work::Meter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Client, Held, failure};
use crate::measure::{Tally, metered};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Oo7Oracle>()?;
    module.add_function(wrap_pyfunction!(oo7_client, module)?)?;
    module.add_function(wrap_pyfunction!(oo7_engines, module)?)?;
    module.add_function(wrap_pyfunction!(oo7_lacks, module)?)?;
    module.add_function(wrap_pyfunction!(oo7_inputs, module)?)?;
    module.add_function(wrap_pyfunction!(oo7_measures, module)?)
}

pub fn database(parts: u64, fan_out: u32, seed: u64) -> PyResult<Database> {
    Database::new(parts, fan_out, seed).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The engines that have a program for OO7.
#[pyfunction]
fn oo7_engines() -> Vec<&'static str> {
    ENGINES.to_vec()
}

/// Values of tactics that the program lacks. See `_core.pyi`.
#[pyfunction]
fn oo7_lacks() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    loadstone_clients::engines::oo7::lacks()
}

/// The names of OO7's operations.
#[pyfunction]
fn oo7_measures() -> Vec<&'static str> {
    Measure::ALL.iter().map(|(name, _)| *name).collect()
}

/// OO7's program on an engine.
#[pyfunction]
#[pyo3(signature = (engine, database, tactics, parts, fan_out=3, seed=1, library=None))]
#[expect(clippy::too_many_arguments, reason = "the signature of the Python function")]
fn oo7_client(
    py: Python<'_>,
    engine: &str,
    database: String,
    tactics: Vec<(String, String)>,
    parts: u64,
    fan_out: u32,
    seed: u64,
    library: Option<PathBuf>,
) -> PyResult<Client> {
    let held = self::database(parts, fan_out, seed)?;
    let address = Address { database, library };
    let client = py
        .detach(|| open(engine, &address, Tactics::new(tactics), held))
        .map_err(|error| failure(&error))?;
    Ok(Client { client: Mutex::new(Held::Oo7(client)) })
}

/// Users of a reading operation and of a writing one: see `Client.users` in `_core.pyi`.
pub fn served(
    client: &mut Box<dyn loadstone_clients::oo7::Client>,
    measures: Option<(String, String)>,
    [readers, writers]: [u32; 2],
    pacing: Pacing,
    meter: &Meter,
) -> Result<super::Served, Failure> {
    let (reading, writing) = match measures {
        Some((reading, writing)) => (Measure::named(&reading)?, Measure::named(&writing)?),
        None => (Measure::M1, Measure::M2),
    };
    let users = Users { readers: (reading, readers), writers: (writing, writers), pacing };
    let Served { elapsed_ns, reads, writes, changes, work, .. } =
        client.metered_users(&users, meter)?;
    Ok((elapsed_ns, Tally(reads), Tally(writes), changes, metered(work)))
}

/// The inputs of an iteration of an operation: see `_core.pyi`.
#[pyfunction]
fn oo7_inputs(
    parts: u64,
    fan_out: u32,
    seed: u64,
    measure: &str,
    iteration: u32,
) -> PyResult<Vec<u32>> {
    let database = database(parts, fan_out, seed)?;
    Ok(match Measure::named(measure).map_err(|error| failure(&error))? {
        Measure::Q1 => database.lookup_ids(iteration),
        Measure::Q4 => database.titled(iteration),
        Measure::T7 => vec![database.start(iteration)],
        Measure::S1 | Measure::S2 => database.receivers(iteration),
        Measure::M1 | Measure::M2 | Measure::M3 | Measure::M4 | Measure::M5 | Measure::M6 => {
            database.path(iteration)
        }
        _ => Vec::new(),
    })
}

/// The expected answer of each operation, by a plain evaluation in memory.
#[pyclass(frozen, module = "loadstone._core")]
struct Oo7Oracle {
    oracle: Oracle,
}

#[pymethods]
impl Oo7Oracle {
    #[new]
    #[pyo3(signature = (parts, fan_out=3, seed=1))]
    fn new(py: Python<'_>, parts: u64, fan_out: u32, seed: u64) -> PyResult<Self> {
        let held = database(parts, fan_out, seed)?;
        Ok(Self { oracle: py.detach(|| Oracle::new(held)) })
    }

    /// (count, checksum) of one iteration of an operation.
    fn answer(&self, py: Python<'_>, measure: &str, iteration: u32) -> PyResult<(u64, String)> {
        let asked = Measure::named(measure).map_err(|error| failure(&error))?;
        let (count, checksum) = py.detach(|| self.oracle.expected(asked, iteration));
        Ok((count, format!("{checksum:016x}")))
    }
}
