//! The innermost loops, over plain arrays: `simd=off|on`.
//!
//! Each is there for several instruction sets, all with the same results bit for bit. Which are
//! taken is decided before a pipeline begins, by the tactic and by what the processor can do; it
//! then calls them through a table of functions, once for each batch.

mod loops;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;

use crate::counters::Work;
use crate::tactics::Simd;

/// The loops for one instruction set.
pub struct Kernels {
    instruction_set: InstructionSet,
    keep_narrow: Keep<i32>,
    keep_wide: Keep<i64>,
    least: fn(&[i64]) -> i64,
    greatest: fn(&[i64]) -> i64,
    sum: fn(&[i64]) -> i128,
    hash: fn(&[i64], &mut [u64]),
}

/// Keeps the positions of a selection whose values lie between two, or do not.
type Keep<T> = fn(&mut Vec<u16>, &[T], (T, T), bool);

/// The instructions that loops are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InstructionSet {
    /// One value at a time.
    Scalar,
    /// The instructions that every processor of the kind has.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl fmt::Debug for Kernels {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Kernels({:?})", self.instruction_set)
    }
}

impl Kernels {
    /// Those that the tactic requests, on this processor.
    pub fn of(simd: Simd) -> &'static Self {
        match simd {
            Simd::Off => &scalar::KERNELS,
            Simd::On => detected(),
        }
    }

    /// Count that one of the loops has run.
    #[inline]
    pub fn count(&self, work: &mut Work) {
        let counted = match self.instruction_set {
            InstructionSet::Scalar => &mut work.scalar_loops,
            InstructionSet::Baseline => &mut work.baseline_loops,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => &mut work.avx2_loops,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => &mut work.avx512_loops,
        };
        *counted += 1;
    }

    /// Of a selection, keep the positions whose value lies between the two, both included, or does
    /// not where `negated`. The values are in the order of the selection.
    #[inline]
    pub fn keep_narrow(
        &self,
        selection: &mut Vec<u16>,
        values: &[i32],
        (low, high): (i64, i64),
        negated: bool,
    ) {
        let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
        if low > high || low > greatest || high < least {
            keep_all_or_none(selection, negated);
            return;
        }
        let bounds = (low.max(least) as i32, high.min(greatest) as i32);
        (self.keep_narrow)(selection, &values[..selection.len()], bounds, negated);
    }

    /// As [`Kernels::keep_narrow`].
    #[inline]
    pub fn keep_wide(
        &self,
        selection: &mut Vec<u16>,
        values: &[i64],
        (low, high): (i64, i64),
        negated: bool,
    ) {
        if low > high {
            keep_all_or_none(selection, negated);
            return;
        }
        (self.keep_wide)(selection, &values[..selection.len()], (low, high), negated);
    }

    /// The least value; of none the greatest that there is.
    #[inline]
    pub fn least(&self, values: &[i64]) -> i64 {
        (self.least)(values)
    }

    /// The greatest value; of none the least that there is.
    #[inline]
    pub fn greatest(&self, values: &[i64]) -> i64 {
        (self.greatest)(values)
    }

    /// The sum of at most 2^31 values.
    #[inline]
    pub fn sum(&self, values: &[i64]) -> i128 {
        (self.sum)(values)
    }

    /// The hash of each value as the only one of a key.
    #[inline]
    pub fn hash(&self, values: &[i64], hashes: &mut [u64]) {
        (self.hash)(values, hashes);
    }
}

/// No value lies between.
fn keep_all_or_none(selection: &mut Vec<u16>, negated: bool) {
    if !negated {
        selection.clear();
    }
}

#[cfg(target_arch = "x86_64")]
fn detected() -> &'static Kernels {
    x86::detected().unwrap_or(&loops::KERNELS)
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> &'static Kernels {
    &loops::KERNELS
}

/// All that this processor can run, for tests.
#[cfg(test)]
fn all() -> Vec<&'static Kernels> {
    let mut all = vec![&scalar::KERNELS, &loops::KERNELS];
    #[cfg(target_arch = "x86_64")]
    all.extend(x86::all());
    all
}
