//! `locks`: what is locked.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses what a transaction locks until its end. `database`: the whole
    /// database, at its first operation, shared for a transaction that reads and exclusive for
    /// one that writes. `page`: each page when it is first read (shared) or changed (exclusive).
    /// Transactions wait in the order of asking, but one that asks for more of what it holds goes
    /// first; where some wait for each other in a circle, the youngest is rolled back and told so.
    /// **What it buys.** `database`: nothing is paid per page, and no deadlock is possible. `page`:
    /// transactions that touch different pages run side by side.
    /// **What it costs.** `database`: one writer at a time, and no reader beside it. `page`: a
    /// look-up in the transaction's list at each page, an entry in the lock table for each page
    /// touched, and transactions that have to be run again after a deadlock.
    /// **What a crash can lose.** Nothing: locks are in memory, and a crash ends them all.
    /// **Do not combine with.** `database` with a measurement of several users who write.
    /// **Source.** Gray, Lorie, Putzolu and Traiger 1976 (granularity of locks) and System R for
    /// two phases and detection; the sizes as in INGRES (relation) and Rhino (page).
    "locks" Grain {
        /// One lock on the whole database.
        Database = "database",
        /// A lock on each page.
        Page = "page",
    }
}
