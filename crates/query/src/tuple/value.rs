//! One value, apart from the tuple in which it stands: how values compare.

use std::cmp::Ordering;

/// A value. Texts are borrowed from tuples and constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// The aggregate of nothing, and what arithmetic makes of it.
    Null,
    /// An integer of any width.
    Integer(i64),
    /// A finite real of any width.
    Real(f64),
    /// A text; trailing blanks never count.
    Text(&'a [u8]),
}

/// A value that owns its text.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedValue {
    /// Nothing.
    Null,
    /// An integer of any width.
    Integer(i64),
    /// A finite real of any width.
    Real(f64),
    /// A text.
    Text(Vec<u8>),
}

impl OwnedValue {
    /// The same, with the text borrowed.
    #[inline]
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
    /// The same, with a text of its own.
    pub fn to_owned(self) -> OwnedValue {
        match self {
            Self::Null => OwnedValue::Null,
            Self::Integer(value) => OwnedValue::Integer(value),
            Self::Real(value) => OwnedValue::Real(value),
            Self::Text(text) => OwnedValue::Text(text.to_vec()),
        }
    }

    /// The order of two values that may be compared: two numbers or two texts. None where either
    /// is null. Numbers of two types compare exactly.
    #[inline]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => Some(left.cmp(&right)),
            (Self::Real(left), Self::Real(right)) => Some(compare_reals(left, right)),
            (Self::Integer(left), Self::Real(right)) => Some(compare_mixed(left, right)),
            (Self::Real(left), Self::Integer(right)) => Some(compare_mixed(right, left).reverse()),
            (Self::Text(left), Self::Text(right)) => Some(compare_texts(left, right)),
            _ => None,
        }
    }

    /// The order of two keys of equal type, for sorts and for sets: nulls are equal to each other
    /// and before all else.
    #[inline]
    pub fn compare_keys(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Less,
            (_, Self::Null) => Ordering::Greater,
            // Values that cannot be compared never share a key.
            (left, right) => left.compare(right).unwrap_or(Ordering::Equal),
        }
    }

    /// The nearest real; 0 for what is no number.
    #[inline]
    pub fn as_real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
            Self::Null | Self::Text(_) => 0.0,
        }
    }
}

/// The order of two finite reals; both zeros are equal.
#[inline]
pub fn compare_reals(left: f64, right: f64) -> Ordering {
    // Only finite reals are ever stored or computed.
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

/// The order of an integer and a finite real, exactly: a cast of either side would round.
#[inline]
pub fn compare_mixed(whole: i64, real: f64) -> Ordering {
    /// 2^63, the first real behind all integers.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if real >= BEYOND {
        Ordering::Less
    } else if real < -BEYOND {
        Ordering::Greater
    } else {
        // Truncation is exact here, and the rest has the sign of the real.
        let truncated = real.trunc();
        whole.cmp(&(truncated as i64)).then(compare_reals(truncated, real))
    }
}

/// The order of two texts by their bytes without trailing blanks.
#[inline]
pub fn compare_texts(left: &[u8], right: &[u8]) -> Ordering {
    trimmed(left).cmp(trimmed(right))
}

/// A text without its trailing blanks.
#[inline]
pub fn trimmed(text: &[u8]) -> &[u8] {
    let mut end = text.len();
    // Wide attributes are mostly blank: a word at a time first.
    while let Some(start) = end.checked_sub(8)
        && text[start..end] == *b"        "
    {
        end = start;
    }
    while end > 0 && text[end - 1] == b' ' {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::{Value, trimmed};
    use proptest::prelude::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    /// Halves compare like wholes of twice their size, which 128 bits hold.
    fn exactly(whole: i64, halves: i64) -> std::cmp::Ordering {
        (i128::from(whole) * 2).cmp(&i128::from(halves))
    }

    #[test]
    fn casts_would_round_here() {
        let compare = |whole, real| Value::Integer(whole).compare(Value::Real(real));
        let beyond_2_53 = 9_007_199_254_740_993;
        assert_eq!(compare(beyond_2_53, 9_007_199_254_740_992.0), Some(Greater));
        assert_eq!(compare(i64::MAX, 9_223_372_036_854_775_808.0), Some(Less));
        assert_eq!(compare(i64::MIN, -9_223_372_036_854_775_808.0), Some(Equal));
        assert_eq!(compare(i64::MIN, -1e300), Some(Greater));
        assert_eq!(compare(0, -0.0), Some(Equal));
        assert_eq!(Value::Real(-0.0).compare(Value::Real(0.0)), Some(Equal));
    }

    #[test]
    fn nulls_compare_with_nothing_and_sort_first() {
        assert_eq!(Value::Null.compare(Value::Null), None);
        assert_eq!(Value::Null.compare_keys(Value::Null), Equal);
        assert_eq!(Value::Null.compare_keys(Value::Integer(i64::MIN)), Less);
        assert_eq!(Value::Text(b"").compare_keys(Value::Null), Greater);
    }

    proptest! {
        #[test]
        fn an_integer_and_a_real_compare_exactly(whole in -20i64..20, halves in -40i32..40) {
            let (left, right) = (Value::Integer(whole), Value::Real(f64::from(halves) / 2.0));
            prop_assert_eq!(left.compare(right), Some(exactly(whole, halves.into())));
            prop_assert_eq!(right.compare(left), Some(exactly(whole, halves.into()).reverse()));
        }

        #[test]
        fn a_large_integer_and_a_real_compare_exactly(whole: i64, real in -1e19..1e19) {
            let left = Value::Integer(whole).compare(Value::Real(real));
            let below = real.floor() as i128;
            let by_whole = i128::from(whole).cmp(&below);
            let rest = if real > real.floor() { Less } else { Equal };
            prop_assert_eq!(left, Some(by_whole.then(rest)));
        }

        #[test]
        fn trailing_blanks_never_count(text in "[ ab\u{1}]{0,12}", blanks in 0usize..20) {
            let padded = text.clone() + &" ".repeat(blanks);
            prop_assert_eq!(trimmed(padded.as_bytes()), text.trim_end_matches(' ').as_bytes());
            let (left, right) = (Value::Text(text.as_bytes()), Value::Text(padded.as_bytes()));
            prop_assert_eq!(left.compare(right), Some(Equal));
        }

        #[test]
        fn texts_compare_by_their_bytes(left in "[ ab\u{1}é]{0,9}", right in "[ ab\u{1}é]{0,9}") {
            let expected = left.trim_end_matches(' ').as_bytes()
                .cmp(right.trim_end_matches(' ').as_bytes());
            let (left, right) = (Value::Text(left.as_bytes()), Value::Text(right.as_bytes()));
            prop_assert_eq!(left.compare(right), Some(expected));
        }
    }
}
