//! The failure of a transaction so far.

use std::cell::Cell;

use crate::error::{LodeError, Result};

/// After an operation that failed nothing can be committed: an access method may have stopped
/// halfway.
#[derive(Default)]
pub(crate) struct Failure(Cell<Kind>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    None,
    Deadlock,
    Interrupted,
    Other,
}

impl Failure {
    /// An operation failed.
    #[cold]
    pub(crate) fn note(&self, error: &LodeError) {
        self.0.set(match (self.0.get(), error) {
            (Kind::Deadlock, _) | (_, LodeError::Deadlock) => Kind::Deadlock,
            (Kind::Interrupted, _) | (_, LodeError::Interrupted) => Kind::Interrupted,
            _ => Kind::Other,
        });
    }

    /// Whether there is nothing against a commit.
    ///
    /// # Errors
    ///
    /// [`LodeError::Deadlock`] or [`LodeError::Interrupted`] if that was it,
    /// [`LodeError::RolledBack`] after any other failure.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.get() {
            Kind::None => Ok(()),
            Kind::Deadlock => Err(LodeError::Deadlock),
            Kind::Interrupted => Err(LodeError::Interrupted),
            Kind::Other => Err(LodeError::RolledBack),
        }
    }
}
