//! An aggregation that has ended.

use super::WHAT;
use crate::error::Result;
use crate::memory::{Memory, Place, Tuples};
use crate::table::{Slots, hash_fields};
use crate::temporary::Temporary;
use crate::tuple::{self, Field, HASH_SEED, Value};

/// An aggregation that has ended.
#[derive(Debug)]
pub struct Groups {
    by: Vec<Field>,
    /// None where the results are in the file and nobody looks one up.
    known: Option<Known>,
    temporary: Temporary,
}

/// The place where the result of which partition lies.
#[derive(Debug)]
struct Known {
    slots: Slots,
    places: Vec<Place>,
}

impl Groups {
    pub(super) fn new(by: &[Field], slots: Slots, places: Vec<Place>, results: Tuples) -> Self {
        let temporary = Temporary::new(results);
        Self { by: by.to_vec(), known: Some(Known { slots, places }), temporary }
    }

    /// Of results in the file.
    pub(super) fn spilled(by: &[Field], temporary: Temporary) -> Self {
        Self { by: by.to_vec(), known: None, temporary }
    }

    /// Of results in the file, which are read into memory so that each can be looked up.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] where the budget does not hold them.
    pub(super) fn looked_up(by: &[Field], spilled: &Temporary, memory: &Memory) -> Result<Self> {
        let mut slots = Slots::new(memory.reservation(WHAT))?;
        let mut results = Tuples::new(spilled.tuple_bytes(), memory.reservation(WHAT));
        let mut places = Vec::new();
        let mut scan = spilled.scan();
        while let Some(tuple) = scan.next_tuple()? {
            if !slots.try_reserve() {
                return Err(slots.refusal());
            }
            if places.len() == places.capacity() {
                results.reservation().add(8 * places.len().max(4) as u64)?;
            }
            slots.insert(hash_fields(tuple, by));
            places.push(Place(results.push(tuple)?));
        }
        Ok(Self::new(by, slots, places, results))
    }

    /// The number of by-values that each partition has.
    pub fn by_values(&self) -> usize {
        self.by.len()
    }

    /// The results: by-values and aggregates of each partition.
    pub fn tuples(&self) -> &Temporary {
        &self.temporary
    }

    /// The result of an aggregation without by-values.
    pub fn scalar(&self) -> &[u8] {
        self.result(self.known(), 0)
    }

    fn known(&self) -> &Known {
        self.known.as_ref().expect("an aggregation is reported when its results are looked up")
    }

    /// The result of the partition with these by-values; None if there is no such partition.
    pub fn find(&self, by: &[Value<'_>]) -> Option<&[u8]> {
        if self.by.is_empty() {
            return Some(self.scalar());
        }
        let mut hash = HASH_SEED;
        for (value, field) in by.iter().zip(&self.by) {
            hash = crate::table::converted(*value, field.kind)?.hash(hash);
        }
        let known = self.known();
        let number = known.slots.find(hash, |number| {
            let result = self.result(known, number);
            let mut pairs = self.by.iter().zip(by);
            pairs.all(|(field, value)| tuple::read(result, field).compare_keys(*value).is_eq())
        })?;
        Some(self.result(known, number))
    }

    fn result(&self, known: &Known, number: usize) -> &[u8] {
        let Place(start) = known.places[number];
        // SAFETY: the place leads to a tuple of `temporary`, which never moves them.
        #[expect(unsafe_code, reason = "the tuple lies in memory of the same owner")]
        unsafe {
            std::slice::from_raw_parts(start, self.temporary.tuple_bytes())
        }
    }
}
