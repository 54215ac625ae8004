//! A statement run as one transaction.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use loadstone_quel::check::Checker;
use loadstone_quel::check::resolved::{Action, Step};
use loadstone_quel::tree;

use super::rows::{Collecting, Outcome, Rows};
use super::statement::is_silent;
use super::{Database, Statement, definition};
use crate::catalog::Catalog;
use crate::counters::Work;
use crate::error::{QueryError, Result};
use crate::execution::{self, Executor, Parameter, Sink, State, Transaction};
use crate::memory::{Memory, budget_default_bytes};
use crate::plan::{self, Plan};
use crate::tuple::Layout;

/// Rows up to so many bytes are collected before the first is given, which spares a thread.
const COLLECTED_BYTES_MAX: u64 = 4 << 20;

impl Database {
    /// Run a text; see [`Database::query`] and [`Database::execute`].
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or with running it; then nothing of it is kept.
    pub fn run(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        if statement.only_reads() && statement.gives_rows() {
            self.read(statement, parameters)
        } else {
            self.write(statement, parameters)
        }
    }

    /// How the last command of a text would be run; nothing is changed. [`Plan::explain`] tells it
    /// as text, [`Plan::access_paths`] the storage structures that it uses.
    ///
    /// # Errors
    ///
    /// What is wrong with the text. A text whose commands before the last make or remove relations
    /// can be explained only piece by piece.
    pub fn plan(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Plan> {
        let catalog = Catalog::read(&self.storage.reading())?;
        let mut checker = statement.checker(&catalog, parameters);
        let mut planned = Plan::default();
        for command in
            statement.program.iter().filter(|command| !matches!(command, tree::Statement::Go))
        {
            let step = check(&mut checker, command, &statement.text)?;
            if !is_silent(command) {
                planned = plan::plan(&step, &catalog, &self.tactics)?;
            }
        }
        Ok(planned)
    }

    fn prepared(&self, plan: Plan, catalog: Arc<Catalog>, statement: &Statement) -> Run {
        let source = statement.text.to_string();
        let executor = execution::executor(self.tactics.execution);
        Run { plan, executor, catalog, source, done: self.done.clone() }
    }

    fn read(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        let mut transaction = Transaction::Reading(self.storage.reading());
        let catalog = Catalog::read(&transaction)?;
        let mut checker = statement.checker(&catalog, parameters);
        let mut last = None;
        for command in &statement.program {
            last = Some(check(&mut checker, command, &statement.text)?).filter(is_asked).or(last);
        }
        let step = last.expect("the statement gives rows");
        let plan = plan::plan(&step, &catalog, &self.tactics)?;
        let layout = layout_of(&plan);
        let cancel = self.running.begin();
        let run = self.prepared(plan, Arc::new(catalog), statement);
        let mut sink = Collecting::up_to(COLLECTED_BYTES_MAX);
        match run.run(&mut transaction, parameters, cancel.flag(), &mut sink) {
            Ok(_) => Ok(Outcome::Rows(Rows::collected(layout, sink.tuples))),
            Err(QueryError::Cancelled) if sink.is_full => {
                drop(sink);
                let parameters = parameters.to_vec();
                let flag = cancel.flag();
                let rows = Rows::running(layout, cancel, move |sink| {
                    run.run(&mut transaction, &parameters, flag, sink).map(drop)
                })?;
                Ok(Outcome::Rows(rows))
            }
            Err(error) => Err(error),
        }
    }

    fn write(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome> {
        let mut transaction = Transaction::Writing(self.storage.writing());
        let cancel = self.running.begin();
        let (mut changed, mut rows) = (None, None);
        let mut catalog = Arc::new(Catalog::read(&transaction)?);
        let mut checker = statement.checker(&catalog, parameters);
        let mut is_stale = false;
        for command in &statement.program {
            let step = check(&mut checker, command, &statement.text)?;
            if is_silent(command) {
                continue;
            }
            if is_stale {
                catalog = Arc::new(Catalog::read(&transaction)?);
            }
            (changed, rows, is_stale) = (None, None, true);
            match &step.action {
                Action::Nothing => {
                    let source = &statement.text;
                    definition::structure(&mut transaction, &catalog, command, source)?;
                }
                Action::Create { relation } => {
                    definition::create(&mut transaction, relation, &step.schema)?;
                }
                Action::Destroy { relations } => {
                    definition::destroy(&mut transaction, &catalog, relations)?;
                }
                action => {
                    let is_client = matches!(action, Action::Retrieve { into: None, .. });
                    let plan = plan::plan(&step, catalog.as_ref(), &self.tactics)?;
                    let layout = layout_of(&plan);
                    let run = self.prepared(plan, Arc::clone(&catalog), statement);
                    let budget_bytes = budget_default_bytes();
                    let mut sink = Collecting::up_to(budget_bytes);
                    let ran = run.run(&mut transaction, parameters, cancel.flag(), &mut sink);
                    if sink.is_full {
                        let what = "the rows for the client".to_owned();
                        return Err(QueryError::Memory { what, budget_bytes });
                    }
                    let tuples = ran?;
                    changed = (!is_client).then_some(tuples);
                    rows = is_client.then(|| Rows::collected(layout, sink.tuples));
                }
            }
        }
        if let Transaction::Writing(writing) = transaction {
            writing.commit()?;
        }
        Ok(match rows {
            Some(rows) => Outcome::Rows(rows),
            None => Outcome::Changed(changed),
        })
    }
}

/// What a plan needs to be run, wherever.
struct Run {
    plan: Plan,
    executor: &'static dyn Executor,
    catalog: Arc<Catalog>,
    source: String,
    done: Done,
}

/// The work of statements that have ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Done(Arc<Mutex<Work>>);

impl Done {
    pub fn work(&self) -> Work {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, work: &Work) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(work);
    }
}

impl Run {
    /// Run it; the number of tuples that it stored or changed.
    fn run(
        &self,
        transaction: &mut Transaction,
        parameters: &[Parameter],
        cancel: Arc<AtomicBool>,
        client: &mut dyn Sink,
    ) -> Result<u64> {
        let memory = Memory::new(budget_default_bytes());
        let catalog = Arc::clone(&self.catalog);
        let (source, parameters) = (&self.source, parameters);
        let mut state = State::new(transaction, source, parameters, memory, catalog, cancel);
        let outcome = execution::run(&self.plan, self.executor, &mut state, client);
        self.done.add(&state.work);
        outcome.map(|()| state.changed)
    }
}

fn check(checker: &mut Checker, command: &tree::Statement, source: &str) -> Result<Step> {
    checker.statement(command).map_err(|fault| fault.meaning(source).into())
}

/// Whether a step is the one whose rows the client gets.
fn is_asked(step: &Step) -> bool {
    matches!(step.action, Action::Retrieve { into: None, .. })
}

/// The form of the rows that a plan gives.
fn layout_of(plan: &Plan) -> Layout {
    match plan.pipelines.last().map(|pipeline| &pipeline.sink) {
        Some(plan::Sink::Rows(pack)) => pack.layout.clone(),
        _ => Layout::default(),
    }
}
