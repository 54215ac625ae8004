//! The one hash of all executors: multiply by an odd constant to 128 bits, fold the halves.
//!
//! Keys of several values are hashed in a chain: the hash so far is the seed of the next. Equal
//! values of equal type have equal hashes; those of two types need not.

use super::value::{Value, trimmed};

/// The seed of a key's first value.
pub const HASH_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Odd, and as many ones as zeros. Of nine such constants this one spreads keys in steps of 1, 2,
/// 7, 100, 1,000, 2^16 and 2^32 most evenly over each byte of the hash.
const INTEGER: u64 = 0xe703_7ed1_a0b4_28db;
const REAL: u64 = 0xd6e8_feb8_6659_fd93;
const TEXT: u64 = 0x8ebc_6af0_9c88_c6e3;
const NULL: u64 = 0x5899_65cc_7537_4cc3;

/// Multiplies to 128 bits and folds the halves.
#[inline]
const fn fold(left: u64, right: u64) -> u64 {
    let product = left as u128 * right as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The hash of an integer, whatever its width.
#[inline]
pub const fn hash_integer(seed: u64, value: i64) -> u64 {
    fold(seed ^ value as u64, INTEGER)
}

/// The same as [`hash_integer`], from four products of 32 bits: no vector has one of 64.
#[inline]
pub(crate) const fn hash_integer_by_halves(seed: u64, value: i64) -> u64 {
    const MASK: u64 = 0xffff_ffff;
    let value = seed ^ value as u64;
    let (low, high) = (value & MASK, value >> 32);
    let (by_low, by_high) = (INTEGER & MASK, INTEGER >> 32);
    let (first, last) = (low * by_low, high * by_high);
    let (one, other) = (low * by_high, high * by_low);
    let middle = (first >> 32) + (one & MASK) + (other & MASK);
    let product_low = (first & MASK) | (middle << 32);
    product_low ^ (last + (one >> 32) + (other >> 32) + (middle >> 32))
}

/// The hash of a finite real, whatever its width; both zeros have the same.
#[inline]
pub fn hash_real(seed: u64, value: f64) -> u64 {
    // Adding a positive zero turns the negative one into it and changes nothing else.
    fold(seed ^ (value + 0.0).to_bits(), REAL)
}

/// The hash of a text; its trailing blanks do not count.
#[inline]
pub fn hash_text(seed: u64, text: &[u8]) -> u64 {
    let text = trimmed(text);
    let mut hash = seed ^ text.len() as u64;
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), TEXT);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(hash ^ u64::from_le_bytes(last), TEXT)
}

/// The hash of a null.
#[inline]
pub const fn hash_null(seed: u64) -> u64 {
    fold(seed ^ NULL, NULL)
}

impl Value<'_> {
    /// The hash of the value behind those whose hash is `seed`.
    #[inline]
    pub fn hash(self, seed: u64) -> u64 {
        match self {
            Self::Null => hash_null(seed),
            Self::Integer(value) => hash_integer(seed, value),
            Self::Real(value) => hash_real(seed, value),
            Self::Text(text) => hash_text(seed, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HASH_SEED, Value, hash_integer, hash_integer_by_halves};
    use proptest::prelude::*;

    fn hash(value: Value<'_>) -> u64 {
        value.hash(HASH_SEED)
    }

    #[test]
    fn consecutive_keys_spread_over_every_byte_of_the_hash() {
        for shift in (0..64).step_by(8) {
            let mut counts = [0; 256];
            for key in 0..25_600 {
                counts[(hash_integer(HASH_SEED, key) >> shift) as usize & 255] += 1;
            }
            // 100 are expected in each; six standard deviations are 60.
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*least > 40 && *most < 160, "bits from {shift}: {least} to {most}");
        }
    }

    #[test]
    fn both_zeros_have_one_hash_and_the_order_of_a_key_counts() {
        assert_eq!(hash(Value::Real(0.0)), hash(Value::Real(-0.0)));
        let key = |one, two| Value::Integer(two).hash(hash(Value::Integer(one)));
        assert_ne!(key(1, 2), key(2, 1));
        assert_ne!(hash(Value::Null), hash(Value::Integer(0)));
    }

    proptest! {
        #[test]
        fn equal_texts_have_equal_hashes_and_others_do_not(
            left in "[ab ]{0,20}", right in "[ab ]{0,20}", blanks in 0usize..9
        ) {
            let padded = left.clone() + &" ".repeat(blanks);
            let (left, right) = (Value::Text(left.as_bytes()), Value::Text(right.as_bytes()));
            prop_assert_eq!(hash(left), hash(Value::Text(padded.as_bytes())));
            let is_equal = left.compare(right) == Some(std::cmp::Ordering::Equal);
            prop_assert_eq!(hash(left) == hash(right), is_equal);
        }

        #[test]
        fn products_of_halves_are_the_product(seed: u64, value: i64) {
            prop_assert_eq!(hash_integer_by_halves(seed, value), hash_integer(seed, value));
        }

        #[test]
        fn different_integers_have_different_hashes(left: i64, right: i64) {
            let hashes_equal = hash(Value::Integer(left)) == hash(Value::Integer(right));
            prop_assert_eq!(hashes_equal, left == right);
        }
    }
}
