//! Hash joins within a budget (hybrid hash: `DeWitt` and others, Implementation Techniques for Main
//! Memory Database Systems, SIGMOD 1984).
//!
//! While the entries fit, there is one hash table and nothing else. Once they do not, they are
//! divided by their hashes: some partitions stay, the others go to the file, and fewer and fewer
//! stay while entries come. Rows that look for a partition that is away are put aside by partition,
//! too, with what later steps need of them. When there are no more rows, each pair of partitions is
//! joined: divided again where it is large, else by tables of as many entries as fit, each of which
//! meets all rows of the pair. So equal keys without end, which no division parts, are nested loops
//! over blocks.

mod build;
pub(super) mod form;
mod pairs;

pub(super) use build::{Building, Built};
pub(super) use form::{RowForm, looked_at, looked_at_first};
pub(super) use pairs::Aside;

/// The name of this part in the budget's error.
const WHAT: &str = "the hash table of a join";
