//! Duplicates removed within a budget: a set of tuples, and what it cannot take put aside by
//! partition.
//!
//! Once the set is full it takes no more, and still shows what it has. Any other tuple goes to the
//! partition of its hash, for a later round with an empty set. So each round gives as many tuples
//! as the set can hold, however often some come, and rounds come to an end.

use super::DistinctTable;
use crate::error::{QueryError, Result};
use crate::memory::{Memory, return_freed};
use crate::spill::{Partitioned, Run, RunReader, Runs, Spill};
use crate::tuple::Layout;

/// The name of this part in the budget's error.
const WHAT: &str = "the removal of duplicates";

/// Tuples that a round hands on at a time.
const BATCH: usize = 1024;

/// A set of tuples of any number.
#[derive(Debug)]
pub struct Duplicates {
    layout: Layout,
    memory: Memory,
    table: DistinctTable,
    /// Of the set's hashes, the bits that divide what is put aside.
    level: u32,
    is_full: bool,
    /// None where the budget has not even the buffers: what the set cannot take is an error then.
    aside: Option<Partitioned>,
    hashes: Vec<u64>,
}

impl Duplicates {
    /// Without tuples.
    ///
    /// # Errors
    ///
    /// [`QueryError::Memory`] if the budget has none at all.
    pub fn new(layout: &Layout, spill: &Spill, memory: &Memory) -> Result<Self> {
        let mut table = DistinctTable::new(layout, memory)?;
        let spill = spill.of_share(memory.budget_bytes());
        // The set's first tuples come before buffers, which a small budget may not hold too.
        let aside = if table.try_reserve() {
            match Partitioned::new(&spill, layout.bytes, memory, WHAT) {
                Err(QueryError::Memory { .. }) => None,
                aside => Some(aside?),
            }
        } else {
            None
        };
        Ok(Self {
            layout: layout.clone(),
            table,
            memory: memory.clone(),
            level: 0,
            is_full: false,
            aside,
            hashes: Vec::new(),
        })
    }

    /// Put a tuple in. Where its copy lies if it is certainly new.
    ///
    /// # Errors
    ///
    /// [`QueryError::Spill`] where the file cannot be written.
    #[inline]
    pub fn insert(&mut self, tuple: &[u8]) -> Result<Option<*const u8>> {
        let hash = self.table.hash(tuple);
        self.insert_hashed(tuple, hash)
    }

    /// Put tuples in, which lie one after another; the copies of those that are certainly new go
    /// to `new`, and are good until the next round.
    ///
    /// # Errors
    ///
    /// As of [`Duplicates::insert`].
    pub fn insert_many(&mut self, tuples: &[u8], new: &mut Vec<*const u8>) -> Result<()> {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        for tuple in tuples.chunks_exact(self.layout.bytes) {
            let hash = self.table.hash(tuple);
            self.table.prefetch(hash);
            hashes.push(hash);
        }
        for (tuple, hash) in tuples.chunks_exact(self.layout.bytes).zip(&hashes) {
            new.extend(self.insert_hashed(tuple, *hash)?);
        }
        self.hashes = hashes;
        Ok(())
    }

    #[inline]
    fn insert_hashed(&mut self, tuple: &[u8], hash: u64) -> Result<Option<*const u8>> {
        if !self.is_full {
            match self.table.insert_hashed(tuple, hash) {
                Err(QueryError::Memory { .. })
                    if !self.table.is_empty() && self.aside.is_some() =>
                {
                    self.is_full = true;
                    return_freed();
                }
                outcome => return outcome,
            }
        }
        if let Some(aside) = &mut self.aside
            && !self.table.contains(tuple, hash)
        {
            aside.push(aside.fan().partition_of(hash, self.level), tuple)?;
        }
        Ok(None)
    }

    /// Whether some were put aside.
    pub fn has_aside(&self) -> bool {
        self.is_full
    }

    /// No more tuples come: those that were put aside, each once, some at a time. The pointers are
    /// good until `take` returns. `take` says whether to go on.
    ///
    /// # Errors
    ///
    /// [`QueryError::Spill`] where the file cannot be written or read, and what `take` says.
    pub fn finish(mut self, take: &mut dyn FnMut(&[*const u8]) -> Result<()>) -> Result<()> {
        let Some(mut aside) = self.aside.take() else { return Ok(()) };
        let mut open: Vec<(Run, u32)> = Vec::new();
        put_aside(&mut open, aside.finish()?, 1);
        self.aside = Some(aside);
        let mut new = Vec::new();
        // A round holds no more than the first did, however often its tuples come.
        let expected = self.table.len();
        while let Some((run, level)) = open.pop() {
            drop(self.table);
            let reservation = self.memory.reservation(WHAT);
            let mut reader = RunReader::new(run, reservation)?;
            self.table = DistinctTable::new(&self.layout, &self.memory)?;
            self.table.expect(expected.min(reader.len()));
            (self.level, self.is_full) = (level, false);
            while let Some(part) = reader.next_part()? {
                for some in part.chunks(BATCH * self.layout.bytes) {
                    new.clear();
                    self.insert_many(some, &mut new)?;
                    take(&new)?;
                }
            }
            drop(reader);
            if let Some(aside) = &mut self.aside {
                put_aside(&mut open, aside.finish()?, level + 1);
            }
        }
        Ok(())
    }
}

fn put_aside(open: &mut Vec<(Run, u32)>, runs: Runs, level: u32) {
    open.extend(runs.into_iter().flatten().map(|run| (run, level)));
}
