//! `execution`: how a pipeline's expressions are computed, and for how many rows at a time.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Runs the pipelines of a plan. `vectorised`: a thousand rows at a time,
    /// each operation once for all of them in a loop that knows the types. `closures`: row by row;
    /// each expression becomes a tree of specialised functions when its pipeline starts, with types
    /// known and constants folded. `interpreted`: row by row; each expression is a list of symbols,
    /// and every symbol is fetched, checked and widened again for every row.
    /// **What it buys.** `vectorised`: few calls for each row, work that the processor can do for
    /// several rows at once. `closures`: no vectors between operations, little to set up for a
    /// statement of few rows. `interpreted`: the processor time of 1981's evaluation, to compare.
    /// **What it costs.** `vectorised`: memory traffic for what lies between two operations.
    /// `closures`: a call for each operator and row. `interpreted`: two calls and several switches
    /// for each symbol and row; constants are computed for every row.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing: all answers and errors are equal.
    /// **Source.** `vectorised`: Boncz, Zukowski and Nes 2005; Kersten et al. 2018. `closures`: the
    /// dynamic compilation of DC-INGRES (UCB/ERL M81/62, 1981, section 2.1). `interpreted`:
    /// INGRES as that report profiles it (Table 3), 4.1BSD `ovqp/interp1.c`.
    "execution" Execution {
        /// A thousand rows at a time.
        Vectorised = "vectorised",
        /// Row by row, with specialised functions.
        Closures = "closures",
        /// Row by row, symbol by symbol as in 1981.
        Interpreted = "interpreted",
    }
}
