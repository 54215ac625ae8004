//! From a key to 64 bits of which the high ones choose the bucket and the low ones the place in it.

/// Two odd multipliers without visible pattern: 2^64 divided by the golden ratio, and one found by
/// search for mixers of this shape (P. Evensen's `rrmxmx`).
const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xD6E8_FEB8_6659_FD93;

/// Multiply, fold, multiply: Dietzfelbinger's multiplicative hashing, twice. One multiplication
/// would leave keys in steps of certain sizes (record numbers, say) close together; the second
/// costs a nanosecond. Each step can be undone, so different keys have different hashes.
#[inline]
pub(super) const fn mix(key: u64) -> u64 {
    let once = key.wrapping_mul(FIRST);
    (once ^ (once >> 32)).wrapping_mul(SECOND)
}

/// The first `depth` bits (below 32) of a hash: its place in a directory of 2^depth.
#[inline]
pub(super) const fn prefix(hash: u64, depth: u32) -> usize {
    (((hash >> 32) << (depth & 31)) >> 32) as usize
}

/// The key that has that hash, for keys made to collide.
#[cfg(test)]
pub(super) fn unmix(hash: u64) -> u64 {
    let folded = hash.wrapping_mul(inverse(SECOND));
    (folded ^ (folded >> 32)).wrapping_mul(inverse(FIRST))
}

/// Newton's iteration: each round doubles the bits that are right.
#[cfg(test)]
fn inverse(odd: u64) -> u64 {
    (0..6)
        .fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))))
}
