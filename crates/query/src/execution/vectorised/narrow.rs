//! Conditions on a relation that is stored by columns, tried on the columns that they read before
//! anything of the others is put together.

use std::collections::BTreeSet;

use super::condition::Condition;
use super::judge::Judge;
use super::rows::ROWS_MAX;
use crate::error::Result;
use crate::execution::State;
use crate::execution::joining::form;
use crate::expression::Expr;
use crate::relation::{Projection, Scan, TupleBatch};
use crate::tuple::Field;

/// Gives the tuples of a scan by columns for which all conditions hold.
pub(super) struct Narrow {
    /// Each on the tuple of that slot alone.
    conditions: Vec<Expr>,
    slot: usize,
    /// Of how many steps of the pipeline they are the first; None where they are an accelerator's.
    steps: Option<usize>,
    /// Made when the first scan shows how its columns lie.
    made: Option<(Projection, Vec<Judge>)>,
    /// The tuples of a chunk, of the columns that the conditions read.
    given: TupleBatch,
}

impl Narrow {
    /// For the condition of an accelerator.
    pub fn of_accelerator(condition: &Expr, slot: usize) -> Self {
        Self::new(vec![condition.clone()], slot, None)
    }

    /// For conditions that are the first of so many steps.
    pub fn of_steps(conditions: Vec<Expr>, slot: usize, steps: usize) -> Self {
        Self::new(conditions, slot, Some(steps))
    }

    fn new(conditions: Vec<Expr>, slot: usize, steps: Option<usize>) -> Self {
        Self { conditions, slot, steps, made: None, given: TupleBatch::new() }
    }

    /// The next tuples that qualify, one at least unless there are none left; whether there were
    /// any. All of them lie in one chunk.
    ///
    /// # Errors
    ///
    /// The error of reading, or of a condition.
    pub fn next_batch(
        &mut self,
        scan: &mut Scan,
        batch: &mut TupleBatch,
        state: &mut State<'_>,
    ) -> Result<bool> {
        if self.made.is_none() {
            self.made = judges(&self.conditions, self.slot, scan, state);
        }
        let Some((projection, judges)) = &mut self.made else {
            batch.clear();
            return Ok(false);
        };
        let narrow = &mut self.given;
        while scan.next_narrow(&*state.transaction, narrow, projection, ROWS_MAX)? {
            state.check_cancelled()?;
            let given = narrow.len();
            if let Some(steps) = self.steps {
                state.count_rows(steps, given);
            } else {
                state.work.tuples_judged += given as u64;
                state.work.pages_judged += narrow.page_count() as u64;
            }
            for (number, judge) in judges.iter_mut().enumerate() {
                if let Some(steps) = self.steps.filter(|_| number > 0) {
                    state.count_rows(steps - number, narrow.len());
                }
                let kept = judge.keep(narrow, &mut state.work);
                kept.map_err(|fault| state.evaluation(fault))?;
            }
            if self.steps.is_some() {
                // Those that go on are counted by who takes them.
                state.work.tuples += (given - narrow.len()) as u64;
            }
            scan.complete(&*state.transaction, (narrow, projection), batch)?;
            if !batch.is_empty() {
                return Ok(true);
            }
        }
        batch.clear();
        Ok(false)
    }
}

/// The columns that conditions read, and the conditions on tuples of these; None where the scan is
/// not by columns.
fn judges(
    conditions: &[Expr],
    slot: usize,
    scan: &Scan,
    state: &State<'_>,
) -> Option<(Projection, Vec<Judge>)> {
    let (mut wanted, mut ids) = (form::Wanted::new(), BTreeSet::new());
    for condition in conditions {
        form::columns(condition, &mut wanted, &mut ids);
    }
    let offsets: Vec<usize> = wanted.iter().map(|&(_, from, _)| from).collect();
    let projection = scan.projection(&offsets)?;
    let judge = |condition: &Expr| {
        let condition = narrowed(condition, &projection)?;
        Some(Judge::new(Condition::new(&condition, state), slot))
    };
    let judges = conditions.iter().map(judge).collect::<Option<_>>()?;
    Some((projection, judges))
}

/// The expression with its fields where a projection has them.
fn narrowed(expr: &Expr, projection: &Projection) -> Option<Expr> {
    let boxed = |expr: &Expr| narrowed(expr, projection).map(Box::new);
    let all = |parts: &[Expr]| -> Option<Vec<Expr>> {
        parts.iter().map(|part| narrowed(part, projection)).collect()
    };
    Some(match expr {
        Expr::Column { slot, field } => {
            let null_at = match field.null_at {
                Some(at) => Some(projection.place_of(at)?),
                None => None,
            };
            let offset = projection.place_of(field.offset)?;
            Expr::Column { slot: *slot, field: Field { offset, null_at, ..field.clone() } }
        }
        Expr::Not(operand) => Expr::Not(boxed(operand)?),
        Expr::And(parts) => Expr::And(all(parts)?),
        Expr::Or(parts) => Expr::Or(all(parts)?),
        Expr::Compare { operator, left, right } => {
            Expr::Compare { operator: *operator, left: boxed(left)?, right: boxed(right)? }
        }
        Expr::Match { text, pattern, negated } => {
            Expr::Match { text: boxed(text)?, pattern: pattern.clone(), negated: *negated }
        }
        Expr::Negate { operand, span } => Expr::Negate { operand: boxed(operand)?, span: *span },
        Expr::Arithmetic { operator, left, right, span } => {
            let (left, right) = (boxed(left)?, boxed(right)?);
            Expr::Arithmetic { operator: *operator, left, right, span: *span }
        }
        Expr::Call { function, argument, span } => {
            Expr::Call { function: *function, argument: boxed(argument)?, span: *span }
        }
        Expr::Integer(_)
        | Expr::Real(_)
        | Expr::Text(_)
        | Expr::Parameter { .. }
        | Expr::Scalar { .. }
        | Expr::RecordId { .. } => expr.clone(),
    })
}
