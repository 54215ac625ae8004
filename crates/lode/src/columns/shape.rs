//! Which column of a row lies where in a chunk.

use super::{PAGES_MAX, ROWS_MAX, VALUE_BYTES};
use crate::error::{LodeError, Result};

/// The columns of a file, and where the pages of each stand in a chunk's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    columns: Vec<Column>,
    rows: usize,
    row_bytes: usize,
}

/// One column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Bytes of a value.
    pub width: usize,
    /// The place where its value begins in a row.
    pub offset: usize,
    /// The place of its first page in the list of its chunk's pages.
    pub place: usize,
}

/// A piece of a row that lies in one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The page's place in the list of the chunk's pages.
    pub place: usize,
    /// The place where the piece begins in the page.
    pub at: usize,
    /// The place where it begins in the row.
    pub from: usize,
    /// Its length.
    pub bytes: usize,
}

impl Column {
    /// The number of pages that its values at the first so many positions take.
    pub fn pages(self, rows: usize) -> usize {
        (rows * self.width).div_ceil(VALUE_BYTES)
    }

    /// The page of the column, from 0, in which the value at a position begins, and the offset
    /// among that page's values.
    #[inline]
    pub fn start(self, position: usize) -> (usize, usize) {
        let byte = position * self.width;
        (byte / VALUE_BYTES, byte % VALUE_BYTES)
    }
}

impl Shape {
    /// Columns of these widths, in this order.
    ///
    /// # Errors
    ///
    /// [`LodeError::Limit`] for none, for more than a chunk's list has room for, and for a width
    /// that is 0 or beyond a page.
    pub fn of(widths: impl IntoIterator<Item = usize>) -> Result<Self> {
        let widths: Vec<usize> = widths.into_iter().collect();
        let is_known = widths.iter().all(|width| (1..=VALUE_BYTES).contains(width));
        if widths.is_empty() || widths.len() > PAGES_MAX || !is_known {
            let what = format!(
                "a file of columns has 1 to {PAGES_MAX} columns of 1 to {VALUE_BYTES} bytes, and \
                 each attribute that may be null takes two: store the relation with layout=rows"
            );
            return Err(LodeError::Limit { what });
        }
        // Ends at the latest when all rows of a column lie in one page.
        let mut rows = ROWS_MAX;
        let pages = |rows: usize| {
            let of_width = |width: &usize| (rows * width).div_ceil(VALUE_BYTES);
            widths.iter().map(of_width).sum::<usize>()
        };
        while pages(rows) > PAGES_MAX && rows > 1 {
            rows /= 2;
        }
        let (mut offset, mut place) = (0, 0);
        let mut columns = Vec::with_capacity(widths.len());
        for &width in &widths {
            let column = Column { width, offset, place };
            columns.push(column);
            offset += width;
            place += column.pages(rows);
        }
        Ok(Self { columns, rows, row_bytes: offset })
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of rows that a chunk has room for.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The length of a row.
    pub const fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Every piece of the row at a position, in the order of the row.
    pub(super) fn pieces(&self, position: usize) -> impl Iterator<Item = Piece> + '_ {
        self.columns.iter().flat_map(move |column| {
            let (page, at) = column.start(position);
            let bytes = column.width.min(VALUE_BYTES - at);
            let place = column.place + page;
            let head = Piece { place, at, from: column.offset, bytes };
            let rest = column.width - bytes;
            let tail = Piece { place: place + 1, at: 0, from: column.offset + bytes, bytes: rest };
            std::iter::once(head).chain((rest > 0).then_some(tail))
        })
    }
}
