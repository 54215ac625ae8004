//! Concurrent users of statements: each a thread with a session of its own, which sends one text
//! after another and takes all rows of its answer. No interpreter stands between them, so that an
//! engine in the same process has as many processors as there are.

pub mod drawing;
mod hashes;
mod program;
mod users;
mod value;
mod zipf;

pub use users::{Asked, Request, Requests, run};

use drawing::Template;

use crate::error::ClientError;

/// A session of an engine, for one thread.
pub trait Session: Send {
    /// Execute one statement and take every row of its answer; how many there were.
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError>;

    /// The same of a text with values that were drawn for it, a literal for each draw. An engine
    /// that keeps what it has parsed may send the values beside the text.
    fn ask_with(&mut self, text: &Template, literals: &[String]) -> Result<u64, ClientError> {
        self.ask(&text.filled(literals))
    }
}
