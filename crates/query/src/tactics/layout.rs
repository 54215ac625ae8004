//! `layout`: how the tuples of a relation lie in its file.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Decides in what kind of file the tuples of a relation are stored that is
    /// created, loaded, modified or retrieved into while it is in force; the catalog keeps it for
    /// each relation, and every relation is read as it was stored. `rows`: tuple after tuple in the
    /// pages of a heap. `columns`: in chunks of 1,008 tuples, of which each attribute has pages of
    /// its own.
    /// **What it buys.** `columns`: a scan reads the pages of the attributes that the query names
    /// and no others; with `execution=vectorised`, or an accelerator, those of the conditions
    /// first, and of the others only the values of tuples that qualify. `rows`: a tuple is in one
    /// page.
    /// **What it costs.** `columns`: a tuple that is found by an index, put in or deleted is in as
    /// many pages as it has attributes, and the first tuple of a chunk takes all of them. `rows`: a
    /// scan reads everything. `accelerator=thread` reads the pages of the conditions and of all
    /// else that is named at the same time.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** `columns` with relations of a few tuples, or of more than 976
    /// attributes, which are refused.
    /// **Source.** Copeland and Khoshafian, "A Decomposition Storage Model", SIGMOD 1985; Boncz,
    /// Zukowski and Nes, "MonetDB/X100: Hyper-Pipelining Query Execution", CIDR 2005.
    "layout" FileLayout {
        /// Tuple after tuple, in a heap.
        Rows = "rows",
        /// Attribute after attribute, in chunks of tuples.
        Columns = "columns",
    }
}
