//! Keys of indexes: values as byte strings whose order is the values' order.
//!
//! An integer takes eight bytes, big-endian, its sign bit turned over. A real takes eight: its bits
//! big-endian, all turned over if it is negative, else the sign bit; both zeros are one. A text
//! ends before its trailing blanks; a zero byte becomes 00 ff, and 00 00 ends it. So no key begins
//! with all of another, and keys of several values are these one after another.
//!
//! A value longer than [`ENCODED_BYTES_MAX`] is cut off, and then keys may be equal though values
//! are not: the caller must look at the tuple ([`may_be_cut`]). No comparison with a null holds, so
//! an index has no key for a tuple whose first attribute is null, and where a later one is, the key
//! ends before it.

use loadstone_quel::schema::Kind;
use lode::RecordId;

use crate::tuple::{self, Field, Layout, Value};

/// The longest of these byte strings: with a record id behind it, it is a key of a B-tree.
pub const ENCODED_BYTES_MAX: usize = 504;

/// A record id behind a key: its page and its slot, big-endian.
pub const RECORD_ID_BYTES: usize = 6;

const SIGN: u64 = 1 << 63;

/// Append the key of a value. False, and nothing appended, for a null.
#[inline]
pub fn push(into: &mut Vec<u8>, value: Value<'_>) -> bool {
    match value {
        Value::Null => return false,
        Value::Integer(value) => into.extend(integer(value).to_be_bytes()),
        Value::Real(value) => into.extend(real(value).to_be_bytes()),
        Value::Text(text) => push_text(into, text),
    }
    true
}

/// The bits of an integer's key.
#[inline]
pub const fn integer(value: i64) -> u64 {
    value as u64 ^ SIGN
}

/// The bits of a finite real's key.
#[inline]
pub const fn real(value: f64) -> u64 {
    // The two zeros are equal, so they have one key.
    let bits = (value + 0.0).to_bits();
    if bits & SIGN == 0 { bits ^ SIGN } else { !bits }
}

fn push_text(into: &mut Vec<u8>, text: &[u8]) {
    for &byte in tuple::trimmed(text) {
        into.push(byte);
        if byte == 0 {
            into.push(0xff);
        }
    }
    into.extend([0, 0]);
}

/// The part of a tuple that a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Nothing: the first value is null.
    Nothing,
    /// The values before the first null.
    Part,
    /// All values.
    All,
}

/// The key of a tuple's values, in an emptied buffer.
pub fn of_tuple(
    into: &mut Vec<u8>,
    layout: &Layout,
    attributes: &[usize],
    bytes: &[u8],
) -> Coverage {
    into.clear();
    for (number, &at) in attributes.iter().enumerate() {
        if !push(into, tuple::read(bytes, &layout.fields[at])) {
            into.truncate(ENCODED_BYTES_MAX);
            return if number == 0 { Coverage::Nothing } else { Coverage::Part };
        }
    }
    into.truncate(ENCODED_BYTES_MAX);
    Coverage::All
}

/// Whether keys of these attributes can be so long that they are cut off.
pub fn may_be_cut(layout: &Layout, attributes: &[usize]) -> bool {
    let longest = |&at: &usize| match layout.fields[at].kind {
        Kind::Integer { .. } | Kind::Real { .. } => 8,
        Kind::Text { width } => 2 * width + 2,
    };
    attributes.iter().map(longest).sum::<usize>() > ENCODED_BYTES_MAX
}

/// Append a record id.
pub fn push_id(into: &mut Vec<u8>, id: RecordId) {
    into.extend(&id.to_u64().to_be_bytes()[2..]);
}

/// The record id at the end of a B-tree's key; None for a key that has none.
pub fn id_of(key: &[u8]) -> Option<RecordId> {
    let (_, id) = key.split_last_chunk::<RECORD_ID_BYTES>()?;
    let mut word = [0; 8];
    word[2..].copy_from_slice(id);
    RecordId::of(u64::from_be_bytes(word))
}

