//! `aggregate`: how the tuples of a partition come together.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Brings the tuples of each partition of a by-list together. `hash`: each
    /// tuple looks its partition up. `sort`: the tuples are sorted by the by-list, so that a
    /// partition's follow each other; where several pipelines feed the same partitions, each looks
    /// them up all the same, and the plan shows no sort.
    /// **What it buys.** `hash`: each tuple is looked at once, and only the partitions are kept.
    /// `sort`: no look-up; results in the order of the by-list.
    /// **What it costs.** `hash`: a cache miss for each tuple where there are many partitions.
    /// `sort`: all tuples are kept and sorted first.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing.
    /// **Source.** `sort`: Epstein, "Techniques for Processing of Aggregates in Relational Database
    /// Systems", UCB/ERL M79/8, 1979 (INGRES). `hash`: Graefe, "Query Evaluation Techniques for
    /// Large Databases", ACM Computing Surveys 1993, section 4.
    "aggregate" Grouping {
        /// By a hash table of the partitions.
        Hash = "hash",
        /// By sorting the tuples by the by-list.
        Sort = "sort",
    }
}
