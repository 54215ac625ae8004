//! `execution=vectorised`: a batch of rows at a time.
//!
//! Each expression is a tree of primitives, each of which works through a whole vector, as in
//! `Tectorwise` (Kersten, Leis, Kemper, Neumann, Pavlo, Boncz: Everything you always wanted to know
//! about compiled and vectorized queries but were afraid to ask, PVLDB 2018). What to do is decided
//! once a vector; within it there is a loop over typed values and a selection of the rows that
//! still qualify.

mod accelerator;
mod aggregate;
mod between;
mod condition;
mod first;
mod found;
mod judge;
mod kernels;
mod narrow;
mod opened;
mod pack;
mod probe;
mod rows;
mod source;
mod stage;
mod target;
#[cfg(test)]
mod tests;
mod unpacked;
mod value;
mod vector;

pub use accelerator::Accelerator;
pub use kernels::Kernels;

use super::joining::looked_at_first;
use super::{Executor, Receiver, State};
use crate::error::Result;
use crate::plan::Pipeline;
use rows::Rows;
use source::Inner;
use stage::Stage;
use target::Target;

/// The executor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vectorised;

impl Executor for Vectorised {
    fn run(
        &self,
        pipeline: &Pipeline,
        state: &mut State<'_>,
        receiver: &mut Receiver<'_>,
    ) -> Result<()> {
        state.begin_counting(pipeline.steps.len());
        let _room = vector::room(pipeline, state)?;
        let mut source = Inner::new(&pipeline.source, &pipeline.slots, state)?;
        source.bring_near(looked_at_first(pipeline, |aggregate| match &*receiver {
            Receiver::Aggregation { partitions, .. } => partitions.is_count(aggregate),
            Receiver::Tuples(_) => false,
        }));
        let filtered = source.take_filters(&pipeline.steps);
        let stages: Result<Vec<_>> = (filtered..pipeline.steps.len())
            .map(|number| Stage::new(number, pipeline, state))
            .collect();
        let mut stages = stages?;
        let mut target = Target::new(&pipeline.sink, receiver, state);
        let mut out = Rows::new(pipeline.slots.len());
        source.run(&mut out, state, &mut |rows, state| {
            state.work.batches += 1;
            stage::push(&mut stages, rows, &mut target, state)
        })?;
        stage::finish(&mut stages, &mut target, state)
    }
}
