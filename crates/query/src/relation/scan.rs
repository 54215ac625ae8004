//! The tuples of a relation one batch after another: all of them, those of a range, those of a key.

use std::ops::Bound;
use std::sync::Arc;

use lode::internals::btree::Cursor;
use lode::internals::page::{self, NO_PAGE, PAGE_BYTES, PageKind, PageNumber};
use lode::internals::slotted::{self, ALIGNMENT_BYTES, RECORDS_AT, SLOT_BYTES};
use lode::{Btree, LodeError, PageRead, RecordId};

use super::batch::{HeldPage, TAG_BYTES, TupleBatch};
use super::columns::{ColumnScan, Place};
use super::reads::Reads;
use super::{Relation, SharedScan, key, range};
use crate::catalog::{Constant, RelationInfo, Structure, Tuples};
use crate::error::{QueryError, Result};
use crate::plan::Access;
use crate::tuple::{self, Field, Value};

/// The offset, on a page of records, of the number of the page that follows, as
/// `docs/reference/lode-format.md` draws it.
pub(super) const FOLLOWING_AT: usize = slotted::offset::OWN;

/// The number of tuples ahead that are prefetched of those that an index has found.
const AHEAD: usize = 8;

/// The bytes that a processor fetches at once.
const LINE_BYTES: usize = 64;

/// A walk over tuples that can be resumed.
#[derive(Debug)]
pub struct Scan {
    pub(super) info: Arc<RelationInfo>,
    pub(super) position: Position,
    /// The way in which tuples are put together, where they are stored by columns.
    pub(super) columns: Option<ColumnScan>,
    /// The condition that every tuple is held against, where an index says more than it knows.
    pub(super) recheck: Option<Recheck>,
    pub(super) reads: Reads,
    /// The place where the next part comes from, of a walk that several threads share.
    pub(super) shared: Option<Arc<SharedScan>>,
}

/// The place where a walk goes on.
#[derive(Debug)]
pub(super) enum Position {
    /// At a slot of a page of the heap; `left` pages follow it at most, and `last` is the last
    /// tuple where it does not go to the end.
    Heap { page: PageNumber, slot: u16, left: u32, last: Option<RecordId> },
    /// At a position of a chunk of columns.
    Chunk(Place),
    /// At the keys of a B-tree from one on, up to another.
    Index { tree: Btree, from: Vec<u8>, to: Option<Vec<u8>> },
    /// At a place in a list.
    Listed { ids: Vec<RecordId>, next: usize },
    /// At the end.
    End,
}

/// A range of an attribute.
#[derive(Debug, Clone)]
pub(super) struct Recheck {
    field: Field,
    low: Bound<Constant>,
    high: Bound<Constant>,
}

impl Recheck {
    fn new(field: &Field, low: Bound<Value<'_>>, high: Bound<Value<'_>>) -> Self {
        // A range with a null is empty, and is never looked at.
        let owned = |value: Value<'_>| Constant::of(value).unwrap_or(Constant::Integer(0));
        Self { field: field.clone(), low: low.map(owned), high: high.map(owned) }
    }

    fn holds(&self, bytes: &[u8]) -> bool {
        let value = tuple::read(bytes, &self.field);
        let low = self.low.as_ref().map(Constant::value);
        range::holds(value, low, self.high.as_ref().map(Constant::value))
    }
}

impl Relation {
    /// All tuples, page after page.
    pub fn scan(&self, pages: &impl PageRead) -> Result<Scan> {
        let position = match &self.info.tuples {
            Tuples::Rows(heap) => match heap.first_and_count(pages)? {
                (NO_PAGE, _) => Position::End,
                (page, left) => Position::Heap { page, slot: 0, left, last: None },
            },
            Tuples::Columns(columns) => match columns.chunks(pages)? {
                (NO_PAGE, _) => Position::End,
                (chunk, left) => Position::Chunk(Place { chunk, at: 0, left, last: None }),
            },
        };
        Ok(self.at(position))
    }

