//! Sorting of tuples by some of their fields, nulls first.

mod parts;
mod runs;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as AtomicOrdering};

use loadstone_quel::schema::Kind;

use crate::error::{QueryError, Result};
use crate::memory::{Memory, Place, Reservation, Tuples, return_freed};
use crate::spill::Spill;
use crate::temporary::Temporary;
use crate::tuple::{self, Field, Layout, Value};

use parts::sort_in_parts;
use runs::Runs;

/// The name of this part in the budget's error.
const WHAT: &str = "a sort";

/// Tuples to be sorted.
#[derive(Debug)]
pub struct Sorter {
    key: Vec<Field>,
    unique: bool,
    tuples: Tuples,
    items: Vec<Item>,
    reservation: Reservation,
    /// Of items that were other sorters' once.
    taken_over: Vec<Reservation>,
    /// The place where sorted runs go when the budget is used up; without it that is an error.
    runs: Option<Runs>,
    /// Set to have it end.
    cancel: Option<Arc<AtomicBool>>,
}

/// A tuple with the first bytes of its key, so that most comparisons need no more.
#[derive(Debug, Clone, Copy)]
struct Item {
    prefix: u64,
    place: Place,
}

/// Items that a list grows by at least.
const ITEMS_MIN: usize = 64;

/// The bytes of an item: itself, and half as much while items are sorted, or their places then.
const ITEM_BYTES: usize = size_of::<Item>() + size_of::<Place>();

impl Sorter {
    /// None yet, to be sorted by those fields, the first of which counts most. Of tuples with
    /// equal keys only one stays if `unique`.
    pub fn new(layout: &Layout, key: &[usize], unique: bool, memory: &Memory) -> Self {
        Self {
            key: key.iter().map(|at| layout.fields[*at].clone()).collect(),
            unique,
            tuples: Tuples::new(layout.bytes, memory.reservation(WHAT)),
            items: Vec::new(),
            reservation: memory.reservation(WHAT),
            taken_over: Vec::new(),
            runs: None,
            cancel: None,
        }
    }

    /// Once this is set, it ends with [`QueryError::Cancelled`], also in the middle of sorting.
    #[must_use]
    pub fn cancelled_by(self, cancel: &Arc<AtomicBool>) -> Self {
        Self { cancel: Some(Arc::clone(cancel)), ..self }
    }

    /// An empty sorter of the same tuples for a thread, which may not spill, from another memory.
    #[must_use]
    pub fn part(&self, memory: &Memory) -> Self {
        Self {
            key: self.key.clone(),
            unique: self.unique,
            tuples: Tuples::new(self.tuples.tuple_bytes(), memory.reservation(WHAT)),
            items: Vec::new(),
            reservation: memory.reservation(WHAT),
            taken_over: Vec::new(),
            runs: None,
            cancel: self.cancel.clone(),
        }
    }

    /// Take over what a thread has sorted: a run that sorting finds again.
    ///
    /// # Errors
    ///
    /// As of [`Sorter::add`].
    pub fn merge(&mut self, mut part: Self) -> Result<()> {
        if self.runs.as_ref().is_some_and(|runs| !runs.is_empty()) {
            return part.tuples.iter().try_for_each(|tuple| self.add(tuple));
        }
        self.items.append(&mut part.items);
        self.tuples.append(part.tuples);
        self.taken_over.push(part.reservation);
        Ok(())
    }

    /// The tuples, sorted or not, for another sorter to take.
    pub fn into_tuples(self) -> Tuples {
        self.tuples
    }

    /// From where the budget ends on, sorted runs go to that file.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has not even the buffers to merge them.
    pub fn spilling(mut self, spill: &Spill, memory: &Memory) -> Result<Self> {
        self.runs = Some(Runs::new(spill, self.tuples.tuple_bytes(), memory)?);
        Ok(self)
    }

    /// Put a copy of a tuple in.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it and nothing may be spilled,
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    #[inline]
    pub fn add(&mut self, tuple: &[u8]) -> Result<()> {
        if self.try_add(tuple) {
            return Ok(());
        }
        self.spill()?;
        if self.try_add(tuple) { Ok(()) } else { Err(self.reservation.refusal()) }
    }

    /// Put a copy of a tuple in, if the budget has memory for it.
    pub fn try_add(&mut self, tuple: &[u8]) -> bool {
        if self.items.len() == self.items.capacity() && !self.try_grow() {
            return false;
        }
        let Some(place) = self.tuples.try_push(tuple) else { return false };
        let prefix = self.key.first().map_or(0, |field| prefix(tuple, field));
        self.items.push(Item { prefix, place: Place(place) });
        true
    }

    #[cold]
    fn try_grow(&mut self) -> bool {
        // Twice as many, or once for all as many as there is memory for, their tuples included: a
        // list that grows often is there twice often.
        let wanted = [self.items.len().max(ITEMS_MIN), self.items_left().max(ITEMS_MIN)];
        let more = wanted.into_iter().find(|more| {
            let bytes = more * ITEM_BYTES;
            self.reservation.try_add(bytes as u64)
        });
        let Some(more) = more else { return false };
        self.items.reserve_exact(more);
        if more < wanted[0] {
            // The list's old memory lies beside it, and there is none to spare.
            return_freed();
        }
        true
    }

    /// The number of items more memory for with their tuples.
    fn items_left(&self) -> usize {
        let item_bytes = ITEM_BYTES + self.tuples.tuple_bytes();
        (self.reservation.left_bytes() / item_bytes as u64) as usize
    }

