//! Tuples of relations that are stored by columns: those that are wanted are put together, of the
//! columns that are wanted.

use std::sync::Arc;

use lode::internals::columns::{self, Column, Header, Shape};
use lode::internals::page::PageNumber;
use lode::{Columns, LodeError, PageRead, RecordId};

use super::batch::{HeldPage, TupleBatch};
use super::gather::{Positions, Values};
use super::reads::Reads;
use crate::catalog::Tuples;
use crate::error::Result;

/// Columns of a relation, and where each of them goes in the tuples that are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The column, and the offset of its value in the tuple.
    pub(super) parts: Vec<(Column, usize)>,
    /// The length of the tuples.
    pub(super) bytes: usize,
    /// From the first byte of one tuple to that of the next: less than their length where the
    /// values of one find room in what is not wanted of others. So a batch takes as little of the
    /// processor's caches as it has values.
    pub(super) stride: usize,
}

/// Projections of more columns have tuples one behind the other: the search for a stride compares
/// each column with each.
const INTERLEAVED_COLUMNS_MAX: usize = 8;

/// Strides are multiples of this, so that integers stay at multiples of their size.
const STRIDE_UNIT_BYTES: usize = 4;

/// The least stride at which no two values lie on each other, of whichever tuples.
fn stride_of(parts: &[(Column, usize)], bytes: usize) -> usize {
    if parts.is_empty() || parts.len() > INTERLEAVED_COLUMNS_MAX {
        return bytes;
    }
    let values: usize = parts.iter().map(|(column, _)| column.width).sum();
    let least = values.next_multiple_of(STRIDE_UNIT_BYTES);
    let are_apart = |stride: &usize| {
        parts.iter().enumerate().all(|(number, &(one, at))| {
            parts[number + 1..].iter().all(|&(other, other_at)| {
                let distance = (other_at % stride + stride - at % stride) % stride;
                distance >= one.width && stride - distance >= other.width
            })
        })
    };
    (least..bytes).step_by(STRIDE_UNIT_BYTES).find(are_apart).unwrap_or(bytes)
}

impl Projection {
    /// The columns of which something is wanted, each where it stands in the whole tuple.
    pub(super) fn of_tuple(shape: &Shape, is_wanted: impl Fn(usize, usize) -> bool) -> Self {
        let parts = shape.columns().iter().map(|&column| (column, column.offset));
        let parts = parts.filter(|&(column, at)| is_wanted(at, at + column.width));
        let (parts, bytes) = (parts.collect::<Vec<_>>(), shape.row_bytes());
        let stride = stride_of(&parts, bytes);
        Self { parts, bytes, stride }
    }

    /// The columns that begin at these bytes of the whole tuple, one behind the other.
    pub(super) fn narrow(shape: &Shape, offsets: &[usize]) -> Self {
        let mut bytes = 0;
        let parts = shape.columns().iter().filter(|column| offsets.contains(&column.offset));
        let parts = parts.map(|&column| {
            bytes += column.width;
            (column, bytes - column.width)
        });
        let parts = parts.collect();
        Self { parts, bytes, stride: bytes }
    }

    /// The place where a byte of the whole tuple stands, of a column that is one of these.
    pub fn place_of(&self, offset: usize) -> Option<usize> {
        let found = self
            .parts
            .iter()
            .find(|(column, _)| (column.offset..column.offset + column.width).contains(&offset));
        found.map(|(column, at)| at + offset - column.offset)
    }
}

/// The place where a walk along chunks goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub chunk: PageNumber,
    pub at: usize,
    /// So many chunks are left at most, this one included.
    pub left: u32,
    /// The last tuple where it does not go to the end.
    pub last: Option<RecordId>,
}

/// The way in which a scan puts tuples together.
#[derive(Debug, Clone)]
pub(super) struct ColumnScan {
    pub columns: Columns,
    pub wanted: Arc<Projection>,
}

impl ColumnScan {
    pub(super) fn of(tuples: &Tuples, wanted: Option<&Arc<Projection>>) -> Option<Self> {
        let Tuples::Columns(columns) = tuples else { return None };
        let all = || Arc::new(Projection::of_tuple(columns.shape(), |_, _| true));
        let wanted = wanted.map_or_else(all, Arc::clone);
        Some(Self { columns: columns.clone(), wanted })
    }

