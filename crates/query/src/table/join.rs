//! The hash table of a join: an unchained table (Birler, Schmidt, Fent, Neumann: Simple, efficient
//! and robust hash tables for join processing, `DaMoN` 2024).
//!
//! The entries lie densely, those with the same first bits of the hash together. The directory has
//! a word for each such prefix: where its entries end, in 48 bits, and a Bloom filter of their
//! hashes, in 16. They begin where those of the word before end. So a probe without a match costs
//! one word nearly always, and one with matches reads them in order.

use super::key::{converted, hash_fields};
use super::slots::prefetch;
use crate::error::Result;
use crate::memory::{Memory, Reservation, Tuples};
use crate::tuple::{self, Field, HASH_SEED, Layout, Value};

/// What the budget's error calls it.
const WHAT: &str = "the hash table of a join";

/// Bits of a directory word that are the filter.
const FILTER_BITS: u32 = 16;

/// A table that is being filled.
#[derive(Debug)]
pub struct JoinBuilder {
    layout: Layout,
    key: Vec<Field>,
    tuples: Tuples,
    memory: Memory,
}

/// A table to be probed.
#[derive(Debug)]
pub struct JoinTable {
    key: Vec<Field>,
    tuple_bytes: usize,
    entries: Vec<u8>,
    /// The first word ends what is before the first prefix: nothing.
    directory: Vec<u64>,
    /// How far a hash is shifted down to its prefix.
    shift: u32,
    _reservation: Reservation,
}

/// The bits of a hash in a filter: three of sixteen. The prefix is in other bits of the hash.
#[inline]
const fn filter_of(hash: u64) -> u64 {
    (1 << (hash & 15)) | (1 << ((hash >> 4) & 15)) | (1 << ((hash >> 8) & 15))
}

impl JoinBuilder {
    /// An empty table with entries of that layout, of which some fields are the key.
    pub fn new(layout: &Layout, key: &[usize], memory: &Memory) -> Self {
        Self {
            key: key.iter().map(|at| layout.fields[*at].clone()).collect(),
            tuples: Tuples::new(layout.bytes, memory.reservation(WHAT)),
            layout: layout.clone(),
            memory: memory.clone(),
        }
    }

    /// Put a copy of an entry in.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    #[inline]
    pub fn add(&mut self, entry: &[u8]) -> Result<()> {
        // A null equals nothing, so nobody would find it.
        if self.key.iter().any(|field| field.null_at.is_some_and(|at| entry[at] != 0)) {
            return Ok(());
        }
        self.tuples.push(entry).map(|_| ())
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.tuples.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.tuples.is_empty()
    }

    /// The entries alone.
    pub fn into_tuples(self) -> Tuples {
        self.tuples
    }

    /// The table of what was put in, in two passes over it: entries are counted for each prefix,
    /// then copied to where those of their prefix lie.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn finish(self) -> Result<JoinTable> {
        let (count, tuple_bytes) = (self.tuples.len(), self.layout.bytes);
        // About as many prefixes as entries, so that most have one or two.
        let prefixes = count.next_power_of_two().max(2);
        let shift = 64 - prefixes.trailing_zeros();
        let mut reservation = self.memory.reservation(WHAT);
        reservation.add(((prefixes + 1) * 8 + count * (8 + tuple_bytes)) as u64)?;
        let mut hashes = Vec::with_capacity(count);
        let mut directory = vec![0_u64; prefixes + 1];
        for entry in self.tuples.iter() {
            let hash = hash_fields(entry, &self.key);
            let word = &mut directory[(hash >> shift) as usize + 1];
            *word = (*word + (1 << FILTER_BITS)) | filter_of(hash);
            hashes.push(hash);
        }
        // Counts become where each prefix begins; each entry then moves that on to where it ends.
        let mut begin = 0;
        for word in &mut directory {
            let count = *word >> FILTER_BITS;
            *word = (begin << FILTER_BITS) | (*word & ((1 << FILTER_BITS) - 1));
            begin += count;
        }
        let mut entries = vec![0; count * tuple_bytes];
        for (entry, hash) in self.tuples.iter().zip(&hashes) {
            let word = &mut directory[(hash >> shift) as usize + 1];
            let at = (*word >> FILTER_BITS) as usize * tuple_bytes;
            entries[at..at + tuple_bytes].copy_from_slice(entry);
            *word += 1 << FILTER_BITS;
        }
        drop(hashes);
        reservation.give_back(count as u64 * 8);
        let key = self.key;
        Ok(JoinTable { key, tuple_bytes, entries, directory, shift, _reservation: reservation })
    }
}

impl JoinTable {
    /// The fields of an entry that are its key.
    pub fn key(&self) -> &[Field] {
        &self.key
    }

    /// The length of an entry in bytes.
    pub fn tuple_bytes(&self) -> usize {
        self.tuple_bytes
    }

    /// The first byte of an entry.
    #[inline]
    pub fn entry(&self, number: usize) -> *const u8 {
        self.entries[number * self.tuple_bytes..].as_ptr()
    }

