//! `memory`: how much memory statements may take for what they keep while they run.

#![expect(clippy::doc_markdown, reason = "DeWitt is a name")]

use lode::LodeError;
use lode::tactics::Value;
use lode::tactics::describe::{Tactic, bytes_of};

use crate::memory::{Memory, budget_default_bytes};

/// 64 blocks of a spill file: buffers for a division into partitions, four times.
const BYTES_MIN: u64 = 256 << 10;

/// The smallest cache that lends: three quarters of it hold the buffers of a division, and the rest
/// the pages that a statement's threads have pinned.
const CACHE_BYTES_MIN: u64 = 1 << 20;

/// The tactic and its doc comment, which is also what is printed.
macro_rules! memory_tactic {
    ($(#[doc = $line:literal])+) => {
        $(#[doc = $line])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum MemoryBytes {
            /// A quarter of the machine's memory, or of its cgroup's.
            #[default]
            Quarter,
            /// So many bytes.
            Bytes(u64),
            /// Frames of the cache.
            Cache,
        }

        impl Tactic for MemoryBytes {
            const NAME: &'static str = "memory";
            const LINES: &'static [&'static str] = &[$($line),+];
            const VALUES: &'static [Value] = &[
                Value {
                    name: "quarter",
                    about: "a quarter of the memory of the machine, or of its cgroup",
                },
                Value {
                    name: "bytes from 262144",
                    about: "a number, or one with KiB, MiB or GiB: 67108864 is 64MiB",
                },
                Value {
                    name: "cache",
                    about: "of `cache`: pages and what statements keep together take no more",
                },
            ];

            fn parse(text: &str) -> Result<Self, LodeError> {
                match text {
                    "quarter" => return Ok(Self::Quarter),
                    "cache" => return Ok(Self::Cache),
                    _ => {}
                }
                let bytes = bytes_of(text).filter(|&bytes| bytes >= BYTES_MIN);
                bytes.map(Self::Bytes).ok_or_else(|| Self::unknown(text))
            }

            fn shown(&self) -> String {
                match self {
                    Self::Quarter => "quarter".to_owned(),
                    Self::Bytes(bytes) => bytes.to_string(),
                    Self::Cache => "cache".to_owned(),
                }
            }
        }
    };
}

memory_tactic! {
    /// **What it does.** Sets how many bytes the hash tables, sorts, sets and temporary relations
    /// of all statements together may have in memory; a load, a `modify` and an index sort in it,
    /// too. What does not fit goes to a file without a name in the database's folder: sorted runs
    /// that are merged, and partitions of hash tables that are worked through one after another.
    /// Pages of relations are not counted: they are `cache`'s. With `memory=cache` there is one
    /// budget: statements borrow frames of the cache, at most three quarters of them, and pages
    /// make room; what statements give back, pages have again.
    /// **What it buys.** Answers of any size in that memory. `cache`: one figure bounds pages and
    /// statements together, and neither is idle while the other lacks memory.
    /// **What it costs.** What is spilled is written and read at least once; `spilled_bytes` among
    /// the counters shows how much. `cache`: pages that made room are read again; huge pages are
    /// given up once what is borrowed leaves the whole database no room, and an eighth of the cache
    /// can be pinned.
    /// **What a crash can lose.** Nothing: the file is never needed again, and gone with the
    /// process.
    /// **Do not combine with.** More than the machine has beside `cache`; `memory=cache` with a
    /// `cache` of less than 1 MiB.
    /// **Source.** External sort: Knuth, The Art of Computer Programming 3, section 5.4. Hybrid
    /// hash join: DeWitt and others, "Implementation Techniques for Main Memory Database Systems",
    /// SIGMOD 1984.
}

impl MemoryBytes {
    /// The budget of a database's statements.
    pub fn budget(self, storage: &lode::Database) -> Memory {
        match self {
            Self::Quarter => Memory::new(budget_default_bytes()),
            Self::Bytes(bytes) => Memory::new(bytes),
            Self::Cache => Memory::borrowing(storage.frames()),
        }
    }

    /// Whether a cache of that size can lend what the least budget has.
    pub(super) fn check(self, cache_bytes: u64) -> Result<(), LodeError> {
        if self != Self::Cache || cache_bytes >= CACHE_BYTES_MIN {
            return Ok(());
        }
        let what = format!(
            "memory=cache needs a cache that can lend: write cache={CACHE_BYTES_MIN} or more, or \
             memory={BYTES_MIN} or more for a budget beside it"
        );
        Err(LodeError::Tactic { what })
    }
}
