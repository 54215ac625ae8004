//! Concurrent users of statements, for Python.

use std::path::PathBuf;
use std::sync::Arc;

use loadstone_clients::engines::statements::{Engine, LodePlace, sessions};
use loadstone_clients::pacing::Pacing;
use loadstone_clients::statements::{Asked, Request, run};
use loadstone_measure::work::Meter;
use pyo3::prelude::*;

use super::failure;
use crate::lode::Database;
use crate::measure::{Metered, Tally, metered};

type Found = (u64, Tally, u64, String, Option<(u64, u64)>, Metered);

/// The place where users' statements are executed. See `_core.pyi`.
#[pyclass(frozen, module = "loadstone._core")]
pub struct StatementUsers {
    engine: Engine,
}

#[pymethods]
impl StatementUsers {
    /// Connections to a file of `SQLite`'s.
    #[staticmethod]
    const fn sqlite(path: String, begin: Vec<String>, version: String) -> Self {
        Self { engine: Engine::Sqlite { path, begin, version } }
    }

    /// Connections to a file of `DuckDB`'s.
    #[staticmethod]
    const fn duckdb(library: PathBuf, path: String, settings: Vec<(String, String)>) -> Self {
        Self { engine: Engine::Duckdb { library, path, settings } }
    }

    /// Connections to a server of `PostgreSQL`'s.
    #[staticmethod]
    const fn postgresql(address: String, begin: Vec<String>, is_prepared: bool) -> Self {
        Self { engine: Engine::Postgresql { address, begin, is_prepared } }
    }

    /// The threads of the users themselves, or one for each of them, on a database of lode.
    #[staticmethod]
    fn lode(py: Python<'_>, database: &Database, beside: bool) -> PyResult<Self> {
        let database: Arc<_> = database.database(py)?;
        let place = if beside { LodePlace::Beside(database) } else { LodePlace::Here(database) };
        Ok(Self { engine: Engine::Lode(place) })
    }

    /// Connections to a server of lode.
    #[staticmethod]
    const fn lode_server(path: PathBuf) -> Self {
        Self { engine: Engine::Lode(LodePlace::Server(path)) }
    }

    /// Let them ask.
    #[pyo3(signature = (
        users, requests, lasting_ns, starts_ns=None, last_ns=0, servers=Vec::new()
    ))]
    #[expect(clippy::too_many_arguments, reason = "the signature of the Python method")]
    fn ask(
        &self,
        py: Python<'_>,
        users: usize,
        requests: Vec<(Vec<String>, Option<u64>)>,
        lasting_ns: u64,
        starts_ns: Option<Vec<u64>>,
        last_ns: u64,
        servers: Vec<u32>,
    ) -> PyResult<Found> {
        let request = |(texts, rows)| Request { texts, rows };
        let requests: Vec<_> = requests.into_iter().map(request).collect();
        let pacing = match starts_ns {
            None => Pacing::Closed { duration_ns: lasting_ns },
            Some(starts_ns) => Pacing::Open { starts_ns, duration_ns: last_ns },
        };
        let asked = py.detach(|| {
            let opened = sessions(&self.engine, users)?;
            Ok(run(opened, &requests, &pacing, lasting_ns, &Meter::new(servers)))
        });
        let Asked { elapsed_ns, tally, failed, reason, wrong, work } =
            asked.map_err(|error| failure(&error))?;
        Ok((elapsed_ns, Tally(tally), failed, reason, wrong, metered(work)))
    }
}
