//! Concurrent users of statements: each a thread with a session of its own, which sends one text
//! after another and takes all rows of its answer. No interpreter stands between them, so that an
//! engine in the same process has as many processors as there are.

mod users;

pub use users::{Asked, Request, run};

use crate::error::ClientError;

/// A session of an engine, for one thread.
pub trait Session: Send {
    /// Execute one statement and take every row of its answer; how many there were.
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError>;
}
