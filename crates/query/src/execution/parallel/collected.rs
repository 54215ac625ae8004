//! The tuples of a sink that each of several threads keeps by itself, until the sink takes them
//! over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::execution::{Sink, State};
use crate::memory::Tuples;
use crate::sort::Sorter;
use crate::table::JoinBuilder;

/// Tuples of one thread.
pub enum Collected {
    /// For a hash table, so many at most.
    Entries {
        /// Which has them.
        builder: JoinBuilder,
        /// Their largest number.
        entries_max: usize,
    },
    /// For a temporary relation.
    Tuples(Tuples),
    /// To be sorted.
    Sorter(Box<Sorter>),
}

impl Collected {
    /// Put a copy of a tuple in, if there is memory for it.
    fn try_add(&mut self, tuple: &[u8]) -> bool {
        match self {
            Self::Entries { builder, entries_max } => {
                builder.len() < *entries_max && builder.add(tuple).is_ok()
            }
            Self::Tuples(tuples) => tuples.try_push(tuple).is_some(),
            Self::Sorter(sorter) => sorter.try_add(tuple),
        }
    }

    /// The tuples alone.
    pub fn into_tuples(self) -> Tuples {
        match self {
            Self::Entries { builder, .. } => builder.into_tuples(),
            Self::Tuples(tuples) => tuples,
            Self::Sorter(sorter) => sorter.into_tuples(),
        }
    }
}

/// The sink that all threads fill, and the statement's own state, which it is filled with.
pub(super) struct Central<'m, 's> {
    pub sink: &'m mut dyn Sink,
    pub state: &'m mut State<'s>,
}

/// Bytes of tuples that a thread hands on at a time, where it does not keep them.
const PASSED_BYTES: usize = 64 << 10;

/// A thread's way to the sink that all fill.
pub(super) struct Filling<'l, 'm, 's> {
    central: &'l Mutex<Central<'m, 's>>,
    /// The tuples it keeps; None where tuples are handed on.
    part: Option<Collected>,
    /// Set when a thread has had no memory for a tuple: then none keeps any.
    is_crowded: &'l AtomicBool,
    /// Tuples to be handed on, and how many they are.
    waiting: (Vec<u8>, usize),
}

impl<'l, 'm, 's> Filling<'l, 'm, 's> {
    /// With what the thread is to keep, if it is.
    pub fn new(
        central: &'l Mutex<Central<'m, 's>>,
        part: Option<Collected>,
        is_crowded: &'l AtomicBool,
    ) -> Self {
        Self { central, part, is_crowded, waiting: (Vec::new(), 0) }
    }

    fn central(&self) -> MutexGuard<'l, Central<'m, 's>> {
        self.central.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keep tuples as long as there is memory; how many of them are kept.
    fn keep(&mut self, tuples: &[u8], count: usize) -> Result<usize> {
        let Some(part) = &mut self.part else { return Ok(0) };
        let bytes = tuples.len().checked_div(count).unwrap_or(0);
        if !self.is_crowded.load(Ordering::Relaxed) {
            let refused = (0..count).find(|at| !part.try_add(&tuples[at * bytes..][..bytes]));
            let Some(kept) = refused else { return Ok(count) };
            self.is_crowded.store(true, Ordering::Relaxed);
            self.give_up()?;
            return Ok(kept);
        }
        self.give_up()?;
        Ok(0)
    }

    /// Keep nothing any more.
    #[cold]
    fn give_up(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let mut central = self.central();
        let Central { sink, state } = &mut *central;
        part.into_tuples().iter().try_for_each(|tuple| sink.add(state, tuple))
    }

    /// Hand on what waits.
    fn pass(&mut self) -> Result<()> {
        let (tuples, count) = &mut self.waiting;
        if *count > 0 {
            let mut central = self.central.lock().unwrap_or_else(PoisonError::into_inner);
            let Central { sink, state } = &mut *central;
            sink.add_many(state, tuples, std::mem::take(count))?;
            tuples.clear();
        }
        Ok(())
    }
}

impl Sink for Filling<'_, '_, '_> {
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.add_many(state, tuple, 1)
    }

    fn add_many(&mut self, _: &mut State<'_>, tuples: &[u8], count: usize) -> Result<()> {
        let kept = self.keep(tuples, count)?;
        let bytes = tuples.len().checked_div(count).unwrap_or(0);
        let (tuples, count) = (&tuples[kept * bytes..], count - kept);
        if count == 0 {
            return Ok(());
        }
        if tuples.len() >= PASSED_BYTES {
            self.pass()?;
            let mut central = self.central();
            let Central { sink, state } = &mut *central;
            return sink.add_many(state, tuples, count);
        }
        self.waiting.0.extend_from_slice(tuples);
        self.waiting.1 += count;
        // Tuples without a byte are counted, too.
        if self.waiting.0.len() >= PASSED_BYTES || bytes == 0 { self.pass() } else { Ok(()) }
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        self.pass()?;
        if let Some(Collected::Sorter(sorter)) = &mut self.part {
            sorter.sort()?;
        }
        let Some(part) = self.part.take() else { return Ok(()) };
        let mut central = self.central();
        let Central { sink, state } = &mut *central;
        sink.merge(state, part)
    }
}
