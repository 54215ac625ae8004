//! The side of a join whose entries go into a table.

use std::sync::Arc;

use super::WHAT;
use crate::error::Result;
use crate::memory::{Memory, Reservation, return_freed};
use crate::spill::{Fan, Partitioned, Run, Runs, Spill};
use crate::table::{JoinBuilder, JoinTable, hash_fields, hash_tuples};
use crate::tuple::{Field, Layout};

/// Bytes of an entry beside itself: its hash, a word of the directory and maybe half of one that is
/// empty, its place, and what grows by doubling.
const ENTRY_BYTES: u64 = 56;

/// The number of times that an entry may be there while a table is made: put in, and as much again
/// in a chunk that is not full; and once more where it is copied to its place.
const ENTRY_COPIES: u64 = 2;

/// Buffers beside those of the partitions that are written: of runs that are read.
const READERS: u64 = 2;

/// The way in which the entries of a table look, and how many fit.
#[derive(Debug, Clone)]
pub(in crate::execution) struct Shape {
    pub layout: Layout,
    /// The fields that are the key.
    pub key: Vec<usize>,
    pub fields: Vec<Field>,
    /// So many entries make a table within the share.
    pub entries_max: usize,
    pub memory: Memory,
    pub spill: Spill,
}

impl Shape {
    fn new(layout: &Layout, key: &[usize], memory: &Memory, spill: &Spill) -> Result<Self> {
        let readers = READERS * Run::buffer_bytes(spill, layout.bytes);
        let buffers = Partitioned::buffers_bytes(spill, layout.bytes) + readers;
        let Some(left) = memory.budget_bytes().checked_sub(buffers) else {
            return Err(memory.reservation(WHAT).refusal());
        };
        let copies = ENTRY_COPIES + u64::from(JoinBuilder::copies(layout.bytes));
        let entries_max = left / (layout.bytes as u64 * copies + ENTRY_BYTES);
        let fields = key.iter().map(|at| layout.fields[*at].clone()).collect();
        let (layout, key) = (layout.clone(), key.to_vec());
        let entries_max = (entries_max as usize).max(1);
        Ok(Self { layout, key, fields, entries_max, memory: memory.clone(), spill: spill.clone() })
    }

    pub fn builder(&self) -> JoinBuilder {
        JoinBuilder::new(&self.layout, &self.key, &self.memory)
    }

    pub fn fan(&self) -> Fan {
        self.spill.fan()
    }

    /// Whether a key of the entries may have a null, which equals nothing.
    fn may_have_nulls(&self) -> bool {
        self.fields.iter().any(|field| field.null_at.is_some())
    }

    pub fn partitioned(&self, tuple_bytes: usize) -> Result<Partitioned> {
        Partitioned::new(&self.spill, tuple_bytes, &self.memory, WHAT)
    }

    pub fn hash(&self, entry: &[u8]) -> u64 {
        hash_fields(entry, &self.fields)
    }
}

/// Entries that come.
#[derive(Debug)]
pub(in crate::execution) struct Building {
    shape: Shape,
    builder: JoinBuilder,
    /// The partitions below this number are in memory.
    stays: usize,
    /// The entries of the others.
    away: Option<Partitioned>,
    hashes: Vec<u64>,
}

/// The hash table that they became.
#[derive(Debug)]
pub(in crate::execution) struct Built {
    pub shape: Shape,
    /// The partitions below this number are in the table.
    pub stays: usize,
    /// The entries of the others.
    pub away: Runs,
    /// The rest of the share, for when the others are looked at.
    pub rest: Reservation,
}

impl Building {
    /// No entries yet.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has not even the buffers.
    pub fn new(layout: &Layout, key: &[usize], memory: &Memory, spill: &Spill) -> Result<Self> {
        let shape = Shape::new(layout, key, memory, spill)?;
        let (builder, stays) = (shape.builder(), shape.fan().out());
        Ok(Self { shape, builder, stays, away: None, hashes: Vec::new() })
    }

    /// Put a copy of an entry in.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    #[inline]
    pub fn add(&mut self, entry: &[u8]) -> Result<()> {
        if self.builder.len() < self.shape.entries_max && self.away.is_none() {
            return self.builder.add(entry);
        }
        self.add_divided(entry)
    }

