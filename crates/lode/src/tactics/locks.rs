//! `locks`: what is locked.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses what a transaction locks until its end. `database`: the whole
    /// database, at its first operation, shared for a transaction that reads and exclusive for
    /// one that writes. `relation`: each file (a heap, an index) when its first page is read
    /// (shared) or changed (exclusive), and pages of no file, which hold the free space, by
    /// themselves. `page`: each page when it is first read or changed.
    /// Transactions wait in the order in which they asked, but one that holds the lock and wants
    /// more of it goes first; where some wait for each other in a circle, the youngest is rolled
    /// back with an error.
    /// **What it buys.** `database`: nothing is paid per page, and no deadlock is possible.
    /// `relation`: transactions that touch different relations run side by side, with as many
    /// entries in the lock table as files are touched. `page`: so do those that touch different
    /// pages.
    /// **What it costs.** `database`: one writer at a time, and no reader beside it. `relation`:
    /// the owner of a page is read from its header before it is locked; one writer of a
    /// relation at a time, and two that first read it and then change it are a deadlock. `page`: a
    /// look-up in the transaction's list at each page, an entry in the lock table for each page
    /// touched. Both: transactions that have to be run again after a deadlock; and at a page server
    /// a message for each page, since a client cannot know whose it is now.
    /// **What a crash can lose.** Nothing: locks are in memory, and a crash ends them all.
    /// **Do not combine with.** `database` with a measurement of several users who write; at a page
    /// server, `relation` and `page` with `readahead=on`.
    /// **Source.** Gray, Lorie, Putzolu and Traiger 1976 (granularity of locks) and System R for
    /// two phases and detection; the sizes as in INGRES (relation) and Rhino (page).
    "locks" Grain {
        /// One lock on the whole database.
        Database = "database",
        /// A lock on each file.
        Relation = "relation",
        /// A lock on each page.
        Page = "page",
    }
}
