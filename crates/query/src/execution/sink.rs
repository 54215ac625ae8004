//! Where the tuples of a pipeline go.

use super::State;
use crate::error::Result;

/// What takes tuples, each in the form that [`super::Packed`] tells.
pub trait Sink {
    /// Take a tuple.
    ///
    /// # Errors
    ///
    /// What keeping or storing it says.
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

    /// There are no more.
    ///
    /// # Errors
    ///
    /// What making of them what the sink is for says.
    fn finish(&mut self, state: &mut State<'_>) -> Result<()>;
}
