//! Answers: how many rows, and a checksum that the order of the rows does not change.
//!
//! The bytes are drawn in `docs/reference/quel.md`, section "Answers".

use crate::equality::{as_integer, without_blanks};
use std::fmt;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// The expected answer of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// Rows returned, or tuples changed.
    pub rows: u64,
    /// The wrapping sum of the rows' checksums.
    pub checksum: u64,
}

impl Answer {
    /// Count one row in.
    #[inline]
    pub fn add(&mut self, row_checksum: u64) {
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(row_checksum);
    }

    /// Count one row out.
    #[inline]
    pub fn remove(&mut self, row_checksum: u64) {
        self.rows -= 1;
        self.checksum = self.checksum.wrapping_sub(row_checksum);
    }

    /// The checksum as it is printed: 16 hexadecimal digits.
    pub fn checksum_hex(&self) -> String {
        format!("{:016x}", self.checksum)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, checksum {:016x}", self.rows, self.checksum)
    }
}

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;

/// Above this magnitude a binary64 no longer holds every integer: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Builds the canonical bytes of one row after another; call a method for each value in order.
#[derive(Debug, Default)]
pub struct RowEncoder {
    bytes: Vec<u8>,
}

impl RowEncoder {
    /// A null.
    #[inline]
    pub fn null(&mut self) {
        self.bytes.push(NULL);
    }

    /// An integer of any width, or a truth value as 0 or 1.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        let mut encoded = [INTEGER; 9];
        encoded[1..].copy_from_slice(&value.to_le_bytes());
        self.bytes.extend_from_slice(&encoded);
    }

    /// An unsigned integer; beyond the signed range it counts as a real.
    pub fn unsigned(&mut self, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.integer(value),
            Err(_) => self.real(value as f64),
        }
    }

    /// A binary floating-point number, rounded to 12 significant digits unless it is integral.
    pub fn real(&mut self, value: f64) {
        let rounded = if is_exact_integer(value) { value } else { round_to_12_digits(value) };
        if is_exact_integer(rounded) {
            self.integer(rounded as i64);
        } else {
            self.real_exactly(rounded);
        }
    }

    /// `unscaled` / 10^`scale`: an integer where it is one that 64 bits hold, else a real.
    pub fn decimal(&mut self, unscaled: i128, scale: i8) {
        match whole(unscaled, scale.into()) {
            Some(value) => self.integer(value),
            None => self.real(nearest(&format!("{unscaled}e{}", -i32::from(scale)))),
        }
    }

    /// A decimal number as text (`4999.500`, `1E+3`, `NaN`). Returns whether it was one.
    pub fn decimal_text(&mut self, text: &str) -> bool {
        if let Some(value) = decimal_parts(text).and_then(|(digits, scale)| whole(digits, scale)) {
            self.integer(value);
            return true;
        }
        let real = text.parse().map(|value| self.real(value));
        real.is_ok()
    }

    /// A text; trailing blanks do not count.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        let text = without_blanks(text);
        let mut head = [TEXT; 5];
        head[1..].copy_from_slice(&(text.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(text);
    }

    /// The checksum of the row encoded since the last call, ready for the next row.
    #[inline]
    pub fn finish_row(&mut self) -> u64 {
        let checksum = xxh3_64(&self.bytes);
        self.bytes.clear();
        checksum
    }

    /// As `finish_row`, but a hash so wide that equal hashes mean equal rows.
    #[inline]
    pub(crate) fn finish_key(&mut self) -> u128 {
        let key = xxh3_128(&self.bytes);
        self.bytes.clear();
        key
    }

    pub(crate) fn real_exactly(&mut self, value: f64) {
        // All NaNs are one.
        let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        self.bytes.push(REAL);
        self.bytes.extend_from_slice(&bits.to_le_bytes());
    }
}

/// `unscaled` / 10^`scale` if it is an integer of 64 bits.
fn whole(unscaled: i128, scale: i32) -> Option<i64> {
    let power = 10_i128.checked_pow(scale.unsigned_abs());
    let value = match power {
        Some(power) if scale >= 0 && unscaled % power == 0 => unscaled / power,
        Some(power) if scale < 0 => unscaled.checked_mul(power)?,
        _ if unscaled == 0 => 0,
        _ => return None,
    };
    i64::try_from(value).ok()
}

/// (unscaled, scale) of a decimal number's text; None for `NaN` and for very long ones.
fn decimal_parts(text: &str) -> Option<(i128, i32)> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = number.split_once('.').unwrap_or((number, ""));
    let scale = i32::try_from(after.len()).ok()?.checked_sub(exponent.parse().ok()?)?;
    Some((format!("{before}{after}").parse().ok()?, scale))
}

