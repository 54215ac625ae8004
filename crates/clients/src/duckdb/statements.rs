//! Statements of users, each on a connection of its own to one open database.

use std::path::Path;

use super::handles::Connection;
use crate::error::ClientError;
use crate::statements::Session;

/// Open the file with these settings, and connect so often.
pub fn open(
    library: &Path,
    path: &str,
    settings: &[(String, String)],
    users: usize,
) -> Result<Vec<Box<dyn Session>>, ClientError> {
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let first = Connection::open(library, path, &settings)?;
    let mut sessions = Vec::<Box<dyn Session>>::new();
    for _ in 1..users {
        sessions.push(Box::new(Own(first.another()?)));
    }
    sessions.push(Box::new(Own(first)));
    Ok(sessions)
}

/// A connection without statements that it keeps.
struct Own(Connection);

#[expect(unsafe_code, reason = "a session moves to its user's thread")]
// SAFETY: a connection moves alone here, without a statement, and one thread at a time uses it.
unsafe impl Send for Own {}

impl Session for Own {
    fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
        self.0.count_rows(statement)
    }
}
