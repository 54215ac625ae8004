//! Rows put in, changed and taken out one at a time.

use super::{
    Columns, ROWS_MAX, VALUES_AT, header_in, header_offset, level, root_offset, values_offset,
};
use crate::error::{LodeError, Result};
use crate::page::{self, NO_PAGE, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite};
use crate::slotted::{Corruption, RecordId};

impl Columns {
    /// Put a row in, where there is room.
    pub fn insert(&self, pages: &mut impl PageWrite, row: &[u8]) -> Result<RecordId> {
        self.check_length(row)?;
        let chunk = match self.read_root(pages, |view| view.u32(root_offset::WITH_SPACE))? {
            NO_PAGE => self.new_chunk(pages)?,
            chunk => chunk,
        };
        let (position, becomes_full, next_with_space, listed) = {
            let bytes = copy(pages, chunk)?;
            let header = header_in(&bytes, chunk, self.file, self.shape.rows())?;
            let free = (0..self.shape.rows()).find(|&position| !header.is_live(position));
            let position = free.ok_or_else(|| {
                Corruption("it is full and on the list of those with room").on(chunk)
            })?;
            let pieces = self.shape.pieces(position);
            let listed: Vec<_> = pieces.map(|piece| header.listed(piece.place)).collect();
            let becomes_full = header.live() + 1 >= self.shape.rows();
            (position, becomes_full, header.next_with_space(), listed)
        };
        let mut taken = Vec::new();
        for (piece, page) in self.shape.pieces(position).zip(listed) {
            let page = if page == NO_PAGE {
                let page = self.new_values(pages, chunk, piece.place)?;
                taken.push((piece.place, page));
                page
            } else {
                page
            };
            self.put(pages, page, piece.at, &row[piece.from..piece.from + piece.bytes])?;
        }
        pages.write(chunk, |bytes| {
            for &(place, page) in &taken {
                bytes.put_u32(header_offset::PAGES + place * 4, page);
            }
            set_live(bytes, position, true);
            let positions = page::u16_at(bytes, page::offset::COUNT).max(position as u16 + 1);
            bytes.put_u16(page::offset::COUNT, positions);
            if becomes_full {
                bytes.put_u16(header_offset::LISTED, 0);
                bytes.put_u32(page::offset::PREVIOUS, NO_PAGE);
            }
        })?;
        if becomes_full || !taken.is_empty() {
            pages.write(self.root, |bytes| {
                add(bytes, root_offset::PAGES, taken.len() as u32);
                if becomes_full {
                    bytes.put_u32(root_offset::WITH_SPACE, next_with_space);
                }
            })?;
        }
        Ok(RecordId { page: chunk, slot: position as u16 })
    }

    /// Put another row in the place of `old`, which keeps its id: only the values that differ are
    /// written.
    ///
    /// # Errors
    ///
    /// [`LodeError::Missing`] where there is none of that id.
    pub fn replace(
        &self,
        pages: &mut impl PageWrite,
        id: RecordId,
        (old, new): (&[u8], &[u8]),
    ) -> Result<()> {
        self.check_length(old)?;
        self.check_length(new)?;
        let found = self.pages_of(pages, id)?;
        for (piece, page) in self.shape.pieces(id.slot.into()).zip(found) {
            let place = piece.from..piece.from + piece.bytes;
            if old[place.clone()] != new[place.clone()] {
                self.put(pages, page, piece.at, &new[place])?;
            }
        }
        Ok(())
    }

    /// Take a row out. Its id may be another row's next.
    ///
    /// # Errors
    ///
    /// [`LodeError::Missing`] where there is none of that id.
    pub fn delete(&self, pages: &mut impl PageWrite, id: RecordId) -> Result<()> {
        self.pages_of(pages, id)?;
        let is_listed = pages.read(id.page, |view| view.u16(header_offset::LISTED) != 0)?;
        let next = self.read_root(pages, |view| view.u32(root_offset::WITH_SPACE))?;
        pages.write(id.page, |bytes| {
            set_live(bytes, id.slot.into(), false);
            if !is_listed {
                bytes.put_u16(header_offset::LISTED, 1);
                bytes.put_u32(page::offset::PREVIOUS, next);
            }
        })?;
        if !is_listed {
            pages.write(self.root, |bytes| bytes.put_u32(root_offset::WITH_SPACE, id.page))?;
        }
        Ok(())
    }