    /// The entries whose key has these values, in order.
    #[inline]
    pub fn matches<'a>(&'a self, keys: &'a [Value<'a>]) -> Matches<'a> {
        let hash = hash_of(&self.key, keys);
        let (at, end) = hash.map_or((0, 0), |hash| self.candidates(hash));
        Matches { table: self, keys, at, end }
    }

    /// The numbers of the entries that may have a key with that hash: from the first up to and
    /// without the second.
    #[inline]
    pub fn candidates(&self, hash: u64) -> (usize, usize) {
        let at = (hash >> self.shift) as usize;
        let (begin, word) = (self.directory[at], self.directory[at + 1]);
        let filter = filter_of(hash);
        if word & filter != filter {
            return (0, 0);
        }
        ((begin >> FILTER_BITS) as usize, (word >> FILTER_BITS) as usize)
    }

    /// Bring the directory's word of a hash into the processor's caches.
    #[inline]
    pub fn prefetch_directory(&self, hash: u64) {
        prefetch(&raw const self.directory[(hash >> self.shift) as usize]);
    }

    /// Bring an entry into the processor's caches.
    #[inline]
    pub fn prefetch_entry(&self, number: usize) {
        prefetch(self.entry(number));
    }
}

/// The hash of a key's fields with these values; None where no field can equal its value.
#[inline]
pub fn hash_of(key: &[Field], values: &[Value<'_>]) -> Option<u64> {
    key.iter().zip(values).try_fold(HASH_SEED, |hash, (field, value)| {
        let value = converted(*value, field.kind).filter(|value| *value != Value::Null)?;
        Some(value.hash(hash))
    })
}

/// Entries with a key.
#[derive(Debug)]
pub struct Matches<'a> {
    table: &'a JoinTable,
    keys: &'a [Value<'a>],
    at: usize,
    end: usize,
}

impl<'a> Iterator for Matches<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let bytes = self.table.tuple_bytes;
        while self.at < self.end {
            let entry = &self.table.entries[self.at * bytes..(self.at + 1) * bytes];
            self.at += 1;
            let mut pairs = self.table.key.iter().zip(self.keys);
            if pairs.all(|(field, value)| {
                tuple::read(entry, field).compare(*value).is_some_and(std::cmp::Ordering::is_eq)
            }) {
                return Some(entry);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadstone_quel::schema::Kind;
    use loadstone_quel::tree::Span;
    use proptest::prelude::*;

    fn layout() -> Layout {
        let key = ("key".to_owned(), Kind::Integer { bytes: 4 }, true);
        let text = ("text".to_owned(), Kind::Text { width: 3 }, false);
        Layout::of([key, text, ("number".to_owned(), Kind::Integer { bytes: 8 }, false)])
    }

    fn entry(layout: &Layout, key: Value<'_>, text: &str, number: usize) -> Vec<u8> {
        let mut tuple = vec![0; layout.bytes];
        let values = [key, Value::Text(text.as_bytes()), Value::Integer(number as i64)];
        for (field, value) in layout.fields.iter().zip(values) {
            tuple::write(&mut tuple, field, value, Span::default()).unwrap();
        }
        tuple
    }

    fn numbers(table: &JoinTable, layout: &Layout, keys: &[Value<'_>]) -> Vec<i64> {
        let mut numbers: Vec<_> = table
            .matches(keys)
            .map(|entry| tuple::read_integer(entry, layout.fields[2].offset, 8))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    proptest! {
        #[test]
        fn each_probe_finds_what_nested_loops_would(
            rows in prop::collection::vec(
                (prop::option::weighted(0.9, -5i64..5), "[ab ]{0,3}"), 0..100
            ),
        ) {
            let layout = layout();
            let mut builder = JoinBuilder::new(&layout, &[0, 1], &Memory::new(1 << 20));
            for (number, (key, text)) in rows.iter().enumerate() {
                let key = key.map_or(Value::Null, Value::Integer);
                builder.add(&entry(&layout, key, text, number)).unwrap();
            }
            let table = builder.finish().unwrap();
            for key in -6..6 {
                for text in ["", "a", "ab", "ba "] {
                    let expected: Vec<_> = (0..).zip(&rows).filter(|(_, (other, other_text))| {
                        *other == Some(key) && other_text.trim_end() == text.trim_end()
                    }).map(|(number, _)| number).collect();
                    let text = Value::Text(text.as_bytes());
                    let found = numbers(&table, &layout, &[Value::Integer(key), text]);
                    prop_assert_eq!(&found, &expected);
                    let real = [Value::Real(key as f64), text];
                    prop_assert_eq!(&numbers(&table, &layout, &real), &expected);
                    let half = [Value::Real(key as f64 + 0.5), text];
                    prop_assert!(numbers(&table, &layout, &half).is_empty());
                }
            }
            prop_assert!(numbers(&table, &layout, &[Value::Null, Value::Text(b"a")]).is_empty());
        }
    }

    #[test]
    fn hardly_a_probe_in_vain_gets_beyond_the_directory() {
        let layout = layout();
        let mut builder = JoinBuilder::new(&layout, &[0], &Memory::new(1 << 22));
        for number in 0..10_000 {
            builder.add(&entry(&layout, Value::Integer(number), "", 0)).unwrap();
        }
        let table = builder.finish().unwrap();
        let beyond = (10_000..110_000)
            .filter(|key| {
                let (begin, end) = table.candidates(Value::Integer(*key).hash(HASH_SEED));
                begin < end
            })
            .count();
        assert!(beyond < 5_000, "{beyond} of 100,000");
    }

    #[test]
    fn too_small_a_budget_is_an_error() {
        let layout = layout();
        let memory = Memory::new(6_000);
        let mut builder = JoinBuilder::new(&layout, &[0], &memory);
        let tuple = entry(&layout, Value::Integer(1), "", 0);
        let added = (0..300).all(|_| builder.add(&tuple).is_ok());
        assert!(!added || builder.finish().is_err());
        assert_eq!(memory.used_bytes(), if added { 0 } else { memory.used_bytes() });
    }
}
