//! Duplicates of tuples, removed by hash.

use super::key::{has_real, hash_fields, is_equal};
use super::slots::Slots;
use crate::error::Result;
use crate::memory::{Memory, Place, Tuples};
use crate::tuple::{self, HASH_SEED, Layout};

/// The name of this part in the budget's error.
const WHAT: &str = "the removal of duplicates";

/// A set of tuples.
#[derive(Debug)]
pub struct DistinctTable {
    layout: Layout,
    /// Whether equal tuples have equal bytes.
    is_plain: bool,
    slots: Slots,
    tuples: Tuples,
    /// The place where the tuple of each number lies.
    places: Vec<Place>,
    hashes: Vec<u64>,
}

impl DistinctTable {
    /// An empty set of such tuples.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has none at all.
    pub fn new(layout: &Layout, memory: &Memory) -> Result<Self> {
        Ok(Self {
            layout: layout.clone(),
            is_plain: !has_real(&layout.fields),
            slots: Slots::new(memory.reservation(WHAT))?,
            tuples: Tuples::new(layout.bytes, memory.reservation(WHAT)),
            places: Vec::new(),
            hashes: Vec::new(),
        })
    }

    /// Make room for one tuple more. False if the budget has no memory for it.
    pub fn try_reserve(&mut self) -> bool {
        if !self.slots.try_reserve() || !self.tuples.try_reserve() {
            return false;
        }
        if self.places.len() == self.places.capacity() {
            let more = self.places.len().max(4);
            if !self.tuples.reservation().try_add(8 * more as u64) {
                return false;
            }
            self.places.reserve_exact(more);
        }
        true
    }

    /// Make room for so many tuples at once where the budget has memory for it.
    pub fn expect(&mut self, tuples: usize) {
        self.slots.expect(tuples);
    }

    /// The number of tuples that it has.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Each tuple once.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.tuples.iter()
    }

    /// The hash of a tuple.
    #[inline]
    pub fn hash(&self, tuple: &[u8]) -> u64 {
        if self.is_plain { hash_bytes(tuple) } else { hash_fields(tuple, &self.layout.fields) }
    }

    /// Put a tuple in. Where its copy lies, if there was no equal one; None if there was.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn insert(&mut self, tuple: &[u8]) -> Result<Option<*const u8>> {
        let hash = self.hash(tuple);
        self.insert_hashed(tuple, hash)
    }

    /// Put tuples in, which lie one after another; the copies of the new ones go to `new`.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for them.
    pub fn insert_many(
        &mut self,
        tuples: &[u8],
        count: usize,
        new: &mut Vec<*const u8>,
    ) -> Result<()> {
        let bytes = self.layout.bytes;
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        for at in 0..count {
            let hash = self.hash(&tuples[at * bytes..(at + 1) * bytes]);
            self.slots.prefetch(hash);
            hashes.push(hash);
        }
        for (at, hash) in hashes.iter().enumerate() {
            new.extend(self.insert_hashed(&tuples[at * bytes..(at + 1) * bytes], *hash)?);
        }
        self.hashes = hashes;
        Ok(())
    }

    /// Whether a tuple with that hash is there.
    #[inline]
    pub fn contains(&self, tuple: &[u8], hash: u64) -> bool {
        self.slots.find(hash, |number| self.is_equal(number, tuple)).is_some()
    }

    /// Bring the slot of a hash into the processor's caches.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(hash);
    }

    #[inline]
    fn is_equal(&self, number: usize, tuple: &[u8]) -> bool {
        let Place(start) = self.places[number];
        // SAFETY: a place is the first of `layout.bytes` bytes within `tuples`, which never moves
        // them.
        #[expect(unsafe_code, reason = "the tuple lies in memory that this table owns")]
        let other = unsafe { std::slice::from_raw_parts(start, self.layout.bytes) };
        if self.is_plain {
            is_equal(tuple, other)
        } else {
            is_equal_by_fields(tuple, other, &self.layout)
        }
    }

    /// As [`DistinctTable::insert`], for a tuple with that hash.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    #[inline]
    pub fn insert_hashed(&mut self, tuple: &[u8], hash: u64) -> Result<Option<*const u8>> {
        if !self.try_reserve() {
            let is_there = self.contains(tuple, hash);
            return if is_there { Ok(None) } else { Err(self.slots.refusal()) };
        }
        let Err(slot) = self.slots.find_or_free(hash, |number| self.is_equal(number, tuple)) else {
            return Ok(None);
        };
        let start = self.tuples.push(tuple)?;
        self.slots.insert_at(slot, hash);
        self.places.push(Place(start));
        Ok(Some(start))
    }
}

