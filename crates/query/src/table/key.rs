//! Keys: the values of some fields of a tuple, hashed and compared.

use std::borrow::Borrow;

use loadstone_quel::schema::Kind;

use crate::tuple::{self, Field, HASH_SEED, Value};

/// A key's value as a probe computed it, brought to the kind of the field that it is compared with.
pub type KeyValue<'a> = Value<'a>;

/// The hash of the values of those fields.
pub fn hash_fields<F: Borrow<Field>>(tuple: &[u8], fields: &[F]) -> u64 {
    fields.iter().fold(HASH_SEED, |hash, field| tuple::read(tuple, field.borrow()).hash(hash))
}

/// Whether a field is a real, of which equal ones may differ in their bytes: both zeros.
pub fn has_real<F: Borrow<Field>>(fields: &[F]) -> bool {
    fields.iter().any(|field| matches!(field.borrow().kind, Kind::Real { .. }))
}

/// The value as a field of that kind would hold it, so that it hashes and compares alike. None for
/// a number that no such field can equal.
#[inline]
pub fn converted(value: Value<'_>, kind: Kind) -> Option<Value<'_>> {
    match (value, kind) {
        (Value::Real(real), Kind::Integer { .. }) => {
            let whole = real as i64;
            (tuple::compare_mixed(whole, real).is_eq()).then_some(Value::Integer(whole))
        }
        (Value::Integer(whole), Kind::Real { .. }) => {
            let real = whole as f64;
            (tuple::compare_mixed(whole, real).is_eq()).then_some(Value::Real(real))
        }
        _ => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_becomes_the_other_type_only_where_it_is_equal() {
        let (integer, real) = (Kind::Integer { bytes: 4 }, Kind::Real { bytes: 8 });
        assert_eq!(converted(Value::Real(3.0), integer), Some(Value::Integer(3)));
        assert_eq!(converted(Value::Real(3.5), integer), None);
        assert_eq!(converted(Value::Real(1e300), integer), None);
        assert_eq!(converted(Value::Integer(3), real), Some(Value::Real(3.0)));
        assert_eq!(converted(Value::Integer((1 << 53) + 1), real), None);
        assert_eq!(converted(Value::Integer(i64::MAX), real), None);
        assert_eq!(converted(Value::Null, integer), Some(Value::Null));
    }
}