    /// Write the items in memory to the file as a sorted run.
    #[cold]
    fn spill(&mut self) -> Result<()> {
        if self.runs.is_none() {
            return Err(self.reservation.refusal());
        }
        self.sort()?;
        let Self { tuples, items, runs, cancel, .. } = self;
        let bytes = tuples.tuple_bytes();
        if let Some(runs) = runs {
            runs.write(items.iter().map(|item| tuple_at(item.place, bytes)), &|| {
                check(cancel.as_ref())
            })?;
        }
        self.items.clear();
        self.tuples.empty();
        if !self.taken_over.is_empty() {
            // The list has others' room, too.
            self.items = Vec::new();
            self.reservation.give_back(self.reservation.bytes());
            self.taken_over.clear();
        }
        Ok(())
    }

    /// Bring what there is into order.
    ///
    /// # Errors
    ///
    /// [`QueryError::Cancelled`] if it is to end; then nothing is in order.
    pub fn sort(&mut self) -> Result<()> {
        let Self { key, items, tuples, unique, cancel, .. } = self;
        let bytes = tuples.tuple_bytes();
        let rest = rest_of(key);
        // As long as it ever must be: one that grows is there twice meanwhile.
        let aside_len =
            if items.len() > parts::ITEMS_CHECKED { items.len().div_ceil(2) } else { 0 };
        let (aside, check) = (&mut Vec::with_capacity(aside_len), || check(cancel.as_ref()));
        if rest.is_empty() {
            let compare = |left: &Item, right: &Item| left.prefix.cmp(&right.prefix);
            sort_in_parts(items, aside, &compare, &check)?;
            if *unique {
                items.dedup_by_key(|item| item.prefix);
            }
            return Ok(());
        }
        let compare = |left: &Item, right: &Item| {
            left.prefix.cmp(&right.prefix).then_with(|| {
                let (left, right) = (tuple_at(left.place, bytes), tuple_at(right.place, bytes));
                compare_keys(left, rest, right, rest)
            })
        };
        sort_in_parts(items, aside, &compare, &check)?;
        if *unique {
            items.dedup_by(|later, earlier| compare(later, earlier).is_eq());
        }
        Ok(())
    }

    /// The tuples in order. Equal ones stand in the order in which they came. `check` is asked now
    /// and then whether to go on.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget is too small, [`crate::QueryError::Spill`] where
    /// the file cannot be written or read, and what `check` says.
    pub fn finish(mut self, check: &dyn Fn() -> Result<()>) -> Result<Temporary> {
        if let Some(runs) = self.runs.take_if(|runs| !runs.is_empty()) {
            self.runs = Some(runs);
            self.spill()?;
            let Self { key, unique, runs, tuples, items, reservation, .. } = self;
            drop((tuples, items, reservation));
            // A sort that follows would not use the same parts of it again.
            return_freed();
            return runs.expect("there are runs").merge(&key, unique, check);
        }
        self.sort()?;
        let order = self.items.iter().map(|item| item.place).collect();
        Ok(Temporary::ordered(self.tuples, order))
    }
}

/// Whether to go on.
fn check(cancel: Option<&Arc<AtomicBool>>) -> Result<()> {
    let is_set = |flag: &Arc<AtomicBool>| flag.load(AtomicOrdering::Relaxed);
    if cancel.is_some_and(is_set) { Err(QueryError::Cancelled) } else { Ok(()) }
}

/// The tuple of a sorter at a place.
fn tuple_at<'a>(Place(start): Place, bytes: usize) -> &'a [u8] {
    // SAFETY: places of items lead to tuples of the sorter's `tuples`, which never moves them and
    // outlives the items.
    #[expect(unsafe_code, reason = "the tuples lie in memory that the sorter owns")]
    unsafe {
        std::slice::from_raw_parts(start, bytes)
    }
}

/// The fields that decide where prefixes are equal.
fn rest_of(key: &[Field]) -> &[Field] {
    if has_whole_prefix(key) { &key[1..] } else { key }
}

/// The order of two tuples by some fields of each; nulls are equal and before all else.
pub fn compare_keys(
    left: &[u8],
    left_key: &[Field],
    right: &[u8],
    right_key: &[Field],
) -> Ordering {
    for (left_field, right_field) in left_key.iter().zip(right_key) {
        let values = (tuple::read(left, left_field), tuple::read(right, right_field));
        let ordering = values.0.compare_keys(values.1);
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}

/// Whether equal prefixes mean equal values of the first field: numbers that are never null.
fn has_whole_prefix(key: &[Field]) -> bool {
    key.first()
        .is_some_and(|field| field.null_at.is_none() && !matches!(field.kind, Kind::Text { .. }))
}

/// A number whose order is that of the field's values, as far as it goes.
fn prefix(tuple: &[u8], field: &Field) -> u64 {
    const SIGN: u64 = 1 << 63;
    match tuple::read(tuple, field) {
        Value::Null => 0,
        Value::Integer(value) => value as u64 ^ SIGN,
        Value::Real(value) => {
            // Both zeros are one value.
            let bits = (value + 0.0).to_bits();
            if bits & SIGN == 0 { bits ^ SIGN } else { !bits }
        }
        Value::Text(text) => {
            let mut first = [0; 8];
            let length = text.len().min(8);
            first[..length].copy_from_slice(&text[..length]);
            u64::from_be_bytes(first)
        }
    }
}