    /// Give all pages back, the root, too.
    pub fn destroy(&self, pages: &mut impl PageWrite) -> Result<()> {
        let mut all = vec![self.root];
        self.each_chunk(pages, |chunk, header| {
            all.push(chunk);
            let places = self.shape.columns().iter().map(|column| column.pages(self.shape.rows()));
            let places: usize = places.sum();
            all.extend((0..places).map(|place| header.listed(place)).filter(|&page| page != 0));
            Ok(())
        })?;
        all.into_iter().try_for_each(|page| pages.free(page))
    }

    pub(super) fn check_length(&self, row: &[u8]) -> Result<()> {
        if row.len() == self.shape.row_bytes() {
            return Ok(());
        }
        let (bytes, bytes_max) = (row.len(), self.shape.row_bytes());
        Err(LodeError::TooLong { what: "a row of columns", bytes, bytes_max })
    }

    /// A chunk without rows behind the last, at the head of the list of those with room, which is
    /// empty.
    fn new_chunk(&self, pages: &mut impl PageWrite) -> Result<PageNumber> {
        let last = self.read_root(pages, |view| view.u32(root_offset::LAST))?;
        let chunk = pages.allocate(self.file, PageKind::Columns)?;
        pages.write(chunk, |bytes| {
            bytes.put_u8(page::offset::LEVEL, level::CHUNK);
            bytes.put_u16(header_offset::LISTED, 1);
        })?;
        if last != NO_PAGE {
            pages.write(last, |bytes| bytes.put_u32(page::offset::NEXT, chunk))?;
        }
        pages.write(self.root, |bytes| {
            if last == NO_PAGE {
                bytes.put_u32(root_offset::FIRST, chunk);
            }
            bytes.put_u32(root_offset::LAST, chunk);
            bytes.put_u32(root_offset::WITH_SPACE, chunk);
            add(bytes, root_offset::PAGES, 1);
            add(bytes, root_offset::CHUNKS, 1);
        })?;
        Ok(chunk)
    }

    fn new_values(
        &self,
        pages: &mut impl PageWrite,
        chunk: PageNumber,
        place: usize,
    ) -> Result<PageNumber> {
        let page = pages.allocate(self.file, PageKind::Columns)?;
        pages.write(page, |bytes| format_values(bytes, chunk, place))?;
        Ok(page)
    }

    fn put(
        &self,
        pages: &mut impl PageWrite,
        page: PageNumber,
        at: usize,
        values: &[u8],
    ) -> Result<()> {
        let own = self.file;
        pages.write(page, |bytes| {
            // The page that leads here was read; this one was not.
            if page::u32_at(bytes, page::offset::FILE) != own
                || bytes[page::offset::LEVEL] != level::VALUES
            {
                return Err(Corruption("it holds no values of its file").on(page));
            }
            bytes.put(VALUES_AT + at, values);
            Ok(())
        })?
    }
}

/// Make an empty page a page of values.
pub(super) fn format_values(bytes: &mut PageMut<'_>, chunk: PageNumber, place: usize) {
    bytes.put_u8(page::offset::LEVEL, level::VALUES);
    bytes.put_u32(values_offset::CHUNK, chunk);
    bytes.put_u16(values_offset::PLACE, place as u16);
}

/// Note whether there is a row at a position, which was otherwise before.
fn set_live(bytes: &mut PageMut<'_>, position: usize, is_live: bool) {
    debug_assert!(position < ROWS_MAX);
    let at = header_offset::BITS + position / 8;
    bytes.put_u8(at, bytes[at] ^ 1 << (position % 8));
    let live = page::u16_at(bytes, header_offset::LIVE);
    let live = if is_live { live.wrapping_add(1) } else { live.wrapping_sub(1) };
    bytes.put_u16(header_offset::LIVE, live);
}

pub(super) fn add(bytes: &mut PageMut<'_>, at: usize, count: u32) {
    let total = page::u32_at(bytes, at).saturating_add(count);
    bytes.put_u32(at, total);
}

/// All of a page, as it was at one moment.
pub(super) fn copy(pages: &impl PageRead, page: PageNumber) -> Result<Box<PageBytes>> {
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method serves one lifetime of a view, the closure serves every"
    )]
    pages.read(page, |view| view.copy())
}
