//! Reading ranges of a relation.

use std::sync::Arc;

use crate::attribute::Attribute;
use crate::columns::Relation;

/// One relation at one scale and seed: rows `0 .. rows()`, each a pure function of its number.
pub trait Source: Send + Sync {
    /// The relation's name.
    fn name(&self) -> &str;

    /// Attributes in the paper's order.
    fn attributes(&self) -> &[Attribute];

    /// Number of rows.
    fn rows(&self) -> u64;

    /// Use up to `threads` threads for what random access needs to know beforehand. Optional:
    /// the first [`Source::cursor`] that needs it does the same with one thread.
    fn prepare(&self, threads: usize) {
        let _ = threads;
    }

    /// A reader whose next row is `first`.
    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor>;
}

/// Reads a relation's rows in order.
pub trait Cursor: Send {
    /// Number of the next row.
    fn position(&self) -> u64;

    /// Append the next `count` rows to `into`, which [`empty`] made; the caller stays within the
    /// relation.
    fn read(&mut self, count: usize, into: &mut Relation);
}

/// A relation with the source's columns and no rows.
pub fn empty(source: &dyn Source) -> Relation {
    Relation {
        name: source.name().to_owned(),
        columns: source
            .attributes()
            .iter()
            .map(|attribute| (attribute.name.clone(), attribute.kind.column()))
            .collect(),
    }
}

/// Rows `first .. first + count`, cut at the relation's end.
pub fn read_range(source: &Arc<dyn Source>, first: u64, count: u64) -> Relation {
    let first = first.min(source.rows());
    let count = count.min(source.rows() - first) as usize;
    let mut relation = empty(source.as_ref());
    for (_, column) in &mut relation.columns {
        column.reserve(count);
    }
    Arc::clone(source).cursor(first).read(count, &mut relation);
    relation
}

/// The whole relation, in memory.
pub fn read_all(source: &Arc<dyn Source>) -> Relation {
    read_range(source, 0, source.rows())
}
