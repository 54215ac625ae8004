//! Keys of indexes: values as byte strings whose order is the values' order.
//!
//! An integer takes eight bytes, big-endian, its sign bit turned over. A real takes eight: its bits
//! big-endian, all turned over if it is negative, else the sign bit; both zeros are one. A text
//! ends before its trailing blanks; a zero byte becomes 00 ff, and 00 00 ends it. So no key begins
//! with all of another, and keys of several values are these one after another.
//!
//! What is longer than [`ENCODED_BYTES_MAX`] is cut off, and then keys may be equal though values
//! are not: the caller must look at the tuple ([`may_be_cut`]). No comparison with a null holds,
//! so an index has no key for a tuple whose first attribute is null, and where a later one is, the
//! key ends before it.

use std::cmp::Ordering;
use std::ops::Bound;

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

/// What a key holds of a tuple.
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

/// A bound of a range in terms of the attribute's own type, though the value may be a number of the
/// other: `Included(2.5)` below integers is `Excluded(2)`. None where nothing can lie within it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Native<'a> {
    Bound(Bound<Value<'a>>),
    Nothing,
}

/// Which end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Low,
    High,
}

fn native<'a>(field: &Field, bound: Bound<Value<'a>>, end: End) -> Native<'a> {
    let (value, is_included) = match bound {
        Bound::Unbounded => return Native::Bound(Bound::Unbounded),
        Bound::Included(value) => (value, true),
        Bound::Excluded(value) => (value, false),
    };
    match (field.kind, value) {
        // No comparison with a null holds.
        (_, Value::Null) => Native::Nothing,
        (Kind::Integer { .. }, Value::Real(value)) => native_integer(value, is_included, end),
        (Kind::Real { .. }, Value::Integer(value)) => native_real(value, is_included, end),
        _ => Native::Bound(bound),
    }
}

fn native_integer(value: f64, is_included: bool, end: End) -> Native<'static> {
    // 2^63 is the first real behind all integers, -2^63 the first integer.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if value >= BEYOND {
        return match end {
            End::Low => Native::Nothing,
            End::High => Native::Bound(Bound::Unbounded),
        };
    }
    if value < -BEYOND {
        return match end {
            End::Low => Native::Bound(Bound::Unbounded),
            End::High => Native::Nothing,
        };
    }
    // Truncation is exact here. Bounds that are no integers lie beside the truncated one: above it
    // if they are positive, else below.
    let whole = value.trunc();
    let bound = Value::Integer(whole as i64);
    Native::Bound(match (value.partial_cmp(&whole), end) {
        (Some(Ordering::Greater), End::Low) | (Some(Ordering::Less), End::High) => {
            Bound::Excluded(bound)
        }
        (Some(Ordering::Greater), End::High) | (Some(Ordering::Less), End::Low) => {
            Bound::Included(bound)
        }
        _ if is_included => Bound::Included(bound),
        _ => Bound::Excluded(bound),
    })
}

fn native_real(value: i64, is_included: bool, end: End) -> Native<'static> {
    let nearest = Value::Real(value as f64);
    // No real lies between an integer and the real nearest to it.
    Native::Bound(match (nearest.compare(Value::Integer(value)), end) {
        (Some(Ordering::Greater), End::Low) | (Some(Ordering::Less), End::High) => {
            Bound::Included(nearest)
        }
        (Some(Ordering::Greater), End::High) | (Some(Ordering::Less), End::Low) => {
            Bound::Excluded(nearest)
        }
        _ if is_included => Bound::Included(nearest),
        _ => Bound::Excluded(nearest),
    })
}

/// The keys of a B-tree, record ids included, whose first value lies between two bounds: from the
/// first of these byte strings on, up to and without the second (None: to the end). None where none
/// can. If keys can be cut, some of them may lie just outside the bounds.
pub fn range(
    field: &Field,
    low: Bound<Value<'_>>,
    high: Bound<Value<'_>>,
) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let (Native::Bound(low), Native::Bound(high)) =
        (native(field, low, End::Low), native(field, high, End::High))
    else {
        return None;
    };
    let is_text = matches!(field.kind, Kind::Text { .. });
    let encoded = |value| {
        let mut key = Vec::new();
        push(&mut key, value);
        let is_cut = is_text && key.len() > ENCODED_BYTES_MAX;
        key.truncate(ENCODED_BYTES_MAX);
        (key, is_cut)
    };
    let from = match low {
        Bound::Unbounded => Vec::new(),
        Bound::Included(value) => encoded(value).0,
        Bound::Excluded(value) => match encoded(value) {
            (key, true) => key,
            (key, false) => successor(&key)?,
        },
    };
    let to = match high {
        Bound::Unbounded => None,
        Bound::Included(value) => successor(&encoded(value).0),
        Bound::Excluded(value) => match encoded(value) {
            (key, true) => successor(&key),
            (key, false) => Some(key),
        },
    };
    match &to {
        Some(to) if *to <= from => None,
        _ => Some((from, to)),
    }
}

