//! Scans along the chunks of a relation that is stored by columns.

use lode::internals::columns::Column;
use lode::internals::page::NO_PAGE;
use lode::{LodeError, PageRead, RecordId};

use super::batch::TupleBatch;
use super::columns::{Place, Projection, held};
use super::gather::{Positions, Values};
use super::scan::{Position, Scan};
use crate::error::Result;

impl Scan {
    /// Whether its tuples lie one behind the other in chunks of columns.
    pub fn is_by_columns(&self) -> bool {
        matches!(self.position, Position::Chunk(_))
    }

    /// The columns that hold these bytes of the whole tuple, to read them first with
    /// [`Scan::next_narrow`].
    pub fn projection(&self, offsets: &[usize]) -> Option<Projection> {
        let columns = self.columns.as_ref()?;
        Some(Projection::narrow(columns.columns.shape(), offsets))
    }

    /// Fill a batch with the next tuples of a scan by columns, of which there is nothing but a
    /// projection; whether there were any. All of them are of one chunk.
    pub fn next_narrow(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        projection: &Projection,
        tuples_max: usize,
    ) -> Result<bool> {
        batch.clear();
        while self.goes_on(pages, batch, tuples_max)? {
            let Position::Chunk(place) = self.position else { break };
            self.position = self.walk_chunk(pages, batch, place, Some(projection), tuples_max)?;
            if !batch.is_empty() {
                self.reads.tuples += batch.len() as u64;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fill a batch with what the scan is to give of tuples that [`Scan::next_narrow`] gave: what
    /// these have is not read again.
    pub fn complete(
        &mut self,
        pages: &impl PageRead,
        narrow: (&TupleBatch, &Projection),
        batch: &mut TupleBatch,
    ) -> Result<()> {
        let (Some(columns), reads) = (&self.columns, &mut self.reads) else { return Ok(()) };
        let (given, projection) = narrow;
        let ids = || given.record_ids().iter().copied();
        let Some(chunk) = ids().next().and_then(RecordId::of).map(|id| id.page) else {
            batch.clear();
            return Ok(());
        };
        let positions: Vec<u16> = ids().map(|id| id as u16).collect();
        let wanted = &columns.wanted;
        batch.put_together((wanted.bytes, wanted.stride), ids(), |room| {
            let before = reads.pages;
            let is_given = |column: &Column| projection.place_of(column.offset);
            let missing = wanted.parts.iter().filter(|(column, _)| is_given(column).is_none());
            let parts = missing.copied().collect();
            let missing = Projection { parts, bytes: wanted.bytes, stride: wanted.stride };
            if !missing.parts.is_empty() {
                columns.put(pages, (chunk, Positions::of(&positions)), &missing, room, reads)?;
                // The header had been read before.
                reads.pages -= 1;
            }
            for (column, to) in &wanted.parts {
                let Some(from) = is_given(column) else { continue };
                let tuples = room[*to..].chunks_exact_mut(wanted.stride).take(given.len());
                for (at, tuple) in tuples.enumerate() {
                    let value = &given.tuple(at)[from..from + column.width];
                    tuple[..column.width].copy_from_slice(value);
                }
            }
            Ok((reads.pages - before) as usize)
        })
    }

    /// Take tuples of a chunk.
    pub(super) fn chunk(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        place: Place,
        tuples_max: usize,
    ) -> Result<()> {
        self.position = self.walk_chunk(pages, batch, place, None, tuples_max)?;
        Ok(())
    }

    /// Take tuples of a chunk, of a projection or as the scan gives them; where it goes on.
    fn walk_chunk(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        Place { chunk, at, left, last }: Place,
        projection: Option<&Projection>,
        tuples_max: usize,
    ) -> Result<Position> {
        let Some(columns) = &self.columns else { return Ok(Position::End) };
        // The count ends a chain that bites its own tail.
        let Some(left) = left.checked_sub(1) else {
            let how = "the chain of its relation's chunks leads astray";
            return Err(LodeError::corrupt_page(chunk, how).into());
        };
        let held = held(pages, chunk, &mut self.reads)?;
        let header = columns.header(&held)?;
        let is_last = last.is_some_and(|last| last.page == chunk);
        let end = last.filter(|_| is_last).map_or(usize::MAX, |last| usize::from(last.slot) + 1);
        let end = end.min(header.positions());
        let mut positions: Vec<u16> = Vec::with_capacity(header.live());
        let mut next = at;
        if header.live() == header.positions() {
            next = end.min(at.saturating_add(tuples_max)).max(at);
            positions.extend(at as u16..next as u16);
        }
        while next < end && positions.len() < tuples_max {
            if header.is_live(next) {
                positions.push(next as u16);
            }
            next += 1;
        }
        let positions = Positions::of(&positions);
        let following = header.next();
        let projection = projection.unwrap_or(&columns.wanted);
        let first = RecordId { page: chunk, slot: 0 }.to_u64();
        let ids = positions.each.iter().map(|&at| first | u64::from(at));
        let reads = &mut self.reads;
        batch.put_together((projection.bytes, projection.stride), ids, |room| {
            let before = reads.pages;
            for &(column, at) in &projection.parts {
                let file = columns.columns.file();
                let mut values = Values::new(pages, file, (chunk, header), column, reads);
                values.gather(positions, room, (projection.stride, at))?;
            }
            Ok((reads.pages - before) as usize + 1)
        })?;
        Ok(if next < end {
            Position::Chunk(Place { chunk, at: next, left: left + 1, last })
        } else if is_last || following == NO_PAGE {
            Position::End
        } else {
            Position::Chunk(Place { chunk: following, at: 0, left, last })
        })
    }
}
