//! `prefetch`: whether a walk asks the processor for records before it reads them.

use super::describe::named_tactic;

/// Whether this build can ask its processor.
pub const IS_POSSIBLE: bool = cfg!(target_arch = "x86_64");

named_tactic! {
    /// **What it does.** A walk along links knows all references of a record before it follows the
    /// first. With `on`, it asks the processor for the first cache line of each record that they
    /// lead to, and goes on without waiting. What is not in memory is not read for that. The bytes
    /// on the medium are the same.
    /// **What it buys.** The records of one parent come to the processor's caches at the same time
    /// and not one after another, where the data outgrow these caches. A plain structure in memory
    /// gains as much by it: compare either with its like.
    /// **What it costs.** An instruction for each reference, for nothing where the record is in the
    /// caches already, has moved away from its page, or was changed by a transaction at a page
    /// server's client, which reads its own copy.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** A processor other than x86-64, and in OO1 `access=btree` or `hash`,
    /// where keys lead on and no references: both are refused.
    /// **Source.** Luk and Mowry, "Compiler-Based Prefetching for Recursive Data Structures",
    /// ASPLOS 1996, whose greedy prefetching this is.
    "prefetch" Prefetch {
        /// Records are read when they are visited.
        Off = "off",
        /// All records that one leads to are requested together.
        On = "on",
    }
}
