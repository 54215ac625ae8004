//! A statement run as one transaction.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loadstone_quel::check::resolved::Action;
use loadstone_quel::tree;

use super::cancel::Cancel;
use super::checking::Checking;
use super::planned::{Ground, PLANS_MAX, Planned};
use super::rows::{Collecting, Outcome, Rows};
use super::statement::is_silent;
use super::stripes::{Number, Stripes};
use super::{Database, Statement, definition};
use crate::catalog::Catalog;
use crate::counters::{Counts, Work};
use crate::error::{QueryError, Result};
use crate::execution::compiled::CodeCache;
use crate::execution::{self, Executor, Parameter, Sink, State, Transaction};
use crate::memory::Memory;
use crate::phases::{Lap, Phases};
use crate::plan::{self, Plan};
use crate::relation::Workspace;
use crate::spill::Spill;
use crate::tactics::{Accelerator, Execution, FileLayout, Simd};

/// Rows up to so many bytes are collected before the first is given, which spares a thread.
const COLLECTED_BYTES_MAX: u64 = 4 << 20;

impl Database {
    /// Run a text; see [`Database::query`] and [`Database::execute`].
    ///
    /// # Errors
    ///
    /// The error of the text, or of running it; then nothing of it is kept.
    pub fn run(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        statement.takes(parameters)?;
        let _memory = self.text_memory(&statement.text)?;
        match (statement.only_reads(), statement.gives_rows()) {
            (true, true) => self.read(statement, parameters),
            (true, false) => self.declare(statement, parameters),
            (false, _) => self.write(statement, parameters),
        }
    }

