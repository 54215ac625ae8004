//! `bulk`: how pages reach the disk that a transaction fills from nothing.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses what happens to pages that were free before a transaction: those
    /// of a relation that it loads, of an index that it builds, of a file that it makes longer.
    /// With `logged`, what they become is logged like any change. With `unlogged`, the log
    /// gets their numbers only; at commit they are written to their places, the volume is
    /// synced, and the commit record follows. A transaction of few such pages (fewer than 16, or
    /// than an eighth of a small cache, and none written for lack of room) logs them all the same.
    /// **What it buys.** A load writes each page once: not to the log, not again as the image
    /// that precedes a checkpoint's write, and without a copy in memory to compare with.
    /// **What it costs.** The commit waits until the volume has its pages, under each `durability`.
    /// A rollback, or the restart after a crash in the middle, writes zeros over these pages.
    /// **What a crash can lose.** Nothing: before the commit record the pages count as free,
    /// whatever lies there; behind it they are all there.
    /// **Do not combine with.** Nothing is excluded.
    /// **Source.** New files forced to disk at commit instead of logged: Haerder and Reuter,
    /// "Principles of Transaction-Oriented Database Recovery", 1983 (the class "force"); PostgreSQL
    /// with `wal_level=minimal`.
    "bulk" Bulk {
        /// The log has every page that is new.
        Logged = "logged",
        /// New pages are written and synced to their places before the commit.
        Unlogged = "unlogged",
    }
}
