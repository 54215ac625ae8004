//! The loops with one value at a time.

use super::{InstructionSet, Kernels, loops};

/// Without vector instructions.
pub(super) const KERNELS: Kernels = Kernels {
    instruction_set: InstructionSet::Scalar,
    // Where each position goes depends on those before: no compiler makes vectors of that.
    keep_narrow: loops::keep_narrow,
    keep_wide: loops::keep_wide,
    least,
    greatest,
    sum,
    // Of 128-bit products no compiler makes vectors either.
    hash: loops::hash,
};

/// The same value, of which the compiler knows no more than that it is in a register of its own:
/// so it makes no vectors of the loop.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is no instruction at all")]
fn alone(mut value: i64) -> i64 {
    // SAFETY: there is no instruction in it.
    #[expect(unsafe_code, reason = "nothing else keeps the compiler from making vectors")]
    unsafe {
        std::arch::asm!(
            "/* {0} */",
            inout(reg) value,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    value
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn alone(value: i64) -> i64 {
    std::hint::black_box(value)
}

fn least(values: &[i64]) -> i64 {
    values.iter().fold(i64::MAX, |least, value| least.min(alone(*value)))
}

fn greatest(values: &[i64]) -> i64 {
    values.iter().fold(i64::MIN, |greatest, value| greatest.max(alone(*value)))
}

fn sum(values: &[i64]) -> i128 {
    values.iter().map(|value| i128::from(alone(*value))).sum()
}
