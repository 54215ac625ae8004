//! Running a plan: what all executors share.
//!
//! [`run`] takes the pipelines in order. For each it makes a [`Receiver`] for what the sink gets,
//! lets the [`Executor`] push every row into it, and has it finish: a hash table, a temporary
//! relation or an aggregation then stands in the [`State`], unchanging, for later pipelines.

pub mod arithmetic;
mod changing;
pub mod closures;
pub mod compiled;
pub mod evaluation;
pub mod interpreted;
mod joining;
#[cfg(test)]
mod meaning;
mod merging;
mod packed;
mod parallel;
#[cfg(test)]
pub mod random;
mod receiver;
pub mod rows;
mod shares;
mod sink;
mod state;
#[cfg(test)]
mod tests;
mod transaction;
pub mod vectorised;
mod wanted;

pub use packed::Packed;
pub use parallel::Collected;
pub use receiver::{CollectedRows, Receiver};
pub use sink::Sink;
pub use state::{Parameter, State};
pub use transaction::Transaction;

use self::compiled::Compiled;
use self::rows::RowAtATime;
use self::shares::Shares;
use self::vectorised::Vectorised;
use self::wanted::Wanted;
use crate::counters::Work;
use crate::error::Result;
use crate::phases::Lap;
use crate::plan::{Pipeline, Plan};
use crate::tactics::Execution;

/// A way to run pipelines: the tactic `execution`.
pub trait Executor: Sync {
    /// Push every row of the pipeline into the receiver.
    ///
    /// The part of the state that the pipeline reads (tables, temporary relations, aggregations) no
    /// longer changes; the executor clones the `Arc`s that it needs. It counts the work, rows
    /// included.
    ///
    /// # Errors
    ///
    /// The error of computing, reading or receiving, and [`crate::QueryError::Cancelled`] at most a
    /// batch after [`State::cancel`] was set.
    fn run(
        &self,
        pipeline: &Pipeline,
        state: &mut State<'_>,
        receiver: &mut Receiver<'_>,
    ) -> Result<()>;
}

/// The executor that a tactic names.
pub fn executor(execution: Execution) -> &'static dyn Executor {
    match execution {
        Execution::Vectorised => &Vectorised,
        Execution::Closures => &RowAtATime::Closures,
        Execution::Interpreted => &RowAtATime::Interpreted,
        Execution::Compiled => &Compiled,
    }
}

/// Run a plan. Rows for the client go to `client`.
///
/// # Errors
///
/// As of [`Executor::run`]. Nothing of a failed statement may be kept: the transaction is the
/// caller's to end.
pub fn run(
    plan: &Plan,
    executor: &dyn Executor,
    state: &mut State<'_>,
    client: &mut dyn Sink,
) -> Result<()> {
    let outcome = run_pipelines(plan, executor, state, client);
    state.work.spilled_bytes = state.spill.written_bytes();
    outcome
}

fn run_pipelines(
    plan: &Plan,
    executor: &dyn Executor,
    state: &mut State<'_>,
    client: &mut dyn Sink,
) -> Result<()> {
    let shares = Shares::of(plan);
    let mut lap = Lap::begin();
    for (number, pipeline) in plan.pipelines.iter().enumerate() {
        state.check_cancelled()?;
        shares.divide(number, state);
        if let Some(pipelines) = &mut state.step_rows {
            pipelines.push(Vec::new());
        }
        state.wanted = Wanted::of(pipeline, state);
        let threads = match parallel::run(plan, number, executor, state, client)? {
            Some(threads) => threads,
            None => vec![run_alone(plan, number, executor, state, client)?],
        };
        state.pipeline_rows.push(threads.iter().map(|thread| thread.rows).sum());
        state.pipeline_threads.push(threads.iter().map(|thread| thread.tuples).collect());
        if let Some(aggregation) = shares.completed(number, pipeline) {
            state.finish_aggregation(aggregation)?;
        }
        shares.release(number, state);
        *state.phases.of_sink(&pipeline.sink) += lap.end();
    }
    Ok(())
}

/// Run a pipeline by this thread alone; what it did of it.
fn run_alone(
    plan: &Plan,
    number: usize,
    executor: &dyn Executor,
    state: &mut State<'_>,
    client: &mut dyn Sink,
) -> Result<Work> {
    let pipeline = &plan.pipelines[number];
    let mut receiver = Receiver::new(plan, &pipeline.sink, state, client)?;
    let before = state.work;
    executor.run(pipeline, state, &mut receiver)?;
    receiver.finish(state)?;
    let (rows, tuples) = (state.work.rows - before.rows, state.work.tuples - before.tuples);
    Ok(Work { tuples, rows, ..Work::default() })
}