/// The least byte string above all that begin with this one; None where there is none.
pub fn successor(key: &[u8]) -> Option<Vec<u8>> {
    let last = key.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = key[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

/// The key under which a hash index has a value; None for one that no tuple can have. Different
/// texts may share one: the caller must look at the tuple.
pub fn hash(field: &Field, value: Value<'_>) -> Option<u64> {
    match (field.kind, value) {
        (Kind::Integer { .. }, Value::Integer(value)) => Some(integer(value)),
        (Kind::Integer { .. }, Value::Real(value)) => {
            let whole = value as i64;
            let is_same = Value::Integer(whole).compare(Value::Real(value))?.is_eq();
            is_same.then(|| integer(whole))
        }
        (Kind::Real { .. }, Value::Real(value)) => Some(real(value)),
        (Kind::Real { .. }, Value::Integer(value)) => {
            let nearest = value as f64;
            let is_same = Value::Integer(value).compare(Value::Real(nearest))?.is_eq();
            is_same.then(|| real(nearest))
        }
        (Kind::Text { .. }, Value::Text(text)) => {
            Some(xxhash_rust::xxh3::xxh3_64(tuple::trimmed(text)))
        }
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    pub(crate) fn key(value: Value<'_>) -> Vec<u8> {
        let mut key = Vec::new();
        assert!(push(&mut key, value));
        key
    }

    pub(crate) fn field(kind: Kind) -> Field {
        Field { name: "a".to_owned(), kind, offset: 0, null_at: None }
    }

    pub(crate) fn texts() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0), Just(b' '), Just(0xff), any::<u8>()], 0..6)
    }

    /// Mostly where casts round and types end.
    pub(crate) fn reals() -> impl Strategy<Value = f64> {
        prop_oneof![
            prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
            (-8i32..8).prop_map(|halves| f64::from(halves) / 2.0),
            any::<i64>().prop_map(|whole| whole as f64),
            Just(9_223_372_036_854_775_808.0),
            Just(-9_223_372_036_854_775_808.0),
        ]
    }

    pub(crate) fn integers() -> impl Strategy<Value = i64> {
        prop_oneof![
            -4i64..4,
            any::<i64>(),
            (-3i64..3).prop_map(|at| (1 << 53) + at),
            (0i64..3).prop_map(|at| i64::MAX - at),
            (0i64..3).prop_map(|at| i64::MIN + at),
        ]
    }

    proptest! {
        #[test]
        fn integers_keep_their_order(a in integers(), b in integers()) {
            prop_assert_eq!(key(Value::Integer(a)).cmp(&key(Value::Integer(b))), a.cmp(&b));
        }

        #[test]
        fn reals_keep_their_order(a in reals(), b in reals()) {
            let order = key(Value::Real(a)).cmp(&key(Value::Real(b)));
            prop_assert_eq!(Some(order), a.partial_cmp(&b));
        }

        #[test]
        fn texts_keep_their_order(a in texts(), b in texts()) {
            let order = key(Value::Text(&a)).cmp(&key(Value::Text(&b)));
            prop_assert_eq!(Some(order), Value::Text(&a).compare(Value::Text(&b)));
        }

        #[test]
        fn keys_of_several_texts_keep_their_order(
            a in texts(), b in texts(), c in texts(), d in texts(),
        ) {
            let join = |first: &[u8], second: &[u8]| {
                [key(Value::Text(first)), key(Value::Text(second))].concat()
            };
            let by_first = Value::Text(&a).compare(Value::Text(&c)).unwrap();
            let by_second = Value::Text(&b).compare(Value::Text(&d)).unwrap();
            prop_assert_eq!(join(&a, &b).cmp(&join(&c, &d)), by_first.then(by_second));
        }

        #[test]
        fn numbers_that_are_equal_share_a_hash(whole in integers(), real in reals()) {
            let (integer, other) = (Value::Integer(whole), Value::Real(real));
            let is_equal = integer.compare(other) == Some(Ordering::Equal);
            for (kind, own, asked) in [
                (Kind::Integer { bytes: 8 }, integer, other),
                (Kind::Real { bytes: 8 }, other, integer),
            ] {
                let own = hash(&field(kind), own);
                prop_assert_eq!(hash(&field(kind), asked) == own, is_equal);
            }
        }
    }

    #[test]
    fn a_null_has_no_key() {
        let field = field(Kind::Integer { bytes: 4 });
        assert!(!push(&mut Vec::new(), Value::Null));
        assert_eq!(hash(&field, Value::Null), None);
    }
}
