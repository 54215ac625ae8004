//! Random expressions mean the same to every executor, errors and their places included.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loadstone_quel::QuelError;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;
use lode::internals::disk;
use lode::{Database, Tactics};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::random::{condition, is_integer, layout, meaning, plain, truth, tuple, value, values};
use super::tests::EXECUTORS;
use crate::catalog::Catalog;
use crate::error::{QueryError, Result};
use crate::execution::{self, CollectedRows, Executor, State, Transaction};
use crate::expression::Expr;
use crate::memory::{Memory, Tuples};
use crate::plan::{Pack, Pipeline, Plan, Purpose, Sink, Source, Step};
use crate::temporary::Temporary;
use crate::tuple::{Layout, OwnedValue, read};

/// The place where a value that does not fit its field is shown: behind all operators.
const SPAN: Span = Span { start: 50, end: 51 };

fn empty_database() -> Database {
    let tactics: Tactics = "cache=1048576&extent=4".parse().unwrap();
    let (volume, log) = (Arc::new(disk::Memory::new()), Arc::new(disk::Memory::new()));
    Database::on(volume, log, &tactics).unwrap()
}

/// The same with what the record ids of [`meaning`] are: tuples of temporary relations have none.
fn without_ids(expr: Expr) -> Expr {
    let boxed = |one: Box<Expr>| Box::new(without_ids(*one));
    let all = |parts: Vec<Expr>| parts.into_iter().map(without_ids).collect();
    match expr {
        Expr::RecordId { slot } => Expr::Integer(10 + slot as i64),
        Expr::Not(operand) => Expr::Not(boxed(operand)),
        Expr::And(parts) => Expr::And(all(parts)),
        Expr::Or(parts) => Expr::Or(all(parts)),
        Expr::Compare { operator, left, right } => {
            Expr::Compare { operator, left: boxed(left), right: boxed(right) }
        }
        Expr::Negate { operand, span } => Expr::Negate { operand: boxed(operand), span },
        Expr::Arithmetic { operator, left, right, span } => {
            Expr::Arithmetic { operator, left: boxed(left), right: boxed(right), span }
        }
        Expr::Call { function, argument, span } => {
            Expr::Call { function, argument: boxed(argument), span }
        }
        other => other,
    }
}

fn pack_of(values: Vec<Expr>) -> Pack {
    let kind = |expr: &Expr| match expr {
        Expr::Column { field, .. } => field.kind,
        Expr::Text(_) => Kind::Text { width: 4 },
        other if is_integer(other) => Kind::Integer { bytes: 8 },
        _ => Kind::Real { bytes: 8 },
    };
    let fields = values.iter().enumerate().map(|(n, expr)| (format!("v{n}"), kind(expr), true));
    Pack { layout: Layout::of(fields), values, span: SPAN }
}

/// The tuples that an executor packs of the only row, if the condition lets it through; where it
/// fails, the place of the operator.
fn packed_by(
    executor: &dyn Executor,
    database: &Database,
    rows: &[Vec<OwnedValue>; 2],
    filter: Option<&Expr>,
    pack: &Pack,
) -> Result<Vec<u8>, usize> {
    let steps = [Step::Loop(Source::Temporary { temporary: 1, slot: 1 })];
    let filter = filter.cloned().map(Step::Filter);
    let plan = Plan {
        pipelines: vec![Pipeline {
            source: Source::Temporary { temporary: 0, slot: 0 },
            steps: steps.into_iter().chain(filter).collect(),
            sink: Sink::Rows(pack.clone()),
            slots: vec![layout(), layout()],
            purpose: Purpose::default(),
            rows_estimated: 1.0,
        }],
        ..Plan::default()
    };
    let mut transaction = Transaction::Reading(database.reading());
    let (memory, cancel) = (Memory::new(1 << 20), Arc::new(AtomicBool::new(false)));
    let source = "x".repeat(64);
    let catalog = Arc::new(Catalog::default());
    let mut state = State::new(&mut transaction, &source, &[], memory, catalog, cancel);
    for values in rows {
        let tuple = tuple(values);
        let mut tuples = Tuples::new(tuple.len(), state.memory.reservation("a test"));
        tuples.push(&tuple).unwrap();
        state.temporaries.push(Some(Arc::new(Temporary::new(tuples))));
    }
    let mut client = CollectedRows::default();
    match execution::run(&plan, executor, &mut state, &mut client) {
        Ok(()) => Ok(client.tuples),
        Err(QueryError::Quel(QuelError::Evaluation(report))) => Err(report.column - 1),
        Err(other) => panic!("{other} is no error of evaluation"),
    }
}

/// Whether a row meets a condition: of an `and`, the first part that it does not meet ends it.
fn is_met(expr: &Expr, rows: &[Vec<OwnedValue>]) -> Result<bool, usize> {
    let parts = if let Expr::And(parts) = expr { parts } else { std::slice::from_ref(expr) };
    for part in parts {
        if truth(part, rows).map_err(|span| span.start)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[test]
fn packed_values_come_back() {
    let database = empty_database();
    let exprs = prop::collection::vec(value().prop_map(without_ids), 1..6);
    let outcome =
        TestRunner::default().run(&(exprs, values(), values()), |(exprs, left, right)| {
            let rows = [left, right];
            let expected: Result<Vec<_>, _> =
                exprs.iter().map(|expr| meaning(expr, &rows).map_err(|span| span.start)).collect();
            let expected = expected.map(|values| {
                let values = values.into_iter().map(|one| one.unwrap_or(OwnedValue::Null));
                values.map(|one| plain(one.borrow())).collect::<Vec<_>>()
            });
            let pack = pack_of(exprs);
            for (number, executor) in EXECUTORS.iter().enumerate() {
                let packed = packed_by(*executor, &database, &rows, None, &pack);
                let found = packed.map(|packed| {
                    let value = |field| plain(read(&packed, field));
                    pack.layout.fields.iter().map(value).collect::<Vec<_>>()
                });
                prop_assert_eq!(&found, &expected, "executor {}", number);
            }
            Ok(())
        });
    outcome.unwrap();
}

/// The vectorised executor looks at no part behind one that a null leaves open, since the row is
/// lost already: so of a row with a null it may miss an error.
#[test]
fn conditions_mean_what_they_say() {
    let database = empty_database();
    let outcome = TestRunner::default().run(
        &(condition().prop_map(without_ids), values(), values()),
        |(expr, left, right)| {
            let rows = [left, right];
            let has_null = rows.iter().flatten().any(|value| *value == OwnedValue::Null);
            // Turned over twice, it is no `and` any more, of which each part is looked at.
            let turned = (0..2).fold(expr.clone(), |expr, _| Expr::Not(Box::new(expr)));
            let whole = truth(&expr, &rows).map(|truth| truth == Some(true));
            let forms = [(is_met(&expr, &rows), expr), (whole.map_err(|span| span.start), turned)];
            let pack = pack_of(vec![Expr::Integer(1)]);
            for (expected, expr) in forms {
                for (number, executor) in EXECUTORS.iter().enumerate() {
                    let packed = packed_by(*executor, &database, &rows, Some(&expr), &pack);
                    let found = packed.map(|packed| !packed.is_empty());
                    if number == VECTORISED && has_null && expected.is_err() {
                        continue;
                    }
                    prop_assert_eq!(&found, &expected, "executor {}", number);
                }
            }
            Ok(())
        },
    );
    outcome.unwrap();
}

/// The number of the vectorised executor in [`EXECUTORS`].
const VECTORISED: usize = 2;
