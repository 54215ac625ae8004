//! The tuples at an end of an index: those with the least key, or with the greatest.

use std::ops::Bound;

use lode::PageRead;

use super::Relation;
use super::key::{self, ENCODED_BYTES_MAX, RECORD_ID_BYTES};
use super::scan::{Position, Scan, no_id};
use crate::catalog::Structure;
use crate::error::Result;
use crate::plan::{Access, Side};

impl Relation {
    /// A tuple whose attribute is the least or the greatest of all; where the key of an index does
    /// not hold all of a value, every tuple that it may be. None where the attribute is null
    /// everywhere: a null has no key.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Access`] if no B-tree leads to the relation so.
    pub fn end(&self, pages: &impl PageRead, access: &Access, side: Side) -> Result<Scan> {
        let (index, _) = self.index(access)?;
        let Structure::Btree(tree) = index.structure else { return Err(self.refusal(access)) };
        let all = (Bound::Unbounded, Bound::Unbounded);
        let mut cursor = match side {
            Side::Least => tree.forwards(pages, all)?,
            Side::Greatest => tree.backwards(pages, all)?,
        };
        let Some((entry, _)) = cursor.entry()? else { return Ok(self.at(Position::End)) };
        let id = key::id_of(entry).ok_or_else(no_id)?;
        let key = &entry[..entry.len() - RECORD_ID_BYTES];
        let mut scan = if key.len() < ENCODED_BYTES_MAX {
            self.records(vec![id])
        } else {
            let to = key::successor(key);
            self.at(Position::Index { tree, from: key.to_vec(), to })
        };
        scan.reads.pages = 1;
        Ok(scan)
    }
}
