//! `join`: how two relations are joined.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Joins two relations whose tuples must agree in a value. `auto`: as
    /// `optimizer` finds best for each join. `nested-loops`: every tuple of one against every tuple
    /// of the other. `index`: for every tuple of one, those of the other that an index, a hash
    /// organisation or a clustered one gives. `hash`: the smaller one goes into a hash table, and
    /// each tuple of the other looks there. Where what is asked for cannot be done, because there
    /// is no index or no equality, nested loops are run.
    /// **What it buys.** `index`: only the tuples that join are touched. `hash`: each relation is
    /// read once. `nested-loops`: any condition, no memory.
    /// **What it costs.** `nested-loops`: the product of the two numbers of tuples. `index`: a way
    /// through the index for each tuple. `hash`: the memory of the smaller one.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** `nested-loops` with large relations: more than five hours in 1983.
    /// `index` where no relation has one.
    /// **Source.** Bitton, DeWitt and Turbyfill 1983, Tables 4 to 6 (nested loops of the IDM,
    /// sort-merge of commercial INGRES, indexes of all).
    "join" Join {
        /// The best for each join.
        Auto = "auto",
        /// Every tuple with every tuple.
        NestedLoops = "nested-loops",
        /// By an index look-up for each tuple.
        Index = "index",
        /// By a hash table of the smaller one.
        Hash = "hash",
    }
}
