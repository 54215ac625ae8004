//! `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): a seed names the same crashes for ever. The
//! generator of `loadstone-datasets` is the same; the engine depends on no crate of benchmarks. And
//! random bytes of the system.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{LodeError, Result};

/// Fill some bytes, at most 256, with random ones of the kernel.
///
/// # Errors
///
/// The kernel has none, or forbids the call.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    loop {
        match getrandom(&mut *bytes, GetRandomFlags::empty()) {
            Ok(count) if count == bytes.len() => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(LodeError::io("drawing random bytes", error.into())),
        }
    }
}

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
    use super::{Random, fill};

    #[test]
    fn random_bytes_differ() {
        let [mut one, mut other] = [[0; 16]; 2];
        fill(&mut one).unwrap();
        fill(&mut other).unwrap();
        assert_ne!(one, other);
        assert_ne!(one, [0; 16]);
    }

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
