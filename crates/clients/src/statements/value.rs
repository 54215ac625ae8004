//! A value that is drawn for a request, and its literal in SQL.

use std::fmt;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DrawError(pub String);

/// A value that was drawn; of a list, the place of one of its values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// Any other.
    Real(f64),
}

impl fmt::Display for Value {
    /// As a literal of SQL: the shortest that is this number again, and one with a minus in
    /// parentheses, because `- -3` begins a comment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Whole(whole) = self {
            return if *whole < 0 { write!(f, "({whole})") } else { write!(f, "{whole}") };
        }
        let text = self.plain();
        if text.starts_with('-') { write!(f, "({text})") } else { f.write_str(&text) }
    }
}

impl Value {
    /// Without parentheses.
    pub fn plain(self) -> String {
        match self {
            Self::Whole(whole) => whole.to_string(),
            Self::Real(real) => {
                let text = format!("{real:?}");
                // The exponent has two digits, as Python and C write it.
                match text.split_once('e') {
                    Some((number, exponent)) => {
                        let (sign, digits) = exponent
                            .strip_prefix('-')
                            .map_or(('+', exponent), |digits| ('-', digits));
                        let number = number.strip_suffix(".0").unwrap_or(number);
                        format!("{number}e{sign}{digits:0>2}")
                    }
                    None => text,
                }
            }
        }
    }
}

/// A number so far above the lowest, where both ends are numbers of 64 bits with a sign.
pub const fn above_low(low: i64, above: u64) -> i64 {
    low.wrapping_add_unsigned(above)
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn a_float_is_written_as_python_writes_it() {
        let texts = [1.0, 0.5, 1e-5, 1e16, 1.5e300].map(|real| Value::Real(real).plain());
        assert_eq!(texts, ["1.0", "0.5", "1e-05", "1e+16", "1.5e+300"]);
    }
}
