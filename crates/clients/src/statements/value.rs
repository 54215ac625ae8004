//! A value that is drawn for a request, and its literal in SQL.

use std::fmt;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DrawError(pub String);

/// A value that was drawn; of a list, the place of one of its values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// Any other.
    Real(f64),
}

impl fmt::Display for Value {
    /// As a literal of SQL, a number below zero in parentheses, because `- -3` begins a comment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.plain();
        if text.starts_with('-') { write!(f, "({text})") } else { f.write_str(&text) }
    }
}

/// Digits of a float in a text, as pgbench writes it.
const DIGITS: i32 = 15;

impl Value {
    /// As pgbench writes it.
    pub fn plain(self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Bool(is_true) => is_true.to_string(),
            Self::Whole(whole) => whole.to_string(),
            Self::Real(real) => float(real),
        }
    }
}

/// As C's `%.15g`: without zeros at the end, and with an exponent of at least two digits where the
/// number is below 0.0001 or has more digits.
fn float(real: f64) -> String {
    let text = format!("{real:.*e}", DIGITS as usize - 1);
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let power: i32 = exponent.parse().expect("a float's exponent is a number");
    let shortest = |text: &str| {
        if !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if (-4..DIGITS).contains(&power) {
        return shortest(&format!("{real:.*}", (DIGITS - 1 - power) as usize));
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", shortest(digits), power.abs())
}

/// A number so far above the lowest, where both ends are numbers of 64 bits with a sign.
pub const fn above_low(low: i64, above: u64) -> i64 {
    low.wrapping_add_unsigned(above)
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn a_float_is_written_as_pgbench_writes_it() {
        let reals = [7.0, 0.5, 0.1 + 0.2, -0.0, 1e-4, 1e-5, 999_999_999_999_999.9, 1e14, 1e15];
        let texts = reals.map(|real| Value::Real(real).plain());
        let wanted = ["7", "0.5", "0.3", "-0", "0.0001", "1e-05", "1e+15", "100000000000000"];
        assert_eq!(texts[..8], wanted);
        assert_eq!(texts[8], "1e+15");
        assert_eq!(Value::Real(1.5e300).plain(), "1.5e+300");
        assert_eq!(Value::Real(-2.5).to_string(), "(-2.5)");
    }
}
