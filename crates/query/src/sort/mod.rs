//! Sorting of tuples by some of their fields, nulls first.

use std::cmp::Ordering;

use loadstone_quel::schema::Kind;

use crate::error::Result;
use crate::memory::{Memory, Place, Reservation, Tuples};
use crate::temporary::Temporary;
use crate::tuple::{self, Field, Layout, Value};

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
}

/// A tuple with the first bytes of its key, so that most comparisons need no more.
#[derive(Debug, Clone, Copy)]
struct Item {
    prefix: u64,
    place: Place,
}

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
        }
    }

    /// Put a copy of a tuple in.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn add(&mut self, tuple: &[u8]) -> Result<()> {
        if self.items.len() == self.items.capacity() {
            let more = self.items.len().max(64);
            self.reservation.add((more * size_of::<Item>()) as u64)?;
            self.items.reserve_exact(more);
        }
        let prefix = self.key.first().map_or(0, |field| prefix(tuple, field));
        let place = Place(self.tuples.push(tuple)?);
        self.items.push(Item { prefix, place });
        Ok(())
    }

    /// The tuples in order. Equal ones stand in the order in which they came.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget is too small.
    pub fn finish(mut self) -> Result<Temporary> {
        let (key, bytes) = (self.key, self.tuples.tuple_bytes());
        let rest = if has_whole_prefix(&key) { &key[1..] } else { &key[..] };
        let compare = |left: &Item, right: &Item| {
            left.prefix.cmp(&right.prefix).then_with(|| {
                if rest.is_empty() {
                    return Ordering::Equal;
                }
                // SAFETY: the places lead to tuples of `tuples`, which never moves them.
                #[expect(unsafe_code, reason = "the tuples lie in memory that the sorter owns")]
                let (left, right) = unsafe {
                    (
                        std::slice::from_raw_parts(left.place.0, bytes),
                        std::slice::from_raw_parts(right.place.0, bytes),
                    )
                };
                compare_keys(left, rest, right, rest)
            })
        };
        self.items.sort_by(compare);
        if self.unique {
            self.items.dedup_by(|later, earlier| compare(later, earlier).is_eq());
        }
        let order = self.items.iter().map(|item| item.place).collect();
        Ok(Temporary::ordered(self.tuples, order))
    }
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

    proptest! {
        #[test]
        fn the_order_is_that_of_the_values(
            rows in prop::collection::vec(
                (prop::option::weighted(0.8, -9i64..9), -5i8..5, "[ab]{0,2}abcdefg[ab\u{1}]{0,2}"),
                0..200
            ),
            key in prop::sample::select(
                vec![vec![0], vec![1, 0], vec![2], vec![2, 1], vec![0, 1, 2]]
            ),
            unique: bool,
        ) {
            let layout = layout();
            let mut sorter = Sorter::new(&layout, &key, unique, &Memory::new(1 << 20));
            for (number, values) in rows.iter().enumerate() {
                sorter.add(&row(&layout, values, number)).unwrap();
            }
            let sorted = sorter.finish().unwrap();
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
