//! Aggregations: the partitions of a by-list, and what their aggregates come to.

mod accumulator;
#[cfg(test)]
mod tests;

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;

use crate::error::Result;
use crate::memory::{Memory, Place, Tuples};
use crate::plan::Aggregation;
use crate::table::{Slots, hash_fields};
use crate::temporary::Temporary;
use crate::tuple::{self, Field, HASH_SEED, Layout, Value};

pub use accumulator::Accumulator;

/// What the budget's error calls it.
pub(crate) const WHAT: &str = "an aggregation";

/// An aggregation that is being fed.
#[derive(Debug)]
pub struct Partitions {
    aggregation: Aggregation,
    /// The by-values.
    by: Layout,
    /// By-values of each partition in the order of their numbers.
    keys: Tuples,
    places: Vec<Place>,
    slots: Slots,
    accumulators: Vec<Accumulator>,
    /// The by-values of the row at hand.
    key: Vec<u8>,
    memory: Memory,
}

impl Partitions {
    /// Without by-values there is one partition from the beginning; else none.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has none at all.
    pub fn new(aggregation: &Aggregation, memory: &Memory) -> Result<Self> {
        let by = by_layout(aggregation);
        let results = &aggregation.layout.fields[aggregation.by..];
        let mut accumulators = Vec::new();
        for ((function, _), field) in aggregation.functions.iter().zip(results) {
            accumulators.push(Accumulator::new(*function, field, memory)?);
        }
        let mut partitions = Self {
            key: vec![0; by.bytes],
            keys: Tuples::new(by.bytes, memory.reservation(WHAT)),
            places: Vec::new(),
            slots: Slots::new(memory.reservation(WHAT))?,
            accumulators,
            by,
            aggregation: aggregation.clone(),
            memory: memory.clone(),
        };
        if aggregation.by == 0 {
            partitions.add_partition(HASH_SEED)?;
        }
        Ok(partitions)
    }

    /// How many partitions there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The layout of the by-values.
    pub fn by(&self) -> &Layout {
        &self.by
    }

    /// The number of the partition with these by-values, which exists afterwards. Where rows come
    /// sorted by them, only the partition of the last row is looked at.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn partition(&mut self, by: &[Value<'_>]) -> Result<usize> {
        if self.by.fields.is_empty() {
            return Ok(0);
        }
        for (field, value) in self.by.fields.iter().zip(by) {
            write_by(&mut self.key, field, *value);
        }
        let key = std::mem::take(&mut self.key);
        let found = self.partition_of_key(&key);
        self.key = key;
        found
    }

    fn partition_of_key(&mut self, key: &[u8]) -> Result<usize> {
        if let Some(last) = self.sorted_partition(key) {
            return Ok(last);
        }
        let hash = hash_fields(key, &self.by.fields);
        self.partition_of(key, hash)
    }

    /// Where rows come sorted, the last partition, if it is that of the key.
    fn sorted_partition(&self, key: &[u8]) -> Option<usize> {
        let last = self.len().checked_sub(1).filter(|_| self.aggregation.is_sorted);
        last.filter(|last| self.is_equal(*last, key))
    }

    /// Another pipeline feeds it, too: its rows do not go on in the order of the last one's.
    #[must_use]
    pub fn reopened(mut self: Box<Self>) -> Box<Self> {
        self.aggregation.is_sorted = false;
        self
    }

    /// As [`Partitions::partition`], by a tuple of the by-values, in which no zero is negative, and
    /// its hash.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    #[inline]
    pub fn partition_of(&mut self, key: &[u8], hash: u64) -> Result<usize> {
        let found = if self.aggregation.is_sorted {
            self.sorted_partition(key)
        } else {
            self.slots.find(hash, |number| self.is_equal(number, key))
        };
        match found {
            Some(number) => Ok(number),
            None => self.put_partition(key, hash),
        }
    }

    /// Bring the slot of a hash into the processor's caches.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.slots.prefetch(hash);
    }

    fn is_equal(&self, number: usize, key: &[u8]) -> bool {
        is_equal(&self.by, self.places[number], key)
    }

    #[cold]
    fn put_partition(&mut self, key: &[u8], hash: u64) -> Result<usize> {
        let number = self.places.len();
        let place = self.keys.push(key)?;
        self.add_at(place, hash)?;
        Ok(number)
    }

    fn add_partition(&mut self, hash: u64) -> Result<()> {
        let place = self.keys.push(&[])?;
        self.add_at(place, hash)
    }

    fn add_at(&mut self, place: *const u8, hash: u64) -> Result<()> {
        if !self.slots.try_reserve() {
            return Err(self.slots.refusal());
        }
        if self.places.len() == self.places.capacity() {
            let more = self.places.len().max(64);
            self.keys.reservation().add(8 * more as u64)?;
            self.places.reserve_exact(more);
        }
        self.slots.insert(hash);
        self.places.push(Place(place));
        self.accumulators.iter_mut().try_for_each(Accumulator::add_partition)
    }

    /// What a row does to an aggregate of its partition: its argument, if the row counts for it.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    #[inline]
    pub fn update(&mut self, partition: usize, aggregate: usize, value: Value<'_>) -> Result<()> {
        self.accumulators[aggregate].add(partition, value)
    }

    /// The aggregate of that number, to be fed with many values.
    pub fn accumulator(&mut self, aggregate: usize) -> &mut Accumulator {
        &mut self.accumulators[aggregate]
    }

    /// The results, one tuple for each partition. An error that arises now belongs to the place of
    /// its aggregate.
    ///
    /// # Errors
    ///
    /// A sum that 64 bits do not hold, a result that is not finite; and
    /// [`crate::QueryError::Memory`]. `source` is the program's text.
    pub fn finish(self, source: &str) -> Result<Groups> {
        let layout = self.aggregation.layout.clone();
        let mut results = Tuples::new(layout.bytes, self.memory.reservation(WHAT));
        let mut places = Vec::with_capacity(self.len());
        let mut tuple = vec![0; layout.bytes];
        for (number, place) in self.places.iter().enumerate() {
            let key = key_of(&self.by, *place);
            for (field, by) in layout.fields.iter().zip(&self.by.fields) {
                write_by(&mut tuple, field, tuple::read(key, by));
            }
            let fields = &layout.fields[self.aggregation.by..];
            for (at, field) in fields.iter().enumerate() {
                let span = self.aggregation.functions[at].1;
                self.accumulators[at]
                    .result(number, span)
                    .and_then(|value| tuple::write(&mut tuple, field, value, span))
                    .map_err(|fault: Fault| fault.evaluation(source))?;
            }
            places.push(Place(results.push(&tuple)?));
        }
        Ok(Groups {
            by: layout.fields[..self.aggregation.by].to_vec(),
            slots: self.slots,
            places,
            temporary: Temporary::new(results),
        })
    }
}

