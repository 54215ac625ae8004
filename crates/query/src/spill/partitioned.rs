//! Tuples in the file by some bits of their hashes.

use super::{Run, RunWriter, Spill};
use crate::error::Result;
use crate::memory::{Memory, Reservation};

/// Into how many partitions tuples are divided at a time: their buffers take an eighth of a budget.
pub const FAN_OUT: usize = 1 << FAN_OUT_BITS;
const FAN_OUT_BITS: u32 = 4;

/// The lowest of the bits that divide first. Hash tables take their places from either end of a
/// hash, and would be crowded where its bits are the same for all of a partition.
const BIT_FIRST: u32 = 36;

/// How often partitions can be divided: into so many that a terabyte leaves some megabytes each.
pub const LEVELS_MAX: u32 = 4;

/// The partition of a hash, when tuples are divided for the first time (level 0), or again.
#[inline]
pub const fn partition_of(hash: u64, level: u32) -> usize {
    if level >= LEVELS_MAX {
        return 0;
    }
    (hash >> (BIT_FIRST - level * FAN_OUT_BITS)) as usize & (FAN_OUT - 1)
}

/// A run for each partition that has tuples.
#[derive(Debug)]
pub struct Partitioned {
    spill: Spill,
    memory: Memory,
    what: &'static str,
    tuple_bytes: usize,
    /// Room for the buffers of the partitions without tuples.
    buffers: Reservation,
    writers: [Option<RunWriter>; FAN_OUT],
}

impl Partitioned {
    /// Without tuples, of that length. `what` names it in an error of the budget.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] where the budget has no memory for their buffers.
    pub fn new(
        spill: &Spill,
        tuple_bytes: usize,
        memory: &Memory,
        what: &'static str,
    ) -> Result<Self> {
        let (spill, memory, mut buffers) =
            (spill.clone(), memory.clone(), memory.reservation(what));
        buffers.add(FAN_OUT as u64 * Run::buffer_bytes(&spill, tuple_bytes))?;
        let writers = [const { None }; FAN_OUT];
        Ok(Self { spill, memory, what, tuple_bytes, buffers, writers })
    }

    /// Put a tuple into a partition.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    #[inline]
    pub fn push(&mut self, partition: usize, tuple: &[u8]) -> Result<()> {
        match &mut self.writers[partition] {
            Some(writer) => writer.push(tuple),
            None => self.open(partition)?.push(tuple),
        }
    }

    #[cold]
    fn open(&mut self, partition: usize) -> Result<&mut RunWriter> {
        self.buffers.give_back(Run::buffer_bytes(&self.spill, self.tuple_bytes));
        let reservation = self.memory.reservation(self.what);
        let writer = RunWriter::new(&self.spill, self.tuple_bytes, reservation)?;
        Ok(self.writers[partition].insert(writer))
    }

    /// The runs, one for each partition; none for one without tuples.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    pub fn finish(&mut self) -> Result<[Option<Run>; FAN_OUT]> {
        let mut runs = [const { None }; FAN_OUT];
        for (run, writer) in runs.iter_mut().zip(&mut self.writers) {
            if let Some(writer) = writer.take() {
                *run = Some(writer.finish()?);
                self.buffers.add(Run::buffer_bytes(&self.spill, self.tuple_bytes))?;
            }
        }
        Ok(runs)
    }
}
