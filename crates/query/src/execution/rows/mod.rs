//! Row at a time: what `execution=interpreted` and `execution=closures` share. They differ in how
//! an expression is computed, which is behind the traits of [`super::evaluation`]; sources, loops,
//! probes and sinks are the same.

mod driver;
mod frame;
mod merge;
mod stage;

use std::rc::Rc;

use super::closures::Closures;
use super::evaluation::Known;
use super::interpreted::{Calls, Interpreted};
use super::{Executor, Receiver, State};
use crate::error::Result;
use crate::plan::Pipeline;

/// The executors that go row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowAtATime {
    /// `execution=closures`.
    Closures,
    /// `execution=interpreted`.
    Interpreted,
}

impl Executor for RowAtATime {
    fn run(
        &self,
        pipeline: &Pipeline,
        state: &mut State<'_>,
        receiver: &mut Receiver<'_>,
    ) -> Result<()> {
        let known = Known::of(state)?;
        match self {
            Self::Closures => driver::run(&Closures { known: &known }, pipeline, state, receiver),
            Self::Interpreted => {
                let calls = Rc::new(Calls::default());
                let interpreted = Interpreted { known: &known, calls: Rc::clone(&calls) };
                let outcome = driver::run(&interpreted, pipeline, state, receiver);
                state.work.symbols += calls.getsymbol.get();
                state.work.interpretations += calls.interpret.get();
                outcome
            }
        }
    }
}
