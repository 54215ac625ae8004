//! The cost of a scan.

/// The counts of reading tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// Pages of tuples that were read, and leaves of indexes.
    pub pages: u64,
    /// Tuples that were given.
    pub tuples: u64,
}
