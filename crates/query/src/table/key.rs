//! Keys: the values of some fields of a tuple, hashed and compared.

use std::borrow::Borrow;

use loadstone_quel::schema::Kind;

use crate::tuple::{self, Field, HASH_SEED, Value, array, hash_integer, hash_text};

/// A key's value as a probe computed it, brought to the kind of the field that it is compared with.
pub type KeyValue<'a> = Value<'a>;

/// The hash of the values of those fields.
pub fn hash_fields<F: Borrow<Field>>(tuple: &[u8], fields: &[F]) -> u64 {
    fields.iter().fold(HASH_SEED, |hash, field| tuple::read(tuple, field.borrow()).hash(hash))
}

/// The hashes of the values of those fields, of tuples that lie one after another: put behind those
/// that `into` has. What a field is, is looked at once for all of them.
pub fn hash_tuples(tuples: &[u8], tuple_bytes: usize, fields: &[Field], into: &mut Vec<u64>) {
    let begin = into.len();
    let count = tuples.len() / tuple_bytes.max(1);
    into.resize(begin + count, HASH_SEED);
    for field in fields {
        let hashes = &mut into[begin..];
        let tuples = tuples.chunks_exact(tuple_bytes.max(1));
        let at = field.offset;
        match (field.kind, field.null_at) {
            (Kind::Integer { bytes: 1 }, None) => {
                rehash(hashes, tuples, |hash, tuple| {
                    hash_integer(hash, i64::from(tuple[at] as i8))
                });
            }
            (Kind::Integer { bytes: 2 }, None) => rehash(hashes, tuples, |hash, tuple| {
                hash_integer(hash, i64::from(i16::from_le_bytes(array(tuple, at))))
            }),
            (Kind::Integer { bytes: 4 }, None) => rehash(hashes, tuples, |hash, tuple| {
                hash_integer(hash, i64::from(i32::from_le_bytes(array(tuple, at))))
            }),
            (Kind::Integer { .. }, None) => rehash(hashes, tuples, |hash, tuple| {
                hash_integer(hash, i64::from_le_bytes(array(tuple, at)))
            }),
            (Kind::Text { width }, None) => {
                rehash(hashes, tuples, |hash, tuple| hash_text(hash, &tuple[at..at + width]));
            }
            _ => rehash(hashes, tuples, |hash, tuple| tuple::read(tuple, field).hash(hash)),
        }
    }
}

#[inline]
fn rehash<'t>(
    hashes: &mut [u64],
    tuples: impl Iterator<Item = &'t [u8]>,
    hash: impl Fn(u64, &'t [u8]) -> u64,
) {
    for (known, tuple) in hashes.iter_mut().zip(tuples) {
        *known = hash(*known, tuple);
    }
}

/// Whether two strings of bytes of one length are equal: a call to compare short ones costs more
/// than to compare them.
#[inline]
pub fn is_equal(one: &[u8], other: &[u8]) -> bool {
    match one.len() {
        4..8 => has_equal_ends::<4>(one, other),
        8..16 => has_equal_ends::<8>(one, other),
        16..32 => has_equal_ends::<16>(one, other),
        32..64 => has_equal_ends::<32>(one, other),
        64..128 => has_equal_long_ends(one, other),
        _ => one == other,
    }
}

#[inline]
fn has_equal_ends<const BYTES: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<BYTES>() == other.first_chunk::<BYTES>()
        && one.last_chunk::<BYTES>() == other.last_chunk::<BYTES>()
}

/// As [`has_equal_ends`] of 64 bytes each, of which `==` makes two calls.
#[inline]
fn has_equal_long_ends(one: &[u8], other: &[u8]) -> bool {
    let first = one.first_chunk::<64>().zip(other.first_chunk());
    let last = one.last_chunk::<64>().zip(other.last_chunk());
    let (Some(first), Some(last)) = (first, last) else { return one == other };
    differences(first) | differences(last) == 0
}

/// The bits in which two strings differ, put over each other.
#[inline]
fn differences((one, other): (&[u8; 64], &[u8; 64])) -> u32 {
    let words = one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0);
    words.fold(0, |bits, (one, other)| {
        bits | (u32::from_le_bytes(*one) ^ u32::from_le_bytes(*other))
    })
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
    use crate::tuple::Layout;
    use loadstone_quel::tree::Span;
    use proptest::prelude::*;

    fn number(kind: Kind, value: i64) -> Value<'static> {
        match kind {
            Kind::Integer { bytes } => Value::Integer(value >> (64 - 8 * bytes)),
            Kind::Real { .. } => Value::Real((value >> 48) as f64),
            Kind::Text { .. } => Value::Text([b"", &b"a"[..], b"a b", b"ab "][value as usize & 3]),
        }
    }

    #[test]
    fn bytes_are_equal_where_each_one_is() {
        for bytes in 0..150 {
            let one: Vec<u8> = (0..bytes).collect();
            assert!(is_equal(&one, &one.clone()));
            for at in 0..usize::from(bytes) {
                let mut other = one.clone();
                other[at] ^= 1;
                assert!(!is_equal(&one, &other), "{at} of {bytes}");
            }
        }
    }

    proptest! {
        #[test]
        fn many_tuples_hash_as_each_alone(
            rows in prop::collection::vec(
                prop::array::uniform8(prop::option::weighted(0.9, any::<i64>())), 0..40
            ),
            fields in prop::collection::vec(0usize..16, 1..4),
        ) {
            let kinds = [
                Kind::Integer { bytes: 1 },
                Kind::Integer { bytes: 2 },
                Kind::Integer { bytes: 4 },
                Kind::Integer { bytes: 8 },
                Kind::Real { bytes: 4 },
                Kind::Real { bytes: 8 },
                Kind::Text { width: 3 },
                Kind::Text { width: 20 },
            ];
            let named = kinds.iter().flat_map(|kind| [(*kind, false), (*kind, true)]);
            let layout = Layout::of(named.map(|(kind, null)| (String::new(), kind, null)));
            let mut tuples = Vec::new();
            for row in &rows {
                let mut tuple = vec![0; layout.bytes];
                for (at, field) in layout.fields.iter().enumerate() {
                    let value = match row[at / 2] {
                        None if field.null_at.is_some() => Value::Null,
                        value => number(field.kind, value.unwrap_or(0)),
                    };
                    tuple::write(&mut tuple, field, value, Span::default()).unwrap();
                }
                tuples.extend(tuple);
            }
            let key: Vec<_> = fields.iter().map(|at| layout.fields[*at].clone()).collect();
            let mut hashes = vec![7];
            hash_tuples(&tuples, layout.bytes, &key, &mut hashes);
            let alone = tuples.chunks(layout.bytes).map(|tuple| hash_fields(tuple, &key));
            prop_assert_eq!(hashes, std::iter::once(7).chain(alone).collect::<Vec<_>>());
        }
    }

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
