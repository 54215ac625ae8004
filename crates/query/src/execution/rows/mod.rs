//! Row at a time: what `execution=interpreted` and `execution=closures` share. They differ in how
//! an expression is computed, which is behind the traits of [`super::evaluation`]; sources, loops,
//! probes and sinks are the same.

mod driver;
mod frame;
mod pipeline;
mod stage;

use std::cell::Cell;
use std::rc::Rc;

use super::closures::Closures;
use super::evaluation::{Condition, Evaluation, Known, Packer, Scalar};
use super::interpreted::{Calls, Interpreted};
use super::{Executor, Receiver, State};
use crate::error::Result;
use crate::expression::Expr;
use crate::plan::{Pack, Pipeline};

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
            Self::Closures => {
                let made = Cell::new(0);
                let counted = Counted { of: Closures { known: &known }, made: &made };
                let outcome = pipeline::run(&counted, pipeline, state, receiver);
                state.work.closures += made.get();
                outcome
            }
            Self::Interpreted => {
                let calls = Rc::new(Calls::default());
                let interpreted = Interpreted { known: &known, calls: Rc::clone(&calls) };
                let outcome = pipeline::run(&interpreted, pipeline, state, receiver);
                state.work.symbols += calls.getsymbol.get();
                state.work.interpretations += calls.interpret.get();
                outcome
            }
        }
    }
}

/// A way to compute, and how many expressions it was requested.
struct Counted<'c, E> {
    of: E,
    made: &'c Cell<u64>,
}

impl<E> Counted<'_, E> {
    fn count(&self, more: usize) {
        self.made.set(self.made.get() + more as u64);
    }
}

impl<E: Evaluation> Evaluation for Counted<'_, E> {
    fn condition(&self, expr: &Expr) -> Result<Box<dyn Condition>> {
        self.count(1);
        self.of.condition(expr)
    }

    fn conditions(&self, expr: &Expr) -> Result<Vec<Box<dyn Condition>>> {
        let conditions = self.of.conditions(expr)?;
        self.count(conditions.len());
        Ok(conditions)
    }

    fn scalar(&self, expr: &Expr) -> Result<Box<dyn Scalar>> {
        self.count(1);
        self.of.scalar(expr)
    }

    fn packer(&self, pack: &Pack) -> Result<Box<dyn Packer>> {
        self.count(pack.values.len());
        self.of.packer(pack)
    }
}
