//! Which texts, and which numbers of two types, count as equal.

/// CHAR semantics: trailing blanks do not count.
pub(crate) fn without_blanks(text: &[u8]) -> &[u8] {
    let mut end = text.len();
    while end > 0 && text[end - 1] == b' ' {
        end -= 1;
    }
    &text[..end]
}

/// The integer that a real is exactly, if it is one that 64 bits hold.
pub(crate) fn as_integer(value: f64) -> Option<i64> {
    // 2^63 itself does not fit, -2^63 does; both are exact in binary.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (fits && value.fract() == 0.0).then_some(value as i64)
}
