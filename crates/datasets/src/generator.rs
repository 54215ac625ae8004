//! The 1993 generator: powers of a primitive root modulo a prime, values above n skipped.
//!
//! Every value `1 .. p-1` comes exactly once a cycle, so the values up to n are a permutation. A
//! power can be computed directly; a *row* cannot, since rows skip values. [`Permutation`]
//! therefore counts the accepted values of fixed stretches of the cycle once, by jumping to each
//! stretch, and finds a row from those counts.

use std::sync::OnceLock;

use crate::splitmix::mix;

/// Which generator serves relations of up to `rows_max` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Largest relation of the class.
    pub rows_max: u64,
    /// A primitive root of `prime`.
    pub generator: u32,
    /// The smallest prime above `rows_max`.
    pub prime: u32,
}

const fn class(rows_max: u64, generator: u32, prime: u32) -> Class {
    Class { rows_max, generator, prime }
}

/// The published classes, and one more by the rule of `docs/reference/data.md`: for 10^9, the
/// smallest primitive root above the square root of the prime.
pub const CLASSES: [Class; 7] = [
    class(1_000, 279, 1_009),
    class(10_000, 2_969, 10_007),
    class(100_000, 21_395, 100_003),
    class(1_000_000, 2_107, 1_000_003),
    class(10_000_000, 211, 10_000_019),
    class(100_000_000, 21, 100_000_007),
    class(1_000_000_000, 31_624, 1_000_000_007),
];

/// The class for `rows` rows; None beyond the last.
pub fn class_for(rows: u64) -> Option<Class> {
    CLASSES.into_iter().find(|class| rows <= class.rows_max)
}

/// `base` to the power `exponent` modulo `prime`.
pub fn power(base: u32, exponent: u64, prime: u32) -> u32 {
    let modulus = u64::from(prime);
    let (mut result, mut square, mut rest) = (1, u64::from(base) % modulus, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        rest >>= 1;
    }
    result as u32
}

/// Multiplication by a fixed factor modulo a prime below 2^31, without a division (Shoup): the
/// factor's quotient by the prime, scaled by 2^32, is known beforehand and off by at most one.
#[derive(Clone, Copy)]
struct Multiplier {
    factor: u32,
    quotient: u32,
    prime: u32,
}

impl Multiplier {
    fn new(factor: u32, prime: u32) -> Self {
        Self { factor, quotient: ((u64::from(factor) << 32) / u64::from(prime)) as u32, prime }
    }

    #[inline]
    fn times(self, value: u32) -> u32 {
        let quotient = ((u64::from(self.quotient) * u64::from(value)) >> 32) as u32;
        let rest = self.factor.wrapping_mul(value).wrapping_sub(quotient.wrapping_mul(self.prime));
        // Below twice the prime; the subtraction wraps to something larger where it is not due.
        rest.min(rest.wrapping_sub(self.prime))
    }
}

/// The numbers `0 .. rows` in the generator's order.
pub struct Permutation {
    rows: u32,
    class: Class,
    start: u32,
    step: Multiplier,
    /// Accepted values before each stretch of the cycle.
    accepted_before: OnceLock<Vec<u32>>,
}

/// Bounds the memory of the counts, whatever the relation's size.
const STRETCHES_MAX: u64 = 1 << 16;

/// Below this a shorter stretch saves nothing.
const STRETCH_STEPS_MIN: u64 = 1 << 12;

/// Walks that are counted side by side, because one waits for its own multiplication.
const LANES: usize = 8;

impl Permutation {
    /// The permutation of `rows` numbers in their class. Seed 0 is the published order; another
    /// seed starts the same cycle elsewhere. None beyond the last class.
    pub fn new(rows: u64, seed: u64) -> Option<Self> {
        let class = class_for(rows)?;
        let cycle = u64::from(class.prime - 1);
        let offset = if seed == 0 { 0 } else { mix(seed) % cycle };
        // The published loop multiplies before its first output and starts from the generator.
        let start = power(class.generator, 2 + offset, class.prime);
        let step = Multiplier::new(class.generator, class.prime);
        Some(Self { rows: rows as u32, class, start, step, accepted_before: OnceLock::new() })
    }

    /// A walk whose next value belongs to row `first`.
    pub fn walk(&self, first: u64) -> Walk {
        let mut walk = Walk { value: self.start, step: self.step, rows: self.rows };
        if first == 0 {
            return walk;
        }
        let before = self.prepare(1);
        let stretch = before.partition_point(|count| u64::from(*count) <= first) - 1;
        walk.value = self.at(stretch as u64 * self.stretch_steps());
        for _ in u64::from(before[stretch])..first {
            walk.next_value();
        }
        walk
    }

    /// Count the stretches, with up to `threads` threads, unless that is done already.
    pub fn prepare(&self, threads: usize) -> &[u32] {
        self.accepted_before.get_or_init(|| {
            let mut counts = self.count_stretches(threads.max(1));
            let mut total = 0;
            for count in &mut counts {
                total += std::mem::replace(count, total);
            }
            counts
        })
    }

    fn cycle_steps(&self) -> u64 {
        u64::from(self.class.prime - 1)
    }

    fn stretch_steps(&self) -> u64 {
        let steps = self.cycle_steps().div_ceil(STRETCHES_MAX).max(STRETCH_STEPS_MIN);
        steps.next_multiple_of(LANES as u64)
    }

    /// The cycle's value `steps` after the start.
    fn at(&self, steps: u64) -> u32 {
        let prime = self.class.prime;
        let jump = power(self.class.generator, steps, prime);
        (u64::from(self.start) * u64::from(jump) % u64::from(prime)) as u32
    }

    fn count_stretches(&self, threads: usize) -> Vec<u32> {
        let steps = self.stretch_steps();
        let mut counts = vec![0; self.cycle_steps().div_ceil(steps) as usize];
        let share = counts.len().div_ceil(threads);
        std::thread::scope(|scope| {
            for (number, counts) in counts.chunks_mut(share).enumerate() {
                scope.spawn(move || {
                    for (offset, count) in counts.iter_mut().enumerate() {
                        *count = self.count((number * share + offset) as u64);
                    }
                });
            }
        });
        counts
    }

    /// Accepted values of a stretch; the last one runs over the cycle's end, but nothing follows
    /// that would need its count.
    fn count(&self, stretch: u64) -> u32 {
        let steps = self.stretch_steps();
        let prime = self.class.prime;
        let step = Multiplier::new(power(self.class.generator, LANES as u64, prime), prime);
        let first = stretch * steps;
        let mut lanes: [u32; LANES] = std::array::from_fn(|lane| self.at(first + lane as u64));
        let mut counts = [0; LANES];
        for _ in 0..steps / LANES as u64 {
            for (value, count) in lanes.iter_mut().zip(&mut counts) {
                *count += u32::from(*value <= self.rows);
                *value = step.times(*value);
            }
        }
        counts.iter().sum()
    }
}

/// A place in the cycle.
pub struct Walk {
    value: u32,
    step: Multiplier,
    rows: u32,
}

impl Walk {
    /// The next row's value.
    #[inline]
    pub fn next_value(&mut self) -> u32 {
        loop {
            let value = self.value;
            self.value = self.step.times(value);
            if value <= self.rows {
                return value - 1;
            }
        }
    }
}
