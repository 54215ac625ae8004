//! Columns of generated rows: plain vectors, so that they can be moved into Arrow without a copy.

/// Texts of at least so many bytes may be of several lines, as documents are; files quote them.
pub const LINES_WIDTH_MIN: usize = 199;

/// The values of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Two-byte integers.
    Int16(Vec<i16>),
    /// Four-byte integers.
    Int32(Vec<i32>),
    /// Eight-byte integers.
    Int64(Vec<i64>),
    /// Texts of `width` ASCII bytes each, one after another, without comma or quote, and without
    /// line end below [`LINES_WIDTH_MIN`]. A shorter one is followed by blanks, which files and
    /// Arrow leave out.
    Text {
        /// Bytes of one value.
        width: usize,
        /// `width` bytes a row.
        bytes: Vec<u8>,
    },
    /// Seconds since 1970, UTC; years 0 to 9999.
    Timestamp(Vec<i64>),
}

impl Column {
    /// Number of values.
    pub fn rows(&self) -> usize {
        match self {
            Self::Int16(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) | Self::Timestamp(values) => values.len(),
            Self::Text { width, bytes } => bytes.len() / width,
        }
    }

    /// Take the memory of so many further values at once, and no more.
    pub fn reserve(&mut self, rows: usize) {
        match self {
            Self::Int16(values) => values.reserve_exact(rows),
            Self::Int32(values) => values.reserve_exact(rows),
            Self::Int64(values) | Self::Timestamp(values) => values.reserve_exact(rows),
            Self::Text { width, bytes } => bytes.reserve_exact(rows * *width),
        }
    }

    /// Append the values of a column of the same type.
    ///
    /// # Panics
    /// Where the types differ.
    pub fn append(&mut self, other: &Self) {
        match (self, other) {
            (Self::Int16(into), Self::Int16(values)) => into.extend_from_slice(values),
            (Self::Int32(into), Self::Int32(values)) => into.extend_from_slice(values),
            (Self::Int64(into), Self::Int64(values))
            | (Self::Timestamp(into), Self::Timestamp(values)) => into.extend_from_slice(values),
            (Self::Text { width, bytes: into }, Self::Text { width: other, bytes })
                if width == other =>
            {
                into.extend_from_slice(bytes);
            }
            _ => panic!("columns of different types"),
        }
    }

    /// Remove the values; keep the memory.
    pub fn clear(&mut self) {
        match self {
            Self::Int16(values) => values.clear(),
            Self::Int32(values) => values.clear(),
            Self::Int64(values) | Self::Timestamp(values) => values.clear(),
            Self::Text { bytes, .. } => bytes.clear(),
        }
    }
}

/// Rows of one relation (all of it, or a range), column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The relation's name.
    pub name: String,
    /// (attribute, values) in the paper's order; all of equal length.
    pub columns: Vec<(String, Column)>,
}

impl Relation {
    /// Number of rows held.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.rows())
    }

    /// Remove the rows; keep the memory, for the next range.
    pub fn clear(&mut self) {
        for (_, column) in &mut self.columns {
            column.clear();
        }
    }
}
