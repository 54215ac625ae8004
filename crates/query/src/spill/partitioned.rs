//! Tuples in the file by some bits of their hashes.

use super::{Fan, Run, RunWriter, Spill};
use crate::error::Result;
use crate::memory::{Memory, Reservation};

/// A run for each partition that has tuples.
#[derive(Debug)]
pub struct Partitioned {
    spill: Spill,
    memory: Memory,
    what: &'static str,
    tuple_bytes: usize,
    /// Room for the buffers of the partitions without tuples.
    buffers: Reservation,
    writers: Vec<Option<RunWriter>>,
}

/// The runs of the partitions: a run for each, none for one without tuples.
pub type Runs = Vec<Option<Run>>;

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
        buffers.add(Self::buffers_bytes(&spill, tuple_bytes))?;
        let writers = (0..spill.fan().out()).map(|_| None).collect();
        Ok(Self { spill, memory, what, tuple_bytes, buffers, writers })
    }

    /// The bytes of the buffers of all partitions.
    pub fn buffers_bytes(spill: &Spill, tuple_bytes: usize) -> u64 {
        spill.fan().out() as u64 * Run::buffer_bytes(spill, tuple_bytes)
    }

    /// The way in which they are divided.
    pub fn fan(&self) -> Fan {
        self.spill.fan()
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

    /// The runs. Afterwards there are no tuples.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    pub fn finish(&mut self) -> Result<Runs> {
        let mut runs = Vec::with_capacity(self.writers.len());
        for writer in &mut self.writers {
            let Some(writer) = writer.take() else {
                runs.push(None);
                continue;
            };
            runs.push(Some(writer.finish()?));
            self.buffers.add(Run::buffer_bytes(&self.spill, self.tuple_bytes))?;
        }
        Ok(runs)
    }
}