    /// The tuples whose attribute lies between two bounds, in its order. None lies beyond a null.
    ///
    /// # Errors
    ///
    /// [`QueryError::Access`] if the relation cannot be reached so.
    pub fn range(
        &self,
        pages: &impl PageRead,
        access: &Access,
        low: Bound<Value<'_>>,
        high: Bound<Value<'_>>,
    ) -> Result<Scan> {
        let (index, attribute) = self.index(access)?;
        let Structure::Btree(tree) = index.structure else { return Err(self.refusal(access)) };
        let field = &self.info.layout.fields[attribute];
        let Some((from, to)) = range::keys(field, low, high) else {
            return Ok(self.at(Position::End));
        };
        if index.is_primary && self.info.is_ordered {
            return self.pages_between(pages, tree, &from, to.as_deref());
        }
        let mut scan = self.at(Position::Index { tree, from, to });
        if key::may_be_cut(&self.info.layout, &index.attributes[..1]) {
            scan.recheck(field, low, high);
        }
        Ok(scan)
    }

    /// The tuples whose attribute has that value; none for a null.
    ///
    /// # Errors
    ///
    /// [`QueryError::Access`] if the relation cannot be reached so.
    pub fn lookup(&self, pages: &impl PageRead, access: &Access, value: Value<'_>) -> Result<Scan> {
        let (index, attribute) = self.index(access)?;
        let Structure::Hash(hash) = index.structure else {
            return self.range(pages, access, Bound::Included(value), Bound::Included(value));
        };
        let field = &self.info.layout.fields[attribute];
        let mut ids = Vec::new();
        if let Some(key) = key::hash(field, value) {
            hash.get(pages, key, |id| ids.extend(RecordId::of(id)))?;
        }
        // Tuples of one page one after another, so that it is read once.
        ids.sort_unstable();
        let mut scan = self.at(Position::Listed { ids, next: 0 });
        if matches!(value, Value::Text(_)) {
            let bound = Bound::Included(value);
            scan.recheck(field, bound, bound);
        }
        Ok(scan)
    }

    /// The tuples with these record ids, in that order.
    pub fn records(&self, ids: Vec<RecordId>) -> Scan {
        self.at(Position::Listed { ids, next: 0 })
    }

    pub(super) fn at(&self, position: Position) -> Scan {
        let (info, reads) = (Arc::clone(&self.info), Reads::default());
        let columns = ColumnScan::of(&self.info.tuples, self.wanted.as_ref());
        Scan { info, position, columns, recheck: None, reads, shared: None }
    }

    /// Of a clustered relation whose tuples lie in order, the pages between the first tuple of a
    /// range and the last: beside them only the two ways down the tree are read.
    fn pages_between(
        &self,
        pages: &impl PageRead,
        tree: Btree,
        from: &[u8],
        to: Option<&[u8]>,
    ) -> Result<Scan> {
        let bounds = (Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        let first = id_at(&mut tree.forwards(pages, bounds)?)?;
        let last = id_at(&mut tree.backwards(pages, bounds)?)?;
        let (Some(first), Some(last)) = (first, last) else { return Ok(self.at(Position::End)) };
        // A cut key's range may hold more than was requested.
        let (page, slot, last) = (first.page, first.slot, Some(last));
        let mut scan = self.at(match &self.info.tuples {
            Tuples::Rows(heap) => {
                let (_, left) = heap.first_and_count(pages)?;
                Position::Heap { page, slot, left, last }
            }
            Tuples::Columns(columns) => {
                let (_, left) = columns.chunks(pages)?;
                Position::Chunk(Place { chunk: page, at: slot.into(), left, last })
            }
        });
        scan.reads.pages = 2;
        Ok(scan)
    }
}

/// The record id of a cursor's entry, if there is one.
fn id_at(cursor: &mut Cursor<'_, impl PageRead>) -> Result<Option<RecordId>> {
    match cursor.entry()? {
        None => Ok(None),
        Some((entry, _)) => key::id_of(entry).map(Some).ok_or_else(no_id),
    }
}

/// A key of an index without a record id.
pub(super) fn no_id() -> QueryError {
    let how = "a key has no record id at its end".to_owned();
    LodeError::Corrupt { what: "an index".to_owned(), how }.into()
}

impl Scan {
    /// Let only tuples out whose attribute lies in that range: it is read for that, too.
    fn recheck(&mut self, field: &Field, low: Bound<Value<'_>>, high: Bound<Value<'_>>) {
        self.recheck = Some(Recheck::new(field, low, high));
        if let Some(columns) = &mut self.columns {
            columns.want(field.offset);
        }
    }

