//! The tactics of the query engine: one tactic, one file, in the form of lode's own tactics; its
//! doc comment is what `loadstone tactics lode` prints.
//!
//! [`Tactics`] holds them beside the storage's, so that one text sets both. No answer depends on a
//! tactic.

mod accelerator;
mod aggregate;
mod distinct;
mod execution;
mod join;
mod layout;
mod memory;
mod optimizer;
mod parallelism;
mod profile;
mod simd;
mod statement;

use std::fmt;
use std::str::FromStr;

use lode::tactics::describe::{self, Tactic};
use lode::tactics::{self as storage, Description};

use crate::error::{QueryError, Result};

pub use accelerator::Accelerator;
pub use aggregate::Grouping;
pub use distinct::Distinct;
pub use execution::Execution;
pub use join::Join;
pub use layout::FileLayout;
pub use memory::MemoryBytes;
pub use optimizer::Optimizer;
pub use parallelism::Parallelism;
pub use profile::{Missing, Profile, Setting, profiles};
pub use simd::Simd;
pub use statement::Texts;

/// Everything about a query and the storage under it that an experiment may vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tactics {
    /// The profile whose values count where none was named.
    pub profile: Profile,
    /// The storage's.
    pub storage: storage::Tactics,
    /// The way in which expressions are computed.
    pub execution: Execution,
    /// The way in which two relations are joined.
    pub join: Join,
    /// The way in which order, access paths and joins are chosen.
    pub optimizer: Optimizer,
    /// The place where the conditions on a scanned relation are evaluated.
    pub accelerator: Accelerator,
    /// Whether the innermost loops use vector instructions.
    pub simd: Simd,
    /// The way in which duplicates are removed.
    pub distinct: Distinct,
    /// The way in which the tuples of a partition come together.
    pub aggregate: Grouping,
    /// The way in which the tuples of a relation lie in its file.
    pub layout: FileLayout,
    /// The memory that statements may take.
    pub memory: MemoryBytes,
    /// The number of threads that work on a statement.
    pub parallelism: Parallelism,
    /// Whether a text that comes again is known.
    pub statement: Texts,
}

/// Do `$do` with each of the query engine's own tactics: its field and its type.
macro_rules! for_each_tactic {
    ($do:ident) => {
        $do! {
            profile: Profile, execution: Execution, join: Join, optimizer: Optimizer,
            accelerator: Accelerator, simd: Simd, distinct: Distinct, aggregate: Grouping,
            layout: FileLayout, memory: MemoryBytes, parallelism: Parallelism,
            statement: Texts,
        }
    };
}

macro_rules! implement {
    ($($field:ident: $type:ty),+ $(,)?) => {
        /// The query engine's own tactics; [`lode::tactics::all`] has the storage's.
        pub fn all() -> Vec<Description> {
            vec![$(describe::describe::<$type>()),+]
        }

        impl Tactics {
            /// Choose one tactic's value, the query engine's or the storage's. A profile sets
            /// others.
            ///
            /// # Errors
            ///
            /// [`QueryError::Tactic`] for a name that there is not,
            /// [`lode::LodeError::Tactic`] for a value.
            pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
                if name == Profile::NAME {
                    return self.take_profile(value);
                }
                $(if name == <$type as Tactic>::NAME {
                    self.$field = <$type as Tactic>::parse(value)?;
                    return Ok(());
                })+
                if self.storage.pairs().iter().any(|(known, _)| *known == name) {
                    return Ok(self.storage.set(name, value)?);
                }
                let own = [$(<$type as Tactic>::NAME),+];
                let stored = self.storage.pairs().into_iter().map(|(known, _)| known);
                let known: Vec<_> = own.into_iter().chain(stored).collect();
                let known = known.join(", ");
                let what = format!("no tactic is called `{name}`: there are {known}");
                Err(QueryError::Tactic { what })
            }

            /// Each tactic's name and value: the query engine's in the order of [`all`], then
            /// the storage's.
            pub fn pairs(&self) -> Vec<(&'static str, String)> {
                let own = [$((<$type as Tactic>::NAME, Tactic::shown(&self.$field))),+];
                own.into_iter().chain(self.storage.pairs()).collect()
            }
        }
    };
}

for_each_tactic!(implement);

impl Tactics {
    /// From pairs of name and value; what is not named is as the profile among them has it, or by
    /// default.
    ///
    /// # Errors
    ///
    /// For a name or value that there is not, and for two that exclude each other.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut tactics = Self::default();
        let (profile, named): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(name, _)| *name == Profile::NAME);
        for (name, value) in profile.into_iter().chain(named) {
            tactics.set(name, value)?;
        }
        tactics.storage.check()?;
        tactics.memory.check(tactics.storage.cache.0)?;
        Ok(tactics)
    }

    fn take_profile(&mut self, name: &str) -> Result<()> {
        self.profile = Profile::named(name)?;
        for Setting { tactic, value, .. } in self.profile.settings() {
            self.set(tactic, value)?;
        }
        Ok(())
    }
}

impl fmt::Display for Tactics {
    /// As [`Tactics::from_str`] reads it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> =
            self.pairs().iter().map(|(name, value)| format!("{name}={value}")).collect();
        formatter.write_str(&pairs.join("&"))
    }
}

impl FromStr for Tactics {
    type Err = QueryError;

    /// `name=value&name=value`, as in a variant.
    fn from_str(text: &str) -> Result<Self> {
        let pair = |part| {
            str::split_once(part, '=').ok_or_else(|| QueryError::Tactic {
                what: format!("`{part}` is no tactic: write name=value"),
            })
        };
        let parts = text.split('&').filter(|part| !part.is_empty());
        Self::of(parts.map(pair).collect::<Result<Vec<_>>>()?)
    }
}

#[cfg(test)]
mod tests;
