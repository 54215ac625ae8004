//! `accelerator=on` and `thread`: the access method's own evaluation of the condition on a scanned
//! relation, the same whatever executor takes the tuples.

use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use loadstone_quel::error::Fault;

use super::condition::Condition;
use super::judge::Judge;
use super::narrow::Narrow;
use super::rows::ROWS_MAX;
use crate::counters::Work;
use crate::error::{QueryError, Result};
use crate::execution::State;
use crate::execution::joining::looked_at;
use crate::expression::Expr;
use crate::relation::{Relation, Scan, TupleBatch};
use crate::tactics;

/// Batches of pages that a thread may be ahead of what takes their tuples: so few that their pages
/// leave the cache room, so many that neither waits for the other's every batch.
const BATCHES_AHEAD: usize = 4;

/// Holds the tuples of a scan against a condition, before anything else sees them.
pub struct Accelerator(Place);

enum Place {
    Here(Box<Judge>),
    /// Of a relation by columns: its condition's columns come before the others.
    Narrow(Box<Narrow>),
    Thread(Box<Ahead>),
}

impl Accelerator {
    /// For a condition on the tuple of that slot alone.
    ///
    /// # Errors
    ///
    /// That there is no thread to be had.
    pub fn new(
        condition: &Expr,
        relation: &Relation,
        slot: usize,
        state: &State<'_>,
    ) -> Result<Self> {
        if relation.is_by_columns() && state.accelerator != tactics::Accelerator::Thread {
            return Ok(Self(Place::Narrow(Box::new(Narrow::of_accelerator(condition, slot)))));
        }
        let mut judge = Judge::new(Condition::new(condition, state), slot);
        judge.near = looked_at(condition, slot);
        Ok(Self(match state.accelerator {
            tactics::Accelerator::Thread => Place::Thread(Box::new(Ahead::of(judge)?)),
            _ => Place::Here(Box::new(judge)),
        }))
    }

    /// For the conditions that are the first of so many steps of a pipeline, whose source is a
    /// relation by columns.
    pub(super) fn of_steps(conditions: Vec<Expr>, slot: usize, steps: usize) -> Self {
        Self(Place::Narrow(Box::new(Narrow::of_steps(conditions, slot, steps))))
    }

    /// Forget a scan that was not taken to its end.
    pub fn begin(&mut self) {
        if let Place::Thread(ahead) = &mut self.0 {
            ahead.forget();
        }
    }

    /// The next tuples of a scan that qualify, one at least unless there are none left; whether
    /// there were any.
    ///
    /// # Errors
    ///
    /// The error of reading, or of the condition.
    pub fn next_batch(
        &mut self,
        scan: &mut Scan,
        batch: &mut TupleBatch,
        state: &mut State<'_>,
    ) -> Result<bool> {
        let judge = match &mut self.0 {
            Place::Thread(ahead) => return ahead.next_batch(scan, batch, state),
            Place::Narrow(narrow) => return narrow.next_batch(scan, batch, state),
            Place::Here(judge) => judge,
        };
        batch.bring_near(judge.near);
        while scan.next_batch(&*state.transaction, batch, ROWS_MAX)? {
            state.check_cancelled()?;
            let judged = judge.judge(batch, &mut state.work);
            judged.map_err(|fault| state.evaluation(fault))?;
            if !batch.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A batch on its way to the thread and back.
struct Task {
    batch: TupleBatch,
    work: Work,
    outcome: Result<(), Fault>,
}

/// A thread that judges batches, in the order in which they are sent.
struct Ahead {
    /// None when it has been instructed to end.
    to: Option<SyncSender<Task>>,
    from: Receiver<Task>,
    thread: Option<JoinHandle<()>>,
    /// Batches that have been sent and have not come back.
    underway: usize,
    /// Empty ones, for their memory.
    spare: Vec<TupleBatch>,
}

impl Ahead {
    fn of(mut judge: Judge) -> Result<Self> {
        let (to, tasks) = sync_channel::<Task>(BATCHES_AHEAD);
        let (judged, from) = sync_channel(BATCHES_AHEAD);
        let work = move || {
            for mut task in tasks {
                task.outcome = judge.judge(&mut task.batch, &mut task.work);
                task.work.batches_ahead += 1;
                if judged.send(task).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("lode accelerator".to_owned()).spawn(work);
        let thread = thread.map_err(|error| QueryError::Input {
            what: format!("there is no thread for accelerator=thread: {error}"),
        })?;
        Ok(Self { to: Some(to), from, thread: Some(thread), underway: 0, spare: Vec::new() })
    }

    fn next_batch(
        &mut self,
        scan: &mut Scan,
        batch: &mut TupleBatch,
        state: &mut State<'_>,
    ) -> Result<bool> {
        loop {
            while self.underway < BATCHES_AHEAD {
                let mut read = self.spare.pop().unwrap_or_default();
                if !scan.next_batch(&*state.transaction, &mut read, ROWS_MAX)? {
                    self.spare.push(read);
                    break;
                }
                let task = Task { batch: read, work: Work::default(), outcome: Ok(()) };
                if self.to.as_ref().is_none_or(|to| to.send(task).is_err()) {
                    self.fail();
                }
                self.underway += 1;
            }
            if self.underway == 0 {
                return Ok(false);
            }
            state.check_cancelled()?;
            let Ok(mut task) = self.from.recv() else { self.fail() };
            self.underway -= 1;
            state.work.add(&task.work);
            std::mem::replace(&mut task.outcome, Ok(()))
                .map_err(|fault| state.evaluation(fault))?;
            std::mem::swap(batch, &mut task.batch);
            task.batch.clear();
            self.spare.push(task.batch);
            if !batch.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Take back what is underway.
    fn forget(&mut self) {
        while self.underway > 0
            && let Ok(mut task) = self.from.recv()
        {
            self.underway -= 1;
            task.batch.clear();
            self.spare.push(task.batch);
        }
    }

    /// The thread has ended, which it does by a panic alone while batches are sent to it: pass
    /// that on, since batches that do not come back are no end of the scan.
    fn fail(&mut self) -> ! {
        self.to = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panicked)) => panic::resume_unwind(panicked),
            _ => panic!("the thread of accelerator=thread ended before its work did"),
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.to = None;
        // A thread that waits to give a batch back would wait for ever.
        while self.from.recv().is_ok() {}
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
