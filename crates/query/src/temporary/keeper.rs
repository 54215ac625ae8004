//! A temporary relation that is being filled: in memory, and from where the budget ends on in the
//! file of the statement.

use super::Temporary;
use crate::error::Result;
use crate::memory::{Memory, Reservation, Tuples};
use crate::spill::{Run, RunWriter, Spill};

/// The name of this part in the budget's error.
const WHAT: &str = "a temporary relation";

/// Tuples that are to be kept in the order in which they come.
#[derive(Debug)]
pub struct Keeper {
    tuples: Tuples,
    /// All of them, once there were too many.
    writer: Option<RunWriter>,
    spill: Spill,
    memory: Memory,
    /// Room for the buffers that a spilled one needs: of its writer, and of two readers.
    buffers: Reservation,
}

impl Keeper {
    /// None yet.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has not even the buffers.
    pub fn new(tuple_bytes: usize, spill: &Spill, memory: &Memory) -> Result<Self> {
        let mut buffers = memory.reservation(WHAT);
        buffers.add(2 * Run::buffer_bytes(spill, tuple_bytes))?;
        Ok(Self {
            tuples: Tuples::new(tuple_bytes, memory.reservation(WHAT)),
            writer: None,
            spill: spill.clone(),
            memory: memory.clone(),
            buffers,
        })
    }

    /// Put a copy of a tuple behind the others.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    #[inline]
    pub fn add(&mut self, tuple: &[u8]) -> Result<()> {
        if self.writer.is_none() && self.tuples.try_push(tuple).is_some() {
            return Ok(());
        }
        self.add_to_file(tuple)
    }

    /// An empty list of such tuples for a thread, from another memory.
    pub fn part(&self, memory: &Memory) -> Tuples {
        Tuples::new(self.tuples.tuple_bytes(), memory.reservation(WHAT))
    }

    /// Take over what a thread has collected.
    ///
    /// # Errors
    ///
    /// As of [`Keeper::add`].
    pub fn merge(&mut self, part: Tuples) -> Result<()> {
        if self.writer.is_none() {
            self.tuples.append(part);
            return Ok(());
        }
        part.iter().try_for_each(|tuple| self.add(tuple))
    }

    #[cold]
    fn add_to_file(&mut self, tuple: &[u8]) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            return writer.push(tuple);
        }
        let bytes = self.tuples.tuple_bytes();
        self.buffers.give_back(Run::buffer_bytes(&self.spill, bytes));
        let buffer = self.memory.reservation(WHAT);
        let writer = self.writer.insert(RunWriter::new(&self.spill, bytes, buffer)?);
        self.tuples.iter().try_for_each(|tuple| writer.push(tuple))?;
        self.tuples.clear();
        writer.push(tuple)
    }

    /// The relation.
    ///
    /// # Errors
    ///
    /// As of [`Keeper::add`].
    pub fn finish(self) -> Result<Temporary> {
        let mut buffers = self.buffers;
        let Some(writer) = self.writer else { return Ok(Temporary::new(self.tuples)) };
        let run = writer.finish()?;
        buffers.add(Run::buffer_bytes(&self.spill, run.tuple_bytes()))?;
        Ok(Temporary::spilled(run, buffers))
    }
}
