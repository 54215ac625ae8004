//! Many rows at a file's end: whole chunks, each page written once.

use super::change::{add, format_values};
use super::{Columns, VALUE_BYTES, VALUES_AT, header_offset, level, root_offset};
use crate::error::Result;
use crate::page::{self, NO_PAGE, PAGE_BYTES, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::PageWrite;

/// Appends rows to a file of columns; [`Appender::finish`] makes them part of it.
///
/// Dropped without that, they are lost, and the pages that they took stay taken unless the
/// transaction is rolled back.
#[must_use = "what is appended becomes part of the file at `finish`"]
pub struct Appender {
    columns: Columns,
    /// Rows of the chunk to come.
    rows: Vec<u8>,
    first: PageNumber,
    last: PageNumber,
    chunks: u32,
    pages: u32,
    /// Whether the last chunk has room.
    has_space: bool,
}

impl Columns {
    /// Append many rows with little work for each. Until it is finished, the file is not to be
    /// changed otherwise.
    pub fn appender(&self) -> Appender {
        Appender {
            columns: self.clone(),
            rows: Vec::new(),
            first: NO_PAGE,
            last: NO_PAGE,
            chunks: 0,
            pages: 0,
            has_space: false,
        }
    }
}

impl Appender {
    /// Append a row. Where the chunk before it could not be written, that is tried again first:
    /// of several threads that fill one file, one may have been cancelled there.
    ///
    /// # Errors
    ///
    /// [`crate::LodeError::TooLong`] for one of another length; what `pages` says.
    pub fn append(&mut self, pages: &mut impl PageWrite, row: &[u8]) -> Result<()> {
        self.columns.check_length(row)?;
        let shape = self.columns.shape();
        let full_bytes = shape.rows() * shape.row_bytes();
        if self.rows.len() == full_bytes {
            self.put_chunk(pages)?;
        }
        self.rows.reserve_exact(full_bytes - self.rows.len());
        self.rows.extend_from_slice(row);
        if self.rows.len() == full_bytes { self.put_chunk(pages) } else { Ok(()) }
    }

    /// Make what was appended part of the file.
    ///
    /// # Errors
    ///
    /// The error of `pages`.
    pub fn finish(mut self, pages: &mut impl PageWrite) -> Result<()> {
        if !self.rows.is_empty() {
            self.put_chunk(pages)?;
        }
        if self.first == NO_PAGE {
            return Ok(());
        }
        let root = self.columns.root;
        let (before, with_space) = self.columns.read_root(pages, |view| {
            (view.u32(root_offset::LAST), view.u32(root_offset::WITH_SPACE))
        })?;
        if before != NO_PAGE {
            let first = self.first;
            pages.write(before, |bytes| bytes.put_u32(page::offset::NEXT, first))?;
        }
        if self.has_space {
            pages.write(self.last, |bytes| {
                bytes.put_u16(header_offset::LISTED, 1);
                bytes.put_u32(page::offset::PREVIOUS, with_space);
            })?;
        }
        pages.write(root, |bytes| {
            if before == NO_PAGE {
                bytes.put_u32(root_offset::FIRST, self.first);
            }
            bytes.put_u32(root_offset::LAST, self.last);
            if self.has_space {
                bytes.put_u32(root_offset::WITH_SPACE, self.last);
            }
            add(bytes, root_offset::PAGES, self.pages);
            add(bytes, root_offset::CHUNKS, self.chunks);
        })
    }

    /// Write the rows that have come as a chunk.
    fn put_chunk(&mut self, pages: &mut impl PageWrite) -> Result<()> {
        let columns = self.columns.clone();
        let shape = columns.shape();
        let count = self.rows.len() / shape.row_bytes();
        let chunk = pages.allocate(columns.file, PageKind::Columns)?;
        let mut listed = Vec::new();
        let mut values = Vec::new();
        for column in shape.columns() {
            values.clear();
            for row in self.rows.chunks_exact(shape.row_bytes()) {
                values.extend_from_slice(&row[column.offset..column.offset + column.width]);
            }
            for (piece, place) in values.chunks(VALUE_BYTES).zip(column.place..) {
                let page = pages.allocate(columns.file, PageKind::Columns)?;
                pages.write(page, |bytes| {
                    format_values(bytes, chunk, place);
                    bytes.put(VALUES_AT, piece);
                })?;
                listed.push((place, page));
            }
        }
        pages.write(chunk, |bytes| format_full(bytes, count, &listed))?;
        if self.last == NO_PAGE {
            self.first = chunk;
        } else {
            pages.write(self.last, |bytes| bytes.put_u32(page::offset::NEXT, chunk))?;
        }
        self.last = chunk;
        self.chunks += 1;
        self.pages += 1 + listed.len() as u32;
        self.has_space = count < shape.rows();
        self.rows.clear();
        Ok(())
    }
}

/// The header of a chunk of so many rows, whose values lie in these pages.
fn format_full(bytes: &mut PageMut<'_>, count: usize, listed: &[(usize, PageNumber)]) {
    bytes.put_u8(page::offset::LEVEL, level::CHUNK);
    bytes.put_u16(page::offset::COUNT, count as u16);
    bytes.put_u16(header_offset::LIVE, count as u16);
    for byte in 0..count.div_ceil(8) {
        let rows = (count - byte * 8).min(8);
        bytes.put_u8(header_offset::BITS + byte, u8::MAX >> (8 - rows));
    }
    for &(place, page) in listed {
        let at = header_offset::PAGES + place * size_of::<PageNumber>();
        debug_assert!(at < PAGE_BYTES);
        bytes.put_u32(at, page);
    }
}
