//! The work of a query's execution, counted.

use std::fmt;

/// Counts of work. Equal answers by another strategy show here what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Tuples that sources gave, also those that a step dropped.
    pub tuples: u64,
    /// Pages of relations that were read.
    pub pages: u64,
    /// Tuples that an accelerator held against a condition before they left the access method.
    pub tuples_judged: u64,
    /// Pages that these tuples lie in.
    pub pages_judged: u64,
    /// Batches of them that a thread of the accelerator's own judged, ahead of what takes them.
    pub batches_ahead: u64,
    /// Comparisons of two values, or of a value with a pattern.
    pub comparisons: u64,
    /// Rows that looked by hash for their partition, a duplicate or a partner, each once: whatever
    /// the table finds them by, and however often a spilled row is looked at again.
    pub hash_probes: u64,
    /// Bytes written to spill files.
    pub spilled_bytes: u64,
    /// Bytes written to the log.
    pub log_bytes: u64,
    /// Batches of rows that `execution=vectorised` took from sources.
    pub batches: u64,
    /// Innermost loops of `execution=vectorised` and of the accelerator, each through one batch,
    /// that took one value at a time: `simd=off`.
    pub scalar_loops: u64,
    /// Those with the vector instructions that every processor of the kind has.
    pub baseline_loops: u64,
    /// Those with AVX2.
    pub avx2_loops: u64,
    /// Those with AVX-512.
    pub avx512_loops: u64,
    /// Expressions of which `execution=closures` made functions.
    pub closures: u64,
    /// Symbols that `execution=interpreted` fetched.
    pub symbols: u64,
    /// Lists of symbols that it interpreted.
    pub interpretations: u64,
    /// Functions that `execution=compiled` made.
    pub functions_compiled: u64,
    /// Bytes of their machine code.
    pub code_bytes: u64,
    /// Nanoseconds from their pipelines to executable code.
    pub compile_ns: u64,
    /// Rows that reached a sink.
    pub rows: u64,
    /// Threads beside the statement's own that worked through a part of a pipeline's source, each
    /// once for each pipeline.
    pub threads_beside: u64,
    /// Tuples that sources gave to them.
    pub tuples_beside: u64,
}

impl Work {
    /// Count another's work in.
    pub fn add(&mut self, other: &Self) {
        self.tuples += other.tuples;
        self.pages += other.pages;
        self.tuples_judged += other.tuples_judged;
        self.pages_judged += other.pages_judged;
        self.batches_ahead += other.batches_ahead;
        self.comparisons += other.comparisons;
        self.hash_probes += other.hash_probes;
        self.spilled_bytes += other.spilled_bytes;
        self.log_bytes += other.log_bytes;
        self.batches += other.batches;
        self.scalar_loops += other.scalar_loops;
        self.baseline_loops += other.baseline_loops;
        self.avx2_loops += other.avx2_loops;
        self.avx512_loops += other.avx512_loops;
        self.closures += other.closures;
        self.symbols += other.symbols;
        self.interpretations += other.interpretations;
        self.functions_compiled += other.functions_compiled;
        self.code_bytes += other.code_bytes;
        self.compile_ns += other.compile_ns;
        self.rows += other.rows;
        self.threads_beside += other.threads_beside;
        self.tuples_beside += other.tuples_beside;
    }
}

impl fmt::Display for Work {
    /// The work compiled and judged ahead, and the work counted in any case, on one line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tuples, pages, comparisons, hash_probes, spilled_bytes, log_bytes, .. } = self;
        if self.functions_compiled > 0 {
            let (functions, bytes) = (self.functions_compiled, self.code_bytes);
            let elapsed_us = self.compile_ns / 1000;
            write!(
                formatter,
                "{functions} functions of {bytes} bytes compiled in {elapsed_us} us, "
            )?;
        }
        if self.batches_ahead > 0 {
            write!(formatter, "{} batches judged ahead, ", self.batches_ahead)?;
        }
        write!(
            formatter,
            "{tuples} tuples, {pages} pages, {comparisons} comparisons, {hash_probes} hash \
             probes, {spilled_bytes} bytes spilled, {log_bytes} bytes logged"
        )?;
        if self.threads_beside > 0 {
            let (threads, tuples) = (self.threads_beside, self.tuples_beside);
            write!(formatter, ", {tuples} tuples taken by {threads} other threads")?;
        }
        Ok(())
    }
}

/// The rows that a plan's parts let through while it ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Of each pipeline, the rows that reached its sink.
    pub pipelines: Vec<u64>,
    /// Of each pipeline, the rows that came from its source and then from each of its steps; empty
    /// where the executor does not count them.
    pub steps: Vec<Vec<u64>>,
    /// Of each pipeline, the tuples that sources gave to each of the threads that worked on it.
    pub threads: Vec<Vec<u64>>,
}
