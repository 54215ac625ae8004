//! Small random permutations for editions whose paper gives no generator.

use crate::splitmix::{SplitMix64, mix};

/// The numbers `0 .. length` in random order (Fisher-Yates from the end). `stream` separates
/// permutations that share a seed.
pub fn permutation(seed: u64, stream: u64, length: u32) -> Vec<u32> {
    let mut random =
        SplitMix64::new(mix(seed).wrapping_add(mix(stream.wrapping_add(SplitMix64::STEP))));
    let mut values: Vec<u32> = (0..length).collect();
    for last in (1..length).rev() {
        values.swap(last as usize, random.below(last as usize + 1));
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
