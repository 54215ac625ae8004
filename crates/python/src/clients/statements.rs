//! Concurrent users of statements, for Python.

use std::path::PathBuf;
use std::sync::Arc;

use loadstone_clients::engines::statements::{Engine, LodePlace, sessions};
use loadstone_clients::pacing::Pacing;
use loadstone_clients::statements::{Asked, Request, Requests, run};
use loadstone_measure::work::Meter;
use pyo3::prelude::*;

use super::drawing::Drawing;
use super::failure;
use crate::lode::Database;
use crate::measure::{Intervals, Metered, Tally, intervals, metered};

/// The result of a loop of users. See `_core.pyi`.
#[pyclass(frozen, get_all, module = "loadstone._core")]
pub struct UsersAsked {
    elapsed_ns: u64,
    tally: Py<Tally>,
    failed: u64,
    reason: String,
    wrong: Option<(u64, u64)>,
    work: Metered,
    intervals: Intervals,
    compared: u64,
    kept: Vec<(u64, u64)>,
}

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
        users, requests, lasting_ns, interval_ns, starts_ns=None, last_ns=0, servers=Vec::new(),
        drawing=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "the signature of the Python method")]
    fn ask(
        &self,
        py: Python<'_>,
        users: usize,
        requests: Vec<(Vec<String>, Option<u64>)>,
        lasting_ns: u64,
        interval_ns: u64,
        starts_ns: Option<Vec<u64>>,
        last_ns: u64,
        servers: Vec<u32>,
        drawing: Option<&Drawing>,
    ) -> PyResult<UsersAsked> {
        let request = |(texts, rows)| Request { texts, rows };
        let requests = Requests {
            known: requests.into_iter().map(request).collect(),
            drawing: drawing.map(|drawing| drawing.0.clone()),
        };
        let pacing = match starts_ns {
            None => Pacing::Closed { duration_ns: lasting_ns },
            Some(starts_ns) => Pacing::Open { starts_ns, duration_ns: last_ns },
        };
        let asked = py.detach(|| {
            let opened = sessions(&self.engine, users)?;
            let meter = Meter::new(servers);
            Ok(run(opened, &requests, &pacing, lasting_ns, interval_ns, &meter))
        });
        let asked: Asked = asked.map_err(|error| failure(&error))?;
        Ok(UsersAsked {
            elapsed_ns: asked.elapsed_ns,
            tally: Py::new(py, Tally(asked.tally))?,
            failed: asked.failed,
            reason: asked.reason,
            wrong: asked.wrong,
            work: metered(asked.work),
            intervals: intervals(asked.intervals),
            compared: asked.compared,
            kept: asked.kept,
        })
    }
}
