//! Locks: shared and exclusive, on the whole volume, a relation or a page, kept until the end of
//! the transaction (two phases), with deadlocks found when somebody begins to wait.
//!
//! A database has one grain as long as it is open, and a page is always locked as the same thing
//! (`transaction::local_locks`), so that no lock covers another and intention modes have no use.
//!
//! Locks order transactions; the moments in which bytes change are ordered by the buffer's latches.

pub(crate) mod numbers;
mod queue;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use crate::error::{LodeError, Result};
use crate::page::{FileNumber, PageNumber};
use crate::sync::{Condvar, Mutex, MutexGuard, ThreadId, thread_id};
use numbers::NumberMap;
use queue::{Claim, Queue};

/// A transaction's number: later ones have higher ones.
pub type TransactionNumber = u64;

/// The way in which something is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// With others who only read.
    Shared,
    /// Alone.
    Exclusive,
}

/// The thing that is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// All of it.
    Volume,
    /// All pages of a file.
    Relation(FileNumber),
    /// One page.
    Page(PageNumber),
}

/// The number of times that locks made somebody wait, since the database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockCounters {
    /// Locks that were not to be had at once.
    pub waits: u64,
    /// Transactions that were instructed to roll back.
    pub deadlocks: u64,
}

/// The lock table.
#[derive(Default)]
pub struct Locks {
    table: Mutex<Table>,
    waits: AtomicU64,
    deadlocks: AtomicU64,
}

#[derive(Default)]
struct Table {
    queues: NumberMap<Resource, Queue>,
    /// Transactions that hold something, and the thread that asked last in their name.
    threads: NumberMap<TransactionNumber, ThreadId>,
    /// Threads that wait, and in whose name.
    asleep: HashMap<ThreadId, TransactionNumber>,
    waiting: NumberMap<TransactionNumber, Waiting>,
    /// Transactions that must not wait.
    cancelled: HashSet<TransactionNumber>,
}

struct Waiting {
    resource: Resource,
    state: WaitState,
    changed: Arc<Condvar>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitState {
    Waiting,
    Granted,
    Cancelled,
}

impl Locks {
    /// Nothing is locked.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lock something for a transaction, after those who asked before.
    ///
    /// Two transactions of one thread can wait for each other too; a transaction belongs to the
    /// thread that asked last in its name.
    ///
    /// # Errors
    ///
    /// [`LodeError::Deadlock`] if waiting closed a circle and this transaction is its youngest; it
    /// must be rolled back.
    pub fn acquire(
        &self,
        transaction: TransactionNumber,
        resource: Resource,
        mode: Mode,
    ) -> Result<()> {
        self.acquire_unless(transaction, resource, mode, || false)
    }

    /// The same, but begin no wait if `is_over` says that there is no use in it. Who makes that so
    /// calls [`Locks::end_wait`] afterwards, for a wait that has begun.
    ///
    /// # Errors
    ///
    /// [`LodeError::Deadlock`] also where it did not wait, or not to the end.
    pub fn acquire_unless(
        &self,
        transaction: TransactionNumber,
        resource: Resource,
        mode: Mode,
        is_over: impl Fn() -> bool,
    ) -> Result<()> {
        let mut table = self.table();
        let thread = thread_id();
        table.threads.insert(transaction, thread);
        let claim = Claim { transaction, mode };
        let is_cancelled = table.cancelled.contains(&transaction);
        let queue = table.queues.entry(resource).or_default();
        if queue.take(claim) {
            return Ok(());
        }
        if is_cancelled || is_over() {
            return Err(LodeError::Deadlock);
        }
        queue.wait(claim);
        self.waits.fetch_add(1, Ordering::Relaxed);
        let changed = Arc::new(Condvar::new());
        let waiting =
            Waiting { resource, state: WaitState::Waiting, changed: Arc::clone(&changed) };
        table.waiting.insert(transaction, waiting);
        table.asleep.insert(thread, transaction);
        while let Some(victim) = table.youngest_in_circle(transaction) {
            self.deadlocks.fetch_add(1, Ordering::Relaxed);
            table.abort_victim(victim);
        }
        let state = loop {
            match table.waiting[&transaction].state {
                WaitState::Waiting => {
                    table = changed.wait(table).unwrap_or_else(PoisonError::into_inner);
                }
                state => break state,
            }
        };
        table.waiting.remove(&transaction);
        table.asleep.remove(&thread);
        if state == WaitState::Granted { Ok(()) } else { Err(LodeError::Deadlock) }
    }

