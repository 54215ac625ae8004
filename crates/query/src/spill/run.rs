//! Tuples of one length in the file, in the order in which they were put there.

use super::Spill;
use crate::error::Result;
use crate::memory::Reservation;
use crate::tuple::copy_tuple;

/// Tuples in the file. Their room is free again when this is dropped.
#[derive(Debug)]
pub struct Run {
    spill: Spill,
    tuple_bytes: usize,
    /// The number of tuples that a part of the file holds.
    tuples_of_part: usize,
    /// The place where the parts begin.
    parts: Vec<u64>,
    len: usize,
}

impl Run {
    fn new(spill: &Spill, tuple_bytes: usize) -> Self {
        let tuples_of_part = (spill.block_bytes() / tuple_bytes.max(1)).max(1);
        Self { spill: spill.clone(), tuple_bytes, tuples_of_part, parts: Vec::new(), len: 0 }
    }

    /// The number of tuples that it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The length of a tuple in bytes.
    pub fn tuple_bytes(&self) -> usize {
        self.tuple_bytes
    }

    /// The bytes that a writer or a reader of it keeps in memory.
    pub fn buffer_bytes(spill: &Spill, tuple_bytes: usize) -> u64 {
        Self::new(spill, tuple_bytes).part_bytes() as u64
    }

    fn part_bytes(&self) -> usize {
        self.tuples_of_part * self.tuple_bytes
    }

    /// The room of a part in the file, in whole pages of it.
    fn room_bytes(&self) -> u64 {
        (self.part_bytes() as u64).next_multiple_of(super::BLOCK_BYTES_MIN)
    }

    /// The number of the part with that tuple, and the first tuple of the part.
    pub fn part_of(&self, tuple: usize) -> (usize, usize) {
        let part = tuple / self.tuples_of_part;
        (part, part * self.tuples_of_part)
    }

    /// Read a part into a buffer: whole tuples, one after another.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be read.
    pub fn read_part(&self, part: usize, into: &mut Vec<u8>) -> Result<()> {
        let tuples = (self.len - part * self.tuples_of_part).min(self.tuples_of_part);
        into.resize(tuples * self.tuple_bytes, 0);
        self.spill.read(self.parts[part], into)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.spill.give_back(self.room_bytes(), &mut self.parts);
    }
}

/// A run that is being written.
#[derive(Debug)]
pub struct RunWriter {
    run: Run,
    /// As long as a part.
    buffer: Vec<u8>,
    /// So much of it waits to be written.
    filled: usize,
    _reservation: Reservation,
}

impl RunWriter {
    /// An empty run; its buffer counts in the reservation.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for the buffer.
    pub fn new(spill: &Spill, tuple_bytes: usize, mut reservation: Reservation) -> Result<Self> {
        let run = Run::new(spill, tuple_bytes);
        reservation.add(run.part_bytes() as u64)?;
        let buffer = vec![0; run.part_bytes()];
        Ok(Self { run, buffer, filled: 0, _reservation: reservation })
    }

    /// Put a copy of a tuple behind the others.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    #[inline]
    pub fn push(&mut self, tuple: &[u8]) -> Result<()> {
        debug_assert_eq!(tuple.len(), self.run.tuple_bytes);
        if self.filled == self.buffer.len() {
            self.write()?;
        }
        let end = self.filled + tuple.len();
        copy_tuple(tuple, &mut self.buffer[self.filled..end]);
        self.filled = end;
        self.run.len += 1;
        Ok(())
    }

    /// The number of tuples that it has.
    pub fn len(&self) -> usize {
        self.run.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty()
    }

    #[cold]
    fn write(&mut self) -> Result<()> {
        let at = self.run.spill.take(self.run.room_bytes());
        self.run.parts.push(at);
        self.run.spill.write(at, &self.buffer[..self.filled])?;
        self.filled = 0;
        Ok(())
    }

    /// No more tuples come.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be written.
    pub fn finish(mut self) -> Result<Run> {
        if self.filled > 0 {
            self.write()?;
        }
        Ok(self.run)
    }
}

/// A way through a run, part by part, once.
#[derive(Debug)]
pub struct RunReader {
    run: Run,
    part: usize,
    buffer: Vec<u8>,
    at: usize,
    _reservation: Reservation,
}

impl RunReader {
    /// From the first tuple on; its buffer counts in the reservation.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for the buffer.
    pub fn new(run: Run, mut reservation: Reservation) -> Result<Self> {
        reservation.add(run.part_bytes() as u64)?;
        let buffer = Vec::with_capacity(run.part_bytes());
        Ok(Self { run, part: 0, buffer, at: 0, _reservation: reservation })
    }

    /// The number of tuples that the run has.
    pub fn len(&self) -> usize {
        self.run.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty()
    }

    /// Begin with the first tuple again.
    pub fn rewind(&mut self) {
        (self.part, self.at) = (0, 0);
        self.buffer.clear();
    }

    /// The next tuples, one after another; none at the end.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where the file cannot be read.
    pub fn next_part(&mut self) -> Result<Option<&[u8]>> {
        if self.part == self.run.parts.len() {
            return Ok(None);
        }
        self.run.read_part(self.part, &mut self.buffer)?;
        self.part += 1;
        self.at = self.buffer.len();
        Ok(Some(&self.buffer))
    }

    /// The next tuples, at most so many, one after another; none at the end. Where tuples are taken
    /// one by one, too, those that [`RunReader::advance`] went to are not among them.
    ///
    /// # Errors
    ///
    /// As of [`RunReader::next_part`].
    pub fn next_tuples(&mut self, tuples_max: usize) -> Result<Option<&[u8]>> {
        if self.at == self.buffer.len() {
            if self.next_part()?.is_none() {
                return Ok(None);
            }
            self.at = 0;
        }
        let end = self.buffer.len().min(self.at + tuples_max * self.run.tuple_bytes);
        let begin = std::mem::replace(&mut self.at, end);
        Ok(Some(&self.buffer[begin..end]))
    }

    /// Go to the next tuple; false at the end.
    ///
    /// # Errors
    ///
    /// As of [`RunReader::next_part`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        let bytes = self.run.tuple_bytes;
        self.at += bytes;
        if self.at < self.buffer.len() {
            return Ok(true);
        }
        let is_there = self.next_part()?.is_some();
        self.at = 0;
        Ok(is_there)
    }

    /// The tuple at which it is, once [`RunReader::advance`] said that there is one.
    #[inline]
    pub fn tuple(&self) -> &[u8] {
        &self.buffer[self.at..self.at + self.run.tuple_bytes]
    }
}
