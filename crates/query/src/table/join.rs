//! The hash table of a join: an unchained table (Birler, Schmidt, Fent, Neumann: Simple, efficient
//! and robust hash tables for join processing, `DaMoN` 2024).
//!
//! The entries lie densely, those with the same first bits of the hash together. The directory has
//! a word for each such prefix: where its entries end, in 48 bits, and a Bloom filter of their
//! hashes, in 16. They begin where those of the word before end. So a probe without a match costs
//! one word nearly always, and one with matches reads them in order.
//!
//! Long entries stay where they were put, and links lie densely in their stead: a hash, and where
//! the entry is.

use super::key::{converted, hash_tuples};
use super::slots::prefetch;
use crate::error::Result;
use crate::memory::{Memory, Place, Reservation, Tuples};
use crate::tuple::{self, Field, HASH_SEED, Layout, Value};

/// The name of this part in the budget's error.
const WHAT: &str = "the hash table of a join";

/// Bits of a directory word that are the filter.
const FILTER_BITS: u32 = 16;

/// Entries up to so many bytes, which are two links, are copied to where their prefix lies. To copy
/// a longer one costs more than to go to it.
const COPIED_BYTES_MAX: usize = 2 * size_of::<Link>();

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
    entries: Entries,
    /// The first word ends what is before the first prefix: nothing.
    directory: Vec<u64>,
    /// The bits by which a hash is shifted down to its prefix.
    shift: u32,
    _reservation: Reservation,
}

/// The content behind the directory.
#[derive(Debug)]
enum Entries {
    /// The entries.
    Copied(Vec<u8>),
    /// Links to them, and where they stayed.
    Linked { links: Vec<Link>, _tuples: Tuples },
}

/// The way to an entry.
#[derive(Debug, Clone, Copy)]
struct Link {
    hash: u64,
    place: Place,
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

    /// Put copies of entries in, which lie one after another.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for one of them.
    pub fn add_many(&mut self, entries: &[u8]) -> Result<()> {
        if self.key.iter().all(|field| field.null_at.is_none()) {
            return self.tuples.push_many(entries);
        }
        entries.chunks_exact(self.layout.bytes).try_for_each(|entry| self.add(entry))
    }

    /// An empty one of the same form, from another memory.
    #[must_use]
    pub fn beside(&self, memory: &Memory) -> Self {
        let (layout, key) = (self.layout.clone(), self.key.clone());
        let tuples = Tuples::new(layout.bytes, memory.reservation(WHAT));
        Self { layout, key, tuples, memory: memory.clone() }
    }

    /// Take over the entries of another of the same form.
    pub fn append(&mut self, other: Self) {
        self.tuples.append(other.tuples);
    }

    /// The number of entries that it has.
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

    /// Whether entries of so many bytes are copied once more when the table is made.
    pub const fn copies(tuple_bytes: usize) -> bool {
        tuple_bytes <= COPIED_BYTES_MAX
    }

    /// The table of what was put in, in two passes over it: entries are counted for each prefix,
    /// then they, or links to them, are put where those of their prefix lie.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    pub fn finish(self) -> Result<JoinTable> {
        let Self { layout, key, tuples, memory } = self;
        let (count, tuple_bytes) = (tuples.len(), layout.bytes);
        // About as many prefixes as entries, so that most have one or two.
        let prefixes = count.next_power_of_two().max(2);
        let shift = 64 - prefixes.trailing_zeros();
        let entry_bytes = if Self::copies(tuple_bytes) { tuple_bytes } else { size_of::<Link>() };
        let mut reservation = memory.reservation(WHAT);
        reservation.add(((prefixes + 1) * 8 + count * (8 + entry_bytes)) as u64)?;
        let mut hashes = Vec::with_capacity(count);
        for number in 0..tuples.chunk_count() {
            hash_tuples(tuples.chunk(number).0, tuple_bytes, &key, &mut hashes);
        }
        let mut directory = directory(&hashes, prefixes, shift);
        let mut place = |hash: u64| {
            let word = &mut directory[(hash >> shift) as usize + 1];
            *word += 1 << FILTER_BITS;
            (*word >> FILTER_BITS) as usize - 1
        };
        let entries = if Self::copies(tuple_bytes) {
            let mut copied = vec![0; count * tuple_bytes];
            for (entry, hash) in tuples.iter().zip(&hashes) {
                let at = place(*hash) * tuple_bytes;
                copied[at..at + tuple_bytes].copy_from_slice(entry);
            }
            Entries::Copied(copied)
        } else {
            let mut links = vec![Link { hash: 0, place: Place(std::ptr::null()) }; count];
            for (entry, hash) in tuples.iter().zip(&hashes) {
                links[place(*hash)] = Link { hash: *hash, place: Place(entry.as_ptr()) };
            }
            Entries::Linked { links, _tuples: tuples }
        };
        drop(hashes);
        reservation.give_back(count as u64 * 8);
        Ok(JoinTable { key, tuple_bytes, entries, directory, shift, _reservation: reservation })
    }
}

