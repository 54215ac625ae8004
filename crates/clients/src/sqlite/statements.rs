//! Statements of users, each on a connection of its own.

use super::raw::{self, Connection, ENGINE};
use crate::error::ClientError;
use crate::statements::Session;

/// A connection that keeps the statements that it has prepared, as drivers do.
struct Own {
    /// Before the connection, so that they go first.
    prepared: Vec<(String, raw::Statement)>,
    connection: Connection,
}

/// Statements of one connection that stay prepared, as many as APSW keeps.
const PREPARED_MAX: usize = 100;

#[expect(unsafe_code, reason = "a session moves to its user's thread")]
// SAFETY: a connection and all its statements move together, and one thread at a time uses them.
unsafe impl Send for Own {}

/// Refuse to answer in the place of another version.
pub fn check(version: &str) -> Result<(), ClientError> {
    if version == raw::version() {
        return Ok(());
    }
    let reason = "the library that the engine is measured with has another version than ours";
    Err(ClientError::Unsupported { engine: ENGINE, what: "users in Rust", reason })
}

/// Open the file once more, and begin with these statements.
pub fn open(path: &str, begin: &[String]) -> Result<Box<dyn Session>, ClientError> {
    let connection = Connection::open(path)?;
    for statement in begin {
        connection.run(statement)?;
    }
    Ok(Box::new(Own { prepared: Vec::new(), connection }))
}

impl Session for Own {
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
        let known = self.prepared.iter().position(|(text, _)| text == statement);
        let at = if let Some(at) = known {
            at
        } else {
            if self.prepared.len() == PREPARED_MAX {
                self.prepared.remove(0);
            }
            let made = self.connection.prepare(statement)?;
            self.prepared.push((statement.to_owned(), made));
            self.prepared.len() - 1
        };
        let prepared = &mut self.prepared[at].1;
        let mut rows = 0;
        while prepared.step()? {
            prepared.read_row();
            rows += 1;
        }
        Ok(rows)
    }
}
