//! Park and Miller's minimal standard generator, which the paper used, with jumps.

use crate::generator::power;

/// The modulus, a prime: states are `1 .. MODULUS`.
pub const MODULUS: u32 = (1 << 31) - 1;

/// The multiplier, a primitive root of the modulus.
const MULTIPLIER: u32 = 16_807;

/// Draws until the states repeat.
pub const CYCLE_DRAWS: u64 = MODULUS as u64 - 1;

/// A place on the generator's cycle. There is one cycle: streams are places far apart on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkMiller {
    state: u32,
}

impl ParkMiller {
    /// The generator whose state is `seed`, from 1 to [`MODULUS`] − 1.
    pub fn new(seed: u32) -> Self {
        Self { state: seed }
    }

    /// The generator after that many draws, without making them.
    #[must_use]
    pub fn skip(self, draws: u64) -> Self {
        let jump = power(MULTIPLIER, draws % CYCLE_DRAWS, MODULUS);
        Self { state: times(self.state, jump) }
    }

    /// The last state drawn, or the seed.
    pub fn state(self) -> u32 {
        self.state
    }

    /// Draw without using the number.
    #[inline]
    pub fn pass(&mut self) {
        self.state = times(self.state, MULTIPLIER);
    }

    /// rand[1..range]: the next state x as 1 + ⌊x·range/(2³¹−1)⌋. The paper warns of the low bits,
    /// so the number is scaled, not divided.
    #[inline]
    pub fn draw(&mut self, range: u32) -> u32 {
        self.pass();
        let scaled = u64::from(self.state) * u64::from(range);
        // scaled = high·2³¹ + low = high·m + (high + low), and high + low is below 2m.
        let (high, low) = (scaled >> 31, scaled & u64::from(MODULUS));
        1 + (high + u64::from(high + low >= u64::from(MODULUS))) as u32
    }
}

/// The product modulo 2³¹−1: the bits above the 31st count once more from the bottom.
#[inline]
fn times(value: u32, factor: u32) -> u32 {
    let product = u64::from(value) * u64::from(factor);
    let folded = (product >> 31) as u32 + (product as u32 & MODULUS);
    // Below twice the modulus; the subtraction wraps to something larger where it is not due.
    folded.min(folded.wrapping_sub(MODULUS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_the_published_ones() {
        let mut random = ParkMiller::new(1);
        let first: Vec<u32> = std::iter::repeat_with(|| {
            random.pass();
            random.state()
        })
        .take(10_000)
        .collect();
        let published = [16_807, 282_475_249, 1_622_650_073, 984_943_658, 1_144_108_930];
        assert_eq!(first[..5], published);
        assert_eq!(first[9_999], 1_043_618_065);
        for draws in [0, 1, 2, 77, 9_999] {
            let expected = if draws == 0 { 1 } else { first[draws as usize - 1] };
            for cycles in [0, 1, 3] {
                let random = ParkMiller::new(1).skip(draws + cycles * CYCLE_DRAWS);
                assert_eq!(random.state(), expected);
            }
        }
    }

    #[test]
    fn numbers_are_the_states_scaled_whatever_the_range() {
        for seed in [1, 2, 42, MODULUS - 1, 1_407_677_000] {
            let mut random = ParkMiller::new(seed);
            for range in [1, 2, 10, 200, 100_000, 315_619_200, MODULUS, u32::MAX] {
                let number = random.draw(range);
                let state = u128::from(random.state());
                let scaled = state * u128::from(range) / u128::from(MODULUS);
                assert_eq!(u128::from(number), 1 + scaled, "seed {seed}, range {range}");
            }
        }
    }

    #[test]
    fn numbers_reach_both_ends_of_their_range() {
        // States 1 and m - 1 are the smallest and the largest; one draw before them lies the seed.
        let before = |state| ParkMiller::new(state).skip(CYCLE_DRAWS - 1);
        for range in [1, 2, 10, 315_619_200, MODULUS - 1] {
            assert_eq!(before(1).draw(range), 1);
            assert_eq!(before(MODULUS - 1).draw(range), range);
        }
    }
}