    /// Fill a batch with up to so many of the tuples that come next, which is one at least unless
    /// there are none left; whether there were any.
    pub fn next_batch(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        tuples_max: usize,
    ) -> Result<bool> {
        batch.begin(self.info.layout.bytes);
        while self.goes_on(pages, batch, tuples_max)? {
            self.fill(pages, batch, tuples_max.max(1))?;
            if let Some(recheck) = &self.recheck {
                batch.retain(0, |bytes| recheck.holds(bytes));
            }
        }
        if batch.is_empty() {
            // Pages without tuples were kept, too, and what comes now may change them.
            batch.clear();
        }
        self.reads.tuples += batch.len() as u64;
        Ok(!batch.is_empty())
    }

    /// Whether a batch is to be filled further, and there is with what: where threads share the
    /// walk, the rest of a part of a heap is too little for a batch.
    pub(super) fn goes_on(
        &mut self,
        pages: &impl PageRead,
        batch: &TupleBatch,
        tuples_max: usize,
    ) -> Result<bool> {
        if !matches!(self.position, Position::End) {
            return Ok(batch.is_empty());
        }
        let Some(shared) = &self.shared else { return Ok(false) };
        if !batch.is_empty() && (batch.len() >= tuples_max || !shared.is_of_pages()) {
            return Ok(false);
        }
        let Some(position) = shared.take(pages, &mut self.reads)? else { return Ok(false) };
        self.position = position;
        Ok(true)
    }

    /// The same for so many threads, none of which has any of it yet.
    pub fn shared(self, threads: usize) -> Arc<SharedScan> {
        SharedScan::of(self, threads)
    }

    /// The counts so far.
    pub fn reads(&self) -> Reads {
        self.reads
    }

    fn fill(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        tuples_max: usize,
    ) -> Result<()> {
        match std::mem::replace(&mut self.position, Position::End) {
            Position::End => Ok(()),
            Position::Heap { page, slot, left, last } => {
                self.walk(pages, batch, (page, slot, left, last), tuples_max)
            }
            Position::Chunk(place) => self.chunk(pages, batch, place, tuples_max),
            Position::Index { tree, from, to } => {
                let bounds = (
                    Bound::Included(from.as_slice()),
                    to.as_deref().map_or(Bound::Unbounded, Bound::Excluded),
                );
                let mut cursor = tree.forwards(pages, bounds)?;
                let mut ids = Vec::with_capacity(tuples_max.min(64));
                let mut next = None;
                while let Some((entry, _)) = cursor.entry()? {
                    if ids.len() == tuples_max {
                        next = Some(entry.to_vec());
                        break;
                    }
                    ids.push(key::id_of(entry).ok_or_else(no_id)?);
                }
                self.reads.pages += 1;
                if let Some(from) = next {
                    self.position = Position::Index { tree, from, to };
                }
                self.fetch(pages, batch, &ids)
            }
            Position::Listed { ids, next } => {
                let end = ids.len().min(next + tuples_max);
                self.fetch(pages, batch, &ids[next..end])?;
                if end < ids.len() {
                    self.position = Position::Listed { ids, next: end };
                }
                Ok(())
            }
        }
    }

