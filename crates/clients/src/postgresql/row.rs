//! One row as it lies in the receive buffer: columns are taken in order, nothing is copied.

/// The way in which columns come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// As letters: the simple protocol.
    Text,
    /// As the server keeps them, high byte first.
    Binary,
}

/// A row of the server's, read column by column. What is not there reads as empty or 0: the
/// statements are ours, and an answer that lacks a column fails its check.
#[derive(Debug)]
pub struct Row<'a> {
    rest: &'a [u8],
    format: Format,
}

impl<'a> Row<'a> {
    /// A row of a message's body; the count of its columns is known.
    #[inline]
    pub fn new(body: &'a [u8], format: Format) -> Self {
        Self { rest: body.get(2..).unwrap_or_default(), format }
    }

    /// The next column's bytes; empty where it is NULL.
    #[inline]
    pub fn text(&mut self) -> &'a [u8] {
        let Some((length, rest)) = self.rest.split_first_chunk::<4>() else { return &[] };
        // NULL has the length -1.
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        let (column, rest) = rest.split_at_checked(length).unwrap_or_default();
        self.rest = rest;
        column
    }

    /// The next column, an `int4` or `int8`.
    #[inline]
    pub fn int(&mut self) -> i64 {
        let column = self.text();
        if self.format == Format::Text {
            return std::str::from_utf8(column).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
        }
        match column {
            &[a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
            _ => column.try_into().map_or(0, i64::from_be_bytes),
        }
    }
}
