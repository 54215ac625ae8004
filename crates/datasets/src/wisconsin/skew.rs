//! Skewed values of an attribute: the n-th has a share of 1 / n (Zipf), in whole numbers, so that
//! they are the same on every machine.

use crate::splitmix::mix;

/// The share of value 0; value n has that over n + 1.
const LARGEST: u64 = 1 << 32;

/// Values 0 to below a count, the smaller the more frequent.
pub struct Skew {
    /// Of the shares of a value and all before it.
    sums: Vec<u64>,
}

impl Skew {
    /// Of `count` values, from 1 to a few hundred.
    pub fn new(count: u32) -> Self {
        let mut sum = 0;
        let shares = (1..=u64::from(count)).map(|rank| {
            sum += LARGEST / rank;
            sum
        });
        Self { sums: shares.collect() }
    }

    /// The value of the tuple with that unique1: a pure function of it.
    pub fn value(&self, unique1: u32) -> u32 {
        let bits = mix((u64::from(unique1) + 1) << 32);
        let all = u128::from(self.sums[self.sums.len() - 1]);
        let drawn = ((u128::from(bits) * all) >> 64) as u64;
        self.sums.partition_point(|sum| *sum <= drawn) as u32
    }
}