    /// The way in which the last command of a text would be run; nothing is changed.
    /// [`Plan::explain`] shows it as text, [`Plan::access_paths`] the storage structures that it
    /// uses.
    ///
    /// # Errors
    ///
    /// The error of the text. A text whose commands before the last make or remove relations can be
    /// explained only piece by piece.
    pub fn plan(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Plan> {
        statement.takes(parameters)?;
        let _memory = self.text_memory(&statement.text)?;
        let (reading, _cancel) = self.begin_reading();
        let catalog = self.catalog.read(&reading)?;
        drop(reading);
        let mut checking = Checking::new(statement, &catalog, parameters);
        let mut planned = Plan::default();
        for (number, command) in statement.program.iter().enumerate() {
            let step = checking.step(number)?;
            if !is_silent(command) {
                planned = plan::plan(&step, catalog.as_ref(), &self.tactics)?;
            }
        }
        Ok(planned)
    }

    /// The same as text: with `execution=compiled` also what its pipelines were compiled to, which
    /// is kept for the statement's runs.
    ///
    /// # Errors
    ///
    /// As of [`Database::plan`].
    pub fn explain(&self, statement: &Statement, parameters: &[Parameter]) -> Result<String> {
        let plan = self.plan(statement, parameters)?;
        let mut text = plan.explain(None);
        if self.tactics.execution == Execution::Compiled {
            text += &execution::compiled::explain(&plan, &statement.code)?;
        }
        Ok(text)
    }

    fn prepared(&self, planned: Arc<Planned>, catalog: Arc<Catalog>, statement: &Statement) -> Run {
        let source = Arc::clone(&statement.text);
        let executor = execution::executor(self.tactics.execution);
        let (accelerator, simd) = (self.tactics.accelerator, self.tactics.simd);
        let (layout, done) = (self.tactics.layout, self.done.clone());
        let (memory, spill_folder) = (self.memory.clone(), self.spill_folder.clone());
        let (code, counts_steps) = (Arc::clone(&statement.code), false);
        let before = Phases::default();
        Run {
            planned,
            executor,
            accelerator,
            simd,
            layout,
            catalog,
            source,
            memory,
            spill_folder,
            code,
            done,
            before,
            counts_steps,
        }
    }

    fn read(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        let mut lap = Lap::begin();
        let (reading, cancel) = self.begin_reading();
        let mut transaction = Transaction::Reading(reading);
        let catalog = self.catalog.read(&transaction)?;
        let beginning_ns = lap.end();
        let planned = self.planned_rows(statement, parameters, &catalog)?;
        let before = Phases { beginning_ns, planning_ns: lap.end(), ..Phases::default() };
        let form = Arc::clone(&planned.form);
        let rows_estimated = planned.plan.pipelines.last().map_or(0.0, |last| last.rows_estimated);
        let is_long = rows_estimated * form.layout.bytes as f64 > COLLECTED_BYTES_MAX as f64;
        let mut run = Run { before, ..self.prepared(planned, catalog, statement) };
        // An answer that is certainly larger is not begun twice: a sort may take longer than its
        // rows.
        if !is_long {
            let mut sink = Collecting::up_to(COLLECTED_BYTES_MAX);
            match run.run(&mut transaction, parameters, cancel.flag(), &mut sink) {
                Ok(_) => return Ok(Outcome::Rows(Rows::collected(form, sink))),
                Err(QueryError::Cancelled) if sink.is_full => run.before = Phases::default(),
                Err(error) => return Err(error),
            }
        }
        let (parameters, flag) = (parameters.to_vec(), cancel.flag());
        let rows = Rows::running(form, cancel, move |sink| {
            run.run(&mut transaction, &parameters, flag, sink).map(drop)
        })?;
        Ok(Outcome::Rows(rows))
    }

    /// The plan of the `retrieve` to the client, the only command of a text that is no declaration.
    pub(super) fn planned_rows(
        &self,
        statement: &Statement,
        parameters: &[Parameter],
        catalog: &Arc<Catalog>,
    ) -> Result<Arc<Planned>> {
        let asked = statement.program.iter().position(|command| !is_silent(command));
        let asked = asked.expect("the statement gives rows");
        let ground = Ground::new(asked, parameters, (self.opened, statement), (catalog, catalog));
        if let Some(found) = statement.plans.find(&ground) {
            return Ok(found);
        }
        let mut checking = Checking::new(statement, catalog, parameters);
        let step = checking.step(asked)?;
        checking.finish()?;
        let planned = plan::plan(&step, catalog.as_ref(), &self.tactics)?;
        let planned = Arc::new(Planned::new(planned));
        statement.plans.keep(vec![(ground, Arc::clone(&planned))]);
        Ok(planned)
    }

    /// Declarations alone: that their relations are there.
    fn declare(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        let (reading, _cancel) = self.begin_reading();
        let catalog = self.catalog.read(&reading)?;
        drop(reading);
        let mut checking = Checking::new(statement, &catalog, parameters);
        if let Some(last) = statement.program.len().checked_sub(1) {
            checking.step(last)?;
        }
        Ok(Outcome::Changed(None))
    }

    fn write(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        let mut lap = Lap::begin();
        let (writing, cancel) = self.begin_writing();
        let mut transaction = Transaction::Writing(writing);
        self.done.took(&Phases { beginning_ns: lap.end(), ..Phases::default() });
        let run = |transaction: &mut Transaction, run: Run| {
            let form = Arc::clone(&run.planned.form);
            let mut sink = Collecting::within(self.memory.reservation("the rows for the client"));
            let changed = run.run(transaction, parameters, cancel.flag(), &mut sink)?.changed;
            Ok(if run.gives_rows() {
                Outcome::Rows(Rows::collected(form, sink))
            } else {
                Outcome::Changed(Some(changed))
            })
        };
        let last = self.commands(statement, parameters, (&mut transaction, &cancel), run)?;
        if let Transaction::Writing(writing) = transaction {
            let mut lap = Lap::begin();
            writing.commit()?;
            self.done.took(&Phases { committing_ns: lap.end(), ..Phases::default() });
        }
        Ok(last.unwrap_or(Outcome::Changed(None)))
    }

    /// Store something, and count what is spilled meanwhile.
    pub(super) fn spilling<R>(
        &self,
        cancel: &Cancel,
        store: impl FnOnce(&Workspace) -> Result<R>,
    ) -> Result<R> {
        let spill = Spill::new(&self.spill_folder, self.memory.budget_bytes());
        let stored = store(&Workspace::new(&self.memory, &spill, &cancel.flag()));
        let work = Work { spilled_bytes: spill.written_bytes(), ..Work::default() };
        self.done.add(&work, &Phases::default());
        stored
    }

    /// Run the commands of a text in order. Those that have a plan are given to `run`; the answer
    /// is what it made of the last command, None where that only defined something.
    pub(super) fn commands<R>(
        &self,
        statement: &Statement,
        parameters: &[Parameter],
        (transaction, cancel): (&mut Transaction, &Cancel),
        mut run: impl FnMut(&mut Transaction, Run) -> Result<R>,
    ) -> Result<Option<R>> {
        let mut lap = Lap::begin();
        let begun = self.catalog.read(transaction)?;
        let mut catalog = Arc::clone(&begun);
        let mut checking = Checking::new(statement, &begun, parameters);
        self.done.took(&Phases { beginning_ns: lap.end(), ..Phases::default() });
        let (mut last, mut is_stale, mut made) = (None, false, Vec::new());
        let commands = statement.program.iter().enumerate();
        for (number, command) in commands.filter(|(_, command)| !is_silent(command)) {
            // A create needs nothing of the catalog that the check does not know.
            if is_stale && !matches!(command, tree::Statement::Create { .. }) {
                lap.end();
                catalog = self.catalog.read(transaction)?;
            }
            (last, is_stale) = (None, true);
            let ground =
                Ground::new(number, parameters, (self.opened, statement), (&begun, &catalog));
            if let Some(planned) = statement.plans.find(&ground) {
                let before = Phases { planning_ns: lap.end(), ..Phases::default() };
                let prepared = self.prepared(planned, Arc::clone(&catalog), statement);
                last = Some(run(transaction, Run { before, ..prepared })?);
                continue;
            }
            let step = checking.step(number)?;
            let layout = self.tactics.layout;
            match &step.action {
                Action::Nothing => self.spilling(cancel, |space| {
                    let text = &statement.text;
                    definition::structure(transaction, &catalog, command, text, layout, space)
                })?,
                Action::Create { relation } => self.spilling(cancel, |space| {
                    definition::create(transaction, relation, &step.schema, layout, space)
                })?,
                Action::Destroy { relations } => {
                    definition::destroy(transaction, &catalog, relations)?;
                }
                _ => {
                    let plan = plan::plan(&step, catalog.as_ref(), &self.tactics)?;
                    let planned = Arc::new(Planned::new(plan));
                    if made.len() < PLANS_MAX {
                        made.push((ground, Arc::clone(&planned)));
                    }
                    let before = Phases { planning_ns: lap.end(), ..Phases::default() };
                    let prepared = self.prepared(planned, Arc::clone(&catalog), statement);
                    last = Some(run(transaction, Run { before, ..prepared })?);
                    continue;
                }
            }
            self.done.took(&Phases { defining_ns: lap.end(), ..Phases::default() });
        }
        checking.finish()?;
        statement.plans.keep(made);
        Ok(last)
    }
}

/// The inputs that running a plan needs, wherever.
pub(super) struct Run {
    pub planned: Arc<Planned>,
    executor: &'static dyn Executor,
    accelerator: Accelerator,
    simd: Simd,
    layout: FileLayout,
    catalog: Arc<Catalog>,
    source: Arc<str>,
    memory: Memory,
    spill_folder: PathBuf,
    code: Arc<CodeCache>,
    done: Done,
    /// The phases before it.
    before: Phases,
    /// Whether the rows of each step are to be counted.
    pub counts_steps: bool,
}

/// The result of running a plan.
pub(super) struct Ran {
    /// Tuples that it stored or changed.
    pub changed: u64,
    pub work: Work,
    pub counts: Counts,
}

/// The work of statements that have ended, and the time that it took.
#[derive(Debug, Clone, Default)]
pub(super) struct Done(Arc<Stripes<(Work, Phases)>>);

impl Done {
    pub fn work(&self) -> Work {
        let mut work = Work::default();
        self.0.each().for_each(|done| work.add(&done.0));
        work
    }

