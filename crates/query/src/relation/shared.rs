//! A walk over tuples that several threads share: each takes the next part of it when it has done
//! with one (morsels: Leis, Boncz, Kemper and Neumann, SIGMOD 2014).
//!
//! The place of a part is found under a mutex: of a heap, following the chain of its pages by their
//! headers; of a relation by columns, one chunk after another; of an index, the record ids of some
//! entries. The tuples are read outside it.

use std::mem;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use lode::internals::page::{self, NO_PAGE, PageNumber};
use lode::{PageRead, RecordId};

use super::columns::{ColumnScan, Place};
use super::key;
use super::reads::Reads;
use super::scan::{FOLLOWING_AT, Position, Recheck, Scan, astray, no_id};
use crate::catalog::RelationInfo;
use crate::error::Result;

/// Pages of a part at most: so many that the mutex is taken seldom, so few that threads end at
/// about the same time.
const PART_PAGES_MAX: u64 = 32;

/// Parts for each thread at least, of a relation that has as many pages.
const PARTS_OF_THREAD: u64 = 8;

/// Record ids of the first part; each next one has twice as many, up to a batch of tuples.
const PART_IDS_MIN: usize = 64;
const PART_IDS_MAX: usize = 1024;

/// The number of pages ahead at which a header is requested: pages of a heap lie beside each other
/// mostly.
const AHEAD: PageNumber = 8;

/// A scan of which threads take parts.
#[derive(Debug)]
pub struct SharedScan {
    info: Arc<RelationInfo>,
    columns: Option<ColumnScan>,
    recheck: Option<Recheck>,
    /// Whether parts are pages of the heap, and not record ids.
    is_of_pages: bool,
    part_pages: u32,
    rest: Mutex<Rest>,
}

/// The part that nobody has taken yet.
#[derive(Debug)]
struct Rest {
    position: Position,
    part_ids: usize,
    /// The counts of finding the beginning; they count for the thread that takes the first part.
    reads: Reads,
}

impl SharedScan {
    /// A walk that has just begun, for so many threads.
    pub(super) fn of(scan: Scan, threads: usize) -> Arc<Self> {
        let Scan { info, position, columns, recheck, reads, .. } = scan;
        let parts = threads as u64 * PARTS_OF_THREAD;
        let part_pages = (info.pages / parts.max(1)).clamp(1, PART_PAGES_MAX) as u32;
        let is_of_pages = matches!(position, Position::Heap { .. });
        let rest = Mutex::new(Rest { position, part_ids: PART_IDS_MIN, reads });
        Arc::new(Self { info, columns, recheck, is_of_pages, part_pages, rest })
    }

    /// A walk over a part, and over others for as long as there are any; None if there is none.
    ///
    /// # Errors
    ///
    /// The error of reading.
    pub fn scan(self: &Arc<Self>, pages: &impl PageRead) -> Result<Option<Scan>> {
        let mut reads = Reads::default();
        let position = self.take(pages, &mut reads)?;
        Ok(position.map(|position| Scan {
            info: Arc::clone(&self.info),
            position,
            columns: self.columns.clone(),
            recheck: self.recheck.clone(),
            reads,
            shared: Some(Arc::clone(self)),
        }))
    }

    /// Whether its parts are pages, so that one part's tuples can lie in a batch with another's.
    pub(super) const fn is_of_pages(&self) -> bool {
        self.is_of_pages
    }

    /// The next part; None if there is none.
    pub(super) fn take(
        &self,
        pages: &impl PageRead,
        reads: &mut Reads,
    ) -> Result<Option<Position>> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        reads.pages += mem::take(&mut rest.reads).pages;
        match mem::replace(&mut rest.position, Position::End) {
            Position::End => Ok(None),
            Position::Heap { page, slot, left, last } => {
                let taken = (page, slot, left, last);
                self.take_pages(pages, taken, &mut rest.position).map(Some)
            }
            Position::Chunk(place) => Self::take_chunk(pages, place, &mut rest.position).map(Some),
            Position::Index { tree, from, to } => {
                let upper = to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                let mut cursor = tree.forwards(pages, (Bound::Included(from.as_slice()), upper))?;
                let (mut ids, mut next) = (Vec::with_capacity(rest.part_ids), None);
                while let Some((entry, _)) = cursor.entry()? {
                    if ids.len() == rest.part_ids {
                        next = Some(entry.to_vec());
                        break;
                    }
                    ids.push(key::id_of(entry).ok_or_else(no_id)?);
                }
                reads.pages += 1;
                rest.part_ids = (2 * rest.part_ids).min(PART_IDS_MAX);
                if let Some(from) = next {
                    rest.position = Position::Index { tree, from, to };
                }
                Ok((!ids.is_empty()).then_some(Position::Listed { ids, next: 0 }))
            }
            Position::Listed { mut ids, next } => {
                let end = ids.len().min(next + rest.part_ids);
                rest.part_ids = (2 * rest.part_ids).min(PART_IDS_MAX);
                if end < ids.len() {
                    rest.position = Position::Listed { ids: ids.split_off(end), next: 0 };
                }
                Ok((next < ids.len()).then_some(Position::Listed { ids, next }))
            }
        }
    }

    /// The next chunk of columns; what follows it is left in `rest`.
    fn take_chunk(pages: &impl PageRead, place: Place, rest: &mut Position) -> Result<Position> {
        let chunk = place.chunk;
        let next = pages.read(chunk, |view| view.u32(page::offset::NEXT))?;
        if next == NO_PAGE || place.last.is_some_and(|last| last.page == chunk) {
            return Ok(Position::Chunk(place));
        }
        // The count ends a chain that bites its own tail.
        let left = place.left.checked_sub(1).ok_or_else(|| astray(chunk))?;
        *rest = Position::Chunk(Place { chunk: next, at: 0, left, last: place.last });
        // Every position of the chunk: none has a higher number.
        let last = Some(RecordId { page: chunk, slot: u16::MAX - 1 });
        Ok(Position::Chunk(Place { last, ..place }))
    }

    /// The next pages of a heap; what follows them is left in `rest`.
    fn take_pages(
        &self,
        pages: &impl PageRead,
        (first, slot, left, last): (PageNumber, u16, u32, Option<RecordId>),
        rest: &mut Position,
    ) -> Result<Position> {
        let (mut end, mut next, mut left_behind) = (first, first, left);
        for _ in 0..self.part_pages {
            end = next;
            if last.is_some_and(|last| last.page == end) {
                next = NO_PAGE;
                break;
            }
            pages.prefetch(end.wrapping_add(AHEAD), FOLLOWING_AT);
            next = pages.read(end, |view| view.u32(FOLLOWING_AT))?;
            if next == NO_PAGE {
                break;
            }
            // The count ends a chain that bites its own tail.
            left_behind = left_behind.checked_sub(1).ok_or_else(|| astray(end))?;
        }
        if next == NO_PAGE {
            return Ok(Position::Heap { page: first, slot, left, last });
        }
        *rest = Position::Heap { page: next, slot: 0, left: left_behind, last };
        // Every slot of the part's last page: none has a higher number.
        let last = Some(RecordId { page: end, slot: u16::MAX - 1 });
        Ok(Position::Heap { page: first, slot, left, last })
    }
}
