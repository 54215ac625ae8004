//! A compiled pipeline that runs: what belongs to it beside its code.

mod call;
mod end;
mod rounds;
mod routine;
mod source;
mod stage;

use std::any::Any;
use std::ptr;
use std::sync::Arc;

use super::code::{Begin, Code, Way};
use super::code_of;
use super::context::{Cell, Context, Place};
use crate::error::{QueryError, Result};
use crate::execution::closures::Closures;
use crate::execution::evaluation::{Evaluation, Known, Row, Scalar};
use crate::execution::{Receiver, State};
use crate::expression::Expr;
use crate::plan::{self, Pipeline, Step};
use crate::tuple::Layout;
use call::Handle;
use end::End;
use source::{Kept, Source};
use stage::Stage;

/// The state of a running pipeline that only Rust knows.
struct Run<'r> {
    code: Arc<Code>,
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

/// Runs a pipeline: its code, then that for what steps have put aside.
pub(super) fn run(
    pipeline: &Pipeline,
    by: Option<&Layout>,
    state: &mut State<'_>,
    receiver: &mut Receiver<'_>,
) -> Result<()> {
    state.begin_counting(if state.counts_steps() { pipeline.steps.len() } else { 0 });
    let is_away = |at: &usize| match &pipeline.steps[*at] {
        Step::Probe { table, .. } => state.away.contains_key(table),
        _ => false,
    };
    let aside: Vec<usize> = (0..pipeline.steps.len()).filter(is_away).collect();
    let way = Way { begin: Begin::Source, aside, counts_steps: state.counts_steps() };
    let code = code_of(pipeline, by, &way, state)?;
    let known = Known::of(state)?;
    let made = (0..pipeline.steps.len()).map(|number| Stage::new(number, pipeline, state));
    let stages = made.collect::<Result<Vec<_>>>()?;
    let passed = Passed { stages, end: End::new(&code.end, receiver) };
    let passed = pass(&code, pipeline, &known, passed, state, |handle| source::each(handle, 0))?;
    rounds::run(pipeline, (by, &way), &known, passed, state)
}

/// The state that goes from one code of a pipeline to the next.
struct Passed<'r> {
    stages: Vec<Stage>,
    end: End<'r>,
}

/// Has rows go through code, as `within` calls it.
fn pass<'r>(
    code: &Arc<Code>,
    pipeline: &Pipeline,
    known: &Known,
    passed: Passed<'r>,
    state: &mut State<'_>,
    within: impl FnOnce(Handle) -> Result<()>,
) -> Result<Passed<'r>> {
    let Passed { mut stages, mut end } = passed;
    let constant = |expr: &Expr| known.value(expr).map_or(Cell::NULL, Cell::of);
    let constants: Vec<Cell> = code.parts.constants.iter().map(constant).collect();
    // Before the first row no row is known: the source's own bounds are computed once.
    let source = source_of(pipeline, code);
    let mut bounds = source::bounds(source, &Closures { known })?;
    let bounds = bounds.iter_mut().map(|bound| bound.value(&NO_ROW));
    let bounds = bounds.collect::<Result<Vec<_>, _>>().map_err(|fault| state.evaluation(fault))?;
    let first = code.parts.cells;
    let mut cells = vec![Cell::NULL; first];
    cells.extend(bounds.into_iter().map(Cell::of));
    let mut frame = vec![Place::NONE; pipeline.slots.len()];
    let buffers: Vec<*mut u8> = stages.iter_mut().map(Stage::buffer).collect();
    let (sources, kept) = sources(pipeline, code, first, state)?;
    let (out, mut fed) = (end.out(), end.fed());
    let mut step_rows = vec![0; pipeline.steps.len() + 1];
    let mut context = Context {
        frame: frame.as_mut_ptr(),
        cells: cells.as_mut_ptr(),
        constants: constants.as_ptr(),
        routines: routine::ADDRESSES.0.as_ptr(),
        matches: ptr::null(),
        buffers: buffers.as_ptr(),
        out,
        updates: fed.as_mut_ptr(),
        step_rows: step_rows.as_mut_ptr(),
        staged: 0,
        comparisons: 0,
        hash_probes: 0,
        run: ptr::null_mut(),
    };
    let mut run = Run { code: Arc::clone(code), sources, kept, stages, end, stop: None };
    let outcome = Handle::over(&mut context, &mut run, state, |handle| {
        within(handle)?;
        handle.flush()
    });
    state.work.comparisons += context.comparisons;
    state.work.hash_probes += context.hash_probes;
    state.add_rows(&step_rows);
    let Run { stages, end, .. } = run;
    outcome.map(|()| Passed { stages, end })
}

/// The source of a code's first function.
fn source_of<'p>(pipeline: &'p Pipeline, code: &Code) -> &'p plan::Source {
    match code.begin {
        Begin::Source => &pipeline.source,
        Begin::At(_) | Begin::Behind(_) => &plan::Source::Once,
    }
}

/// The source of each function. Values that it must know stand in cells: of the first one behind
/// all those that code fills.
fn sources(
    pipeline: &Pipeline,
    code: &Code,
    first: usize,
    state: &State<'_>,
) -> Result<(Vec<Arc<Source>>, Vec<Kept>)> {
    let inner = pipeline.steps[code.begin.step()..].iter().filter_map(|step| match step {
        Step::Loop(source) => Some(source),
        _ => None,
    });
    let cells = std::iter::once(first).chain(code.parts.bounds.iter().copied());
    let all = std::iter::once(source_of(pipeline, code)).chain(inner).zip(cells);
    let made = all.map(|(source, cell)| {
        Ok((Arc::new(Source::new(source, cell, state)?), Kept::new(source, pipeline, state)?))
    });
    made.collect()
}
