//! The errors of a design, small enough to be returned from where things are fast.

use lode::LodeError;

use super::ENGINE;
use crate::error::ClientError;

/// Why a design could not do something.
#[derive(Debug)]
pub enum Failure {
    /// The engine's own.
    Engine(LodeError),
    /// A part that is not there.
    Missing(u32),
    /// Something else lies where a part or a connection must be.
    Malformed(&'static str),
}

/// The result of a design's calls.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<LodeError> for Failure {
    #[inline]
    fn from(error: LodeError) -> Self {
        Self::Engine(error)
    }
}

impl Failure {
    /// Whether the transaction may be run again.
    pub const fn is_deadlock(&self) -> bool {
        matches!(self, Self::Engine(LodeError::Deadlock))
    }

    /// As the loops know it.
    #[cold]
    #[inline(never)]
    pub fn reported(self, doing: &'static str) -> ClientError {
        match self {
            Self::Engine(error) => ClientError::engine(ENGINE, doing, error),
            Self::Missing(id) => ClientError::Missing { engine: ENGINE, id },
            Self::Malformed(what) => {
                ClientError::Malformed { engine: ENGINE, what: what.to_owned() }
            }
        }
    }
}
