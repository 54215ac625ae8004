//! The values in a chunk, read for one row or as whole columns.

use super::{
    Columns, PAGES_MAX, ROWS_MAX, VALUE_BYTES, VALUES_AT, header_offset, level, missing,
    values_offset,
};
use crate::emptied;
use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, NO_PAGE, PageBytes, PageKind, PageNumber};
use crate::pages::PageRead;
use crate::slotted::{Corruption, RecordId};
use crate::view::View;

/// The header of a chunk, in a page that somebody holds.
#[derive(Debug, Clone, Copy)]
pub struct Header<'p> {
    page: PageNumber,
    bytes: &'p PageBytes,
}

/// A page of that file as the header of a chunk with room for so many rows.
///
/// # Errors
///
/// [`LodeError::Corrupt`] if it is none.
pub fn header_in(
    bytes: &PageBytes,
    page: PageNumber,
    file: FileNumber,
    rows_max: usize,
) -> Result<Header<'_>> {
    if !is_page(bytes, file, level::CHUNK) {
        return Err(LodeError::corrupt_page(page, "it is no chunk of the file that leads to it"));
    }
    let header = Header { page, bytes };
    if header.positions() > rows_max.min(ROWS_MAX) {
        return Err(LodeError::corrupt_page(page, "it has more rows than a chunk has room for"));
    }
    Ok(header)
}

/// The values in a page of that file, at that place of a chunk's list.
///
/// # Errors
///
/// [`LodeError::Corrupt`] if they are another's.
pub fn values_in(
    bytes: &PageBytes,
    page: PageNumber,
    file: FileNumber,
    (chunk, place): (PageNumber, usize),
) -> Result<&[u8; VALUE_BYTES]> {
    let is_own = is_page(bytes, file, level::VALUES)
        && page::u32_at(bytes, values_offset::CHUNK) == chunk
        && usize::from(page::u16_at(bytes, values_offset::PLACE)) == place;
    if !is_own {
        return Err(ASTRAY.on(page));
    }
    Ok(bytes[VALUES_AT..].try_into().expect("what is behind the fields is that long"))
}

fn is_page(bytes: &PageBytes, file: FileNumber, level: u8) -> bool {
    bytes[page::offset::KIND] == PageKind::Columns as u8
        && page::u32_at(bytes, page::offset::FILE) == file
        && bytes[page::offset::LEVEL] == level
}

const ASTRAY: Corruption = Corruption("it does not hold the values that its chunk lists");

impl Header<'_> {
    /// The next chunk's header page, 0 for none.
    pub fn next(&self) -> PageNumber {
        page::u32_at(self.bytes, page::offset::NEXT)
    }

    /// Positions that are or were in use.
    pub fn positions(&self) -> usize {
        page::u16_at(self.bytes, page::offset::COUNT).into()
    }

    /// Rows that are there.
    pub fn live(&self) -> usize {
        page::u16_at(self.bytes, header_offset::LIVE).into()
    }

    /// Whether there is a row at a position.
    #[inline]
    pub fn is_live(&self, position: usize) -> bool {
        let byte = self.bytes[header_offset::BITS + position / 8];
        position < ROWS_MAX && byte >> (position % 8) & 1 == 1
    }

    /// The page at a place of the list.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] where it has none.
    pub fn page(&self, place: usize) -> Result<PageNumber> {
        match self.listed(place) {
            NO_PAGE => Err(LodeError::corrupt_page(self.page, "values of its rows have no page")),
            page => Ok(page),
        }
    }

    /// The page at a place of the list, 0 for none.
    pub(super) fn listed(&self, place: usize) -> PageNumber {
        debug_assert!(place < PAGES_MAX);
        page::u32_at(self.bytes, header_offset::PAGES + place * size_of::<PageNumber>())
    }

    pub(super) fn is_listed(&self) -> bool {
        page::u16_at(self.bytes, header_offset::LISTED) != 0
    }

    pub(super) fn next_with_space(&self) -> PageNumber {
        page::u32_at(self.bytes, page::offset::PREVIOUS)
    }
}

impl Columns {
    /// A copy of a row.
    ///
    /// # Errors
    ///
    /// [`LodeError::Missing`] where there is none of that id.
    pub fn get(&self, pages: &impl PageRead, id: RecordId) -> Result<Vec<u8>> {
        let position = usize::from(id.slot);
        let found = self.pages_of(pages, id)?;
        let mut row = vec![0; self.shape.row_bytes()];
        for (piece, page) in self.shape.pieces(position).zip(found) {
            self.read_values(pages, page, (id.page, piece.place), |view| {
                let into = &mut row[piece.from..piece.from + piece.bytes];
                for (byte, at) in into.iter_mut().zip(VALUES_AT + piece.at..) {
                    *byte = view.u8(at);
                }
            })?;
        }
        Ok(row)
    }

    /// The page of each piece of a row that is there.
    pub(super) fn pages_of(&self, pages: &impl PageRead, id: RecordId) -> Result<Vec<PageNumber>> {
        let position = usize::from(id.slot);
        if position >= self.shape.rows() {
            return Err(missing(id));
        }
        let seen = pages.read(id.page, |view| {
            let is_there = self.owns(view, level::CHUNK) && is_live(view, position);
            is_there.then(|| {
                let place = |place: usize| view.u32(header_offset::PAGES + place * 4);
                self.shape.pieces(position).map(|piece| place(piece.place)).collect()
            })
        });
        // An id may be anybody's number: that the volume does not reach so far is no damage to it.
        let seen: Option<Vec<_>> = match seen {
            Err(error) if error.is_beyond(id.page) => None,
            other => other?,
        };
        let found = seen.ok_or_else(|| emptied::or(pages, id.page, missing(id)))?;
        if found.contains(&NO_PAGE) {
            return Err(LodeError::corrupt_page(id.page, "values of its rows have no page"));
        }
        Ok(found)
    }

    /// Look at a page of values that a chunk has at that place.
    fn read_values(
        &self,
        pages: &impl PageRead,
        page: PageNumber,
        (chunk, place): (PageNumber, usize),
        mut inspect: impl FnMut(View<'_>),
    ) -> Result<()> {
        let is_own = pages.read(page, |view| {
            let is_own = self.owns(view, level::VALUES)
                && view.u32(values_offset::CHUNK) == chunk
                && usize::from(view.u16(values_offset::PLACE)) == place;
            if is_own {
                inspect(view);
            }
            is_own
        })?;
        if is_own { Ok(()) } else { Err(emptied::or(pages, page, ASTRAY.on(page))) }
    }
}

fn is_live(view: View<'_>, position: usize) -> bool {
    view.u8(header_offset::BITS + position / 8) >> (position % 8) & 1 == 1
}
