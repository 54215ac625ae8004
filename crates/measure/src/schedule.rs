//! Interleaving: in which order the variants are measured, so that drift hits all alike.

use loadstone_datasets::splitmix::SplitMix64;

/// `rounds` random orders of the numbers `0 .. variants`; the same seed gives the same orders.
pub fn orders(seed: u64, variants: usize, rounds: usize) -> Vec<Vec<usize>> {
    let mut random = SplitMix64::new(seed);
    (0..rounds)
        .map(|_| {
            let mut order: Vec<usize> = (0..variants).collect();
            for last in (1..variants).rev() {
                order.swap(last, random.below(last + 1));
            }
            order
        })
        .collect()
}
