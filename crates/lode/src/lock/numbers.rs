//! Hash maps and sets whose keys are our own numbers, which nobody chooses in order to make them
//! collide.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map from numbers.
pub(crate) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// A set of numbers.
pub(crate) type NumberSet<K> = HashSet<K, BuildHasherDefault<NumberHasher>>;

/// A multiplication for each number (Knuth, volume 3, section 6.4).
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

/// 2^64 divided by the golden ratio, odd.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// The product's high bits are the mixed ones, the map's places are counted by the low ones.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
