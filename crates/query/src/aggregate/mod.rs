//! Aggregations: the partitions of a by-list, and what their aggregates come to.

mod accumulator;
mod aside;
mod groups;
mod rounds;
mod seen;
#[cfg(test)]
mod tests;

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;

use crate::error::{QueryError, Result};
use crate::memory::{Memory, Place, Reservation, Tuples};
use crate::plan::Aggregation;
use crate::spill::Spill;
use crate::table::{Slots, hash_fields};
use crate::tuple::{self, Field, HASH_SEED, Layout, Value};

use aside::{AWAY, Aside};
use seen::Seen;

pub use accumulator::{Accumulator, OfRun};
pub use groups::Groups;

/// The name of this part in the budget's error.
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
    /// The place where rows go for whose partitions there is no memory; without it that is an
    /// error.
    aside: Option<Box<Aside>>,
    /// Whether no more partitions are taken in.
    is_full: bool,
    /// The way in which the results are spilled, if they may be.
    spilling: Option<Spilling>,
}

/// The way in which an aggregation goes beyond its memory.
#[derive(Debug)]
struct Spilling {
    spill: Spill,
    /// Whether results are looked up by their by-values.
    is_looked_up: bool,
    /// Room for the buffers of the results' writer and readers.
    buffers: Reservation,
}

impl Partitions {
    /// Without by-values there is one partition from the beginning; else none.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has none at all.
    pub fn new(aggregation: &Aggregation, memory: &Memory) -> Result<Self> {
        Self::with_seen(aggregation, memory, None)
    }

    /// As [`Partitions::new`]; what the memory does not hold goes to the file. `is_looked_up` says
    /// that results are found by their by-values.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has not even the buffers.
    pub fn spilling(
        aggregation: &Aggregation,
        memory: &Memory,
        spill: &Spill,
        is_looked_up: bool,
    ) -> Result<Self> {
        let spill = &spill.of_share(memory.budget_bytes());
        let mut partitions = Self::with_seen(aggregation, memory, Some(spill))?;
        if aggregation.by > 0 {
            partitions.begin_round(spill, 0)?;
            let buffers = rounds::buffers(aggregation, spill, memory)?;
            partitions.spilling = Some(Spilling { spill: spill.clone(), is_looked_up, buffers });
        }
        Ok(partitions)
    }

    fn with_seen(
        aggregation: &Aggregation,
        memory: &Memory,
        spill: Option<&Spill>,
    ) -> Result<Self> {
        let by = by_layout(aggregation);
        let results = &aggregation.layout.fields[aggregation.by..];
        let functions = || aggregation.functions.iter().map(|(function, _)| *function);
        let sets = functions().filter(|function| function.removes_duplicates()).count() as u64;
        // Half for the partitions, half for the values that they have had.
        let half = memory.budget_bytes() / 2;
        let own = if sets == 0 { memory.clone() } else { memory.share(half) };
        let mut accumulators = Vec::new();
        for (function, field) in functions().zip(results) {
            let seen = function.removes_duplicates().then(|| {
                let memory = memory.share(half / sets);
                Seen::new(&memory, spill)
            });
            accumulators.push(Accumulator::new(function, field, &own, seen.transpose()?));
        }
        let mut partitions = Self {
            key: vec![0; by.bytes],
            keys: Tuples::new(by.bytes, own.reservation(WHAT)),
            places: Vec::new(),
            slots: Slots::new(own.reservation(WHAT))?,
            accumulators,
            by,
            aggregation: aggregation.clone(),
            memory: memory.clone(),
            aside: None,
            is_full: false,
            spilling: None,
        };
        if aggregation.by == 0 {
            partitions.put_partition(&[], HASH_SEED)?;
        }
        Ok(partitions)
    }

