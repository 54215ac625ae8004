//! Keys of rows, which are wide hashes: how they are hashed, and the groups that they number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are hashes already: half of one serves as its own.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// The numbers of a partition's groups, by the key of their by-values.
#[derive(Debug, Default)]
pub(super) struct Groups {
    numbers: HashMap<u128, u32, BuildHasherDefault<KeyHasher>>,
}

impl Groups {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether the key is new; it gets the next number then.
    pub fn insert(&mut self, key: u128) -> bool {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next) == next
    }

    pub fn find(&self, key: u128) -> Option<usize> {
        self.numbers.get(&key).map(|number| *number as usize)
    }
}
