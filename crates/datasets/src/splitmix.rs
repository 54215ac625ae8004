//! `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
//!
//! Our own, because seeds stand in records: what a seed means must not change with a dependency.

/// A stream of random numbers that is a pure function of its seed, for ever: a counter, mixed.
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// From one state to the next.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        mix(self.0)
    }

    /// A number below `bound`, by the high half of a product: its bias is below `bound` / 2^64.
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.next() as u128 * bound as u128) >> 64) as usize
    }

    /// A number above 0 and up to 1, in steps of 2^-53: its logarithm is finite.
    pub const fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// The output function: every bit of the argument moves every bit of the result.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn follows_the_published_generator() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| random.next()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn stays_below_its_bound_and_reaches_every_number() {
        let mut random = SplitMix64::new(7);
        let mut seen = [0_u32; 6];
        for _ in 0..6_000 {
            seen[random.below(6)] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1_150).contains(&count)), "{seen:?}");
    }
}
