//! `optimizer`: how order, access paths and joins are chosen.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses in which order relations are joined, and how their tuples are
    /// reached. `cost`: the cheapest by numbers of tuples and by what `settle` found of their
    /// values; the least or greatest value of a whole relation at an end of an index. `rules`: an
    /// index wherever one fits (an equality before a range, the relation's own organisation before
    /// a secondary index), and first the relation with the most restrictive condition. `none`:
    /// relations in the order of the text, each scanned; two are joined by nested loops unless
    /// `join` says otherwise.
    /// **What it buys.** `cost`: no index where a scan is cheaper, no large relation where a small
    /// one would do. `rules`: needs no statistics. `none`: the plan can be read off the text.
    /// **What it costs.** `rules`: an index for a tenth of a relation touches more pages than the
    /// relation has. `none`: everything is read, products are run over in full. `cost`: is as good
    /// as its statistics.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing.
    /// **Source.** `rules`: access choice of the one-variable query processor of INGRES
    /// (4.1BSD, `ovqp/strategy.c`); `cost`: Selinger and others, "Access Path Selection in a
    /// Relational Database Management System", SIGMOD 1979.
    "optimizer" Optimizer {
        /// The cheapest by statistics.
        Cost = "cost",
        /// An index wherever one fits.
        Rules = "rules",
        /// The order of the text, and scans.
        Off = "none",
    }
}
