//! Names and types of a relation's attributes.

use std::fmt;

use crate::columns::Column;

/// The type of an attribute, as the papers declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// Two-byte integer.
    Int2,
    /// Four-byte integer.
    Int4,
    /// Eight-byte integer.
    Int8,
    /// Text of exactly that many bytes.
    Char(usize),
    /// Date and time to the second, UTC.
    Timestamp,
}

impl AttributeType {
    /// Bytes that one value takes in the paper's tuple.
    pub fn width_bytes(self) -> usize {
        match self {
            Self::Int2 => 2,
            Self::Int4 => 4,
            Self::Int8 | Self::Timestamp => 8,
            Self::Char(width) => width,
        }
    }

    /// A column of this type without values.
    pub fn column(self) -> Column {
        match self {
            Self::Int2 => Column::Int16(Vec::new()),
            Self::Int4 => Column::Int32(Vec::new()),
            Self::Int8 => Column::Int64(Vec::new()),
            Self::Char(width) => Column::Text { width, bytes: Vec::new() },
            Self::Timestamp => Column::Timestamp(Vec::new()),
        }
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int2 => formatter.write_str("int2"),
            Self::Int4 => formatter.write_str("int4"),
            Self::Int8 => formatter.write_str("int8"),
            Self::Char(width) => write!(formatter, "char({width})"),
            Self::Timestamp => formatter.write_str("timestamp"),
        }
    }
}

/// One attribute of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name in lower case, since SQL folds case.
    pub name: String,
    /// Declared type.
    pub kind: AttributeType,
}
