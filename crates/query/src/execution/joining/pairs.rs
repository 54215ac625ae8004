//! Rows that were put aside, and the joins of their partitions with those of the entries.

use std::sync::Arc;

use super::form::RowForm;
use super::{Built, WHAT};
use crate::error::Result;
use crate::spill::{LEVELS_MAX, Partitioned, Run, RunReader, Runs};
use crate::table::{JoinTable, hash_of};
use crate::tuple::Value;

/// A partition of so many times what fits is joined block by block: dividing it once more would
/// write and read both sides again, too.
const BLOCKS_MAX: usize = 3;

/// Rows that are handed on at a time.
const BATCH: usize = 1024;

/// Rows that look for entries that are away.
#[derive(Debug)]
pub(in crate::execution) struct Aside {
    built: Built,
    pub form: RowForm,
    rows: Partitioned,
    row: Vec<u8>,
}

/// Entries and rows whose hashes have the same bits.
#[derive(Debug)]
struct Pair {
    entries: Run,
    rows: Run,
    /// The number of times that they were divided.
    level: u32,
}

impl Aside {
    /// No rows yet, of that form.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has not even the buffers.
    pub fn new(mut built: Built, form: RowForm) -> Result<Self> {
        built.rest.give_back(built.rest.bytes());
        // No entry comes any more, so that it is known which rows need their hashes again.
        let is_divided = |entries: &Run| built.shape.divides(entries, 1);
        let is_divided = built.away.iter().flatten().any(is_divided);
        let form = if is_divided { form } else { form.without_hash() };
        let rows = built.shape.partitioned(form.bytes())?;
        let left = built.shape.memory.budget_bytes();
        _ = built.rest.try_add(left.saturating_sub(built.shape.memory.used_bytes()));
        Ok(Self { built, form, rows, row: Vec::new() })
    }

    /// The hash of keys whose entries are away, if there are any: their row is to be put aside.
    #[inline]
    pub fn is_away(&self, keys: &[Value<'_>]) -> Option<u64> {
        let hash = hash_of(&self.built.shape.fields, keys)?;
        self.has(hash).then_some(hash)
    }

    /// Whether entries with that hash may be away.
    #[inline]
    pub fn has(&self, hash: u64) -> bool {
        let partition = self.built.shape.fan().partition_of(hash, 0);
        partition >= self.built.stays && self.built.away[partition].is_some()
    }

    /// Put a row with that hash aside.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    pub fn put(
        &mut self,
        hash: u64,
        slot: impl Fn(usize) -> *const u8,
        id: impl Fn(usize) -> u64,
    ) -> Result<()> {
        self.form.pack(hash, slot, id, &mut self.row);
        self.rows.push(self.rows.fan().partition_of(hash, 0), &self.row)
    }

    /// There are no more rows, and the table of what stayed is gone: `take` gets tables, and with
    /// each some rows whose entries may be there. It says whether to go on.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written or read, and what `take` says.
    pub fn finish(mut self, take: &mut Take<'_>) -> Result<()> {
        let rows = self.rows.finish()?;
        let Self { built: Built { shape, away, rest, .. }, form, rows: writers, .. } = self;
        drop((writers, rest));
        let mut open = Vec::new();
        put(&mut open, away, rows, 1);
        while let Some(pair) = open.pop() {
            if !shape.divides(&pair.entries, pair.level) {
                shape.join(pair, &form, take)?;
                continue;
            }
            let (all, level) = (pair.entries.len(), pair.level);
            let entries = shape.divided(pair.entries, level, &|entry| shape.hash(entry))?;
            let rows = shape.divided(pair.rows, level, &RowForm::hash)?;
            // Where all keys are equal, dividing them again would go on for ever.
            let is_one = entries.iter().flatten().any(|entries| entries.len() == all);
            put(&mut open, entries, rows, if is_one { LEVELS_MAX } else { level + 1 });
        }
        Ok(())
    }
}

/// A function that takes a table and rows, one after another.
pub(in crate::execution) type Take<'t> =
    dyn FnMut(&RowForm, &Arc<JoinTable>, &[u8]) -> Result<()> + 't;

fn put(open: &mut Vec<Pair>, entries: Runs, rows: Runs, level: u32) {
    for (entries, rows) in entries.into_iter().zip(rows) {
        // Either side alone joins with nothing.
        if let (Some(entries), Some(rows)) = (entries, rows) {
            open.push(Pair { entries, rows, level });
        }
    }
}

impl super::build::Shape {
    /// Whether entries that were divided so often are to be divided once more.
    fn divides(&self, entries: &Run, level: u32) -> bool {
        entries.len() > BLOCKS_MAX * self.entries_max && level < LEVELS_MAX
    }

    /// A run by the next bits of its hashes.
    fn divided(&self, run: Run, level: u32, hash: &dyn Fn(&[u8]) -> u64) -> Result<Runs> {
        let mut divided = self.partitioned(run.tuple_bytes())?;
        let mut reader = RunReader::new(run, self.memory.reservation(WHAT))?;
        while reader.advance()? {
            let tuple = reader.tuple();
            divided.push(self.fan().partition_of(hash(tuple), level), tuple)?;
        }
        divided.finish()
    }

    /// Join a pair by tables of as many entries as fit, each of which meets all rows.
    fn join(&self, pair: Pair, form: &RowForm, take: &mut Take<'_>) -> Result<()> {
        let mut entries = RunReader::new(pair.entries, self.memory.reservation(WHAT))?;
        let mut rows = RunReader::new(pair.rows, self.memory.reservation(WHAT))?;
        loop {
            let mut builder = self.builder();
            while builder.len() < self.entries_max {
                let left = self.entries_max - builder.len();
                let Some(some) = entries.next_tuples(left)? else { break };
                builder.add_many(some)?;
            }
            if builder.is_empty() {
                return Ok(());
            }
            let table = Arc::new(builder.finish()?);
            while let Some(part) = rows.next_part()? {
                for some in part.chunks(BATCH * form.bytes()) {
                    take(form, &table, some)?;
                }
            }
            rows.rewind();
        }
    }
}
