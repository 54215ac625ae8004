//! The state that the pipelines of a statement share while it runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loadstone_quel::check::resolved::Type;
use loadstone_quel::error::Fault;

use super::Transaction;
use super::compiled::CodeCache;
use super::joining::Built;
use super::wanted::Wanted;
use crate::aggregate::{Groups, Partitions};
use crate::catalog::Catalog;
use crate::counters::Work;
use crate::error::{QueryError, Result};
use crate::memory::Memory;
use crate::phases::Phases;
use crate::relation::{Relation, Scan};
use crate::spill::Spill;
use crate::table::JoinTable;
use crate::tactics::{Accelerator, FileLayout, Simd};
use crate::temporary::{Position, Temporary};
use crate::tuple::Value;

/// A running statement.
pub struct State<'a> {
    /// Through which pages are read and written.
    pub transaction: &'a mut Transaction,
    /// The program's text, into which errors point.
    pub source: &'a str,
    /// The values of the program's parameters, by their numbers.
    pub parameters: &'a [Parameter],
    /// The relations that there are.
    pub catalog: Arc<Catalog>,
    /// The memory they may use.
    pub memory: Memory,
    /// The place where the rest goes.
    pub spill: Spill,
    /// The number of bytes of the memory that each thing that the running pipeline makes may take.
    pub(super) share_bytes: u64,
    /// The place where the conditions on a scanned relation are evaluated; a plan made for `off`
    /// has none.
    pub accelerator: Accelerator,
    /// Whether the innermost loops use vector instructions.
    pub simd: Simd,
    /// The way in which the tuples of a new relation lie in its file.
    pub layout: FileLayout,
    /// The fields of each stored slot's tuples that the running pipeline reads; see
    /// [`super::wanted`].
    pub(super) wanted: Wanted,
    /// The work done.
    pub work: Work,
    /// The time that it took.
    pub phases: Phases,
    /// Tuples that were stored, appended, replaced or deleted, each counted once.
    pub changed: u64,
    /// Of each pipeline that has ended, the rows that reached its sink.
    pub pipeline_rows: Vec<u64>,
    /// Of each pipeline, the rows that its source and each of its steps let through, where
    /// somebody wants to know; empty for a pipeline whose executor does not count them.
    pub step_rows: Option<Vec<Vec<u64>>>,
    /// Of each pipeline that has ended, the tuples that sources gave to each of its threads, where
    /// there were several.
    pub pipeline_threads: Vec<Vec<u64>>,
    /// Set to have the statement end.
    pub cancel: Arc<AtomicBool>,
    /// Set when another thread of the pipeline has failed.
    pub(super) failed: Option<&'a AtomicBool>,
    /// This thread's part of the pipeline's source, until it is begun with; None where it has all.
    pub(super) part: Option<Part>,
    /// Compiled pipelines, kept by whom the statement belongs to.
    pub code: Arc<CodeCache>,
    /// Hash tables by their numbers; none before its pipeline has ended.
    pub tables: Vec<Option<Arc<JoinTable>>>,
    /// The parts of hash tables that did not fit into memory, by the tables' numbers.
    pub(super) away: BTreeMap<usize, Built>,
    /// Temporary relations by their numbers.
    pub temporaries: Vec<Option<Arc<Temporary>>>,
    /// Aggregations by their numbers.
    pub aggregations: Vec<Option<Arc<Groups>>>,
    /// Aggregations that pipelines still feed.
    partitions: BTreeMap<usize, Box<Partitions>>,
}

/// A thread's part of a pipeline's source.
pub(super) enum Part {
    /// Of a stored relation.
    Scan(Box<Scan>),
    /// Of a temporary one.
    Temporary(Position),
}

/// A value that the program was given from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// An integer.
    Integer(i64),
    /// A finite real.
    Real(f64),
    /// A text.
    Text(Vec<u8>),
}

impl Parameter {
    /// Its type, as expressions have it.
    pub const fn kind(&self) -> Type {
        match self {
            Self::Integer(_) => Type::Integer,
            Self::Real(_) => Type::Real,
            Self::Text(_) => Type::Text,
        }
    }

    /// The value.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Integer(value) => Value::Integer(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Text(text) => Value::Text(text),
        }
    }
}

