//! Into how many partitions tuples are divided, and by which bits of their hashes.

/// The lowest of the bits that divide first. Hash tables take their places from either end of a
/// hash, and would be crowded where its bits are the same for all of a partition.
const BIT_FIRST: u32 = 36;

/// The number of times that partitions can be divided: into so many that a terabyte leaves some
/// megabytes each.
pub const LEVELS_MAX: u32 = 4;

/// With a budget from here on partitions are many: their buffers are long all the same, and what is
/// made of a partition lies in the processor's caches.
const MANY_BYTES_MIN: u64 = 16 << 20;

/// Into how many partitions tuples are divided at a time: 64 where the budget is large, else 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fan {
    bits: u32,
}

impl Fan {
    /// Of a budget in bytes.
    pub const fn of(budget_bytes: u64) -> Self {
        Self { bits: if budget_bytes >= MANY_BYTES_MIN { 6 } else { 4 } }
    }

    /// The number of partitions.
    pub const fn out(self) -> usize {
        1 << self.bits
    }

    /// The partition of a hash, when tuples are divided for the first time (level 0), or again.
    #[inline]
    pub const fn partition_of(self, hash: u64, level: u32) -> usize {
        if level >= LEVELS_MAX {
            return 0;
        }
        (hash >> (BIT_FIRST - level * self.bits)) as usize & (self.out() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuple::{HASH_SEED, hash_integer};

    #[test]
    fn each_level_divides_what_the_one_before_left_together() {
        for fan in [Fan::of(0), Fan::of(MANY_BYTES_MIN)] {
            let mut hashes: Vec<u64> =
                (0..400_000).map(|key| hash_integer(HASH_SEED, key)).collect();
            for level in 0..2 {
                let mut counts = vec![0; fan.out()];
                for hash in &hashes {
                    counts[fan.partition_of(*hash, level)] += 1;
                }
                let fair = hashes.len() / fan.out();
                let is_fair = |count: &usize| (fair / 2..=2 * fair).contains(count);
                assert!(counts.iter().all(is_fair), "level {level}: {counts:?}");
                hashes.retain(|hash| fan.partition_of(*hash, level) == 0);
            }
        }
        assert_eq!((Fan::of(0).out(), Fan::of(MANY_BYTES_MIN).out()), (16, 64));
    }
}
