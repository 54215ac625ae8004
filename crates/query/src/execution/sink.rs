//! The place where the tuples of a pipeline go.

use super::State;
use super::parallel::Collected;
use crate::error::Result;
use crate::memory::Memory;

/// A receiver of tuples, each in the form that [`super::Packed`] shows.
pub trait Sink: Send {
    /// Take a tuple.
    ///
    /// # Errors
    ///
    /// The error of keeping or storing it.
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()>;

    /// Take so many tuples, which lie one after another.
    ///
    /// # Errors
    ///
    /// As of [`Sink::add`].
    fn add_many(&mut self, state: &mut State<'_>, tuples: &[u8], count: usize) -> Result<()> {
        let bytes = tuples.len().checked_div(count).unwrap_or(0);
        (0..count).try_for_each(|at| self.add(state, &tuples[at * bytes..(at + 1) * bytes]))
    }

    /// The tuples that each of several threads keeps by itself, from a memory of its own, for
    /// [`Sink::merge`] to take over; None where the sink is given them as they come.
    fn part(&self, threads: usize, memory: &Memory) -> Option<Collected> {
        let _ = (threads, memory);
        None
    }

    /// Take over what a thread has kept: a part of this sink's own.
    ///
    /// # Errors
    ///
    /// As of [`Sink::add`].
    fn merge(&mut self, state: &mut State<'_>, part: Collected) -> Result<()> {
        part.into_tuples().iter().try_for_each(|tuple| self.add(state, tuple))
    }

    /// There are no more.
    ///
    /// # Errors
    ///
    /// The error of the sink's work on them.
    fn finish(&mut self, state: &mut State<'_>) -> Result<()>;

    /// Whether it has given up, and the statement begins again with another: its work is counted
    /// once.
    fn begins_again(&self) -> bool {
        false
    }
}