    /// Let a transaction wait no more, now and until it gives back what it holds: the client it
    /// belongs to has gone. It is reported as the victim of a deadlock is.
    pub fn cancel(&self, transaction: TransactionNumber) {
        let mut table = self.table();
        table.cancelled.insert(transaction);
        table.end_wait(transaction);
    }

    /// Let a transaction no longer wait for what it waits for now, if it does.
    pub fn end_wait(&self, transaction: TransactionNumber) {
        self.table().end_wait(transaction);
    }

    /// Give back everything that a transaction holds: `resources` names it all.
    pub fn release(
        &self,
        transaction: TransactionNumber,
        resources: impl IntoIterator<Item = Resource>,
    ) {
        let mut table = self.table();
        for resource in resources {
            if let Some(queue) = table.queues.get_mut(&resource) {
                queue.release(transaction);
                table.serve(resource);
            }
        }
        table.threads.remove(&transaction);
        table.cancelled.remove(&transaction);
    }

    /// The counters so far.
    pub fn counters(&self) -> LockCounters {
        LockCounters {
            waits: self.waits.load(Ordering::Relaxed),
            deadlocks: self.deadlocks.load(Ordering::Relaxed),
        }
    }

    /// Nothing that is done under this mutex can leave the table half changed but a panic of our
    /// own, after which the lock table is as good as it was.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Let those in who can be; forget a queue that is empty.
    fn serve(&mut self, resource: Resource) {
        let Some(queue) = self.queues.get_mut(&resource) else { return };
        for transaction in queue.serve() {
            self.decide(transaction, WaitState::Granted);
        }
        if self.queues.get(&resource).is_some_and(Queue::is_empty) {
            self.queues.remove(&resource);
        }
    }

    fn decide(&mut self, transaction: TransactionNumber, state: WaitState) {
        if let Some(waiting) = self.waiting.get_mut(&transaction) {
            waiting.state = state;
            waiting.changed.notify_one();
        }
    }

    fn end_wait(&mut self, transaction: TransactionNumber) {
        let waiting = self.waiting.get(&transaction);
        if waiting.is_some_and(|waiting| waiting.state == WaitState::Waiting) {
            self.abort_victim(transaction);
        }
    }

    fn abort_victim(&mut self, victim: TransactionNumber) {
        let Some(waiting) = self.waiting.get(&victim) else { return };
        let resource = waiting.resource;
        if let Some(queue) = self.queues.get_mut(&resource) {
            queue.give_up(victim);
        }
        self.decide(victim, WaitState::Cancelled);
        self.serve(resource);
    }

    /// The youngest of those who wait for each other in a circle with this one, if there is one.
    fn youngest_in_circle(&self, start: TransactionNumber) -> Option<TransactionNumber> {
        let mut seen = vec![start];
        // A path, and at each step the waiting transactions that are still to be tried.
        let mut path = vec![(start, self.waits_for(start))];
        while let Some((_, next)) = path.last_mut() {
            let Some(transaction) = next.pop() else {
                path.pop();
                continue;
            };
            if transaction == start {
                return path.iter().map(|&(transaction, _)| transaction).max();
            }
            if !seen.contains(&transaction) {
                seen.push(transaction);
                path.push((transaction, self.waits_for(transaction)));
            }
        }
        None
    }

    /// The waiting transactions that keep a waiting one from going on: its blockers themselves, or
    /// what their threads wait for.
    fn waits_for(&self, transaction: TransactionNumber) -> Vec<TransactionNumber> {
        let waiting = self.waiting.get(&transaction);
        let Some(waiting) = waiting.filter(|waiting| waiting.state == WaitState::Waiting) else {
            return Vec::new();
        };
        let blockers = self.queues.get(&waiting.resource);
        let blockers = blockers.map(|queue| queue.blockers(transaction)).unwrap_or_default();
        let threads = blockers.iter().filter_map(|blocker| self.threads.get(blocker));
        threads.filter_map(|thread| self.asleep.get(thread).copied()).collect()
    }
}
