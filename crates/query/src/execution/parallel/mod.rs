//! `parallelism`: a pipeline worked on by several threads.
//!
//! Each thread runs the whole pipeline with a state of its own, by whatever executor, over the
//! parts of the source that it takes: those that come next, whenever it has done with one. What it
//! makes is its own, too (entries, tuples, sorted runs, partitions of an aggregation), and merged
//! when all have ended. Where there is no memory for that, tuples are handed on to the one sink,
//! which spills as it does for one thread, and an aggregation is left to one thread.
//!
//! Threads share: parts not taken yet, the sink, and that one of them has failed. The first two
//! are behind a mutex each; nobody requests one while holding the other.

mod collected;
mod source;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::state::Part;
use super::{Executor, Receiver, Sink, State, Transaction};
use crate::aggregate::Partitions;
use crate::counters::Work;
use crate::error::{QueryError, Result};
use crate::plan::{self, Pipeline, Plan, Step};
use collected::{Central, Filling};

pub use collected::Collected;

/// A thing that a pipeline makes is divided among threads only where it may take so many bytes:
/// below, buffers would be most of it.
const DIVIDED_BYTES_MIN: u64 = 4 << 20;

/// Of the memory for what a pipeline makes, threads have a quarter together for tuples: the sink
/// needs the rest to make something of them.
const TUPLES_SHARE: u64 = 4;

/// For partitions of an aggregation they have half.
const PARTITIONS_SHARE: u64 = 2;

/// A thread's partitions at most: merging more costs as much as feeding them to one thread (a
/// hundred thousand partitions; those of a million, merged, took twice one thread's time).
const PARTITIONS_BYTES_MAX: u64 = 8 << 20;

/// Run a pipeline by the threads that the plan allows, and finish its sink; what each of them did.
/// None, and nothing is done, where it is one thread's.
///
/// # Errors
///
/// Of all threads the error that came first.
pub(super) fn run(
    plan: &Plan,
    number: usize,
    executor: &dyn Executor,
    state: &mut State<'_>,
    client: &mut dyn Sink,
) -> Result<Option<Vec<Work>>> {
    let pipeline = &plan.pipelines[number];
    if plan.threads < 2 || plan.why_alone(number).is_some() || is_away(pipeline, state) {
        return Ok(None);
    }
    let mut parts = source::parts(pipeline, plan.threads, state)?;
    if parts.len() < 2 {
        // All of the source is one part.
        state.part = parts.pop();
        return Ok(None);
    }
    match &pipeline.sink {
        plan::Sink::Aggregate { aggregation, .. } => {
            aggregate(plan, *aggregation, pipeline, executor, state, parts)
        }
        _ => fill(plan, pipeline, executor, state, client, parts).map(Some),
    }
}

/// Whether some of what a step of it looks for is in the file: then rows wait for it, too.
fn is_away(pipeline: &Pipeline, state: &State<'_>) -> bool {
    pipeline.steps.iter().any(|step| match step {
        Step::Probe { table, .. } => state.away.contains_key(table),
        _ => false,
    })
}

/// A pipeline whose sink takes tuples.
fn fill(
    plan: &Plan,
    pipeline: &Pipeline,
    executor: &dyn Executor,
    state: &mut State<'_>,
    client: &mut dyn Sink,
    parts: Vec<Part>,
) -> Result<Vec<Work>> {
    let threads = parts.len();
    let is_divided = state.share_bytes >= DIVIDED_BYTES_MIN;
    let own_bytes = if is_divided { state.share_bytes / TUPLES_SHARE / threads as u64 } else { 0 };
    state.share_bytes -= own_bytes * threads as u64;
    let mut receiver = Receiver::new(plan, &pipeline.sink, state, client)?;
    let Receiver::Tuples(sink) = &mut receiver else {
        unreachable!("an aggregation is fed elsewhere")
    };
    let own = || is_divided.then(|| sink.part(threads, &state.memory.share(own_bytes))).flatten();
    let kept: Vec<_> = parts.iter().map(|_| own()).collect();
    let mut transactions = handles(state, threads)?;
    let (failure, is_crowded) = (Failure::default(), AtomicBool::new(false));
    let states = begin(state, &mut transactions, parts, &failure);
    let central = Mutex::new(Central { sink: &mut **sink, state: &mut *state });
    let (central, is_crowded) = (&central, &is_crowded);
    let tasks = states.into_iter().zip(kept).map(|(state, kept)| {
        let work = move |state: &mut State<'_>| {
            let filling = Box::new(Filling::new(central, kept, is_crowded));
            let mut receiver = Receiver::Tuples(filling);
            executor.run(pipeline, state, &mut receiver)?;
            receiver.finish(state)
        };
        (state, work)
    });
    let ended = together(tasks.collect(), &failure);
    let works = counted(state, ended.into_iter().map(|(done, _)| done));
    failure.outcome()?;
    receiver.finish(state)?;
    Ok(works)
}