/// By-values alone, in the order of the aggregation's layout.
fn by_layout(aggregation: &Aggregation) -> Layout {
    let by = aggregation.layout.fields[..aggregation.by].iter();
    Layout::of(by.map(|field| (field.name.clone(), field.kind, field.null_at.is_some())))
}

/// A by-value fits its field: the field is of the expression's own kind.
fn write_by(key: &mut [u8], field: &Field, value: Value<'_>) {
    // A zero has one form, so that equal by-values have equal bytes.
    let value = match value {
        Value::Real(value) => Value::Real(value + 0.0),
        other => other,
    };
    let written = tuple::write(key, field, value, Span::default());
    written.expect("the planner gives a by-value a field of its kind, with a byte for nulls");
}

fn key_of(by: &Layout, Place(start): Place) -> &[u8] {
    // SAFETY: the place leads to `by.bytes` bytes in `Partitions::keys`, which never moves them and
    // lives as long as the places.
    #[expect(unsafe_code, reason = "the tuple lies in memory of the same owner")]
    unsafe {
        std::slice::from_raw_parts(start, by.bytes)
    }
}

#[inline]
fn is_equal(by: &Layout, place: Place, key: &[u8]) -> bool {
    key_of(by, place) == key
}

/// An aggregation that has ended.
#[derive(Debug)]
pub struct Groups {
    by: Vec<Field>,
    slots: Slots,
    places: Vec<Place>,
    temporary: Temporary,
}

impl Groups {
    /// The results: by-values and aggregates of each partition.
    pub fn tuples(&self) -> &Temporary {
        &self.temporary
    }

    /// The result of an aggregation without by-values.
    pub fn scalar(&self) -> &[u8] {
        self.result(0)
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
        let number = self.slots.find(hash, |number| {
            let result = self.result(number);
            let mut pairs = self.by.iter().zip(by);
            pairs.all(|(field, value)| tuple::read(result, field).compare_keys(*value).is_eq())
        })?;
        Some(self.result(number))
    }

    fn result(&self, number: usize) -> &[u8] {
        let Place(start) = self.places[number];
        // SAFETY: the place leads to a tuple of `temporary`, which never moves them.
        #[expect(unsafe_code, reason = "the tuple lies in memory of the same owner")]
        unsafe {
            std::slice::from_raw_parts(start, self.temporary.tuple_bytes())
        }
    }
}
