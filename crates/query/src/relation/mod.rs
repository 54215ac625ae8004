//! Relations as lode stores them: tuples in a heap, and indexes that lead to them.
//!
//! Whatever the organisation, a tuple is a record of a heap, and its record id names it. A
//! clustered relation is loaded in the order of its key, so that a range on it lies in adjacent
//! pages, and has a B-tree over it; a tuple that comes later is put beside its neighbours where
//! their page has room. A hashed relation has a hash index that leads to the heap, and a secondary
//! index is a B-tree of (key, record id). `docs/lode-query.md` says why.

mod batch;
mod build;
pub mod change;
mod check;
mod entries;
pub mod key;
mod load;
mod range;
mod scan;
mod settle;
mod shared;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use batch::{Near, TupleBatch};
pub use build::{NewIndex, add_index};
pub use check::{check, check_all};
pub use load::{Design, Loader, NewStructure, modify};
pub use scan::{Reads, Scan};
pub use settle::settle;
pub use shared::SharedScan;

use crate::catalog::{IndexInfo, RelationInfo};
use crate::error::{QueryError, Result};
use crate::plan::Access;

/// A relation to be read.
#[derive(Debug, Clone)]
pub struct Relation {
    info: Arc<RelationInfo>,
}

impl Relation {
    /// The relation that the catalog knows so.
    pub fn open(info: &Arc<RelationInfo>) -> Self {
        Self { info: Arc::clone(info) }
    }

    /// What the catalog knows of it.
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
