//! `durability`: when a commit is on the medium.

#![expect(clippy::doc_markdown, reason = "DeWitt is a name")]

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses what a commit waits for. `full`: it returns when the log is
    /// synced up to its record, by itself or by a sync of another writer that covers it, and keeps
    /// its locks until then. `group`: it gives its locks back when its record is
    /// in the log's buffer; then one of the waiting transactions syncs for all. `none`: it waits
    /// for nothing; the log is synced only before changed pages are written to the volume, and when
    /// the database is closed.
    /// **What it buys.** `group`: several users share one sync, and none waits for a lock while
    /// another syncs. `none`: a commit costs no device time.
    /// **What it costs.** `full`: one sync of the device a commit, less where writers share one.
    /// `group`: the same for a single user; a reader may see what is not durable yet (its writer
    /// does not know yet that it committed, and nothing that is later becomes durable before
    /// it). `none`: see the next.
    /// **What a crash can lose.** `full` and `group`: no transaction whose commit returned. `none`:
    /// the last transactions, also those whose commit returned; what is left is as after one of the
    /// commits before, whole, and never damaged. After a crash of the program alone it is the same,
    /// because the log's end may still be in the program's memory.
    /// **Do not combine with.** `none` with a comparison against an engine that syncs.
    /// **Source.** Gray and others 1981 (the recovery manager of System R) for the log; DeWitt and
    /// others, "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984, for group
    /// commit and locks given back before it.
    "durability" Durability {
        /// Each commit returns when the log is synced, and keeps its locks until then.
        Full = "full",
        /// One commit syncs the log for all that wait.
        Group = "group",
        /// Commits do not wait for the device.
        None = "none",
    }
}
