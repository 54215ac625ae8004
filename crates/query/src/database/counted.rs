//! Plans with what was counted while they ran.

use super::rows::Nowhere;
use super::running::Run;
use super::{Database, Statement};
use crate::counters::{Counts, Work};
use crate::error::Result;
use crate::execution::{Parameter, Transaction};
use crate::plan::Plan;

/// The counts of running a text, beside those that its plans expected.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// Each command that has a plan, with the rows that its parts let through.
    pub plans: Vec<(Plan, Counts)>,
    /// The work of the whole text. Its bytes of log are those of all transactions meanwhile.
    pub work: Work,
}

impl Counted {
    /// The plans as text, one after another, with estimated and counted rows; then the work.
    pub fn explain(&self) -> String {
        let plans = self.plans.iter().map(|(plan, counts)| plan.explain(Some(counts)));
        plans.chain([format!("{}\n", self.work)]).collect::<Vec<_>>().join("\n")
    }
}

impl Database {
    /// Run a text, its changes included, and count. Its rows are computed and dropped.
    ///
    /// # Errors
    ///
    /// As of [`Database::query`] and [`Database::execute`].
    pub fn run_counted(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Counted> {
        statement.takes(parameters)?;
        let _memory = self.text_memory(&statement.text)?;
        let logged_bytes =
            |database: &Self| -> Result<u64> { Ok(database.storage.counters()?.log.record_bytes) };
        let (mut transaction, cancel) = if statement.only_reads() {
            let (reading, cancel) = self.begin_reading();
            (Transaction::Reading(reading), cancel)
        } else {
            let (writing, cancel) = self.begin_writing();
            (Transaction::Writing(writing), cancel)
        };
        let logged_before = logged_bytes(self)?;
        let mut counted = Counted::default();
        let run = |transaction: &mut Transaction, mut run: Run| {
            run.counts_steps = true;
            let ran = run.run(transaction, parameters, cancel.flag(), &mut Nowhere)?;
            counted.work.add(&ran.work);
            counted.plans.push((run.planned.plan.clone(), ran.counts));
            Ok(())
        };
        self.commands(statement, parameters, (&mut transaction, &cancel), run)?;
        if let Transaction::Writing(writing) = transaction {
            writing.commit()?;
        }
        counted.work.log_bytes += logged_bytes(self)? - logged_before;
        Ok(counted)
    }
}
