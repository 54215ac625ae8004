//! Vectors: the values of one expression for the rows of a batch.

use loadstone_quel::check::resolved::Type;

use super::rows::ROWS_MAX;
use crate::tuple::{Value, trimmed};

/// A value for each row of a batch; only those of selected rows mean anything.
#[derive(Debug)]
pub(super) struct Vector {
    pub type_: Type,
    /// The values, if they are integers; zero for a null.
    pub integers: Vec<i64>,
    /// The values, if they are reals; zero for a null.
    pub reals: Vec<f64>,
    /// The values, if they are texts; empty for a null.
    pub texts: Vec<Text>,
    /// Which are null; empty if none ever is.
    pub nulls: Vec<bool>,
}

/// A text in a tuple or a constant, which lives as long as the batch, without trailing blanks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    start: *const u8,
    bytes: usize,
}

impl Text {
    /// Without its trailing blanks.
    #[inline]
    pub fn new(text: &[u8]) -> Self {
        let text = trimmed(text);
        Self { start: text.as_ptr(), bytes: text.len() }
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: vectors are read only while the batch lives that they were computed from, and
        // the expression that owns the constants.
        #[expect(unsafe_code, reason = "texts are not copied into vectors")]
        unsafe {
            std::slice::from_raw_parts(self.start, self.bytes)
        }
    }
}

impl Vector {
    pub fn new(type_: Type, may_be_null: bool) -> Self {
        let size = |wanted: bool| if wanted { ROWS_MAX } else { 0 };
        Self {
            type_,
            integers: vec![0; size(matches!(type_, Type::Integer | Type::Truth))],
            reals: vec![0.0; size(type_ == Type::Real)],
            texts: vec![Text::new(b""); size(type_ == Type::Text)],
            nulls: vec![false; size(may_be_null)],
        }
    }

    /// Whether a value may be null.
    pub fn may_be_null(&self) -> bool {
        !self.nulls.is_empty()
    }

    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.may_be_null() && self.nulls[row]
    }

    /// One of the values.
    #[inline]
    pub fn value(&self, row: usize) -> Value<'_> {
        if self.is_null(row) {
            return Value::Null;
        }
        match self.type_ {
            Type::Integer | Type::Truth => Value::Integer(self.integers[row]),
            Type::Real => Value::Real(self.reals[row]),
            Type::Text => Value::Text(self.texts[row].bytes()),
        }
    }
}
