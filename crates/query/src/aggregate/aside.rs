//! Rows of partitions for which there is no memory, put aside for a later round.
//!
//! A row becomes a record: its by-values, and for each aggregate a tag and a value.

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::AggregateFunction;

use super::WHAT;
use crate::error::Result;
use crate::memory::{Memory, Reservation};
use crate::plan::Aggregation;
use crate::spill::{Partitioned, Runs, Spill};
use crate::tuple::{self, Value, trimmed};

/// Numbers of partitions from here on are of records: a row's partition is elsewhere.
pub(super) const AWAY: usize = 1 << 31;

/// Records that wait for their values at most: those of a batch of rows.
const WAITING_MAX: usize = 1024;

/// The tag of a record's value for an aggregate: none if the row does not count for it, else the
/// value's type.
mod tag {
    pub(super) const NOTHING: u8 = 0;
    pub(super) const INTEGER: u8 = 1;
    pub(super) const REAL: u8 = 2;
    pub(super) const TEXT: u8 = 3;
}

/// The way in which a record looks.
#[derive(Debug, Clone)]
pub(super) struct Form {
    key_bytes: usize,
    /// Of each aggregate: where its tag stands, how many bytes its value may take, and whether only
    /// that it has one matters.
    places: Vec<(usize, usize, bool)>,
    pub bytes: usize,
}

impl Form {
    pub fn new(aggregation: &Aggregation, key_bytes: usize) -> Self {
        use AggregateFunction as F;
        let (mut places, mut bytes) = (Vec::new(), key_bytes);
        let results = &aggregation.layout.fields[aggregation.by..];
        for ((function, _), field) in aggregation.functions.iter().zip(results) {
            let value_bytes = match field.kind {
                Kind::Text { width } => width.max(8),
                _ => 8,
            };
            places.push((bytes, value_bytes, matches!(function, F::Count | F::Any)));
            bytes += 1 + value_bytes;
        }
        Self { key_bytes, places, bytes }
    }

    pub fn key<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        &record[..self.key_bytes]
    }

    /// The value with which the row counts for an aggregate.
    pub fn value<'r>(&self, record: &'r [u8], aggregate: usize) -> Option<Value<'r>> {
        let (at, bytes, _) = self.places[aggregate];
        match record[at] {
            tag::INTEGER => Some(Value::Integer(i64::from_le_bytes(tuple::array(record, at + 1)))),
            tag::REAL => Some(Value::Real(f64::from_le_bytes(tuple::array(record, at + 1)))),
            tag::TEXT => Some(Value::Text(trimmed(&record[at + 1..at + 1 + bytes]))),
            _ => None,
        }
    }

    /// Write it; false for a text that is too long.
    fn put(&self, record: &mut [u8], aggregate: usize, value: Value<'_>) -> bool {
        let (at, bytes, is_any) = self.places[aggregate];
        let (head, rest) = record[at..].split_at_mut(1);
        let (tag, eight) = match value {
            Value::Null => (tag::NOTHING, [0; 8]),
            _ if is_any => (tag::INTEGER, [0; 8]),
            Value::Integer(value) => (tag::INTEGER, value.to_le_bytes()),
            Value::Real(value) => (tag::REAL, value.to_le_bytes()),
            Value::Text(text) => {
                let text = trimmed(text);
                if text.len() > bytes {
                    return false;
                }
                head[0] = tag::TEXT;
                rest[..bytes].fill(b' ');
                rest[..text.len()].copy_from_slice(text);
                return true;
            }
        };
        head[0] = tag;
        rest[..8].copy_from_slice(&eight);
        true
    }
}

/// Records, the last of which wait for their values.
#[derive(Debug)]
pub(super) struct Aside {
    pub form: Form,
    pub level: u32,
    records: Partitioned,
    waiting: Vec<u8>,
    hashes: Vec<u64>,
    reservation: Reservation,
}

impl Aside {
    pub fn new(form: &Form, level: u32, spill: &Spill, memory: &Memory) -> Result<Self> {
        let records = Partitioned::new(spill, form.bytes, memory, WHAT)?;
        let (waiting, hashes) = (Vec::new(), Vec::new());
        let reservation = memory.reservation(WHAT);
        Ok(Self { form: form.clone(), level, records, waiting, hashes, reservation })
    }

    /// A record more, for a row with these by-values: the number of its partition.
    pub fn begin(&mut self, key: &[u8], hash: u64) -> usize {
        let start = self.waiting.len();
        self.waiting.resize(start + self.form.bytes, 0);
        self.waiting[start..start + key.len()].copy_from_slice(key);
        self.hashes.push(hash);
        AWAY + self.hashes.len() - 1
    }

    /// Its value for an aggregate.
    pub fn put(&mut self, partition: usize, aggregate: usize, value: Value<'_>) -> Result<()> {
        let start = (partition - AWAY) * self.form.bytes;
        let record = &mut self.waiting[start..start + self.form.bytes];
        if self.form.put(record, aggregate, value) {
            Ok(())
        } else {
            Err(self.reservation.refusal())
        }
    }

    /// All records have their values, if they are many.
    pub fn settle_many(&mut self) -> Result<()> {
        if self.hashes.len() < WAITING_MAX { Ok(()) } else { self.settle() }
    }

    /// All records have their values.
    pub fn settle(&mut self) -> Result<()> {
        let fan = self.records.fan();
        for (record, hash) in self.waiting.chunks_exact(self.form.bytes).zip(&self.hashes) {
            self.records.push(fan.partition_of(*hash, self.level), record)?;
        }
        self.waiting.clear();
        self.hashes.clear();
        Ok(())
    }

    /// The records by the next bits of their hashes.
    pub fn finish(mut self) -> Result<Runs> {
        self.settle()?;
        self.records.finish()
    }
}