    pub fn phases(&self) -> Phases {
        let mut phases = Phases::default();
        self.0.each().for_each(|done| phases.add(&done.1));
        phases
    }

    /// Count phases without work.
    pub fn took(&self, phases: &Phases) {
        self.0.locked(Number::own()).1.add(phases);
    }

    fn add(&self, work: &Work, phases: &Phases) {
        let mut done = self.0.locked(Number::own());
        done.0.add(work);
        done.1.add(phases);
    }
}

impl Run {
    /// Whether it is a `retrieve` to the client.
    pub fn gives_rows(&self) -> bool {
        self.planned
            .plan
            .pipelines
            .last()
            .is_some_and(|last| matches!(last.sink, plan::Sink::Rows(_)))
    }

    /// Run it.
    pub fn run(
        &self,
        transaction: &mut Transaction,
        parameters: &[Parameter],
        cancel: Arc<AtomicBool>,
        client: &mut dyn Sink,
    ) -> Result<Ran> {
        let (memory, catalog) = (self.memory.clone(), Arc::clone(&self.catalog));
        let (source, parameters) = (&self.source, parameters);
        let budget_bytes = memory.budget_bytes();
        let mut state = State::new(transaction, source, parameters, memory, catalog, cancel);
        state.accelerator = self.accelerator;
        state.simd = self.simd;
        state.layout = self.layout;
        state.step_rows = self.counts_steps.then(Vec::new);
        state.spill = Spill::new(&self.spill_folder, budget_bytes);
        state.code = Arc::clone(&self.code);
        let outcome = execution::run(&self.planned.plan, self.executor, &mut state, client);
        state.phases.add(&self.before);
        // The work of an answer that is begun again is counted then.
        let counted = if client.begins_again() { Work::default() } else { state.work };
        self.done.add(&counted, &state.phases);
        let State { changed, work, pipeline_rows: pipelines, step_rows, .. } = state;
        let (steps, threads) = (step_rows.unwrap_or_default(), state.pipeline_threads);
        let counts = Counts { pipelines, steps, threads };
        outcome.map(|()| Ran { changed, work, counts })
    }
}