    /// Take tuples as they lie in the heap.
    fn walk(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        (mut page, mut slot, mut left, last): (PageNumber, u16, u32, Option<RecordId>),
        tuples_max: usize,
    ) -> Result<()> {
        while page != NO_PAGE {
            // The count ends a chain that bites its own tail.
            let held = self.held(pages, page)?;
            let count = page::u16_at(held.bytes(), page::offset::COUNT);
            let following = page::u32_at(held.bytes(), FOLLOWING_AT);
            let is_last = last.is_some_and(|last| last.page == page);
            let end = if is_last { last.map_or(0, |last| last.slot + 1).min(count) } else { count };
            if slot == 0 {
                self.reads.pages += 1;
            }
            // The next page's header and slots come while this one's tuples are looked at.
            for at in [0, PAGE_BYTES - 2 * LINE_BYTES, PAGE_BYTES - LINE_BYTES] {
                pages.prefetch(following, at);
            }
            batch.keep(held);
            slot = batch.take(slot, end, tuples_max)?;
            if slot < end {
                self.position = Position::Heap { page, slot, left, last };
                return Ok(());
            }
            left = left.checked_sub(1).ok_or_else(|| astray(page))?;
            (page, slot) = if is_last { (NO_PAGE, 0) } else { (following, 0) };
            if batch.len() >= tuples_max && page != NO_PAGE {
                self.position = Position::Heap { page, slot, left, last };
                return Ok(());
            }
        }
        Ok(())
    }

    /// Take the tuples with these record ids.
    fn fetch(
        &mut self,
        pages: &impl PageRead,
        batch: &mut TupleBatch,
        ids: &[RecordId],
    ) -> Result<()> {
        if let Some(columns) = &self.columns {
            return columns.fetch(pages, batch, ids, &mut self.reads);
        }
        for (at, &RecordId { page, slot }) in ids.iter().enumerate() {
            if let Some(later) = ids.get(at + AHEAD) {
                self.prefetch(pages, *later);
            }
            if batch.last_page().is_none_or(|last| last.page != page) {
                batch.keep(self.held(pages, page)?);
                self.reads.pages += 1;
            }
            let before = batch.len();
            batch.take(slot, slot + 1, usize::MAX)?;
            if batch.len() == before {
                let how = "an index leads to a tuple that is not there";
                return Err(LodeError::corrupt_page(page, how).into());
            }
        }
        Ok(())
    }

    /// Bring near what reading a tuple will need: its page's header, its slot, and where it lies if
    /// its page was filled once and never changed.
    fn prefetch(&self, pages: &impl PageRead, RecordId { page, slot }: RecordId) {
        let slot_at = PAGE_BYTES.saturating_sub((usize::from(slot) + 1) * SLOT_BYTES);
        let bytes = (TAG_BYTES + self.info.layout.bytes).next_multiple_of(ALIGNMENT_BYTES);
        let at = RECORDS_AT + usize::from(slot) * bytes;
        pages.prefetch(page, 0);
        pages.prefetch(page, slot_at);
        for line in (at..(at + bytes).min(PAGE_BYTES)).step_by(LINE_BYTES) {
            pages.prefetch(page, line);
        }
    }

    /// A page of the relation's heap.
    fn held(&self, pages: &impl PageRead, page: PageNumber) -> Result<HeldPage> {
        let held = HeldPage::read(pages, page)?;
        if self.is_own(held.bytes()) { Ok(held) } else { Err(astray(page)) }
    }

    fn is_own(&self, bytes: &page::PageBytes) -> bool {
        let Tuples::Rows(heap) = &self.info.tuples else { return false };
        bytes[page::offset::KIND] == PageKind::Heap as u8
            && page::u32_at(bytes, page::offset::FILE) == heap.file()
    }
}

pub(super) fn astray(page: PageNumber) -> QueryError {
    LodeError::corrupt_page(page, "it is no page of the relation that leads to it").into()
}
