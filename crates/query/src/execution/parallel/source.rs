//! The source of a pipeline, divided among threads.

use std::ops::Bound;

use crate::error::Result;
use crate::execution::State;
use crate::execution::closures::Closures;
use crate::execution::evaluation::{Evaluation, Known, Row, Scalar};
use crate::execution::state::Part;
use crate::expression::Expr;
use crate::plan::{Pipeline, Source};
use crate::relation::Scan;
use crate::temporary::Temporary;
use crate::tuple::Value;

/// The row of an expression that reads none.
const NO_ROW: Row<'static> = Row { tuples: &[], ids: &[] };

/// A beginning for each of so many threads, or for fewer where there is not as much to do; none
/// where the source cannot be divided.
///
/// # Errors
///
/// The error of reading and of computing bounds.
pub(super) fn parts(pipeline: &Pipeline, threads: usize, state: &State<'_>) -> Result<Vec<Part>> {
    let scan = match &pipeline.source {
        Source::Once | Source::First { .. } | Source::End { .. } | Source::Merge { .. } => {
            return Ok(Vec::new());
        }
        Source::Temporary { temporary, .. } => {
            return of_temporary(&state.temporary(*temporary), threads);
        }
        Source::Groups { aggregation, .. } => {
            return of_temporary(state.aggregation(*aggregation).tuples(), threads);
        }
        Source::Scan { relation, slot, .. } => {
            state.relation(relation, *slot)?.scan(&*state.transaction)?
        }
        source => bounded(source, state)?,
    };
    let (shared, mut parts) = (scan.shared(threads), Vec::new());
    while parts.len() < threads
        && let Some(scan) = shared.scan(&*state.transaction)?
    {
        parts.push(Part::Scan(Box::new(scan)));
    }
    Ok(parts)
}

fn of_temporary(temporary: &Temporary, threads: usize) -> Result<Vec<Part>> {
    Ok(temporary.shared(threads)?.into_iter().map(Part::Temporary).collect())
}

/// A range or a look-up, whose bounds no row decides.
fn bounded(source: &Source, state: &State<'_>) -> Result<Scan> {
    let known = Known::of(state)?;
    let evaluation = Closures { known: &known };
    match source {
        Source::Lookup { relation, slot, access, key } => {
            let mut key = evaluation.scalar(key)?;
            let key = key.value(&NO_ROW).map_err(|fault| state.evaluation(fault))?;
            state.relation(relation, *slot)?.lookup(&*state.transaction, access, key)
        }
        Source::Range { relation, slot, access, low, high } => {
            let made = |limit: &Option<(Expr, bool)>| -> Result<Limit> {
                let limit = limit.as_ref();
                limit.map(|(expr, included)| Ok((evaluation.scalar(expr)?, *included))).transpose()
            };
            let (mut low, mut high) = (made(low)?, made(high)?);
            let (low, high) = (bound(&mut low, state)?, bound(&mut high, state)?);
            state.relation(relation, *slot)?.range(&*state.transaction, access, low, high)
        }
        _ => unreachable!("the other sources have no bounds"),
    }
}

/// One end of a range: how its value is computed, and whether it is included.
type Limit = Option<(Box<dyn Scalar>, bool)>;

fn bound<'v>(limit: &'v mut Limit, state: &State<'_>) -> Result<Bound<Value<'v>>> {
    let Some((scalar, is_included)) = limit else { return Ok(Bound::Unbounded) };
    let value = scalar.value(&NO_ROW).map_err(|fault| state.evaluation(fault))?;
    Ok(if *is_included { Bound::Included(value) } else { Bound::Excluded(value) })
}
