//! Tuples: values of fixed width, one after another, without a header and without alignment.
//!
//! A relation's records, the entries of hash tables, sorted runs and the rows of a result all have
//! this form; a [`Layout`] says what stands where. So any executor reads any tuple through a
//! pointer to its first byte.
//!
//! Integers and reals are little-endian and take the bytes of their kind. A text takes its width,
//! filled with blanks; trailing blanks never count. A value that may be null has a byte of its own
//! behind all values: 1 for null, and the value's bytes are zero then.

mod copy;
mod hash;
mod place;
mod value;

pub use copy::copy_tuple;
pub(crate) use hash::hash_integer_by_halves;
pub use hash::{HASH_SEED, hash_integer, hash_null, hash_real, hash_text};
pub use place::{array, read, read_integer, read_real, write};
pub use value::{OwnedValue, Value, compare_mixed, compare_reals, compare_texts, trimmed};

use loadstone_quel::schema::Kind;

/// One value of a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The attribute, or what a target list calls it.
    pub name: String,
    /// The way in which it is stored.
    pub kind: Kind,
    /// The place where it begins, in bytes from the tuple's first.
    pub offset: usize,
    /// The byte that is 1 where the value is null; None where it never is.
    pub null_at: Option<usize>,
}

/// The form of a tuple.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Its values in order.
    pub fields: Vec<Field>,
    /// Its length in bytes.
    pub bytes: usize,
}

/// The number of bytes that a value of that kind takes.
pub const fn width(kind: Kind) -> usize {
    match kind {
        Kind::Integer { bytes } | Kind::Real { bytes } => bytes,
        Kind::Text { width } => width,
    }
}

impl Layout {
    /// Values of those names and kinds, of which some may be null, one after another.
    pub fn of(values: impl IntoIterator<Item = (String, Kind, bool)>) -> Self {
        let (mut fields, mut bytes) = (Vec::new(), 0);
        let mut nullable = Vec::new();
        for (name, kind, is_nullable) in values {
            nullable.push(is_nullable);
            fields.push(Field { name, kind, offset: bytes, null_at: None });
            bytes += width(kind);
        }
        for (field, _) in fields.iter_mut().zip(nullable).filter(|(_, is_nullable)| *is_nullable) {
            field.null_at = Some(bytes);
            bytes += 1;
        }
        Self { fields, bytes }
    }

    /// The position of a field by its name, in lower case.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_stand_behind_all_values() {
        let kinds = [
            ("a", Kind::Integer { bytes: 4 }, false),
            ("b", Kind::Text { width: 5 }, true),
            ("c", Kind::Real { bytes: 8 }, true),
        ];
        let layout = Layout::of(kinds.map(|(name, kind, null)| (name.to_owned(), kind, null)));
        let places: Vec<_> = layout.fields.iter().map(|f| (f.offset, f.null_at)).collect();
        assert_eq!(places, [(0, None), (4, Some(17)), (9, Some(18))]);
        assert_eq!((layout.bytes, layout.position("c")), (19, Some(2)));
    }
}
