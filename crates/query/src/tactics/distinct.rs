//! `distinct`: how duplicates are removed.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Removes duplicates of `retrieve unique`. `hash`: each row is looked up
    /// among those before it. `sort`: all rows are sorted, and of equal neighbours one stays.
    /// **What it buys.** `hash`: each row is looked at once, and the first ones come at once.
    /// `sort`: memory in its order, however many rows are different; the result comes in order.
    /// **What it costs.** `hash`: the memory of the rows that are different. `sort`: the memory of
    /// all rows, and no row before the last has come.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing.
    /// **Source.** `sort`: INGRES, and all systems of Bitton, DeWitt and Turbyfill 1983 (section
    /// 4.4, projections). `hash`: Bitton and DeWitt, "Duplicate Record Elimination in Large Data
    /// Files", TODS 1983, compares them.
    "distinct" Distinct {
        /// By a hash table of the rows that there were.
        Hash = "hash",
        /// By sorting all rows.
        Sort = "sort",
    }
}
