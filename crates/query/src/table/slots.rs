//! Linear probing with salt: which number a key has, by its hash.

use crate::error::Result;
use crate::memory::Reservation;

/// Bits of a slot that hold a number, plus one; 0 is a slot that is free. The rest is salt.
const NUMBER_BITS: u32 = 48;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

/// The number of numbers ahead for which memory is requested: the slots of a larger table.
const AHEAD: usize = 16;

/// Slots at first: half a page.
const SLOTS_MIN: usize = 256;

/// Numbers, given in order from 0 on, by the hashes of their keys. The keys are elsewhere.
///
/// A slot is one word: 16 bits of the hash, so that hardly any key is looked at in vain, and the
/// number. At most half of the slots are taken.
#[derive(Debug)]
pub struct Slots {
    words: Vec<u64>,
    /// The hash of each number, for a larger table.
    hashes: Vec<u64>,
    reservation: Reservation,
}

impl Slots {
    /// Without a number.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has none at all.
    pub fn new(mut reservation: Reservation) -> Result<Self> {
        reservation.add(Self::bytes_of(SLOTS_MIN))?;
        Ok(Self { words: vec![0; SLOTS_MIN], hashes: Vec::new(), reservation })
    }

    /// The bytes of a table of so many slots: the words, and hashes of half as many.
    const fn bytes_of(slots: usize) -> u64 {
        (slots * 8 + slots / 2 * 8) as u64
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        // The low bits; the salt comes from the high ones.
        hash as usize & (self.words.len() - 1)
    }

    /// Bring the slot of a hash into the processor's caches.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&raw const self.words[self.place(hash)]);
    }

    /// The number of the key with that hash which `is_key` accepts.
    #[inline]
    pub fn find(&self, hash: u64, is_key: impl FnMut(usize) -> bool) -> Option<usize> {
        self.find_or_free(hash, is_key).ok()
    }

    /// The number of the key with that hash which `is_key` accepts, or as an error the free slot
    /// that [`Slots::insert_at`] takes for it before anything else is put in.
    #[inline]
    pub fn find_or_free(
        &self,
        hash: u64,
        mut is_key: impl FnMut(usize) -> bool,
    ) -> std::result::Result<usize, usize> {
        let mut at = self.place(hash);
        loop {
            let word = self.words[at];
            if word == 0 {
                return Err(at);
            }
            if word >> NUMBER_BITS == hash >> NUMBER_BITS {
                let number = (word & NUMBER_MASK) as usize - 1;
                if is_key(number) {
                    return Ok(number);
                }
            }
            at = (at + 1) & (self.words.len() - 1);
        }
    }

    /// Give the next number to a key with that hash, at a slot that is free for it. Room was made
    /// before it was looked for.
    #[inline]
    pub fn insert_at(&mut self, slot: usize, hash: u64) -> usize {
        let number = self.hashes.len();
        self.hashes.push(hash);
        self.words[slot] = (hash >> NUMBER_BITS << NUMBER_BITS) | (number as u64 + 1);
        number
    }

    /// Make room for one number more. False if the budget has no memory for it.
    #[inline]
    #[must_use]
    pub fn try_reserve(&mut self) -> bool {
        self.hashes.len() < self.words.len() / 2 || self.try_grow()
    }

    /// Give the next number to a key with that hash, which has none. Room was made before.
    #[inline]
    pub fn insert(&mut self, hash: u64) -> usize {
        let number = self.hashes.len();
        self.hashes.push(hash);
        self.put(hash, number);
        number
    }

    #[inline]
    fn put(&mut self, hash: u64, number: usize) {
        let mut at = self.place(hash);
        while self.words[at] != 0 {
            at = (at + 1) & (self.words.len() - 1);
        }
        self.words[at] = (hash >> NUMBER_BITS << NUMBER_BITS) | (number as u64 + 1);
    }

    /// Make room for so many numbers at once where the budget has memory for it, so that the table
    /// need not grow while they come.
    pub fn expect(&mut self, numbers: usize) {
        let slots = (2 * numbers).next_power_of_two();
        if slots > self.words.len() {
            _ = self.try_grow_to(slots);
        }
    }

    #[cold]
    fn try_grow(&mut self) -> bool {
        // Growth is fourfold while that is cheap: half as many copies.
        let factor = if self.words.len() < 1 << 16 { 4 } else { 2 };
        self.try_grow_to(self.words.len() * factor)
    }

    fn try_grow_to(&mut self, slots: usize) -> bool {
        let old_bytes = Self::bytes_of(self.words.len());
        // Old and new words live together for a moment.
        if !self.reservation.try_add(Self::bytes_of(slots)) {
            return false;
        }
        self.words = vec![0; slots];
        self.hashes.reserve_exact(slots / 2 - self.hashes.len());
        for number in 0..self.hashes.len() {
            if let Some(later) = self.hashes.get(number + AHEAD) {
                self.prefetch(*later);
            }
            self.put(self.hashes[number], number);
        }
        self.reservation.give_back(old_bytes);
        true
    }

    /// That the budget has no memory.
    pub fn refusal(&self) -> crate::QueryError {
        self.reservation.refusal()
    }

    /// Forget all numbers; what memory there is, stays.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.hashes.clear();
    }
}

/// Bring a cache line near.
#[inline]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "there is no safe prefetch")]
    // SAFETY: a prefetch never faults, whatever the address, and changes nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::tuple::{HASH_SEED, hash_integer};
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(
            keys in prop::collection::vec(0i64..900, 0..1200), mask: u64
        ) {
            // A hash of few bits makes keys collide.
            let mask = mask | 0xff;
            let hash = |key: i64| hash_integer(HASH_SEED, key) & mask;
            let mut slots = Slots::new(Memory::new(1 << 24).reservation("a test")).unwrap();
            let (mut model, mut by_number) = (HashMap::new(), Vec::new());
            for key in keys {
                let found = slots.find(hash(key), |number| by_number[number] == key);
                prop_assert_eq!(found, model.get(&key).copied());
                if found.is_none() {
                    prop_assert!(slots.try_reserve());
                    let number = slots.insert(hash(key));
                    by_number.push(key);
                    model.insert(key, number);
                }
            }
            prop_assert_eq!(slots.len(), model.len());
        }
    }

    #[test]
    fn a_budget_without_memory_refuses_the_next_number() {
        let memory = Memory::new(20_000);
        let mut slots = Slots::new(memory.reservation("a test")).unwrap();
        let mut count = 0;
        while slots.try_reserve() {
            slots.insert(hash_integer(HASH_SEED, count));
            count += 1;
        }
        assert_eq!(count, 512);
        assert!(memory.used_bytes() <= 20_000);
        let last = hash_integer(HASH_SEED, count - 1);
        assert_eq!(slots.find(last, |_| true), Some(511));
    }
}
