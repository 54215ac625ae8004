//! Values as the oracle computes with them.

use crate::answer::RowEncoder;
use crate::equality::{as_integer, without_blanks};
use std::cmp::Ordering;

/// One value; texts are borrowed from relations and constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    /// The aggregate of nothing.
    Null,
    Integer(i64),
    /// Always finite.
    Real(f64),
    /// Trailing blanks included; they never count.
    Text(&'a [u8]),
}

/// A value that owns its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<[u8]>),
}

impl OwnedValue {
    pub fn borrow(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(value) => Value::Integer(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Text(text) => Value::Text(text),
        }
    }
}

impl Value<'_> {
    pub fn to_owned(self) -> OwnedValue {
        match self {
            Self::Null => OwnedValue::Null,
            Self::Integer(value) => OwnedValue::Integer(value),
            Self::Real(value) => OwnedValue::Real(value),
            Self::Text(text) => OwnedValue::Text(text.into()),
        }
    }

    /// Order of two values of like type; None where either is null.
    pub fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Real(a), Self::Real(b)) => a.partial_cmp(&b),
            (Self::Integer(a), Self::Real(b)) => Some(compare_mixed(a, b)),
            (Self::Real(a), Self::Integer(b)) => Some(compare_mixed(b, a).reverse()),
            (Self::Text(a), Self::Text(b)) => Some(without_blanks(a).cmp(without_blanks(b))),
            _ => None,
        }
    }

    /// Equal values have equal hashes, whatever their types.
    pub fn hash(self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Integer(value) => mix(value as u64),
            Self::Real(value) => match as_integer(value) {
                Some(whole) => mix(whole as u64),
                None => mix(value.to_bits() ^ 0x9e37_79b9_7f4a_7c15),
            },
            Self::Text(text) => xxhash_rust::xxh3::xxh3_64(without_blanks(text)),
        }
    }

    /// As it counts in an answer.
    #[inline]
    pub fn encode(self, row: &mut RowEncoder) {
        match self {
            Self::Null => row.null(),
            Self::Integer(value) => row.integer(value),
            Self::Real(value) => row.real(value),
            Self::Text(text) => row.text(text),
        }
    }

    /// As a key of duplicate elimination or partition: reals count to the last bit.
    pub fn encode_exactly(self, row: &mut RowEncoder) {
        match self {
            Self::Real(value) => match as_integer(value) {
                Some(whole) => row.integer(whole),
                None => row.real_exactly(value),
            },
            other => other.encode(row),
        }
    }

    pub fn as_real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
            Self::Null | Self::Text(_) => f64::NAN,
        }
    }
}

/// Exact, where a cast of either side would round above 2^53.
fn compare_mixed(whole: i64, real: f64) -> Ordering {
    if real >= 9_223_372_036_854_775_808.0 {
        return Ordering::Less;
    }
    if real < -9_223_372_036_854_775_808.0 {
        return Ordering::Greater;
    }
    let floor = real.floor();
    let by_floor = whole.cmp(&(floor as i64));
    by_floor.then(if real > floor { Ordering::Less } else { Ordering::Equal })
}

/// A full-avalanche mix of 64 bits (the finaliser of `MurmurHash3`).
fn mix(mut bits: u64) -> u64 {
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

#[cfg(test)]
mod tests {
    use super::Value;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn integers_and_reals_compare_exactly() {
        let big = 9_007_199_254_740_993; // 2^53 + 1, which a cast to f64 would round away
        let compare = |a, b| Value::Integer(a).compare(Value::Real(b));
        assert_eq!(compare(big, 9_007_199_254_740_992.0), Some(Greater));
        assert_eq!(compare(2, 2.0), Some(Equal));
        assert_eq!(compare(-3, -2.5), Some(Less));
        assert_eq!(compare(i64::MAX, 1e300), Some(Less));
        assert_eq!(compare(i64::MIN, -1e300), Some(Greater));
        assert_eq!(Value::Integer(2).hash(), Value::Real(2.0).hash());
    }

    #[test]
    fn trailing_blanks_do_not_count() {
        let (a, b) = (Value::Text(b"ab  "), Value::Text(b"ab"));
        assert_eq!(a.compare(b), Some(Equal));
        assert_eq!(a.hash(), b.hash());
        assert_eq!(Value::Text(b" ab").compare(b), Some(Less));
        assert_eq!(Value::Null.compare(Value::Null), None);
    }
}
