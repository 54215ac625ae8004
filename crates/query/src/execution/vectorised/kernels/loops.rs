//! The loops as the compiler makes vectors of them, with the instructions that every processor of
//! the kind has. [`super::x86`] compiles them once more for what newer ones have.

use super::{InstructionSet, Kernels};
use crate::tuple::{HASH_SEED, hash_integer, hash_integer_by_halves};

/// With the least instruction set of this kind of processor.
pub(super) const KERNELS: Kernels = Kernels {
    instruction_set: InstructionSet::Baseline,
    keep_narrow,
    keep_wide,
    least,
    greatest,
    sum,
    hash,
};

/// Keep what lies between. One unsigned comparison shows: what is below the range wraps around to
/// above it. There is no branch on it: a mispredicted one costs more than a store that is written
/// over.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn keep_narrow(
    selection: &mut Vec<u16>,
    values: &[i32],
    (low, high): (i32, i32),
    negated: bool,
) {
    let width = high.wrapping_sub(low) as u32;
    let mut kept = 0;
    for (at, value) in values.iter().enumerate() {
        selection[kept] = selection[at];
        kept += usize::from((value.wrapping_sub(low) as u32 <= width) != negated);
    }
    selection.truncate(kept);
}

/// As [`keep_narrow`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn keep_wide(
    selection: &mut Vec<u16>,
    values: &[i64],
    (low, high): (i64, i64),
    negated: bool,
) {
    let width = high.wrapping_sub(low) as u64;
    let mut kept = 0;
    for (at, value) in values.iter().enumerate() {
        selection[kept] = selection[at];
        kept += usize::from((value.wrapping_sub(low) as u64 <= width) != negated);
    }
    selection.truncate(kept);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn least(values: &[i64]) -> i64 {
    values.iter().fold(i64::MAX, |least, value| least.min(*value))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn greatest(values: &[i64]) -> i64 {
    values.iter().fold(i64::MIN, |greatest, value| greatest.max(*value))
}

/// In halves of 32 bits, of which 64 bits hold the sums: no vector adds 128 bits.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn sum(values: &[i64]) -> i128 {
    let (low, high) = values.iter().fold((0_u64, 0_i64), |(low, high), value| {
        (low.wrapping_add(u64::from(*value as u32)), high.wrapping_add(*value >> 32))
    });
    (i128::from(high) << 32) + i128::from(low)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn hash(values: &[i64], hashes: &mut [u64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = hash_integer(HASH_SEED, *value);
    }
}

/// The same from products of 32 bits each, which vectors have.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew for each instruction set")]
pub(super) fn hash_by_halves(values: &[i64], hashes: &mut [u64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = hash_integer_by_halves(HASH_SEED, *value);
    }
}
