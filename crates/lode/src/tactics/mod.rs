//! The tactics of lode: each mechanism of the papers as a named value, chosen when a database is
//! opened. One tactic, one file; its doc comment is what `loadstone tactics lode` prints.
//!
//! Contents do not depend on tactics: a database that was written under some is read under any
//! others. Only `extent` is fixed when a database is created.

mod bulk;
mod cache;
mod checkpoint;
pub mod describe;
mod detect;
mod disk;
mod durability;
mod extent;
mod huge_pages;
mod locks;
mod log;
mod mirror;
mod place;
mod prefetch;
mod read_ahead;
mod replacement;
mod shadows;
mod swizzle;

use std::fmt;
use std::str::FromStr;

use crate::error::{LodeError, Result};
use crate::page::PAGE_BYTES;

pub use bulk::Bulk;
pub use cache::CacheBytes;
pub use checkpoint::CheckpointBytes;
pub use describe::{Description, Value};
pub use detect::Detect;
pub use disk::Opening;
pub use durability::Durability;
pub use extent::ExtentPages;
pub use huge_pages::HugePages;
pub use locks::Grain;
pub use log::Logging;
pub use mirror::Mirroring;
pub use place::{Place, place};
pub use prefetch::Prefetch;
pub use read_ahead::ReadAhead;
pub use replacement::Replacement;
pub use shadows::Shadows;
pub use swizzle::Swizzle;

use describe::Tactic;

/// Everything about the engine that an experiment may vary. Two equal values behave equally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tactics {
    /// The records that a transaction writes to the log.
    pub log: Logging,
    /// The place where page diffing's copies of pages lie.
    pub shadows: Shadows,
    /// The way in which stores to mapped pages are found.
    pub detect: Detect,
    /// The way in which new pages reach the disk.
    pub bulk: Bulk,
    /// When a commit is durable.
    pub durability: Durability,
    /// The grain of locks.
    pub locks: Grain,
    /// The way in which the files are opened.
    pub disk: Opening,
    /// Whether the files are there twice.
    pub mirror: Mirroring,
    /// The memory that pages may take.
    pub cache: CacheBytes,
    /// Whether the cache may lie in large pages.
    pub huge_pages: HugePages,
    /// Which page makes room.
    pub replacement: Replacement,
    /// Whether references are followed as addresses.
    pub swizzle: Swizzle,
    /// Whether a walk asks the processor for records before it reads them.
    pub prefetch: Prefetch,
    /// The number of pages that are given to a file together.
    pub extent: ExtentPages,
    /// Whether a page brings its extent along.
    pub read_ahead: ReadAhead,
    /// The largest length of the log.
    pub checkpoint: CheckpointBytes,
}

/// Do `$do` with each tactic's field and type: the one list of them, in the order in which they
/// are shown.
macro_rules! for_each_tactic {
    ($do:ident) => {
        $do! {
            log: Logging, shadows: Shadows, detect: Detect, bulk: Bulk, durability: Durability,
            locks: Grain, disk: Opening, mirror: Mirroring, cache: CacheBytes,
            huge_pages: HugePages, replacement: Replacement, swizzle: Swizzle,
            prefetch: Prefetch, extent: ExtentPages, read_ahead: ReadAhead,
            checkpoint: CheckpointBytes,
        }
    };
}

macro_rules! implement {
    ($($field:ident: $type:ty),+ $(,)?) => {
        /// Every tactic of a database, with what it does, buys, costs, can lose, must not be
        /// combined with, and its source. [`place`] has the one that is no database's.
        pub fn all() -> Vec<Description> {
            vec![$(describe::describe::<$type>()),+]
        }

        impl Tactics {
            /// Choose one tactic's value.
            ///
            /// # Errors
            ///
            /// [`LodeError::Tactic`], naming what there is.
            pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
                $(if name == <$type as Tactic>::NAME {
                    self.$field = <$type as Tactic>::parse(value)?;
                    return Ok(());
                })+
                let known = [$(<$type as Tactic>::NAME),+].join(", ");
                let what = format!("no tactic is called `{name}`: there are {known}");
                Err(LodeError::Tactic { what })
            }

            /// Each tactic's name and value, in the order of [`all`].
            pub fn pairs(&self) -> Vec<(&'static str, String)> {
                vec![$((<$type as Tactic>::NAME, Tactic::shown(&self.$field))),+]
            }
        }
    };
}

for_each_tactic!(implement);

impl Tactics {
    /// From pairs of name and value; what is not named is as by default.
    ///
    /// # Errors
    ///
    /// [`LodeError::Tactic`] for a name or value that there is not, and for two that exclude each
    /// other.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut tactics = Self::default();
        for (name, value) in pairs {
            tactics.set(name, value)?;
        }
        tactics.check()?;
        Ok(tactics)
    }

    /// Whether these go together.
    ///
    /// # Errors
    ///
    /// [`LodeError::Tactic`] if the cache cannot hold a few extents that read-ahead brings in,
    /// where this build cannot prefetch, and where no range is said that is to be logged.
    pub fn check(&self) -> Result<()> {
        if self.prefetch == Prefetch::On && !prefetch::IS_POSSIBLE {
            let what = "prefetch=on requires an x86-64 processor: leave it off";
            return Err(LodeError::Tactic { what: what.to_owned() });
        }
        if self.log == Logging::SetRange && self.detect != Detect::Explicit {
            let what = "log=set-range logs declared ranges, and detect=sigsegv and kernel are \
                        for programs that say nothing: choose detect=explicit, or another log";
            return Err(LodeError::Tactic { what: what.to_owned() });
        }
        let ahead_bytes = u64::from(self.read_ahead_pages()) * PAGE_BYTES as u64;
        if ahead_bytes * cache::READ_AHEADS_MIN > self.cache.0 {
            return Err(LodeError::Tactic {
                what: format!(
                    "readahead=on needs a cache of {} extents, {} bytes here: give `cache=` more",
                    cache::READ_AHEADS_MIN,
                    ahead_bytes * cache::READ_AHEADS_MIN
                ),
            });
        }
        Ok(())
    }

    /// The number of pages that a miss reads: 0 without read-ahead.
    pub fn read_ahead_pages(&self) -> u32 {
        match self.read_ahead {
            ReadAhead::Off => 0,
            ReadAhead::On => self.extent.0,
        }
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
    type Err = LodeError;

    /// `name=value&name=value`, as in a variant.
    fn from_str(text: &str) -> Result<Self> {
        let pair = |part: &'_ str| {
            part.split_once('=')
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .ok_or_else(|| LodeError::Tactic {
                    what: format!("`{part}` is no tactic: write name=value"),
                })
        };
        let parts = text.split('&').filter(|part| !part.is_empty());
        let pairs = parts.map(pair).collect::<Result<Vec<_>>>()?;
        Self::of(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

#[cfg(test)]
mod tests;