/// The place where each prefix begins, one word behind its own: each entry that is put there moves
/// it on, and in the end it is where they end.
fn directory(hashes: &[u64], prefixes: usize, shift: u32) -> Vec<u64> {
    let mut directory = vec![0_u64; prefixes + 1];
    for &hash in hashes {
        let word = &mut directory[(hash >> shift) as usize + 1];
        *word = (*word + (1 << FILTER_BITS)) | filter_of(hash);
    }
    let mut begin = 0;
    for word in &mut directory {
        let count = *word >> FILTER_BITS;
        *word = (begin << FILTER_BITS) | (*word & ((1 << FILTER_BITS) - 1));
        begin += count;
    }
    directory
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

    /// Whether entries lie where the directory leads to; else there are links.
    pub fn is_copied(&self) -> bool {
        matches!(self.entries, Entries::Copied(_))
    }

    /// The first byte of an entry.
    #[inline]
    pub fn entry(&self, number: usize) -> *const u8 {
        match &self.entries {
            Entries::Copied(copied) => copied[number * self.tuple_bytes..].as_ptr(),
            Entries::Linked { links, .. } => links[number].place.0,
        }
    }

    /// As [`JoinTable::entry`]; None where it has another hash for certain.
    #[inline]
    pub fn entry_with(&self, number: usize, hash: u64) -> Option<*const u8> {
        match &self.entries {
            Entries::Copied(copied) => Some(copied[number * self.tuple_bytes..].as_ptr()),
            Entries::Linked { links, .. } => {
                let link = &links[number];
                (link.hash == hash).then_some(link.place.0)
            }
        }
    }

    /// The entries whose key has these values, in order.
    #[inline]
    pub fn matches<'a>(&'a self, keys: &'a [Value<'a>]) -> Matches<'a> {
        let hash = hash_of(&self.key, keys);
        let (at, end) = hash.map_or((0, 0), |hash| self.candidates(hash));
        Matches { table: self, keys, hash: hash.unwrap_or(0), at, end }
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

    /// Bring an entry, or the link to it, into the processor's caches.
    #[inline]
    pub fn prefetch_entry(&self, number: usize) {
        match &self.entries {
            Entries::Copied(copied) => prefetch(&raw const copied[number * self.tuple_bytes]),
            Entries::Linked { links, .. } => prefetch(&raw const links[number]),
        }
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
    hash: u64,
    at: usize,
    end: usize,
}

impl<'a> Iterator for Matches<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        while self.at < self.end {
            let start = self.table.entry_with(self.at, self.hash);
            self.at += 1;
            let Some(start) = start else { continue };
            // SAFETY: it is the first byte of an entry of the table, which keeps it as it is.
            #[expect(unsafe_code, reason = "entries are reached through links")]
            let entry = unsafe { std::slice::from_raw_parts(start, self.table.tuple_bytes) };
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

    /// Entries of 16 bytes, which are copied, or longer ones.
    fn layout(width: usize) -> Layout {
        let key = ("key".to_owned(), Kind::Integer { bytes: 4 }, true);
        let text = ("text".to_owned(), Kind::Text { width }, false);
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
            width in prop::sample::select(vec![3, 40]),
        ) {
            let layout = layout(width);
            let mut builder = JoinBuilder::new(&layout, &[0, 1], &Memory::new(1 << 20));
            for (number, (key, text)) in rows.iter().enumerate() {
                let key = key.map_or(Value::Null, Value::Integer);
                builder.add(&entry(&layout, key, text, number)).unwrap();
            }
            let table = builder.finish().unwrap();
            prop_assert_eq!(table.is_copied(), width == 3);
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
        let layout = layout(3);
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
        let layout = layout(3);
        let memory = Memory::new(6_000);
        let mut builder = JoinBuilder::new(&layout, &[0], &memory);
        let tuple = entry(&layout, Value::Integer(1), "", 0);
        let added = (0..300).all(|_| builder.add(&tuple).is_ok());
        assert!(!added || builder.finish().is_err());
        assert_eq!(memory.used_bytes(), if added { 0 } else { memory.used_bytes() });
    }

    #[test]
    fn a_table_answers_for_the_memory_that_it_holds() {
        for (width, bytes_each) in [(3, 16), (40, 53 + size_of::<Link>())] {
            let (layout, memory) = (layout(width), Memory::new(1 << 22));
            let mut builder = JoinBuilder::new(&layout, &[0], &memory);
            let tuples: Vec<_> =
                (0..4096).map(|number| entry(&layout, Value::Integer(number), "", 0)).collect();
            builder.add_many(&tuples.concat()).unwrap();
            let table = builder.finish().unwrap();
            let least = 4096 * (bytes_each + 8) as u64;
            // The last chunk of entries that stay has room for as many more.
            let most = if width == 3 { least + 8 } else { 2 * least };
            assert!((least..=most).contains(&memory.used_bytes()), "{}", memory.used_bytes());
            drop(table);
            assert_eq!(memory.used_bytes(), 0);
        }
    }
}
