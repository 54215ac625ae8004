//! Statements of users, each executed where the database's `place` says.

use std::path::PathBuf;
use std::sync::Arc;

use lode_query::QueryError;
use lode_query::database::{Database, Rows};
use lode_query::place::{Beside, Connection};

use super::ENGINE;
use crate::error::ClientError;
use crate::statements::Session;

/// The place where statements are executed.
pub enum Place {
    /// In the user's thread.
    Here(Arc<Database>),
    /// In a thread for each user.
    Beside(Arc<Database>),
    /// In the process that listens at that socket.
    Server(PathBuf),
}

enum Own {
    Here(Arc<Database>),
    Beside(Beside),
    Server(Connection),
}

/// One more session.
pub fn open(place: &Place) -> Result<Box<dyn Session>, ClientError> {
    let opened = match place {
        Place::Here(database) => Ok(Own::Here(Arc::clone(database))),
        Place::Beside(database) => Beside::start(Arc::clone(database)).map(Own::Beside),
        Place::Server(path) => Connection::to(path).map(Own::Server),
    };
    Ok(Box::new(opened.map_err(|error| reported("connecting", &error))?))
}

impl Session for Own {
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
        let rows = match self {
            Self::Here(database) => database.query(statement, &[]),
            Self::Beside(beside) => beside.query(statement),
            Self::Server(connection) => connection.query(statement),
        };
        rows.and_then(counted).map_err(|error| reported("answering a statement", &error))
    }
}

fn counted(mut rows: Rows) -> Result<u64, QueryError> {
    let tuple_bytes = rows.layout().bytes.max(1);
    let mut count = 0;
    while let Some(tuples) = rows.next_tuples()? {
        count += (tuples.len() / tuple_bytes) as u64;
    }
    Ok(count)
}

fn reported(doing: &'static str, error: &QueryError) -> ClientError {
    ClientError::engine(ENGINE, doing, error)
}
