//! No write touches a range while it is copied, and no range is copied while it is written.

use std::ops::Range;
use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// A cursor behind everything: the copy has all of the file.
pub const COMPLETE: u64 = u64::MAX;

/// The gate of one file.
pub struct Gate {
    state: Mutex<State>,
    /// Whenever a write or the copying of a range has ended.
    ended: Condvar,
}

struct State {
    /// Bytes before this have been copied.
    cursor: u64,
    copied: Option<Range<u64>>,
    written: Vec<Range<u64>>,
}

/// A write that is under way.
pub struct Writing<'a> {
    gate: &'a Gate,
    range: Range<u64>,
    /// The extent to which the copying had come when the write began: it cannot come into the
    /// write's range before this ends.
    pub cursor: u64,
}

/// A range that nobody writes meanwhile.
pub struct Alone<'a> {
    gate: &'a Gate,
}

impl Gate {
    pub const fn new() -> Self {
        let state = State { cursor: 0, copied: None, written: Vec::new() };
        Self { state: Mutex::new(state), ended: Condvar::new() }
    }

    /// Begin a write, when its range is not being copied.
    pub fn write(&self, range: Range<u64>) -> Writing<'_> {
        let mut state = self.lock();
        while state.copied.as_ref().is_some_and(|copied| overlap(copied, &range)) {
            state = self.wait(state);
        }
        state.written.push(range.clone());
        Writing { gate: self, range, cursor: state.cursor }
    }

    /// Have a range alone, when nobody writes or copies there.
    pub fn alone(&self, range: Range<u64>) -> Alone<'_> {
        let mut state = self.lock();
        while state.copied.is_some() || state.written.iter().any(|one| overlap(one, &range)) {
            state = self.wait(state);
        }
        state.copied = Some(range);
        Alone { gate: self }
    }

    pub fn cursor(&self) -> u64 {
        self.lock().cursor
    }

    /// Only while the range that it passes is had alone, or nobody looks at it yet.
    pub fn set_cursor(&self, cursor: u64) {
        self.lock().cursor = cursor;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.ended.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

fn overlap(one: &Range<u64>, two: &Range<u64>) -> bool {
    one.start < two.end && two.start < one.end
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.lock();
        let place = state.written.iter().position(|range| *range == self.range);
        state.written.swap_remove(place.expect("it was put there"));
        drop(state);
        self.gate.ended.notify_all();
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.gate.lock().copied = None;
        self.gate.ended.notify_all();
    }
}
