//! The place of an engine, and the choices a variant makes for it.

use std::fmt;
use std::path::PathBuf;

use crate::error::ClientError;

/// The place where a database is, in the engine's own terms. `Debug` leaves the connection string
/// out, which may hold a password.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Address {
    /// A path for an engine in the program's process, a connection string for a server, nothing
    /// for the engines that keep nothing.
    pub database: String,
    /// The shared library that holds the engine, where it is loaded at run time.
    pub library: Option<PathBuf>,
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Address").field("library", &self.library).finish_non_exhaustive()
    }
}

/// A value that another benchmark's program has and this one lacks: engine, tactic, value, reason.
pub(crate) type OtherValue = (&'static str, &'static str, &'static str, &'static str);

/// A variant's tactics, `key=value`. A driver takes those it knows; one that nobody took is an
/// error, so that no report shows a tactic that did nothing.
#[derive(Debug, Clone, Default)]
pub struct Tactics {
    pairs: Vec<(String, String)>,
    known: Vec<String>,
}

impl Tactics {
    /// From pairs of key and value.
    pub fn new<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { pairs, known: Vec::new() }
    }

    /// The choice for `key`, among `choices`; the first is taken where the variant says nothing.
    pub(crate) fn take<T: Copy>(
        &mut self,
        key: &str,
        choices: &[(&'static str, T)],
    ) -> Result<T, ClientError> {
        self.known.push(key.to_owned());
        let (_, default) = *choices.first().expect("a tactic has at least one choice");
        let Some(position) = self.pairs.iter().position(|(name, _)| name == key) else {
            return Ok(default);
        };
        let (_, value) = self.pairs.remove(position);
        match choices.iter().find(|(name, _)| *name == value) {
            Some(&(_, choice)) => Ok(choice),
            None => Err(ClientError::Unknown {
                kind: "choice of that tactic",
                name: format!("{key}={value}"),
                known: choices.iter().map(|(name, _)| format!("{key}={name}")).collect(),
            }),
        }
    }

    /// Take a tactic of which the engine's program has one value, `value`. Another program's value,
    /// among `others`, is a gap with its reason.
    pub(crate) fn take_only(
        &mut self,
        engine: &'static str,
        (key, value): (&'static str, &'static str),
        others: &[OtherValue],
    ) -> Result<(), ClientError> {
        let others = others.iter().filter(|other| (other.0, other.1) == (engine, key));
        let choices: Vec<_> = std::iter::once((value, None))
            .chain(others.map(|&(_, _, value, reason)| (value, Some(reason))))
            .collect();
        match self.take(key, &choices)? {
            None => Ok(()),
            Some(reason) => Err(ClientError::Unsupported { engine, what: key, reason }),
        }
    }

    /// The variant's value for `key`, to be judged by the engine itself.
    pub(crate) fn take_text(&mut self, key: &str) -> Option<String> {
        self.known.push(key.to_owned());
        let position = self.pairs.iter().position(|(name, _)| name == key)?;
        Some(self.pairs.remove(position).1)
    }

    /// An error if a tactic was given that no [`Self::take`] requested.
    pub(crate) fn finish(self) -> Result<(), ClientError> {
        match self.pairs.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => {
                Err(ClientError::Unknown { kind: "tactic of this engine", name, known: self.known })
            }
        }
    }
}

/// The tactic `transaction`, of a driver that is in a transaction after its `begin`, or not.
pub const fn transaction(within: bool) -> &'static str {
    if within { "measure" } else { "call" }
}
