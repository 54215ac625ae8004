//! `execution=compiled`: each pipeline becomes machine code, made by Cranelift.
//!
//! `translate` writes one function for a pipeline's source and one for each inner source of its
//! loops. A function goes through the rows of a batch; a row's values stay in registers from the
//! first condition to the tuple that is packed for the sink. What is not compiled is a call of Rust
//! in `run`: texts and patterns compared, logarithms and the like, hash tables, sources and sinks,
//! which are those of all executors. No pipeline is run in another way: what a step put aside,
//! because its table did not fit into memory, goes through code that begins at that step.
//!
//! Code does not depend on what parameters and aggregates come to, so a statement that is run again
//! finds it again ([`CodeCache`]), and it goes when the statement goes.

mod cache;
mod code;
mod context;
mod explain;
mod machine;
mod run;
mod site;
#[cfg(test)]
mod tests;
mod translate;

use std::sync::Arc;

use super::{Executor, Receiver, State};
use crate::error::Result;
use crate::plan::Pipeline;
use crate::tuple::Layout;
use code::{Code, Way};

pub use cache::CodeCache;
pub use explain::explain;

/// The executor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compiled;

impl Executor for Compiled {
    fn run(
        &self,
        pipeline: &Pipeline,
        state: &mut State<'_>,
        receiver: &mut Receiver<'_>,
    ) -> Result<()> {
        let by = match receiver {
            Receiver::Aggregation { partitions, .. } => Some(partitions.by().clone()),
            Receiver::Tuples(_) => None,
        };
        run::run(pipeline, by.as_ref(), state, receiver)
    }
}

/// The code of a pipeline; that it was made is counted.
fn code_of(
    pipeline: &Pipeline,
    by: Option<&Layout>,
    way: &Way,
    state: &mut State<'_>,
) -> Result<Arc<Code>> {
    let (code, is_new) = state.code.code(pipeline, by, way)?;
    if is_new {
        state.work.functions_compiled += code.machine.len() as u64;
        state.work.code_bytes += code.machine.bytes;
        state.work.compile_ns += code.report.elapsed_ns;
    }
    Ok(code)
}