/// Whether a value lies between two bounds.
pub fn is_within(value: Value<'_>, low: Bound<Value<'_>>, high: Bound<Value<'_>>) -> bool {
    let above = match low {
        Bound::Unbounded => true,
        Bound::Included(bound) => value.compare(bound).is_some_and(Ordering::is_ge),
        Bound::Excluded(bound) => value.compare(bound).is_some_and(Ordering::is_gt),
    };
    above
        && match high {
            Bound::Unbounded => true,
            Bound::Included(bound) => value.compare(bound).is_some_and(Ordering::is_le),
            Bound::Excluded(bound) => value.compare(bound).is_some_and(Ordering::is_lt),
        }
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(value: Value<'_>) -> Vec<u8> {
        let mut key = Vec::new();
        assert!(push(&mut key, value));
        key
    }

    fn field(kind: Kind) -> Field {
        Field { name: "a".to_owned(), kind, offset: 0, null_at: None }
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0), Just(b' '), Just(0xff), any::<u8>()], 0..6)
    }

    /// Mostly where casts round and types end.
    fn reals() -> impl Strategy<Value = f64> {
        prop_oneof![
            prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
            (-8i32..8).prop_map(|halves| f64::from(halves) / 2.0),
            any::<i64>().prop_map(|whole| whole as f64),
            Just(9_223_372_036_854_775_808.0),
            Just(-9_223_372_036_854_775_808.0),
        ]
    }

    fn integers() -> impl Strategy<Value = i64> {
        prop_oneof![
            -4i64..4,
            any::<i64>(),
            (-3i64..3).prop_map(|at| (1 << 53) + at),
            (0i64..3).prop_map(|at| i64::MAX - at),
            (0i64..3).prop_map(|at| i64::MIN + at),
        ]
    }

    fn bound<T: Copy>(value: T, sort: u8) -> Bound<T> {
        match sort {
            0 => Bound::Unbounded,
            1 => Bound::Included(value),
            _ => Bound::Excluded(value),
        }
    }

    /// A value's key with any record id lies in the range of keys exactly if the value lies
    /// between the bounds.
    fn holds(
        kind: Kind,
        value: Value<'_>,
        low: Bound<Value<'_>>,
        high: Bound<Value<'_>>,
    ) -> Result<(), TestCaseError> {
        let range = range(&field(kind), low, high);
        for id in [1 << 16, (1 << 48) - 1] {
            let mut key = key(value);
            push_id(&mut key, RecordId::of(id).unwrap());
            let is_found = range
                .as_ref()
                .is_some_and(|(from, to)| key >= *from && to.as_ref().is_none_or(|to| key < *to));
            prop_assert_eq!(is_found, is_within(value, low, high), "{:?} {:?}", value, range);
        }
        Ok(())
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
        fn ranges_of_integers_hold_what_lies_between(
            value in integers(), low in integers(), high in reals(), sorts in (0u8..3, 0u8..3),
            swap: bool,
        ) {
            let (low, high) = (Value::Integer(low), Value::Real(high));
            let (low, high) = if swap { (high, low) } else { (low, high) };
            let kind = Kind::Integer { bytes: 8 };
            holds(kind, Value::Integer(value), bound(low, sorts.0), bound(high, sorts.1))?;
        }

        #[test]
        fn ranges_of_reals_hold_what_lies_between(
            value in reals(), low in integers(), high in reals(), sorts in (0u8..3, 0u8..3),
            swap: bool,
        ) {
            let (low, high) = (Value::Integer(low), Value::Real(high));
            let (low, high) = if swap { (high, low) } else { (low, high) };
            let kind = Kind::Real { bytes: 8 };
            holds(kind, Value::Real(value), bound(low, sorts.0), bound(high, sorts.1))?;
        }

        #[test]
        fn ranges_of_texts_hold_what_lies_between(
            value in texts(), low in texts(), high in texts(), sorts in (0u8..3, 0u8..3),
        ) {
            let (low, high) = (Value::Text(&low), Value::Text(&high));
            let kind = Kind::Text { width: 6 };
            holds(kind, Value::Text(&value), bound(low, sorts.0), bound(high, sorts.1))?;
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
    fn a_key_that_is_cut_stays_in_its_range() {
        let long = [b'x'; 600];
        let longer = [b'x'; 601];
        let field = field(Kind::Text { width: 700 });
        let mut key = key(Value::Text(&longer));
        key.truncate(ENCODED_BYTES_MAX);
        push_id(&mut key, RecordId::of(1 << 16).unwrap());
        for low in [Bound::Included(Value::Text(&long)), Bound::Excluded(Value::Text(&long))] {
            let (from, to) =
                range(&field, low, Bound::Excluded(Value::Text(&[b'x'; 602]))).unwrap();
            assert!(key >= from && key < to.unwrap());
        }
    }

    #[test]
    fn no_key_lies_beyond_a_null() {
        let (field, null) = (field(Kind::Integer { bytes: 4 }), Bound::Included(Value::Null));
        assert_eq!(range(&field, null, Bound::Unbounded), None);
        assert_eq!(range(&field, Bound::Unbounded, null), None);
        assert!(!push(&mut Vec::new(), Value::Null));
        assert_eq!(hash(&field, Value::Null), None);
    }
}
