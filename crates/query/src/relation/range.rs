//! Ranges of values: which lie within one, and between which keys of a B-tree those are.

use std::cmp::Ordering;
use std::ops::Bound;

use loadstone_quel::schema::Kind;

use super::key::{ENCODED_BYTES_MAX, push, successor};
use crate::tuple::{Field, Value};

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
pub fn keys(
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
pub fn holds(value: Value<'_>, low: Bound<Value<'_>>, high: Bound<Value<'_>>) -> bool {
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

#[cfg(test)]
mod tests {
    use lode::RecordId;
    use proptest::prelude::*;

    use super::super::key::push_id;
    use super::super::key::tests::{field, integers, key, reals, texts};
    use super::*;

    fn bound<T: Copy>(value: T, sort: u8) -> Bound<T> {
        match sort {
            0 => Bound::Unbounded,
            1 => Bound::Included(value),
            _ => Bound::Excluded(value),
        }
    }

    /// A value's key with any record id lies in the range of keys exactly if the value lies
    /// between the bounds.
    fn agree(
        kind: Kind,
        value: Value<'_>,
        low: Bound<Value<'_>>,
        high: Bound<Value<'_>>,
    ) -> Result<(), TestCaseError> {
        let range = keys(&field(kind), low, high);
        for id in [1 << 16, (1 << 48) - 1] {
            let mut key = key(value);
            push_id(&mut key, RecordId::of(id).unwrap());
            let is_found = range
                .as_ref()
                .is_some_and(|(from, to)| key >= *from && to.as_ref().is_none_or(|to| key < *to));
            prop_assert_eq!(is_found, holds(value, low, high), "{:?} {:?}", value, range);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn ranges_of_integers_hold_what_lies_between(
            value in integers(), low in integers(), high in reals(), sorts in (0u8..3, 0u8..3),
            swap: bool,
        ) {
            let (low, high) = (Value::Integer(low), Value::Real(high));
            let (low, high) = if swap { (high, low) } else { (low, high) };
            let kind = Kind::Integer { bytes: 8 };
            agree(kind, Value::Integer(value), bound(low, sorts.0), bound(high, sorts.1))?;
        }

        #[test]
        fn ranges_of_reals_hold_what_lies_between(
            value in reals(), low in integers(), high in reals(), sorts in (0u8..3, 0u8..3),
            swap: bool,
        ) {
            let (low, high) = (Value::Integer(low), Value::Real(high));
            let (low, high) = if swap { (high, low) } else { (low, high) };
            let kind = Kind::Real { bytes: 8 };
            agree(kind, Value::Real(value), bound(low, sorts.0), bound(high, sorts.1))?;
        }

        #[test]
        fn ranges_of_texts_hold_what_lies_between(
            value in texts(), low in texts(), high in texts(), sorts in (0u8..3, 0u8..3),
        ) {
            let (low, high) = (Value::Text(&low), Value::Text(&high));
            let kind = Kind::Text { width: 6 };
            agree(kind, Value::Text(&value), bound(low, sorts.0), bound(high, sorts.1))?;
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
            let (from, to) = keys(&field, low, Bound::Excluded(Value::Text(&[b'x'; 602]))).unwrap();
            assert!(key >= from && key < to.unwrap());
        }
    }

    #[test]
    fn no_key_lies_beyond_a_null() {
        let (field, null) = (field(Kind::Integer { bytes: 4 }), Bound::Included(Value::Null));
        assert_eq!(keys(&field, null, Bound::Unbounded), None);
        assert_eq!(keys(&field, Bound::Unbounded, null), None);
    }
}
