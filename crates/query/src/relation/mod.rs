//! Relations as lode stores them: tuples in a heap, and indexes that lead to them.
//!
//! Whatever the organisation, a tuple is a record of a heap, and its record id names it. A
//! clustered relation is loaded in the order of its key, so that a range on it lies in adjacent
//! pages, and has a B-tree over it; a tuple that comes later is put beside its neighbours where
//! their page has room. A hashed relation has a hash index that leads to the heap, and a secondary
//! index is a B-tree of (key, record id). `docs/reference/lode-query.md` says why.

mod batch;
mod build;
pub mod change;
mod check;
mod chunks;
mod columns;
mod end;
mod entries;
mod every;
mod gather;
pub mod key;
mod load;
mod range;
mod reads;
mod scan;
mod settle;
mod shared;
mod sorted;
#[cfg(test)]
mod tests;
mod workspace;

use std::sync::Arc;

pub use batch::{Near, TupleBatch};
pub use build::{NewIndex, add_index};
pub use check::{check, check_all};
pub use columns::Projection;
pub use load::{Design, Loader, NewStructure, modify};
pub use reads::Reads;
pub use scan::Scan;
pub use settle::settle;
pub use shared::SharedScan;
pub use workspace::Workspace;

use crate::catalog::{IndexInfo, RelationInfo, Tuples};
use crate::error::{QueryError, Result};
use crate::plan::Access;

/// A relation to be read.
#[derive(Debug, Clone)]
pub struct Relation {
    info: Arc<RelationInfo>,
    /// Of one that is stored by columns, those that are put together into tuples; None for all.
    wanted: Option<Arc<Projection>>,
}

impl Relation {
    /// The relation that the catalog knows so.
    pub fn open(info: &Arc<RelationInfo>) -> Self {
        Self { info: Arc::clone(info), wanted: None }
    }

    /// The same, of whose tuples only some bytes are read: `is_wanted` shows if any from one up
    /// to another are. Of a relation that is stored by columns the others are not put together, and
    /// may hold anything.
    #[must_use]
    pub fn reading_only(mut self, is_wanted: impl Fn(usize, usize) -> bool) -> Self {
        if let Tuples::Columns(columns) = &self.info.tuples {
            let wanted = Projection::of_tuple(columns.shape(), is_wanted);
            self.wanted = Some(Arc::new(wanted));
        }
        self
    }

    /// Whether its tuples are stored by columns.
    pub fn is_by_columns(&self) -> bool {
        matches!(self.info.tuples, Tuples::Columns(_))
    }

    /// The catalog's entry of it.
    pub fn info(&self) -> &Arc<RelationInfo> {
        &self.info
    }

    /// The index that an access uses, and the attribute.
    fn index(&self, access: &Access) -> Result<(&IndexInfo, usize)> {
        let (found, attribute) = match *access {
            Access::Clustered { attribute } | Access::Hashed { attribute } => {
                (self.info.primary(), attribute)
            }
            Access::Index { attribute } => (self.info.secondary(attribute), attribute),
        };
        let fits = found.filter(|index| index.attributes[0] == attribute);
        fits.map(|index| (index, attribute)).ok_or_else(|| self.refusal(access))
    }

    /// That it cannot be reached so.
    fn refusal(&self, access: &Access) -> QueryError {
        QueryError::Access { relation: self.info.name.clone(), how: format!("{access:?}") }
    }
}