/// A pipeline that feeds an aggregation, and nobody else does. None where partitions that are
/// several times there take too much memory.
fn aggregate(
    plan: &Plan,
    number: usize,
    pipeline: &Pipeline,
    executor: &dyn Executor,
    state: &mut State<'_>,
    parts: Vec<Part>,
) -> Result<Option<Vec<Work>>> {
    if state.share_bytes < DIVIDED_BYTES_MIN {
        return Ok(None);
    }
    let (aggregation, threads) = (&plan.aggregations[number], parts.len());
    let own_bytes = state.share_bytes / PARTITIONS_SHARE / threads as u64;
    let own_bytes = own_bytes.min(PARTITIONS_BYTES_MAX);
    let memory = state.memory.share(state.share_bytes - own_bytes * threads as u64);
    let mut transactions = handles(state, threads)?;
    let failure = Failure::default();
    let states = begin(state, &mut transactions, parts, &failure);
    let tasks = states.into_iter().map(|state| {
        let memory = state.memory.share(own_bytes);
        let work = move |state: &mut State<'_>| {
            let partitions = Box::new(Partitions::new(aggregation, &memory)?);
            let mut receiver = Receiver::Aggregation { number, partitions };
            executor.run(pipeline, state, &mut receiver)?;
            match receiver {
                Receiver::Aggregation { partitions, .. } => Ok(partitions),
                Receiver::Tuples(_) => unreachable!("it was made an aggregation's"),
            }
        };
        (state, work)
    });
    let ended = together(tasks.collect(), &failure);
    let (done, partitions): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    let works = counted(state, done.into_iter());
    let merged = failure.outcome().and_then(|()| {
        let mut whole = Partitions::new(aggregation, &memory)?;
        partitions.into_iter().flatten().try_for_each(|one| whole.merge(*one))?;
        Ok(whole)
    });
    match merged {
        // As much again is wanted for the results.
        Ok(whole) if 2 * memory.used_bytes() <= memory.budget_bytes() => {
            state.keep_partitions(number, Box::new(whole));
            Ok(Some(works))
        }
        Ok(_) | Err(QueryError::Memory { .. }) => {
            state.forget_steps();
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A handle to the statement's transaction for each thread.
fn handles(state: &State<'_>, threads: usize) -> Result<Vec<Transaction>> {
    (0..threads).map(|_| state.transaction.share()).collect()
}

/// A state for each thread.
fn begin<'b, 'a: 'b>(
    state: &State<'a>,
    transactions: &'b mut [Transaction],
    parts: Vec<Part>,
    failure: &'b Failure,
) -> Vec<State<'b>> {
    let parts = transactions.iter_mut().zip(parts);
    parts.map(|(pages, part)| state.beside(pages, &failure.is_there, part)).collect()
}

/// That a thread has failed, and the first reason.
#[derive(Default)]
struct Failure {
    is_there: AtomicBool,
    first: Mutex<Option<QueryError>>,
}

impl Failure {
    fn note(&self, error: QueryError) {
        // The others then say that they were cancelled.
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.is_there.store(true, Ordering::Relaxed);
    }

    fn outcome(self) -> Result<()> {
        self.first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// The counts of a thread: its work, and the rows of each step where they are counted.
type Done = (Work, Option<Vec<u64>>);

/// Run tasks, the first in this thread and each other in one of its own, to their ends; what each
/// came to, if it did not fail.
fn together<'s, T: Send, F>(tasks: Vec<(State<'s>, F)>, failure: &Failure) -> Vec<(Done, Option<T>)>
where
    F: FnOnce(&mut State<'_>) -> Result<T> + Send,
{
    let run = |(mut state, task): (State<'s>, F)| {
        let outcome = task(&mut state);
        let made = outcome.map_err(|error| failure.note(error)).ok();
        ((state.work, state.step_rows.and_then(|mut steps| steps.pop())), made)
    };
    thread::scope(|scope| {
        let run = &run;
        let mut tasks = tasks.into_iter();
        let own = tasks.next();
        let mut others = Vec::new();
        for task in tasks {
            let thread = thread::Builder::new().name("lode query".to_owned());
            match thread.spawn_scoped(scope, move || run(task)) {
                Ok(thread) => others.push(thread),
                Err(error) => failure.note(QueryError::Input {
                    what: format!("there is no thread for parallelism=: {error}"),
                }),
            }
        }
        let mut ended: Vec<_> = own.into_iter().map(run).collect();
        for thread in others {
            match thread.join() {
                Ok(done) => ended.push(done),
                Err(panicked) => std::panic::resume_unwind(panicked),
            }
        }
        ended
    })
}

/// Count in what threads did, the statement's own first.
fn counted(state: &mut State<'_>, done: impl Iterator<Item = Done>) -> Vec<Work> {
    let mut works = Vec::new();
    for (mut work, steps) in done {
        if !works.is_empty() && work.tuples > 0 {
            (work.threads_beside, work.tuples_beside) = (1, work.tuples);
        }
        state.count_in(&work, steps);
        works.push(work);
    }
    works
}