/// Why a pipeline finds what it reads.
const IN_ORDER: &str = "the planner puts what fills it before what reads it";

impl<'a> State<'a> {
    /// Before the first pipeline. What does not fit into memory goes to the system's folder for
    /// temporary files, unless [`State::spill`] is set to another place.
    pub fn new(
        transaction: &'a mut Transaction,
        source: &'a str,
        parameters: &'a [Parameter],
        memory: Memory,
        catalog: Arc<Catalog>,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        Self {
            transaction,
            source,
            parameters,
            catalog,
            spill: Spill::new(&std::env::temp_dir(), memory.budget_bytes()),
            share_bytes: memory.budget_bytes(),
            memory,
            accelerator: Accelerator::On,
            simd: Simd::default(),
            layout: FileLayout::default(),
            wanted: Wanted::default(),
            work: Work::default(),
            phases: Phases::default(),
            changed: 0,
            pipeline_rows: Vec::new(),
            step_rows: None,
            pipeline_threads: Vec::new(),
            cancel,
            failed: None,
            part: None,
            code: Arc::default(),
            tables: Vec::new(),
            away: BTreeMap::new(),
            temporaries: Vec::new(),
            aggregations: Vec::new(),
            partitions: BTreeMap::new(),
        }
    }

    /// For another thread of the running pipeline, which reads through that transaction: nothing is
    /// done in it, and what earlier pipelines have left is shared.
    pub(super) fn beside<'b>(
        &self,
        transaction: &'b mut Transaction,
        failed: &'b AtomicBool,
        part: Part,
    ) -> State<'b>
    where
        'a: 'b,
    {
        State {
            transaction,
            source: self.source,
            parameters: self.parameters,
            catalog: Arc::clone(&self.catalog),
            memory: self.memory.clone(),
            spill: self.spill.clone(),
            share_bytes: self.share_bytes,
            accelerator: self.accelerator,
            layout: self.layout,
            wanted: self.wanted.clone(),
            simd: self.simd,
            work: Work::default(),
            phases: Phases::default(),
            changed: 0,
            pipeline_rows: Vec::new(),
            step_rows: self.step_rows.as_ref().map(|_| vec![Vec::new()]),
            pipeline_threads: Vec::new(),
            cancel: Arc::clone(&self.cancel),
            failed: Some(failed),
            part: Some(part),
            code: Arc::clone(&self.code),
            tables: self.tables.clone(),
            away: BTreeMap::new(),
            temporaries: self.temporaries.clone(),
            aggregations: self.aggregations.clone(),
            partitions: BTreeMap::new(),
        }
    }

    /// Count in what another thread of the running pipeline did.
    pub(super) fn count_in(&mut self, work: &Work, steps: Option<Vec<u64>>) {
        self.work.add(work);
        let own = self.step_rows.as_mut().and_then(|pipelines| pipelines.last_mut());
        let (Some(own), Some(steps)) = (own, steps) else { return };
        own.resize(own.len().max(steps.len()), 0);
        own.iter_mut().zip(steps).for_each(|(own, rows)| *own += rows);
    }

    /// The running pipeline begins again.
    pub(super) fn forget_steps(&mut self) {
        self.step_rows.iter_mut().filter_map(|pipelines| pipelines.last_mut()).for_each(Vec::clear);
    }

    /// Once a batch.
    ///
    /// # Errors
    ///
    /// [`QueryError::Cancelled`] if the caller requested the end.
    #[inline]
    pub fn check_cancelled(&self) -> Result<()> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if is_set(&self.cancel) || self.failed.is_some_and(is_set) {
            return Err(QueryError::Cancelled);
        }
        Ok(())
    }

    /// A source that is begun: the thread's part of it, if it is the pipeline's own and several
    /// threads share that, else `whole`. The pipeline's own is begun first.
    pub(super) fn begin_scan(
        &mut self,
        whole: impl FnOnce(&Transaction) -> Result<Scan>,
    ) -> Result<Scan> {
        match self.part.take() {
            Some(Part::Scan(scan)) => Ok(*scan),
            _ => whole(self.transaction),
        }
    }

    /// The place where a temporary relation that is begun is read from, as for
    /// [`State::begin_scan`].
    pub(super) fn begin_temporary(&mut self) -> Position {
        match self.part.take() {
            Some(Part::Temporary(position)) => position,
            _ => Position::default(),
        }
    }

    /// The memory for one thing that the running pipeline makes.
    pub fn share(&self) -> Memory {
        self.memory.share(self.share_bytes)
    }

    /// Begin to count the rows of a pipeline with so many steps, for an executor that does.
    pub(super) fn begin_counting(&mut self, steps: usize) {
        if let Some(counted) = self.step_rows.as_mut().and_then(|pipelines| pipelines.last_mut()) {
            counted.resize(steps + 1, 0);
        }
    }

    /// Rows that the source or a step let through, with so many steps still before them.
    #[inline]
    pub(super) fn count_rows(&mut self, steps_left: usize, rows: usize) {
        if let Some(counted) = self.step_rows.as_mut().and_then(|pipelines| pipelines.last_mut())
            && let Some(counted) = counted.iter_mut().rev().nth(steps_left)
        {
            *counted += rows as u64;
        }
    }

    /// Whether somebody wants to know the rows of steps.
    pub(super) fn counts_steps(&self) -> bool {
        self.step_rows.is_some()
    }

    /// Rows that the source and each step of the pipeline let through.
    pub(super) fn add_rows(&mut self, rows: &[u64]) {
        if let Some(counted) = self.step_rows.as_mut().and_then(|pipelines| pipelines.last_mut()) {
            counted.iter_mut().zip(rows).for_each(|(counted, rows)| *counted += rows);
        }
    }

    /// An evaluation's fault as an error that points into the program's text.
    #[cold]
    pub fn evaluation(&self, fault: Fault) -> QueryError {
        fault.evaluation(self.source).into()
    }

    /// A stored relation whose tuples go to that slot.
    ///
    /// # Errors
    ///
    /// [`QueryError::Tactic`] if there is none of that name: the plan was made for another catalog.
    pub fn relation(&self, name: &str, slot: usize) -> Result<Relation> {
        let info = self.catalog.relation(name).ok_or_else(|| QueryError::Tactic {
            what: format!("the plan reads the relation `{name}`, which is gone: plan anew"),
        })?;
        Ok(Relation::open(info).reading_only(|from, to| self.wanted.has(slot, from, to)))
    }

    /// A hash table that an earlier pipeline built.
    pub fn table(&self, number: usize) -> Arc<JoinTable> {
        Arc::clone(self.tables[number].as_ref().expect(IN_ORDER))
    }

    /// Let go of a hash table that nothing looks in any more.
    pub(super) fn let_go(&mut self, table: Option<Arc<JoinTable>>) {
        let Some(table) = table else { return };
        for known in &mut self.tables {
            known.take_if(|known| Arc::ptr_eq(known, &table));
        }
    }

    /// A temporary relation that an earlier pipeline filled.
    pub fn temporary(&self, number: usize) -> Arc<Temporary> {
        Arc::clone(self.temporaries[number].as_ref().expect(IN_ORDER))
    }

    /// An aggregation that an earlier pipeline fed.
    pub fn aggregation(&self, number: usize) -> Arc<Groups> {
        Arc::clone(self.aggregations[number].as_ref().expect(IN_ORDER))
    }

    /// The partitions that earlier pipelines have fed into an aggregation.
    pub(super) fn take_partitions(&mut self, number: usize) -> Option<Box<Partitions>> {
        self.partitions.remove(&number)
    }

    /// Keep what a pipeline has fed into an aggregation.
    pub(super) fn keep_partitions(&mut self, number: usize, partitions: Box<Partitions>) {
        self.partitions.insert(number, partitions);
    }

    /// No pipeline feeds the aggregation any more.
    ///
    /// # Errors
    ///
    /// As of [`Partitions::finish`].
    pub fn finish_aggregation(&mut self, number: usize) -> Result<()> {
        let Some(partitions) = self.partitions.remove(&number) else { return Ok(()) };
        let groups = partitions.finish(self.source, &|| self.check_cancelled())?;
        if self.aggregations.len() <= number {
            self.aggregations.resize(number + 1, None);
        }
        self.aggregations[number] = Some(Arc::new(groups));
        Ok(())
    }
}
