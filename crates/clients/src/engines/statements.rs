//! The engines whose statements concurrent users send.

use std::path::PathBuf;

use crate::error::ClientError;
pub use crate::lode::statements::Place as LodePlace;
use crate::statements::Session;
use crate::{duckdb, lode, postgresql, sqlite};

/// The place where an engine's statements are executed.
pub enum Engine {
    /// A file of `SQLite`'s.
    Sqlite {
        /// The file.
        path: String,
        /// The statements that each connection begins with.
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
        /// The settings it is opened with, by name.
        settings: Vec<(String, String)>,
    },
    /// A server of `PostgreSQL`'s.
    Postgresql {
        /// The place where it is, in libpq's form; with the password, if there is one.
        address: String,
        /// The statements that each connection begins with.
        begin: Vec<String>,
        /// Whether each text is parsed once.
        is_prepared: bool,
    },
    /// A database of lode that is open in this process.
    Lode(LodePlace),
}

/// Open one session for each user.
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
        Engine::Postgresql { address, begin, is_prepared } => {
            let open = |_| postgresql::statements::open(address, begin, *is_prepared);
            (0..users).map(open).collect()
        }
        Engine::Lode(place) => (0..users).map(|_| lode::statements::open(place)).collect(),
    }
}
