//! Concurrent users of statements: each a thread with a session of its own, which sends one text
//! after another and takes all rows of its answer. No interpreter stands between them, so that an
//! engine in the same process has as many processors as there are.

mod users;

use std::path::PathBuf;

pub use crate::lode::statements::Place as LodePlace;
pub use users::{Asked, Statement, run};

use crate::error::ClientError;
use crate::{duckdb, lode, sqlite};

/// A session of an engine, for one thread.
pub trait Session: Send {
    /// Execute one statement and take every row of its answer; how many there were.
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError>;
}

/// Where an engine's statements are executed.
pub enum Engine {
    /// A file of `SQLite`'s.
    Sqlite {
        /// The file.
        path: String,
        /// What each connection begins with.
        begin: Vec<String>,
        /// Of the library that is measured otherwise: only the same may answer.
        version: String,
    },
    /// A file of `DuckDB`'s.
    Duckdb {
        /// The library that opens it.
        library: PathBuf,
        /// The file.
        path: String,
        /// What it is opened with, by name.
        settings: Vec<(String, String)>,
    },
    /// A database of lode that is open in this process.
    Lode(LodePlace),
}

/// Open so many sessions.
pub fn sessions(engine: &Engine, users: usize) -> Result<Vec<Box<dyn Session>>, ClientError> {
    match engine {
        Engine::Sqlite { path, begin, version } => {
            sqlite::statements::check(version)?;
            let open = |_| sqlite::statements::open(path, begin);
            (0..users).map(open).collect()
        }
        Engine::Duckdb { library, path, settings } => {
            duckdb::statements::open(library, path, settings, users)
        }
        Engine::Lode(place) => (0..users).map(|_| lode::statements::open(place)).collect(),
    }
}
