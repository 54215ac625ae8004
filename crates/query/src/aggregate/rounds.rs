//! The results of an aggregation, in as many rounds as its memory needs: each takes in as many
//! partitions as fit, and puts the rows of the others aside by their hashes.

use super::aside::{Aside, Form};
use super::{Accumulator, Groups, Partitions, Spilling, WHAT};
use crate::error::Result;
use crate::memory::{Memory, Place, Reservation, Tuples};
use crate::plan::Aggregation;
use crate::spill::{Run, RunReader, RunWriter, Spill};
use crate::table::hash_fields;
use crate::temporary::Temporary;

/// Records between two looks at whether to go on.
const RECORDS_CHECKED: usize = 8192;

/// Room for the buffers of a writer of results, and of one more reader.
pub(super) fn buffers(
    aggregation: &Aggregation,
    spill: &Spill,
    memory: &Memory,
) -> Result<Reservation> {
    let mut buffers = memory.reservation(WHAT);
    buffers.add(2 * Run::buffer_bytes(spill, aggregation.layout.bytes))?;
    Ok(buffers)
}

impl Partitions {
    /// Rows without memory are put aside by these bits of their hashes.
    pub(super) fn begin_round(&mut self, spill: &Spill, level: u32) -> Result<()> {
        let form = Form::new(&self.aggregation, self.by.bytes);
        self.aside = Some(Box::new(Aside::new(&form, level, spill, &self.memory)?));
        Ok(())
    }

    /// The results, one tuple for each partition. An error that arises now belongs to the place of
    /// its aggregate. `check` is asked now and then whether to go on.
    ///
    /// # Errors
    ///
    /// A sum that 64 bits do not hold, a result that is not finite;
    /// [`crate::QueryError::Memory`], [`crate::QueryError::Spill`], and what `check` says.
    /// `source` is the program's text.
    pub fn finish(mut self, source: &str, check: &dyn Fn() -> Result<()>) -> Result<Groups> {
        self.accumulators.iter_mut().try_for_each(Accumulator::finish)?;
        match self.spilling.take_if(|_| self.is_full) {
            Some(spilling) => self.finish_in_rounds(source, check, spilling),
            None => self.finish_at_once(source),
        }
    }

    fn finish_at_once(mut self, source: &str) -> Result<Groups> {
        (self.aside, self.spilling) = (None, None);
        let layout = &self.aggregation.layout;
        let mut results = Tuples::new(layout.bytes, self.memory.reservation(WHAT));
        let mut places = Vec::with_capacity(self.len());
        let outcome = self.results(source, &mut |tuple| {
            places.push(Place(results.push(tuple)?));
            Ok(())
        });
        outcome?;
        let by = &layout.fields[..self.aggregation.by];
        Ok(Groups::new(by, self.slots, places, results))
    }

    fn finish_in_rounds(
        mut self,
        source: &str,
        check: &dyn Fn() -> Result<()>,
        spilling: Spilling,
    ) -> Result<Groups> {
        let Spilling { spill, is_looked_up, mut buffers } = spilling;
        let (aggregation, memory) = (self.aggregation.clone(), self.memory.clone());
        let buffer_bytes = Run::buffer_bytes(&spill, aggregation.layout.bytes);
        buffers.give_back(buffer_bytes);
        let mut writer =
            RunWriter::new(&spill, aggregation.layout.bytes, memory.reservation(WHAT))?;
        let mut open = Vec::new();
        let unsorted = Aggregation { is_sorted: false, ..aggregation.clone() };
        loop {
            self.results(source, &mut |tuple| writer.push(tuple))?;
            if let Some(aside) = self.aside.take() {
                let level = aside.level + 1;
                open.extend(aside.finish()?.into_iter().flatten().map(|run| (run, level)));
            }
            drop(self);
            let Some((run, level)) = open.pop() else { break };
            let mut reader = RunReader::new(run, memory.reservation(WHAT))?;
            self = Self::with_seen(&unsorted, &memory, Some(&spill))?;
            self.begin_round(&spill, level)?;
            self.replay(&mut reader, check)?;
            self.accumulators.iter_mut().try_for_each(Accumulator::finish)?;
        }
        let run = writer.finish()?;
        buffers.add(buffer_bytes)?;
        let by = &aggregation.layout.fields[..aggregation.by];
        let results = Temporary::spilled(run, buffers);
        if is_looked_up {
            return Groups::looked_up(by, &results, &memory);
        }
        Ok(Groups::spilled(by, results))
    }

    /// Take in rows that were put aside.
    fn replay(&mut self, reader: &mut RunReader, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let form = Form::new(&self.aggregation, self.by.bytes);
        let mut count = 0_usize;
        while reader.advance()? {
            let record = reader.tuple();
            let key = form.key(record);
            if let Some(aside) = &mut self.aside {
                aside.settle_many()?;
            }
            let partition = self.partition_of(key, hash_fields(key, &self.by.fields))?;
            for aggregate in 0..self.accumulators.len() {
                if let Some(value) = form.value(record, aggregate) {
                    self.update(partition, aggregate, value)?;
                }
            }
            count += 1;
            if count.is_multiple_of(RECORDS_CHECKED) {
                check()?;
            }
        }
        Ok(())
    }
}
