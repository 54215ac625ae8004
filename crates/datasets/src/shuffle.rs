//! Small random permutations for editions whose paper gives no generator.

/// `SplitMix64` (Steele, Lea & Flood 2014): a counter, mixed.
struct SplitMix64(u64);

impl SplitMix64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        mix(self.0)
    }

    /// A number below `bound`.
    fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }
}

/// The output function of `SplitMix64`: every bit of the argument moves every bit of the result.
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The numbers `0 .. length` in random order (Fisher-Yates from the end). `stream` separates
/// permutations that share a seed.
pub fn permutation(seed: u64, stream: u64, length: u32) -> Vec<u32> {
    let mut random = SplitMix64(mix(seed).wrapping_add(mix(stream.wrapping_add(SplitMix64::STEP))));
    let mut values: Vec<u32> = (0..length).collect();
    for last in (1..length).rev() {
        values.swap(last as usize, random.below(last + 1) as usize);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_permutation_and_differs_by_seed_and_stream() {
        let base = permutation(0, 0, 1000);
        let mut sorted = base.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
        assert_eq!(base, permutation(0, 0, 1000));
        assert_ne!(base, permutation(0, 1, 1000));
        assert_ne!(base, permutation(1, 0, 1000));
        assert_ne!(permutation(0, 1, 1000), permutation(1, 0, 1000));
    }
}
