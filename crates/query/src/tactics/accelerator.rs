//! `accelerator`: where the condition on a single relation is evaluated.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Decides where the conditions on one relation alone are evaluated when it
    /// is scanned. `off`: every tuple leaves the access method, and a step behind it drops those
    /// that do not qualify, in the way of `execution`. `on`: the access method holds the tuples of
    /// the pages that it has just read against the conditions, in loops that know the types, and
    /// only those that qualify leave it, whatever `execution` is. `thread`: the same on a thread
    /// of its own, some pages ahead of what takes the tuples.
    /// **What it buys.** `on`: `execution` never sees the tuples that do not qualify; much with
    /// `interpreted`, little with `vectorised`, whose loops are the accelerator's own. `thread`:
    /// scanning and all that follows at the same time.
    /// **What it costs.** `off`: a step for each tuple. `on`: nothing beside a scan; no help to
    /// indexes, joins, projections and sorts. `thread`: a thread for each scan, and its pages stay
    /// pinned until they have been judged.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** `thread` on a machine with one processor.
    /// **Source.** The database accelerator of the Britton Lee IDM (Ubell, "The Intelligent
    /// Database Machine", Database Engineering 4(2), 1981), whose processor did its work where it
    /// was not there; Bitton, DeWitt and Turbyfill 1983, rows IDMdac and IDMnodac.
    "accelerator" Accelerator {
        /// By a step behind the scan.
        Off = "off",
        /// On the pages, before tuples leave them.
        On = "on",
        /// On the pages, by a thread ahead.
        Thread = "thread",
    }
}
