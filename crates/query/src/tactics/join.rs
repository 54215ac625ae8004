//! `join`: how two relations are joined.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Joins two relations whose tuples must agree in a value. `auto`: as
    /// `optimizer` finds best for each join. `nested-loops`: every tuple of one against every
    /// tuple of the other. `index`: for every tuple of one, those of the other that an index,
    /// a hash organisation or a clustered one gives. `hash`: the smaller one goes into a hash
    /// table, and each tuple of the other looks there. `merge`: both are sorted by the value, then
    /// read side by side; a relation that is clustered on it is read in its order instead of being
    /// sorted. `index-merge`: an index where one serves and `optimizer` takes it, else `merge`.
    /// `substitution`: what speaks of one
    /// range variable alone is run first, into a temporary relation; then the tuples of one
    /// variable are put into the query and what is left is run for each, through an index,
    /// through a temporary relation that is hashed for it where that pays, or by a scan.
    /// Where what is requested cannot be done, because there is no index or no equality,
    /// nested loops are run.
    /// **What it buys.** `index`: only the tuples that join are touched. `hash`: each relation is
    /// read once. `merge`: memory in its order, however large the relations are; no sort where
    /// both are clustered. `nested-loops`: any condition, no memory. `substitution`: any query
    /// comes down to queries of one variable.
    /// **What it costs.** `nested-loops`: the product of the two numbers of tuples. `index`: a way
    /// through the index for each tuple. `hash`: the memory of the smaller one. `merge`: the sort
    /// of both, and what is needed of both is kept. `substitution`: a temporary relation has no
    /// indexes, whatever the stored one has.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** `nested-loops` with large relations: more than five hours in 1983.
    /// `index` where no relation has one.
    /// **Source.** Bitton, DeWitt and Turbyfill 1983, Tables 4 to 6 (nested loops of the IDM,
    /// sort-merge of commercial INGRES, indexes of all; `index-merge` is the two together, as that
    /// system had them). `substitution`: Wong and Youssefi,
    /// "Decomposition: A Strategy for Query Processing", TODS 1(3), 1976; its rules as in 4.1BSD
    /// (`decomp/selectv.c`, `reformat.c`).
    "join" Join {
        /// The best for each join.
        Auto = "auto",
        /// Every tuple with every tuple.
        NestedLoops = "nested-loops",
        /// By an index look-up for each tuple.
        Index = "index",
        /// By a hash table of the smaller one.
        Hash = "hash",
        /// By decomposition and tuple substitution, as in INGRES.
        Substitution = "substitution",
        /// By sorting both and reading them side by side.
        Merge = "merge",
        /// By an index where one serves, else by sorting both.
        IndexMerge = "index-merge",
    }
}
