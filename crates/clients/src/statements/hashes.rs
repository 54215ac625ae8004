//! The hash functions of pgbench's expressions, and its permutation of the first numbers. All
//! arithmetic is of 64 bits without a sign, and wraps around.

/// FNV-1a of the eight bytes of a number, the lowest first.
pub const fn fnv1a(value: i64, seed: i64) -> i64 {
    let bytes = value.to_le_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash as i64
}

const MURMUR: u64 = 0xc6a4_a793_5bd1_e995;

/// `MurmurHash64A` of a number's eight bytes.
pub const fn murmur2(value: i64, seed: i64) -> i64 {
    const fn mixed(bits: u64) -> u64 {
        bits ^ (bits >> 47)
    }
    let block = mixed((value as u64).wrapping_mul(MURMUR)).wrapping_mul(MURMUR);
    let hash = (seed as u64 ^ MURMUR.wrapping_mul(8) ^ block).wrapping_mul(MURMUR);
    mixed(mixed(hash).wrapping_mul(MURMUR)) as i64
}

/// The place of a number, modulo a size above 0, in a permutation of the numbers below the size.
/// Six rounds: the lower part of them, as large as a power of two, is multiplied, combined and
/// rotated in itself, so is the upper part, and all are moved on.
pub fn permuted(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let mut place = value as u64 % size;
    let width = size.ilog2();
    let mask = (1_u64 << width) - 1;
    let mut bits = Xoroshiro::new(seed as u64);
    for _ in 0..6 {
        place = bits.scrambled(place, mask, width);
        place = size - 1 - bits.scrambled(size - 1 - place, mask, width);
        place = (place + bits.below(size)) % size;
    }
    place as i64
}

/// xoroshiro128**, seeded by `SplitMix64`.
struct Xoroshiro([u64; 2]);

impl Xoroshiro {
    fn new(seed: u64) -> Self {
        let mut bits = loadstone_datasets::splitmix::SplitMix64::new(seed);
        Self([bits.next(), bits.next()])
    }

    const fn next(&mut self) -> u64 {
        let [first, second] = self.0;
        let crossed = first ^ second;
        self.0 = [first.rotate_left(24) ^ crossed ^ (crossed << 16), crossed.rotate_left(37)];
        first.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// A number below a size, by drawing bits until they are one.
    const fn below(&mut self, size: u64) -> u64 {
        let above = (size - 1).leading_zeros();
        loop {
            let drawn = self.next() >> above;
            if drawn < size {
                return drawn;
            }
        }
    }

    /// Two numbers are drawn, whether or not the place is within the mask.
    const fn scrambled(&mut self, place: u64, mask: u64, width: u32) -> u64 {
        let factor = self.next() | 1;
        let other = self.next() & mask;
        if place > mask {
            return place;
        }
        let within = (place.wrapping_mul(factor) ^ other) & mask;
        ((within << 1) & mask) | (within >> (width - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{fnv1a, murmur2, permuted};

    /// What pgbench of `PostgreSQL` 18.6 prints for them.
    #[test]
    fn they_are_those_of_pgbench() {
        let places = [(5, 8, 1), (5, 7, 1), (5, 1000, 3), (-7, 1000, 3), (7, 1 << 40, 3)];
        let found = places.map(|(value, size, seed)| permuted(value, size, seed));
        assert_eq!(found, [5, 2, 98, 542, 245_514_686_085]);
        assert_eq!(fnv1a(7, 3), 3_232_700_585_171_816_769);
        assert_eq!(murmur2(7, 3), 8_125_866_431_149_839_784);
        let mut all: Vec<_> = (0..100).map(|value| permuted(value, 100, 9)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}
