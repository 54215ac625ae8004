//! Files of rows that lie column by column: `layout=columns`.
//!
//! A page of 4 KB has too few rows for columns within it (18 of 208 bytes: a minipage of each
//! attribute would be four cache lines or less, as in PAX: Ailamaki, `DeWitt`, Hill, Skounakis,
//! VLDB 2001). So a *chunk* of about a thousand rows is what is divided by columns: a header page,
//! and pages of values of one column each, which lie one after another as the volume has room. Who
//! wants some columns reads the header and those columns' pages. A row keeps its position in its
//! chunk until it is deleted, and the header's page number and the position are its record id.
//! `docs/reference/lode-format.md` draws the pages.

mod appender;
mod change;
mod check;
mod reading;
mod shape;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, HEADER_BYTES, PAGE_BYTES, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::slotted::{Corruption, RecordId};
use crate::view::View;

pub use appender::Appender;
pub use reading::{Header, header_in, values_in};
pub use shape::{Column, Shape};

/// Rows of a chunk, unless they are too wide: a column of four bytes then fills a page.
pub const ROWS_MAX: usize = VALUE_BYTES / 4;

/// Pages of values that a chunk can have.
pub const PAGES_MAX: usize = (PAGE_BYTES - header_offset::PAGES) / size_of::<PageNumber>();

/// Bytes of values in a page.
pub const VALUE_BYTES: usize = PAGE_BYTES - VALUES_AT;

/// The place where the values of a page begin.
pub const VALUES_AT: usize = 64;

/// The values of the header's `level`.
mod level {
    pub(super) const ROOT: u8 = 255;
    pub(super) const CHUNK: u8 = 1;
    pub(super) const VALUES: u8 = 2;
}

/// Offsets of the root's fields.
mod root_offset {
    pub(super) const FIRST: usize = 32;
    pub(super) const LAST: usize = 36;
    pub(super) const WITH_SPACE: usize = 40;
    /// As in the root of a heap: who counts pages does not ask which of them it is.
    pub(super) const PAGES: usize = 44;
    pub(super) const CHUNKS: usize = 48;
    pub(super) const ROWS: usize = 52;
    pub(super) const WIDTHS: usize = 64;
}

/// Offsets of the fields of a chunk's header.
mod header_offset {
    pub(super) const LIVE: usize = 32;
    pub(super) const LISTED: usize = 34;
    pub(super) const BITS: usize = 64;
    pub(super) const PAGES: usize = 192;
}

/// Offsets of the fields of a page of values.
mod values_offset {
    pub(super) const CHUNK: usize = 32;
    pub(super) const PLACE: usize = 36;
}

const _: () = assert!(ROWS_MAX == 1008 && PAGES_MAX == 976 && VALUE_BYTES == 4032);
const _: () = assert!(root_offset::FIRST == HEADER_BYTES && header_offset::LIVE == HEADER_BYTES);
const _: () = assert!(root_offset::WIDTHS + 2 * PAGES_MAX <= PAGE_BYTES);
const _: () = assert!(header_offset::BITS + ROWS_MAX.div_ceil(8) <= header_offset::PAGES);

/// A file of rows by columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    file: FileNumber,
    root: PageNumber,
    shape: Arc<Shape>,
}

impl Columns {
    /// A new file of such columns, without a row.
    pub fn create(pages: &mut impl PageWrite, file: FileNumber, shape: Shape) -> Result<Self> {
        let root = pages.allocate(file, PageKind::Columns)?;
        pages.write(root, |bytes| {
            bytes.put_u8(page::offset::LEVEL, level::ROOT);
            bytes.put_u16(page::offset::COUNT, shape.columns().len() as u16);
            bytes.put_u16(root_offset::ROWS, shape.rows() as u16);
            for (column, at) in shape.columns().iter().zip((root_offset::WIDTHS..).step_by(2)) {
                bytes.put_u16(at, column.width as u16);
            }
        })?;
        Ok(Self::open(file, root, shape))
    }

    /// The file that was created with that root, and those columns.
    pub fn open(file: FileNumber, root: PageNumber, shape: Shape) -> Self {
        Self { file, root, shape: Arc::new(shape) }
    }

    /// The page to open it by; it never changes.
    pub const fn root(&self) -> PageNumber {
        self.root
    }

    /// The file that its pages belong to.
    pub const fn file(&self) -> FileNumber {
        self.file
    }

    /// Its columns.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The first chunk's header page, 0 for none, and how many chunks there are: as many pages are
    /// chained to it and no more.
    pub fn chunks(&self, pages: &impl PageRead) -> Result<(PageNumber, u32)> {
        self.read_root(pages, |view| (view.u32(root_offset::FIRST), view.u32(root_offset::CHUNKS)))
    }

    fn read_root<R>(
        &self,
        pages: &impl PageRead,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<R> {
        let seen = pages.read(self.root, |view| {
            let is_own = self.owns(view, level::ROOT);
            is_own.then(|| inspect(view)).ok_or(Corruption("it is no root of a file of columns"))
        })?;
        seen.map_err(|corruption| corruption.on(self.root))
    }

    fn owns(&self, view: View<'_>, level: u8) -> bool {
        view.kind() == PageKind::Columns as u8
            && view.u32(page::offset::FILE) == self.file
            && view.level() == level
    }
}

fn missing(id: RecordId) -> LodeError {
    LodeError::Missing { what: id.to_string() }
}
