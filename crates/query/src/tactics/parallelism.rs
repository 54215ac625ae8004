//! `parallelism`: how many threads work on a statement.

use lode::tactics::describe::number_tactic;

/// More would only wait for each other at the parts of a source.
const THREADS_MAX: usize = 64;

number_tactic! {
    /// **What it does.** Sets how many threads work on a pipeline of a statement, the one that runs
    /// the statement among them. The source of a pipeline is divided into parts: pages of a
    /// relation, entries of an index, tuples of a temporary relation. Each thread takes the next
    /// part when it has done with one, and takes it through the whole pipeline, hash tables looked
    /// up included; entries, tuples, sorted runs and partitions that it makes are its own until all
    /// have ended, and merged then. What changes relations is collected so, and done by one thread.
    /// A pipeline whose rows come in an order, or that removes duplicates in one set, is one
    /// thread's, and `explain` says why; so is one of which a part in memory is too small to be
    /// divided, and the counters say how many tuples each thread took.
    /// **What it buys.** Scans, joins and aggregates in a part of the time.
    /// **What it costs.** A thread is started for each pipeline that has two parts or more: tens of
    /// microseconds, which short statements do not get back. Partitions are there once for each
    /// thread. Rows without an order come in another one each time, and sums of reals, added in
    /// another order, may differ in their last digits.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** More threads than processors, or than the users leave.
    /// **Source.** Leis, Boncz, Kemper and Neumann, "Morsel-Driven Parallelism", SIGMOD 2014.
    "parallelism" Parallelism(usize) {
        default: 1,
        values: "a number from 1 to 64": "so many threads: 1, 2",
        parse: |text| text.parse().ok().filter(|threads| (1..=THREADS_MAX).contains(threads)),
    }
}
