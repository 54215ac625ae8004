//! What the execution of a query did, counted.

/// Counts of work. Equal answers by another strategy show here what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Tuples that sources gave, also those that a step dropped.
    pub tuples: u64,
    /// Pages of relations that were read.
    pub pages: u64,
    /// Comparisons of two values, or of a value with a pattern.
    pub comparisons: u64,
    /// Look-ups in hash tables.
    pub hash_probes: u64,
    /// Bytes written to spill files.
    pub spilled_bytes: u64,
    /// Bytes written to the log.
    pub log_bytes: u64,
    /// Symbols that `execution=interpreted` fetched.
    pub symbols: u64,
    /// Lists of symbols that it interpreted.
    pub interpretations: u64,
    /// Rows that reached a sink.
    pub rows: u64,
}

impl Work {
    /// Count another's work in.
    pub fn add(&mut self, other: &Self) {
        self.tuples += other.tuples;
        self.pages += other.pages;
        self.comparisons += other.comparisons;
        self.hash_probes += other.hash_probes;
        self.spilled_bytes += other.spilled_bytes;
        self.log_bytes += other.log_bytes;
        self.symbols += other.symbols;
        self.interpretations += other.interpretations;
        self.rows += other.rows;
    }
}
