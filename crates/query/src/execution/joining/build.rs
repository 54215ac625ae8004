//! The side of a join whose entries go into a table.

use std::sync::Arc;

use super::WHAT;
use crate::error::Result;
use crate::memory::{Memory, Reservation};
use crate::spill::{FAN_OUT, Partitioned, Run, Spill, partition_of};
use crate::table::{JoinBuilder, JoinTable, hash_fields, hash_tuples};
use crate::tuple::{Field, Layout};

/// Buffers beside those of the partitions that are written: of runs that are read.
const READERS: u64 = 2;

/// How the entries of a table look, and how many fit.
#[derive(Debug, Clone)]
pub(in crate::execution) struct Shape {
    pub layout: Layout,
    /// The fields that are the key.
    pub key: Vec<usize>,
    pub fields: Vec<Field>,
    /// What a table may take of the share.
    table_bytes: u64,
    /// So many entries make such a table.
    pub entries_max: usize,
    pub memory: Memory,
    pub spill: Spill,
}

impl Shape {
    fn new(layout: &Layout, key: &[usize], memory: &Memory, spill: &Spill) -> Result<Self> {
        let buffers = (FAN_OUT as u64 + READERS) * Run::buffer_bytes(spill, layout.bytes);
        let Some(table_bytes) = memory.budget_bytes().checked_sub(buffers) else {
            return Err(memory.reservation(WHAT).refusal());
        };
        let entries_max = JoinBuilder::entries_within(table_bytes, layout.bytes);
        let fields = key.iter().map(|at| layout.fields[*at].clone()).collect();
        let (layout, key) = (layout.clone(), key.to_vec());
        let (memory, spill) = (memory.clone(), spill.clone());
        Ok(Self { layout, key, fields, table_bytes, entries_max, memory, spill })
    }

    pub fn builder(&self) -> JoinBuilder {
        JoinBuilder::new(&self.layout, &self.key, &self.memory)
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

/// What they became.
#[derive(Debug)]
pub(in crate::execution) struct Built {
    pub shape: Shape,
    /// The partitions below this number are in the table.
    pub stays: usize,
    /// The entries of the others.
    pub away: [Option<Run>; FAN_OUT],
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
        Ok(Self { builder: shape.builder(), shape, stays: FAN_OUT, away: None, hashes: Vec::new() })
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
        if self.shape.fields.iter().any(|field| field.null_at.is_some()) {
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
        let bytes = self.shape.table_bytes / threads as u64;
        let entries_max = JoinBuilder::entries_within(bytes, self.shape.layout.bytes);
        (self.builder.beside(memory), entries_max)
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
        let partition = partition_of(hash, 0);
        while partition < self.stays && self.builder.len() >= self.shape.entries_max {
            self.send_away()?;
        }
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
        let mut hashes = Vec::new();
        all.into_tuples().drain(|entries| {
            hashes.clear();
            hash_tuples(entries, shape.layout.bytes, &shape.fields, &mut hashes);
            for (entry, hash) in entries.chunks_exact(shape.layout.bytes).zip(&hashes) {
                match partition_of(*hash, 0) {
                    partition if partition >= *stays => away.push(partition, entry)?,
                    _ => builder.add(entry)?,
                }
            }
            Ok(())
        })
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
