//! The values that each partition has had, for aggregates that count each once.

use std::collections::HashSet;

use loadstone_quel::schema::Kind;

use super::WHAT;
use crate::error::Result;
use crate::memory::{Memory, Reservation};
use crate::spill::Spill;
use crate::table::{DistinctTable, Duplicates};
use crate::tuple::{self, Layout, Value};

/// The values that each partition has had.
#[derive(Debug)]
pub struct Seen {
    /// Numbers, as tuples of partition, integer and real, one of which is zero.
    numbers: Numbers,
    /// Whether the numbers are reals.
    is_real: bool,
    texts: HashSet<(usize, Box<[u8]>)>,
    reservation: Reservation,
}

#[derive(Debug)]
enum Numbers {
    InMemory(Box<DistinctTable>),
    Spilling(Box<Duplicates>),
}

impl Seen {
    /// Nothing yet. What the memory does not hold goes to the file, if there is one.
    pub(super) fn new(memory: &Memory, spill: Option<&Spill>) -> Result<Self> {
        let field = |name: &str| (name.to_owned(), Kind::Integer { bytes: 8 }, false);
        let layout = Layout::of([field("partition"), field("integer"), field("real")]);
        let numbers = match spill {
            Some(spill) => Numbers::Spilling(Box::new(Duplicates::new(&layout, spill, memory)?)),
            None => Numbers::InMemory(Box::new(DistinctTable::new(&layout, memory)?)),
        };
        let (texts, reservation) = (HashSet::new(), memory.reservation(WHAT));
        Ok(Self { numbers, is_real: false, texts, reservation })
    }

    /// Whether the value is certainly new in the partition.
    pub(super) fn insert(&mut self, partition: usize, value: Value<'_>) -> Result<bool> {
        let (whole, real) = match value {
            Value::Text(text) => {
                let is_new = self.texts.insert((partition, tuple::trimmed(text).into()));
                if is_new {
                    // The text, its place in the set, and as much again while the set grows.
                    self.reservation.add(text.len() as u64 + 64)?;
                }
                return Ok(is_new);
            }
            Value::Integer(whole) => (whole, 0),
            Value::Real(real) => {
                self.is_real = true;
                // Both zeros are one value.
                (0, (real + 0.0).to_bits())
            }
            Value::Null => return Ok(false),
        };
        let mut tuple = [0; 24];
        tuple[..8].copy_from_slice(&partition.to_le_bytes());
        tuple[8..16].copy_from_slice(&whole.to_le_bytes());
        tuple[16..].copy_from_slice(&real.to_le_bytes());
        Ok(match &mut self.numbers {
            Numbers::InMemory(table) => table.insert(&tuple)?,
            Numbers::Spilling(numbers) => numbers.insert(&tuple)?,
        }
        .is_some())
    }

    /// All values, each once in its partition: nothing was put aside.
    pub(super) fn each(self, take: &mut dyn FnMut(usize, Value<'_>) -> Result<()>) -> Result<()> {
        if let Numbers::InMemory(table) = &self.numbers {
            table.iter().try_for_each(|tuple| {
                let (partition, value) = number(tuple, self.is_real);
                take(partition, value)
            })?;
        }
        self.texts.iter().try_for_each(|(partition, text)| take(*partition, Value::Text(text)))
    }

    /// The values that were put aside, each once in its partition.
    pub(super) fn finish(self, take: &mut dyn FnMut(usize, Value<'_>)) -> Result<()> {
        let Numbers::Spilling(numbers) = self.numbers else { return Ok(()) };
        numbers.finish(&mut |new| {
            for start in new {
                // SAFETY: the pointers are of whole tuples of 24 bytes, good until this returns.
                #[expect(unsafe_code, reason = "tuples are read through pointers")]
                let tuple = unsafe { std::slice::from_raw_parts(*start, 24) };
                let (partition, value) = number(tuple, self.is_real);
                take(partition, value);
            }
            Ok(())
        })
    }
}

/// A number and its partition.
fn number(tuple: &[u8], is_real: bool) -> (usize, Value<'static>) {
    let partition = u64::from_le_bytes(tuple::array(tuple, 0)) as usize;
    let value = if is_real {
        Value::Real(f64::from_le_bytes(tuple::array(tuple, 16)))
    } else {
        Value::Integer(i64::from_le_bytes(tuple::array(tuple, 8)))
    };
    (partition, value)
}