    /// Put the column that begins at this byte of the whole tuple together, too.
    pub(super) fn want(&mut self, offset: usize) {
        let is_wanted = |from| self.wanted.place_of(from).is_some() || from == offset;
        self.wanted =
            Arc::new(Projection::of_tuple(self.columns.shape(), |from, _| is_wanted(from)));
    }

    /// Take the tuples with these record ids.
    pub(super) fn fetch(
        &self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        ids: &[RecordId],
        reads: &mut Reads,
    ) -> Result<()> {
        let words = ids.iter().map(|id| id.to_u64());
        batch.put_together((self.wanted.bytes, self.wanted.stride), words, |room| {
            let before = reads.pages;
            let mut rest = ids;
            let mut at = 0;
            // Neighbours in one chunk share its header and, in a column, its page.
            while let Some(first) = rest.first() {
                let own = rest.iter().position(|id| id.page != first.page).unwrap_or(rest.len());
                let (own, behind) = rest.split_at(own);
                let positions: Vec<u16> = own.iter().map(|id| id.slot).collect();
                let positions = Positions::of(&positions);
                self.put(pages, (first.page, positions), &self.wanted, &mut room[at..], reads)?;
                (rest, at) = (behind, at + own.len() * self.wanted.stride);
            }
            Ok((reads.pages - before) as usize)
        })
    }

    /// Put the tuples at some positions of a chunk together, all of which must be there. Of `into`
    /// nothing is changed but their values.
    pub(super) fn put(
        &self,
        pages: &impl PageRead,
        (chunk, positions): (PageNumber, Positions<'_>),
        projection: &Projection,
        into: &mut [u8],
        reads: &mut Reads,
    ) -> Result<()> {
        let held = held(pages, chunk, reads)?;
        let header = self.header(&held)?;
        if positions.each.iter().any(|&at| !header.is_live(at.into())) {
            let how = "an index leads to a tuple that is not there";
            return Err(LodeError::corrupt_page(chunk, how).into());
        }
        for &(column, at) in &projection.parts {
            let file = self.columns.file();
            let mut values = Values::new(pages, file, (chunk, header), column, reads);
            values.gather(positions, into, (projection.stride, at))?;
        }
        Ok(())
    }

    pub(super) fn header<'p>(&self, held: &'p HeldPage) -> Result<Header<'p>> {
        let rows = self.columns.shape().rows();
        Ok(columns::header_in(held.bytes(), held.page, self.columns.file(), rows)?)
    }
}

/// A chunk's header page.
pub(super) fn held(
    pages: &impl PageRead,
    chunk: PageNumber,
    reads: &mut Reads,
) -> Result<HeldPage> {
    reads.pages += 1;
    HeldPage::read(pages, chunk)
}

#[cfg(test)]
mod tests {
    use super::stride_of;
    use lode::internals::columns::Column;
    use proptest::prelude::*;

    fn parts(columns: &[(usize, usize)]) -> Vec<(Column, usize)> {
        let part = |&(offset, width)| (Column { offset, width, place: 0 }, offset);
        columns.iter().map(part).collect()
    }

    #[test]
    fn tuples_of_few_columns_lie_in_one_another() {
        for (columns, stride) in [
            (vec![(100, 4)], 4),
            (vec![(0, 4), (4, 4)], 8),
            // At 12 the second value of one tuple would lie on the first of the next.
            (vec![(0, 4), (8, 8)], 16),
            (vec![(0, 4), (204, 4)], 8),
            (vec![(0, 104), (104, 104)], 208),
            (vec![], 208),
        ] {
            assert_eq!(stride_of(&parts(&columns), 208), stride, "{columns:?}");
        }
    }

    proptest! {
        #[test]
        fn no_value_lies_on_another(
            gaps in prop::collection::vec((0..40_usize, 1..40_usize), 1..9),
        ) {
            let (mut columns, mut end) = (Vec::new(), 0);
            for (gap, width) in gaps {
                columns.push((end + gap, width));
                end += gap + width;
            }
            let stride = stride_of(&parts(&columns), end);
            let mut taken = vec![false; 50 * stride + end];
            for tuple in 0..50 {
                for &(at, width) in &columns {
                    for byte in &mut taken[tuple * stride + at..][..width] {
                        prop_assert!(!std::mem::replace(byte, true), "{stride}");
                    }
                }
            }
        }
    }
}
