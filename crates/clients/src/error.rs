//! The errors that come between the program and the database.

/// An operation of a client that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The engine has no such thing: a gap that is known before anything runs.
    #[error("{engine} has no {what}: {reason}")]
    Unsupported {
        /// The engine's name.
        engine: &'static str,
        /// The measure or operation.
        what: &'static str,
        /// Why, for the report.
        reason: &'static str,
    },
    /// The engine refused or failed.
    #[error("{engine} failed while {doing}: {message}")]
    Engine {
        /// The engine's name.
        engine: &'static str,
        /// The attempted action, e.g. "preparing the look-up".
        doing: &'static str,
        /// The engine's own words.
        message: String,
    },
    /// A part that must be there is not.
    #[error("{engine} has no part {id}: load the database again, its links are broken")]
    Missing {
        /// The engine's name.
        engine: &'static str,
        /// The part requested.
        id: u32,
    },
    /// The engine returned something that is no part and no connection.
    #[error("{engine} gave back {what}: it holds another database; load it again")]
    Malformed {
        /// The engine's name.
        engine: &'static str,
        /// The defect.
        what: String,
    },
    /// A name that nobody knows.
    #[error("there is no {kind} {name:?}; there are {}", known.join(", "))]
    Unknown {
        /// The kind of the name: an engine, a measure, a tactic.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A thread of concurrent users ended by itself.
    #[error("{engine}: a user's thread ended early: {message}")]
    User {
        /// The engine's name.
        engine: &'static str,
        /// The thread's message.
        message: String,
    },
}

impl ClientError {
    /// An engine's own failure.
    #[expect(clippy::needless_pass_by_value, reason = "texts and errors alike, where they arise")]
    pub fn engine(engine: &'static str, doing: &'static str, message: impl ToString) -> Self {
        Self::Engine { engine, doing, message: message.to_string() }
    }
}

/// Which of `all` bears that name.
pub fn named<T: Copy>(
    kind: &'static str,
    all: &[(&'static str, T)],
    name: &str,
) -> Result<T, ClientError> {
    match all.iter().find(|(known, _)| *known == name) {
        Some(&(_, named)) => Ok(named),
        None => Err(ClientError::Unknown {
            kind,
            name: name.to_owned(),
            known: all.iter().map(|(known, _)| (*known).to_owned()).collect(),
        }),
    }
}