    /// Put copies of so many entries in, which lie one after another.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    pub fn add_many(&mut self, entries: &[u8], count: usize) -> Result<()> {
        if self.builder.len() + count <= self.shape.entries_max && self.away.is_none() {
            return self.builder.add_many(entries);
        }
        let bytes = self.shape.layout.bytes;
        if self.shape.may_have_nulls() {
            return entries.chunks_exact(bytes).try_for_each(|entry| self.add(entry));
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hash_tuples(entries, bytes, &self.shape.fields, &mut hashes);
        let mut pairs = entries.chunks_exact(bytes).zip(&hashes);
        let outcome = pairs.try_for_each(|(entry, hash)| self.add_hashed(entry, *hash));
        self.hashes = hashes;
        outcome
    }

    /// A builder for one of some threads, with memory of its own, and how many entries it may take.
    pub fn part(&self, threads: usize, memory: &Memory) -> (JoinBuilder, usize) {
        (self.builder.beside(memory), self.shape.entries_max / threads)
    }

    /// Take over what a thread's builder has.
    ///
    /// # Errors
    ///
    /// As of [`Building::add`].
    pub fn merge(&mut self, part: JoinBuilder) -> Result<()> {
        if self.away.is_none() && self.builder.len() + part.len() <= self.shape.entries_max {
            self.builder.append(part);
            return Ok(());
        }
        let bytes = self.shape.layout.bytes;
        part.into_tuples()
            .drain(|entries| entries.chunks_exact(bytes).try_for_each(|entry| self.add(entry)))
    }

    fn add_divided(&mut self, entry: &[u8]) -> Result<()> {
        // A null equals nothing, so nobody would look for it.
        let is_null = |field: &Field| field.null_at.is_some_and(|at| entry[at] != 0);
        if self.shape.fields.iter().any(is_null) {
            return Ok(());
        }
        self.add_hashed(entry, self.shape.hash(entry))
    }

    /// An entry with that hash, and without a null in its key.
    #[inline]
    fn add_hashed(&mut self, entry: &[u8], hash: u64) -> Result<()> {
        while self.stays > 0 && self.builder.len() >= self.shape.entries_max {
            self.send_away()?;
        }
        let partition = self.shape.fan().partition_of(hash, 0);
        match &mut self.away {
            Some(away) if partition >= self.stays => away.push(partition, entry),
            _ => self.builder.add(entry),
        }
    }

    /// Half of the partitions that are in memory go to the file.
    #[cold]
    fn send_away(&mut self) -> Result<()> {
        let Self { shape, builder, stays, away, .. } = self;
        *stays /= 2;
        let away = match away {
            Some(away) => away,
            None => away.insert(shape.partitioned(shape.layout.bytes)?),
        };
        let all = std::mem::replace(builder, shape.builder());
        let (fan, mut hashes) = (shape.fan(), Vec::new());
        let outcome = all.into_tuples().drain(|entries| {
            hashes.clear();
            hash_tuples(entries, shape.layout.bytes, &shape.fields, &mut hashes);
            for (entry, hash) in entries.chunks_exact(shape.layout.bytes).zip(&hashes) {
                match fan.partition_of(*hash, 0) {
                    partition if partition >= *stays => away.push(partition, entry)?,
                    _ => builder.add(entry)?,
                }
            }
            Ok(())
        });
        // Half of what was there is in the file, and the other half was copied.
        return_freed();
        outcome
    }

    /// The table of what stays, and what does not.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] where the budget is too small,
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    pub fn finish(self) -> Result<(Arc<JoinTable>, Option<Built>)> {
        let Self { shape, builder, stays, away, .. } = self;
        let away = away.map(|mut away| away.finish()).transpose()?;
        let table = Arc::new(builder.finish()?);
        let built = away.map(|away| {
            let left = shape.memory.budget_bytes().saturating_sub(shape.memory.used_bytes());
            let mut rest = shape.memory.reservation(WHAT);
            // Where another part has taken of it, less is left, which is enough for buffers.
            _ = rest.try_add(left);
            Built { shape, stays, away, rest }
        });
        Ok((table, built))
    }
}
