//! `execution`: how a pipeline's expressions are computed, and for how many rows at a time.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Runs the pipelines of a plan. `vectorised`: a thousand rows at a time,
    /// each operation once for all of them in a loop that knows the types. `closures`: row by row;
    /// each expression becomes a tree of specialised functions when its pipeline starts, with types
    /// known and constants folded. `interpreted`: row by row; each expression is a list of symbols,
    /// and every symbol is fetched, checked and widened again for every row. `compiled`: row by
    /// row; each pipeline becomes a function of machine code for every source in it, through which
    /// a row goes with its values in registers. Hash tables, sources and sinks are called; so is
    /// what compares texts, matches patterns, and takes logarithms and the like.
    /// **What it buys.** `vectorised`: few calls for each row, work that the processor can do for
    /// several rows at once. `closures`: no vectors between operations, little to set up for a
    /// statement of few rows. `interpreted`: the processor time of 1981's evaluation, to compare.
    /// `compiled`: the fewest instructions for each row, nothing in memory between operations.
    /// **What it costs.** `vectorised`: memory traffic for what lies between two operations.
    /// `closures`: a call for each operator and row. `interpreted`: two calls and several switches
    /// for each symbol and row; constants are computed for every row. `compiled`: half a
    /// millisecond for each pipeline before its first row, unless the statement was run before.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing: all answers are equal. Where several operations of a
    /// statement would fail, `vectorised` may name another of them, or none where a condition
    /// spares the rows. `compiled` is refused on processors for which there is no code generator,
    /// and where memory may not be executed.
    /// **Source.** `vectorised`: Boncz, Zukowski and Nes 2005; Kersten et al. 2018. `closures`: the
    /// dynamic compilation of DC-INGRES (UCB/ERL M81/62, 1981, section 2.1). `interpreted`:
    /// INGRES as that report profiles it (Table 3), 4.1BSD `ovqp/interp1.c`. `compiled`: Neumann,
    /// "Efficiently Compiling Efficient Query Plans for Modern Hardware", VLDB 2011; code by
    /// Cranelift.
    "execution" Execution {
        /// A thousand rows at a time.
        Vectorised = "vectorised",
        /// Row by row, with specialised functions.
        Closures = "closures",
        /// Row by row, symbol by symbol as in 1981.
        Interpreted = "interpreted",
        /// Row by row, in machine code made for the statement.
        Compiled = "compiled",
    }
}