/// Whether all values are equal; nulls equal each other.
fn is_equal_by_fields(left: &[u8], right: &[u8], layout: &Layout) -> bool {
    layout
        .fields
        .iter()
        .all(|field| tuple::read(left, field).compare_keys(tuple::read(right, field)).is_eq())
}

/// The hash of bytes that all count: two words at a time, as in wyhash (W. Yi, 2019).
#[inline]
fn hash_bytes(bytes: &[u8]) -> u64 {
    /// Odd, half of its bits set, without visible pattern.
    const SECRET: u64 = 0xa076_1d64_78bd_642f;
    let fold = |left: u64, right: u64| {
        let product = u128::from(left) * u128::from(right);
        product as u64 ^ (product >> 64) as u64
    };
    let mut hash = HASH_SEED ^ bytes.len() as u64;
    let (pairs, rest) = bytes.as_chunks::<16>();
    for pair in pairs {
        let low = u64::from_le_bytes(tuple::array(pair, 0));
        let high = u64::from_le_bytes(tuple::array(pair, 8));
        hash = fold(low ^ SECRET, high ^ hash);
    }
    let (low, high) = ends(rest);
    fold(fold(low ^ SECRET, high ^ hash) ^ SECRET, HASH_SEED)
}

/// Fewer than sixteen bytes in two words, which may overlap: to copy so few by their number is a
/// call.
#[inline]
fn ends(bytes: &[u8]) -> (u64, u64) {
    match bytes.len() {
        8.. => {
            let last = tuple::array(bytes, bytes.len() - 8);
            (u64::from_le_bytes(tuple::array(bytes, 0)), u64::from_le_bytes(last))
        }
        4.. => {
            let last = tuple::array(bytes, bytes.len() - 4);
            let first = u32::from_le_bytes(tuple::array(bytes, 0));
            (u64::from(first), u64::from(u32::from_le_bytes(last)))
        }
        _ => (bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuple::Value;
    use loadstone_quel::schema::Kind;
    use loadstone_quel::tree::Span;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn layout(kinds: &[Kind]) -> Layout {
        Layout::of(
            kinds.iter().enumerate().map(|(at, kind)| (format!("a{at}"), *kind, at % 2 == 1)),
        )
    }

    fn tuple_of(layout: &Layout, values: &[Value<'_>]) -> Vec<u8> {
        let mut tuple = vec![0; layout.bytes];
        for (field, value) in layout.fields.iter().zip(values) {
            tuple::write(&mut tuple, field, *value, Span::default()).unwrap();
        }
        tuple
    }

    proptest! {
        #[test]
        fn each_tuple_is_new_once(rows in prop::collection::vec((0i64..40, 0u8..5), 0..600)) {
            let layout = layout(&[Kind::Integer { bytes: 4 }, Kind::Text { width: 9 }]);
            let mut table = DistinctTable::new(&layout, &Memory::new(1 << 22)).unwrap();
            let mut model = HashSet::new();
            let (mut tuples, mut expected) = (Vec::new(), 0);
            for (integer, text) in &rows {
                let letters = "x".repeat(usize::from(*text));
                let text = if *text == 4 { Value::Null } else { Value::Text(letters.as_bytes()) };
                let tuple = tuple_of(&layout, &[Value::Integer(*integer), text]);
                expected += usize::from(model.insert(tuple.clone()));
                tuples.extend(tuple);
            }
            let mut new = Vec::new();
            table.insert_many(&tuples, rows.len(), &mut new).unwrap();
            prop_assert_eq!((new.len(), table.len()), (expected, expected));
            for tuple in tuples.chunks(layout.bytes) {
                prop_assert_eq!(table.insert(tuple).unwrap(), None);
            }
        }
    }

    #[test]
    fn both_zeros_are_one_value_and_a_null_is_another() {
        let layout = layout(&[Kind::Integer { bytes: 1 }, Kind::Real { bytes: 8 }]);
        let mut table = DistinctTable::new(&layout, &Memory::new(1 << 20)).unwrap();
        let values = [Value::Real(0.0), Value::Real(-0.0), Value::Null, Value::Null];
        let is_new = values.map(|value| {
            let tuple = tuple_of(&layout, &[Value::Integer(1), value]);
            table.insert(&tuple).unwrap().is_some()
        });
        assert_eq!(is_new, [true, false, true, false]);
    }

    #[test]
    fn too_small_a_budget_is_an_error() {
        let layout = layout(&[Kind::Integer { bytes: 8 }]);
        let mut table = DistinctTable::new(&layout, &Memory::new(20_000)).unwrap();
        let error = (0..100_000_i64).find_map(|number| table.insert(&number.to_le_bytes()).err());
        let error = error.unwrap().to_string();
        assert!(error.contains("removal of duplicates needs more"), "{error}");
    }
}