    /// The number of partitions.
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
    /// sorted by them, only the partition of the last row is looked at. A partition that
    /// [`Partitions::is_away`] is known to [`Partitions::update`] until the next one is requested.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn partition(&mut self, by: &[Value<'_>]) -> Result<usize> {
        if self.by.fields.is_empty() {
            return Ok(0);
        }
        if let Some(aside) = &mut self.aside {
            aside.settle_many()?;
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

    /// If rows come sorted, the last partition, if it is that of the key.
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

    /// The number of rows, of so many, that look for their partitions: none where they are sorted
    /// by their by-values, or have none.
    pub fn probes_of(&self, rows: usize) -> u64 {
        if self.by.fields.is_empty() || self.aggregation.is_sorted { 0 } else { rows as u64 }
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
        if !self.is_full {
            if self.try_reserve() {
                let place = self.keys.push(key)?;
                self.slots.insert(hash);
                self.places.push(Place(place));
                self.accumulators.iter_mut().for_each(Accumulator::add_partition);
                return Ok(self.places.len() - 1);
            }
            self.is_full = true;
        }
        match &mut self.aside {
            Some(aside) if !self.places.is_empty() => Ok(aside.begin(key, hash)),
            _ => Err(self.slots.refusal()),
        }
    }

    /// Room for a partition more, everywhere.
    fn try_reserve(&mut self) -> bool {
        if !self.slots.try_reserve() || !self.accumulators.iter_mut().all(Accumulator::try_reserve)
        {
            return false;
        }
        if self.places.len() == self.places.capacity() {
            let more = self.places.len().max(64);
            if !self.keys.reservation().try_add(8 * more as u64) {
                return false;
            }
            self.places.reserve_exact(more);
        }
        self.keys.try_reserve()
    }

    /// Whether the rows of a partition are put aside: their values are reported to
    /// [`Partitions::update`] alone, and never to an accumulator.
    #[inline]
    pub fn is_away(partition: usize) -> bool {
        partition >= AWAY
    }

    /// The rows requested so far have all their values.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where those put aside cannot be written.
    pub fn settle(&mut self) -> Result<()> {
        self.aside.as_mut().map_or(Ok(()), |aside| aside.settle())
    }

    /// Whether any rows are put aside.
    #[inline]
    pub fn has_aside(&self) -> bool {
        self.is_full
    }

    /// Take a row into an aggregate of its partition: its argument, if the row counts for it.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    #[inline]
    pub fn update(&mut self, partition: usize, aggregate: usize, value: Value<'_>) -> Result<()> {
        match &mut self.aside {
            Some(aside) if Self::is_away(partition) => aside.put(partition, aggregate, value),
            _ => self.accumulators[aggregate].add(partition, value),
        }
    }

    /// Count in all that another has been fed, which has put nothing aside.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it; then this one is of no use
    /// any more.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        let mut numbers = Vec::with_capacity(other.len());
        for place in &other.places {
            let key = key_of(&other.by, *place);
            let hash = hash_fields(key, &other.by.fields);
            numbers.push(if self.by.fields.is_empty() { 0 } else { self.partition_of(key, hash)? });
        }
        let pairs = self.accumulators.iter_mut().zip(other.accumulators);
        pairs.into_iter().try_for_each(|(own, other)| own.merge(&numbers, other))
    }

    /// The aggregate of that number, to be fed with many values.
    pub fn accumulator(&mut self, aggregate: usize) -> &mut Accumulator {
        &mut self.accumulators[aggregate]
    }

    /// Whether the aggregate of that number counts values and does not look at them.
    pub fn is_count(&self, aggregate: usize) -> bool {
        self.accumulators[aggregate].of_run() == Some(OfRun::Count)
    }

    /// The result of each partition.
    fn results(&self, source: &str, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let layout = &self.aggregation.layout;
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
                    .map_err(|fault: Fault| QueryError::from(fault.evaluation(source)))?;
            }
            take(&tuple)?;
        }
        Ok(())
    }
}

/// By-values alone, in the order of the aggregation's layout.
pub(crate) fn by_layout(aggregation: &Aggregation) -> Layout {
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
    crate::table::is_equal(key_of(by, place), key)
}
