//! `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): a seed names the same crashes for ever.

/// A stream of random numbers that is a pure function of its seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number below `bound`, by the high half of a product: its bias is below `bound` / 2^64.
    pub(crate) const fn below(&mut self, bound: usize) -> usize {
        ((self.next() as u128 * bound as u128) >> 64) as usize
    }
}

/// The step by which a stream's state grows at each number.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Number `n` of the stream with seed 0, counted from 0.
pub(crate) const fn nth(n: u64) -> u64 {
    mixed(n.wrapping_add(1).wrapping_mul(STEP))
}

const fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn follows_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let drawn = [random.next(), random.next(), random.next()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(drawn, published);
    }

    #[test]
    fn a_number_is_found_by_its_place() {
        let mut stream = Random::new(0);
        assert!((0..9).all(|n| super::nth(n) == stream.next()));
    }
}
