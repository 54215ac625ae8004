//! Sorting of tuples by some of their fields, nulls first.

mod parts;
mod runs;

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as AtomicOrdering};

use loadstone_quel::schema::Kind;

use crate::error::{QueryError, Result};
use crate::memory::{Memory, Place, Reservation, Tuples};
use crate::spill::Spill;
use crate::temporary::Temporary;
use crate::tuple::{self, Field, Layout, Value};

use parts::sort_in_parts;
use runs::Runs;

/// What the budget's error calls it.
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
    /// Where sorted runs go when the budget is used up; without it that is an error.
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

/// What an item takes: itself, and half as much while items are sorted, or their places then.
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
        let wanted = [self.items.len().max(64), (self.items.len() / 8).max(64)];
        let more = wanted.into_iter().find(|more| {
            let bytes = more * ITEM_BYTES;
            self.reservation.try_add(bytes as u64)
        });
        let Some(more) = more else { return false };
        self.items.reserve_exact(more);
        true
    }

    /// What there is becomes a sorted run in the file.
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
        self.tuples.clear();
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
        let compare = |left: &Item, right: &Item| {
            left.prefix.cmp(&right.prefix).then_with(|| {
                if rest.is_empty() {
                    return Ordering::Equal;
                }
                let (left, right) = (tuple_at(left.place, bytes), tuple_at(right.place, bytes));
                compare_keys(left, rest, right, rest)
            })
        };
        sort_in_parts(items, &mut Vec::new(), &compare, &|| check(cancel.as_ref()))?;
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

#[cfg(test)]
mod tests {
    use super::parts::ITEMS_CHECKED;
    use super::*;
    use loadstone_quel::tree::Span;
    use proptest::prelude::*;

    fn layout() -> Layout {
        Layout::of([
            ("integer".to_owned(), Kind::Integer { bytes: 2 }, true),
            ("real".to_owned(), Kind::Real { bytes: 8 }, false),
            ("text".to_owned(), Kind::Text { width: 12 }, false),
            ("number".to_owned(), Kind::Integer { bytes: 8 }, false),
        ])
    }

    fn row(layout: &Layout, values: &(Option<i64>, i8, String), number: usize) -> Vec<u8> {
        let mut tuple = vec![0; layout.bytes];
        let values = [
            values.0.map_or(Value::Null, Value::Integer),
            Value::Real(f64::from(values.1) / 4.0),
            Value::Text(values.2.as_bytes()),
            Value::Integer(number as i64),
        ];
        for (field, value) in layout.fields.iter().zip(values) {
            tuple::write(&mut tuple, field, value, Span::default()).unwrap();
        }
        tuple
    }

    #[test]
    fn many_tuples_are_sorted_in_parts_and_equal_ones_stay_in_their_order() {
        let layout = Layout::of(
            ["key", "number"].map(|name| (name.to_owned(), Kind::Integer { bytes: 4 }, false)),
        );
        let count = 5 * ITEMS_CHECKED / 2;
        for divisor in [1, 1000] {
            let mut sorter = Sorter::new(&layout, &[0], false, &Memory::new(1 << 30));
            for number in 0..count as u32 {
                let key = number.wrapping_mul(0x9E37_79B1) >> 8;
                let row = [(key / divisor).to_le_bytes(), number.to_le_bytes()].concat();
                sorter.add(&row).unwrap();
            }
            let whole = sorter.finish(&|| Ok(())).unwrap();
            let (mut scan, mut before, mut found) = (whole.scan(), (0, 0), 0);
            while let Some(row) = scan.next_tuple().unwrap() {
                let word = |at| u32::from_le_bytes(tuple::array(row, at));
                let now = (word(0), word(4));
                assert!(found == 0 || before < now, "{before:?} {now:?}");
                (before, found) = (now, found + 1);
            }
            assert_eq!(found, count);
        }
    }

    #[test]
    fn a_cancelled_sort_ends_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, memory) = (layout(), Memory::new(64 << 10));
        let spill = Spill::new(folder.path(), memory.budget_bytes());
        let cancel = Arc::new(AtomicBool::new(false));
        let sorter = Sorter::new(&layout, &[0], false, &memory);
        let mut sorter = sorter.spilling(&spill, &memory).unwrap().cancelled_by(&cancel);
        let rows = (0..).map(|number| row(&layout, &(None, 0, "t".to_owned()), number));
        let told = rows.enumerate().find_map(|(number, row)| {
            cancel.store(number > 3000, AtomicOrdering::Relaxed);
            sorter.add(&row).err()
        });
        assert!(matches!(told, Some(QueryError::Cancelled)), "{told:?}");
        assert!(spill.written_bytes() > 0, "it had spilled before");
        let told = sorter.finish(&|| Ok(())).unwrap_err();
        assert!(matches!(told, QueryError::Cancelled), "{told:?}");
        assert_eq!(memory.used_bytes(), 0);
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_values(
            rows in prop::collection::vec(
                (prop::option::weighted(0.8, -9i64..9), -5i8..5, "[ab]{0,2}abcdefg[ab\u{1}]{0,2}"),
                0..900
            ),
            budget in prop_oneof![Just(24_000), Just(1 << 20)],
            key in prop::sample::select(
                vec![vec![0], vec![1, 0], vec![2], vec![2, 1], vec![0, 1, 2]]
            ),
            unique: bool, beside in 0usize..400,
        ) {
            let layout = layout();
            let folder = tempfile::tempdir().unwrap();
            let memory = Memory::new(budget);
            let spill = Spill::new(folder.path(), budget);
            let sorter = Sorter::new(&layout, &key, unique, &memory);
            let mut sorter = sorter.spilling(&spill, &memory).unwrap();
            // Some that another has sorted stand behind all that are equal to them.
            let (own, others) = rows.split_at(rows.len() - beside.min(rows.len()));
            for (number, values) in own.iter().enumerate() {
                sorter.add(&row(&layout, values, number)).unwrap();
            }
            let other = Memory::new(1 << 20);
            let mut part = sorter.part(&other);
            for (number, values) in others.iter().enumerate() {
                assert!(part.try_add(&row(&layout, values, own.len() + number)));
            }
            part.sort().unwrap();
            sorter.merge(part).unwrap();
            let sorted = sorter.finish(&|| Ok(())).unwrap();
            prop_assert!(memory.peak_bytes() <= budget);
            prop_assert_eq!(sorted.is_spilled(), spill.written_bytes() > 0);
            let by_key = |left: &(Option<i64>, i8, String), right: &(Option<i64>, i8, String)| {
                key.iter().map(|field| match field {
                    0 => left.0.cmp(&right.0),
                    1 => left.1.cmp(&right.1),
                    _ => left.2.cmp(&right.2),
                }).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
            };
            let mut expected: Vec<_> = rows.iter().enumerate().collect();
            expected.sort_by(|left, right| by_key(left.1, right.1));
            if unique {
                expected.dedup_by(|later, earlier| by_key(later.1, earlier.1).is_eq());
            }
            let mut scan = sorted.scan();
            for (number, values) in expected {
                let expected = row(&layout, values, number);
                prop_assert_eq!(scan.next_tuple().unwrap(), Some(&expected[..]));
            }
            prop_assert_eq!(scan.next_tuple().unwrap(), None);
        }
    }
}