fn nearest(text: &str) -> f64 {
    text.parse().expect("digits and an exponent are a number")
}

fn is_exact_integer(value: f64) -> bool {
    value.abs() < EXACT_MAX && as_integer(value).is_some()
}

/// The nearest number of 12 significant decimal digits, ties to even on the exact binary value.
fn round_to_12_digits(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.11e}").parse().expect("a printed number parses")
}

#[cfg(test)]
mod tests {
    use super::{Answer, RowEncoder};

    fn bytes(encode: impl FnOnce(&mut RowEncoder)) -> Vec<u8> {
        let mut row = RowEncoder::default();
        encode(&mut row);
        row.bytes
    }

    /// The examples of `docs/reference/quel.md`, to the byte.
    #[test]
    fn the_documented_bytes() {
        assert_eq!(bytes(RowEncoder::null), [0]);
        assert_eq!(bytes(|row| row.integer(-2)), [1, 254, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(bytes(|row| row.real(2.5)), [2, 0, 0, 0, 0, 0, 0, 4, 64]);
        assert_eq!(bytes(|row| row.text(b"ab  ")), [3, 2, 0, 0, 0, b'a', b'b']);
        let mut row = RowEncoder::default();
        row.integer(1);
        row.text(b"AAAA");
        row.null();
        assert_eq!(format!("{:016x}", row.finish_row()), "5dba6f92cfbcf884");
    }

    #[test]
    fn equal_numbers_have_equal_bytes() {
        let two = bytes(|row| row.integer(2));
        assert_eq!(bytes(|row| row.real(2.0)), two);
        assert_eq!(bytes(|row| row.decimal(200, 2)), two);
        assert_eq!(bytes(|row| _ = row.decimal_text("2.000")), two);
        assert_eq!(bytes(|row| row.unsigned(2)), two);
        assert_eq!(bytes(|row| row.real(-0.0)), bytes(|row| row.integer(0)));
        let half = bytes(|row| row.real(4999.5));
        assert_eq!(bytes(|row| row.decimal(49_995, 1)), half);
        assert_eq!(bytes(|row| _ = row.decimal_text("4999.5000")), half);
        assert_eq!(bytes(|row| row.decimal(3, -2)), bytes(|row| row.integer(300)));
        assert_eq!(bytes(|row| _ = row.decimal_text("3E+2")), bytes(|row| row.integer(300)));
        assert!(!RowEncoder::default().decimal_text("12x"));
        assert!(!RowEncoder::default().decimal_text(""));
        assert!(RowEncoder::default().decimal_text("NaN"));
    }

    #[test]
    fn the_order_of_a_sum_of_reals_does_not_show() {
        let (one_way, other_way) = (0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1);
        assert_ne!(f64::to_bits(one_way), f64::to_bits(other_way));
        assert_eq!(bytes(|row| row.real(one_way)), bytes(|row| row.real(other_way)));
        assert_eq!(bytes(|row| row.real(4_999.999_999_999_999)), bytes(|row| row.integer(5000)));
    }

    #[test]
    fn large_integers_stay_exact() {
        let large = i64::MAX - 1;
        assert_ne!(bytes(|row| row.integer(large)), bytes(|row| row.integer(large - 1)));
        assert_eq!(bytes(|row| row.decimal(large.into(), 0)), bytes(|row| row.integer(large)));
        let hundredfold = format!("{large}.00");
        assert_eq!(
            bytes(|row| _ = row.decimal_text(&hundredfold)),
            bytes(|row| row.integer(large))
        );
        assert_eq!(
            bytes(|row| _ = row.decimal_text("1E+18")),
            bytes(|row| row.integer(10_i64.pow(18)))
        );
        assert_eq!(bytes(|row| row.decimal(i128::MAX, 127))[0], 2);
        assert_eq!(bytes(|row| row.unsigned(u64::MAX))[0], 2);
    }

    #[test]
    fn duplicates_count_and_order_does_not() {
        let (mut forward, mut backward, mut once) = <(Answer, Answer, Answer)>::default();
        for checksum in [7, 9, 9] {
            forward.add(checksum);
        }
        for checksum in [9, 9, 7] {
            backward.add(checksum);
        }
        once.add(7);
        once.add(9);
        assert_eq!(forward, backward);
        assert_ne!(forward.checksum, once.checksum);
        forward.remove(9);
        assert_eq!(forward, once);
    }
}
