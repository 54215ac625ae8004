//! Ending statements from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use lode::{Interrupt, Reading, Writing};

use super::Database;
use super::stripes::{Number, Stripes};
use crate::error::{QueryError, Result};

/// The interrupts that end the statements that run.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Stripes<List>>);

#[derive(Debug, Default)]
struct List {
    /// Each with the thread that began its statement.
    begun: Vec<(ThreadId, Interrupt)>,
    /// Threads whose statements end at once, also those that they begin from now on.
    left: Vec<ThreadId>,
}

/// One statement's; it is taken off the list when the last holder lets go of it.
#[derive(Debug)]
pub(super) struct Cancel {
    interrupt: Interrupt,
    running: Running,
    /// The stripe of the list that it is on: another thread may be the last holder.
    number: Number,
}

impl Running {
    fn begin(&self, interrupt: Interrupt) -> Cancel {
        let (number, thread) = (Number::own(), thread::current().id());
        let mut list = self.0.locked(number);
        if list.left.contains(&thread) {
            interrupt.interrupt();
        }
        list.begun.push((thread, interrupt.clone()));
        drop(list);
        Cancel { interrupt, running: self.clone(), number }
    }

    pub fn cancel_all(&self) {
        self.0.each().for_each(|list| list.begun.iter().for_each(|(_, one)| one.interrupt()));
    }
}

/// A thread that begins statements for somebody who may leave.
#[derive(Debug)]
pub(crate) struct Caller {
    running: Running,
    number: Number,
    thread: ThreadId,
}

impl Caller {
    /// End the statements that the thread has begun, and each that it begins from now on.
    pub fn leave(&self) {
        let mut list = self.running.0.locked(self.number);
        list.left.push(self.thread);
        let own = list.begun.iter().filter(|(thread, _)| *thread == self.thread);
        own.for_each(|(_, interrupt)| interrupt.interrupt());
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.running.0.locked(self.number).left.retain(|thread| *thread != self.thread);
    }
}

impl Cancel {
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(self.interrupt.flag())
    }

    /// # Errors
    ///
    /// [`QueryError::Cancelled`] if the statement is to end.
    pub fn check(&self) -> Result<()> {
        let is_set = self.interrupt.flag().load(Ordering::Relaxed);
        if is_set { Err(QueryError::Cancelled) } else { Ok(()) }
    }

    pub fn set(&self) {
        self.interrupt.interrupt();
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        let own = self.interrupt.flag();
        let mut list = self.running.0.locked(self.number);
        list.begun.retain(|(_, other)| !Arc::ptr_eq(other.flag(), own));
    }
}

impl Database {
    /// This thread, as one whose statements another may end.
    pub(crate) fn caller(&self) -> Caller {
        let (number, thread) = (Number::own(), thread::current().id());
        Caller { running: self.running.clone(), number, thread }
    }

    #[cfg(test)]
    pub(crate) fn statements_running(&self) -> usize {
        self.running.0.each().map(|list| list.begun.len()).sum()
    }

    /// A statement begins that only reads. From before its first lock on it can be cancelled.
    pub(super) fn begin_reading(&self) -> (Reading, Cancel) {
        let reading = self.storage.reading();
        let cancel = self.running.begin(reading.interrupt());
        (reading, cancel)
    }

    /// The same for one that changes something, until its commit begins.
    pub(super) fn begin_writing(&self) -> (Writing, Cancel) {
        let writing = self.storage.writing();
        let cancel = self.running.begin(writing.interrupt());
        (writing, cancel)
    }
}
