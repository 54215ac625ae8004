//! Ending statements from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lode::{Interrupt, Reading, Writing};

use super::Database;
use super::stripes::{Number, Stripes};
use crate::error::{QueryError, Result};

/// The interrupts that end the statements that run.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Stripes<Vec<Interrupt>>>);

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
        let number = Number::own();
        self.0.locked(number).push(interrupt.clone());
        Cancel { interrupt, running: self.clone(), number }
    }

    pub fn cancel_all(&self) {
        self.0.each().for_each(|list| list.iter().for_each(Interrupt::interrupt));
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
        list.retain(|other| !Arc::ptr_eq(other.flag(), own));
    }
}

impl Database {
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
