//! A compiled pipeline that runs: what belongs to it beside its code.

mod call;
mod end;
mod routine;
mod source;
mod stage;

use std::any::Any;
use std::ptr;
use std::sync::Arc;

use super::code::Code;
use super::context::{Cell, Context, Place};
use crate::error::{QueryError, Result};
use crate::execution::closures::Closures;
use crate::execution::evaluation::{Evaluation, Known, Row, Scalar};
use crate::execution::{Receiver, State};
use crate::expression::Expr;
use crate::plan::{Pipeline, Step};
use call::Handle;
use end::End;
use source::{Kept, Source};
use stage::Stage;

/// What only Rust knows of a pipeline that runs.
struct Run<'r> {
    code: &'r Code,
    /// One for each function.
    sources: Vec<Arc<Source>>,
    /// One for each of them.
    kept: Vec<Kept>,
    /// One for each step.
    stages: Vec<Stage>,
    end: End<'r>,
    /// Why compiled code has stopped.
    stop: Option<Stop>,
}

/// Why compiled code stops before its end.
enum Stop {
    Error(QueryError),
    /// A panic of a routine, which goes on where Rust called the code.
    Panic(Box<dyn Any + Send>),
}

/// The row of an expression that reads none.
const NO_ROW: Row<'static> = Row { tuples: &[], ids: &[] };

/// Runs a pipeline's code.
pub(super) fn run(
    code: &Code,
    pipeline: &Pipeline,
    state: &mut State<'_>,
    receiver: &mut Receiver<'_>,
) -> Result<()> {
    let known = Known::of(state)?;
    let constant = |expr: &Expr| known.value(expr).map_or(Cell::NULL, Cell::of);
    let constants: Vec<Cell> = code.parts.constants.iter().map(constant).collect();
    // Before the first row no row is known: the source's own bounds are computed once.
    let mut bounds = source::bounds(&pipeline.source, &Closures { known: &known })?;
    let bounds = bounds.iter_mut().map(|bound| bound.value(&NO_ROW));
    let bounds = bounds.collect::<Result<Vec<_>, _>>().map_err(|fault| state.evaluation(fault))?;
    let first = code.parts.cells;
    let mut cells = vec![Cell::NULL; first];
    cells.extend(bounds.into_iter().map(Cell::of));
    let mut frame = vec![Place::NONE; pipeline.slots.len()];
    let mut stages =
        pipeline.steps.iter().map(|step| Stage::new(step, state)).collect::<Result<Vec<_>>>()?;
    let buffers: Vec<*mut u8> = stages.iter_mut().map(Stage::buffer).collect();
    let (sources, kept) = sources(pipeline, code, first, state)?;
    let mut end = End::new(&code.end, receiver);
    let (out, mut fed) = (end.out(), end.fed());
    let mut context = Context {
        frame: frame.as_mut_ptr(),
        cells: cells.as_mut_ptr(),
        constants: constants.as_ptr(),
        routines: routine::ADDRESSES.0.as_ptr(),
        matches: ptr::null(),
        buffers: buffers.as_ptr(),
        out,
        updates: fed.as_mut_ptr(),
        staged: 0,
        comparisons: 0,
        hash_probes: 0,
        run: ptr::null_mut(),
    };
    let mut run = Run { code, sources, kept, stages, end, stop: None };
    let outcome = Handle::over(&mut context, &mut run, state, |handle| {
        source::each(handle, 0)?;
        handle.flush()
    });
    state.work.comparisons += context.comparisons;
    state.work.hash_probes += context.hash_probes;
    outcome
}

/// The source of each function. Values that it must know stand in cells: of the first one behind
/// all those that code fills.
fn sources(
    pipeline: &Pipeline,
    code: &Code,
    first: usize,
    state: &State<'_>,
) -> Result<(Vec<Arc<Source>>, Vec<Kept>)> {
    let inner = pipeline.steps.iter().filter_map(|step| match step {
        Step::Loop(source) => Some(source),
        _ => None,
    });
    let cells = std::iter::once(first).chain(code.parts.bounds.iter().copied());
    let all = std::iter::once(&pipeline.source).chain(inner).zip(cells);
    let made = all.map(|(source, cell)| {
        Ok((Arc::new(Source::new(source, cell, state)?), Kept::new(source, pipeline, state)?))
    });
    made.collect()
}
