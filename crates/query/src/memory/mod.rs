//! The memory that the hash tables, sorts and temporary relations of a query share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lode::internals::buffer::Frames;

use crate::error::{QueryError, Result};
use borrowed::Borrowed;

mod borrowed;
mod freed;
mod machine;
mod tuples;

pub(crate) use freed::return_freed;
pub use freed::return_freed_by;
#[cfg(test)]
pub(crate) use freed::tests::times_returned;
pub use machine::budget_default_bytes;
pub(crate) use tuples::Place;
pub use tuples::Tuples;

/// A budget, for all threads of a query.
#[derive(Debug, Clone)]
pub struct Memory {
    shared: Arc<Shared>,
}

/// All in bytes.
#[derive(Debug)]
struct Shared {
    budget: u64,
    used: AtomicU64,
    peak: AtomicU64,
    from: Source,
}

/// The place where the memory of a budget comes from.
#[derive(Debug)]
enum Source {
    /// It is the program's own.
    Own,
    /// The budget of which this is a share: what is used here is used there.
    Share(Memory),
    /// Frames of a cache.
    Cache(Borrowed),
}

impl Memory {
    /// A budget of which nothing is used.
    pub fn new(budget_bytes: u64) -> Self {
        Self::of(budget_bytes, Source::Own)
    }

    /// A budget that is a cache's, too: what is used of it, pages do not have.
    pub fn borrowing(frames: Frames) -> Self {
        Self::of(frames.lendable_bytes(), Source::Cache(Borrowed::of(frames)))
    }

    fn of(budget: u64, from: Source) -> Self {
        let (used, peak) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { shared: Arc::new(Shared { budget, used, peak, from }) }
    }

    /// A part of this budget of at most so many bytes, of which nothing is used.
    #[must_use]
    pub fn share(&self, bytes_max: u64) -> Self {
        Self::of(bytes_max, Source::Share(self.clone()))
    }

    fn try_take(&self, bytes: u64) -> bool {
        let shared = &*self.shared;
        let used = shared.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|used| *used <= shared.budget)
        });
        let Ok(used) = used else { return false };
        let is_there = match &shared.from {
            Source::Own => true,
            Source::Share(whole) => whole.try_take(bytes),
            Source::Cache(borrowed) => borrowed.try_take(bytes),
        };
        if !is_there {
            shared.used.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        shared.peak.fetch_max(used + bytes, Ordering::Relaxed);
        true
    }

    fn give_back(&self, bytes: u64) {
        self.shared.used.fetch_sub(bytes, Ordering::Relaxed);
        match &self.shared.from {
            Source::Own => {}
            Source::Share(whole) => whole.give_back(bytes),
            Source::Cache(borrowed) => borrowed.give_back(bytes),
        }
    }

    /// Nothing yet, for the part of the plan that `what` names in an error.
    pub fn reservation(&self, what: &'static str) -> Reservation {
        Reservation { memory: self.clone(), what, bytes: 0 }
    }

    /// The bytes that may be used together.
    pub fn budget_bytes(&self) -> u64 {
        self.shared.budget
    }

    /// The budget of which this is a share, or a share of a share; its own where it is none.
    pub fn whole_bytes(&self) -> u64 {
        self.whole().map_or(self.shared.budget, Self::whole_bytes)
    }

    fn whole(&self) -> Option<&Self> {
        match &self.shared.from {
            Source::Share(whole) => Some(whole),
            Source::Own | Source::Cache(_) => None,
        }
    }

    /// The bytes that could be used now beside those in use: of a share no more than the whole has.
    fn left_bytes(&self) -> u64 {
        let own = self.budget_bytes().saturating_sub(self.used_bytes());
        self.whole().map_or(own, |whole| own.min(whole.left_bytes()))
    }

    /// The bytes in use now.
    pub fn used_bytes(&self) -> u64 {
        self.shared.used.load(Ordering::Relaxed)
    }

    /// The most that was ever used at one time.
    pub fn peak_bytes(&self) -> u64 {
        self.shared.peak.load(Ordering::Relaxed)
    }
}

/// A part of a budget, given back when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: Memory,
    what: &'static str,
    bytes: u64,
}

impl Reservation {
    /// Its amount.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The amount that could still be added to it.
    pub fn left_bytes(&self) -> u64 {
        self.memory.left_bytes()
    }

    /// Add so many bytes to it, if the budget has them.
    #[must_use]
    pub fn try_add(&mut self, bytes: u64) -> bool {
        let is_there = self.memory.try_take(bytes);
        self.bytes += if is_there { bytes } else { 0 };
        is_there
    }

    /// Add so many bytes to it.
    ///
    /// # Errors
    ///
    /// [`QueryError::Memory`] if the budget does not have them.
    pub fn add(&mut self, bytes: u64) -> Result<()> {
        if self.try_add(bytes) { Ok(()) } else { Err(self.refusal()) }
    }

    /// Give that much of it back.
    pub fn give_back(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.memory.give_back(bytes);
        self.bytes -= bytes;
    }

    /// That the budget is too small for this part of the plan.
    #[cold]
    pub fn refusal(&self) -> QueryError {
        QueryError::Memory {
            what: self.what.to_owned(),
            share_bytes: self.memory.budget_bytes(),
            budget_bytes: self.memory.whole_bytes(),
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shared_and_given_back() {
        let memory = Memory::new(100);
        let (mut table, mut sort) = (memory.reservation("a table"), memory.reservation("a sort"));
        assert!(table.try_add(60) && sort.try_add(40) && !table.try_add(1));
        assert_eq!(memory.used_bytes(), 100);
        sort.give_back(10);
        assert!(table.try_add(10));
        drop(table);
        assert_eq!((memory.used_bytes(), memory.peak_bytes()), (30, 100));
        drop(sort);
        assert_eq!(memory.used_bytes(), 0);
    }

    #[test]
    fn a_share_is_a_part_of_the_whole() {
        let memory = Memory::new(100);
        let (share, other) = (memory.share(60), memory.share(60));
        let (mut table, mut sort) = (share.reservation("a table"), other.reservation("a sort"));
        assert!(!table.try_add(61) && table.try_add(60) && !sort.try_add(41) && sort.try_add(40));
        assert_eq!((memory.used_bytes(), share.used_bytes(), other.used_bytes()), (100, 60, 40));
        drop(table);
        assert_eq!((memory.used_bytes(), share.used_bytes(), share.peak_bytes()), (40, 0, 60));
    }

    #[test]
    fn a_refusal_names_the_part_and_the_budget() {
        let mut table = Memory::new(100).reservation("the hash table of a join");
        let error = table.add(101).unwrap_err().to_string();
        assert!(error.starts_with("the hash table of a join needs more"), "{error}");
        assert!(error.contains("100 bytes"), "{error}");
        assert_eq!(table.bytes(), 0);
        let mut set = Memory::new(100).share(60).share(40).reservation("a set");
        let error = set.add(41).unwrap_err().to_string();
        let expected =
            "a set needs more than its share of 40 bytes of the memory budget of 100 bytes";
        assert!(error.starts_with(expected), "{error}");
    }
}
