//! Every tuple of a relation, one after the other.

use std::sync::Arc;

use lode::{PageRead, RecordId};

use super::{Relation, TupleBatch};
use crate::catalog::RelationInfo;
use crate::error::Result;

/// Tuples that are looked at together.
pub(super) const BATCH_TUPLES: usize = 512;

/// Show every tuple of a relation with its record id.
pub(super) fn each_tuple(
    pages: &impl PageRead,
    info: &RelationInfo,
    mut each: impl FnMut(RecordId, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut scan = Relation::open(&Arc::new(info.clone())).scan(pages)?;
    let mut batch = TupleBatch::new();
    while scan.next_batch(pages, &mut batch, BATCH_TUPLES)? {
        for at in 0..batch.len() {
            if let Some(id) = RecordId::of(batch.record_id(at)) {
                each(id, batch.tuple(at))?;
            }
        }
    }
    Ok(())
}
