//! Pipelines over a stored relation against plain loops over its rows, by every executor.

mod condition;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{AggregateFunction, BinaryOperator as B, Span};
use lode::internals::disk;
use lode::{Database, Tactics};
use proptest::prelude::*;

use super::compiled::Compiled;
use super::rows::RowAtATime;
use super::vectorised::Vectorised;
use crate::catalog::Catalog;
use crate::error::Result;
use crate::execution::{self, CollectedRows, Executor, State, Transaction};
use crate::expression::Expr;
use crate::memory::Memory;
use crate::plan::{Access, Aggregation, Pack, Pipeline, Plan, Purpose, Sink, Source, Step, Update};
use crate::relation::{Design, Loader, NewStructure, Workspace};
use crate::tuple::{self, Field, Layout, Value};

use condition::{condition, truth};

const INTEGER: Kind = Kind::Integer { bytes: 8 };
const ROWS: i64 = 2500;

/// Every one of them gives the same answer.
pub(super) const EXECUTORS: [&dyn Executor; 4] =
    [&RowAtATime::Closures, &RowAtATime::Interpreted, &Vectorised, &Compiled];

/// A key, a small group, a real that may be null, a text.
fn layout() -> Layout {
    Layout::of([
        ("key".to_owned(), Kind::Integer { bytes: 4 }, false),
        ("group".to_owned(), Kind::Integer { bytes: 2 }, false),
        ("real".to_owned(), Kind::Real { bytes: 8 }, true),
        ("text".to_owned(), Kind::Text { width: 9 }, false),
    ])
}

/// The group of a key, and its real.
fn row(key: i64) -> (i64, Option<f64>) {
    (key * 7 % 11 - 2, (key % 5 != 0).then_some((key % 9) as f64 / 2.0))
}

fn database_of_rows() -> Database {
    let tactics: Tactics = "cache=1048576&extent=4".parse().unwrap();
    let (volume, log) = (Arc::new(disk::Memory::new()), Arc::new(disk::Memory::new()));
    let (database, layout) = (Database::on(volume, log, &tactics).unwrap(), layout());
    let mut pages = database.writing();
    let design = Design {
        structure: NewStructure::Clustered(vec![0]),
        indexes: vec![(vec![1], false)],
        ..Design::default()
    };
    let mut loader =
        Loader::new(&mut pages, "t", layout.clone(), design, &Workspace::of(1 << 24)).unwrap();
    for key in 0..ROWS {
        let mut tuple = vec![0; layout.bytes];
        let ((group, real), text) = (row(key), format!("t{}", key % 13));
        let values = [
            Value::Integer(key),
            Value::Integer(group),
            real.map_or(Value::Null, Value::Real),
            Value::Text(text.as_bytes()),
        ];
        for (field, value) in layout.fields.iter().zip(values) {
            tuple::write(&mut tuple, field, value, Span::default()).unwrap();
        }
        loader.add_many(&mut pages, &tuple, 1).unwrap();
    }
    loader.finish(&mut pages).unwrap();
    pages.commit().unwrap();
    database
}

fn column(slot: usize, field: usize) -> Expr {
    Expr::Column { slot, field: layout().fields[field].clone() }
}

fn compare(operator: B, left: Expr, right: Expr) -> Expr {
    Expr::Compare { operator, left: Box::new(left), right: Box::new(right) }
}

fn compute(operator: B, left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::Arithmetic { operator, left, right, span: Span { start: 0, end: 1 } }
}

fn pack(values: Vec<Expr>) -> Pack {
    let fields = (0..values.len()).map(|at| (format!("x{at}"), INTEGER, true));
    Pack { layout: Layout::of(fields), values, span: Span::default() }
}

fn scan(slot: usize) -> Source {
    Source::Scan { relation: "t".to_owned(), slot, qualification: None }
}

fn pipeline(source: Source, steps: Vec<Step>, sink: Sink, slots: Vec<Layout>) -> Pipeline {
    let purpose = Purpose::default();
    Pipeline { source, steps, sink, slots, purpose, rows_estimated: 0.0 }
}

fn plan(pipelines: Vec<Pipeline>) -> Plan {
    Plan { pipelines, ..Plan::default() }
}

/// The rows of integers that a plan sends to the client, sorted; null is the least.
fn answer_of(database: &Database, plan: &Plan) -> Result<Vec<Vec<Option<i64>>>> {
    answer(database, plan, &Arc::new(AtomicBool::new(false)))
}

/// The answer that all executors give; of errors, the first one's.
fn answer(
    database: &Database,
    plan: &Plan,
    cancel: &Arc<AtomicBool>,
) -> Result<Vec<Vec<Option<i64>>>> {
    let mut answers = EXECUTORS.map(|executor| answer_by(executor, database, plan, cancel));
    for other in &answers[1..] {
        match (&answers[0], other) {
            (Ok(one), Ok(other)) => assert!(one == other, "executors disagree"),
            (one, other) => assert_eq!(
                one.as_ref().unwrap_err().to_string(),
                other.as_ref().unwrap_err().to_string()
            ),
        }
    }
    std::mem::replace(&mut answers[0], Ok(Vec::new()))
}

fn answer_by(
    executor: &dyn Executor,
    database: &Database,
    plan: &Plan,
    cancel: &Arc<AtomicBool>,
) -> Result<Vec<Vec<Option<i64>>>> {
    let mut transaction = Transaction::Reading(database.reading());
    let catalog = Arc::new(Catalog::read(&transaction)?);
    let (memory, cancel) = (Memory::new(1 << 24), Arc::clone(cancel));
    let mut state = State::new(&mut transaction, "a text", &[], memory, catalog, cancel);
    let mut client = CollectedRows::default();
    execution::run(plan, executor, &mut state, &mut client)?;
    let Some(Sink::Rows(pack)) = plan.pipelines.last().map(|last| &last.sink) else {
        return Ok(Vec::new());
    };
    let value = |tuple: &[u8], field: &Field| match tuple::read(tuple, field) {
        Value::Integer(value) => Some(value),
        _ => None,
    };
    let mut rows: Vec<Vec<_>> = client
        .tuples
        .chunks_exact(pack.layout.bytes)
        .map(|tuple| pack.layout.fields.iter().map(|field| value(tuple, field)).collect())
        .collect();
    assert_eq!(rows.len(), client.count);
    rows.sort();
    Ok(rows)
}

fn sorted(rows: impl Iterator<Item = Vec<i64>>) -> Vec<Vec<Option<i64>>> {
    let mut rows: Vec<Vec<_>> = rows.map(|row| row.into_iter().map(Some).collect()).collect();
    rows.sort();
    rows
}

#[test]
fn a_filter_keeps_the_rows_for_which_it_is_true() {
    let database = database_of_rows();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    let outcome = runner.run(&condition(), |expr| {
        let sink = Sink::Rows(pack(vec![column(0, 0)]));
        let steps = vec![Step::Filter(expr.clone())];
        let plan = plan(vec![pipeline(scan(0), steps, sink, vec![layout()])]);
        let expected = (0..ROWS).filter(|key| truth(&expr, *key) == Some(true));
        prop_assert_eq!(
            answer_of(&database, &plan).unwrap(),
            sorted(expected.map(|key| vec![key]))
        );
        Ok(())
    });
    outcome.unwrap();
}

/// Pairs of a key below 40 with every key whose group is its own plus one, in each way.
#[test]
fn all_joins_give_the_same_pairs() {
    let database = database_of_rows();
    let few = || Step::Filter(compare(B::Less, column(0, 0), Expr::Integer(40)));
    let wanted = || compute(B::Add, column(0, 1), Expr::Integer(1));
    let pairs = || Sink::Rows(pack(vec![column(0, 0), column(1, 0)]));
    let slots = || vec![layout(), layout()];
    let same = || Step::Filter(compare(B::Equal, wanted(), column(1, 1)));
    let index = Source::Lookup {
        relation: "t".to_owned(),
        slot: 1,
        access: Access::Index { attribute: 1 },
        key: wanted(),
    };
    let range = Source::Range {
        relation: "t".to_owned(),
        slot: 1,
        access: Access::Index { attribute: 1 },
        low: Some((wanted(), true)),
        high: Some((compute(B::Add, column(0, 1), Expr::Integer(2)), false)),
    };
    let whole = Pack {
        values: (0..4).map(|field| column(0, field)).collect(),
        layout: layout(),
        span: Span::default(),
    };
    let build = Sink::Build { table: 0, pack: whole.clone(), key: vec![1] };
    let probe = Step::Probe { table: 0, slot: 1, keys: vec![wanted()] };
    let by_real = compute(B::Add, column(0, 1), Expr::Real(1.0));
    let probe_by_real = Step::Probe { table: 0, slot: 1, keys: vec![by_real] };
    let fill = |sink| pipeline(scan(0), Vec::new(), sink, vec![layout()]);
    let nested =
        |source| pipeline(scan(0), vec![few(), Step::Loop(source), same()], pairs(), slots());
    let temporary = Source::Temporary { temporary: 0, slot: 1 };
    let plans = [
        plan(vec![nested(scan(1))]),
        plan(vec![nested(index)]),
        plan(vec![nested(range)]),
        plan(vec![
            fill(Sink::Materialise { temporary: 0, pack: whole.clone() }),
            nested(temporary),
        ]),
        plan(vec![fill(build.clone()), pipeline(scan(0), vec![few(), probe], pairs(), slots())]),
        plan(vec![fill(build), pipeline(scan(0), vec![few(), probe_by_real], pairs(), slots())]),
        merge_plan(whole, wanted(), few()),
    ];
    let is_pair = |left: i64, right: i64| row(left).0 + 1 == row(right).0;
    let all = (0..40).flat_map(|left| (0..ROWS).map(move |right| (left, right)));
    let expected =
        sorted(all.filter(|(left, right)| is_pair(*left, *right)).map(|(l, r)| vec![l, r]));
    assert!(expected.len() > 8000);
    for (number, plan) in plans.iter().enumerate() {
        assert!(answer_of(&database, plan).unwrap() == expected, "plan {number}");
    }
}

fn merge_plan(whole: Pack, wanted: Expr, few: Step) -> Plan {
    let left = pack(vec![column(0, 0), wanted]);
    let (left_layout, key) = (left.layout.clone(), left.layout.fields[0].clone());
    let merge = Source::Merge { left: 0, right: 1, left_key: vec![1], right_key: vec![1] };
    let pairs = pack(vec![Expr::Column { slot: 0, field: key }, column(1, 0)]);
    let sort =
        |temporary, pack, field| Sink::Sort { temporary, pack, key: vec![field], unique: false };
    plan(vec![
        pipeline(scan(0), vec![few], sort(0, left, 1), vec![layout()]),
        pipeline(scan(0), Vec::new(), sort(1, whole, 1), vec![layout()]),
        pipeline(merge, Vec::new(), Sink::Rows(pairs), vec![left_layout, layout()]),
    ])
}

#[test]
fn duplicates_go_and_partitions_add_up() {
    let database = database_of_rows();
    let packed = pack(vec![column(0, 1)]);
    let field = packed.layout.fields[0].clone();
    let rows = Sink::Rows(pack(vec![Expr::Column { slot: 1, field }]));
    let slots = vec![layout(), packed.layout.clone()];
    let distinct = vec![Step::Distinct { pack: packed, slot: 1 }];
    let distinct = plan(vec![pipeline(scan(0), distinct, rows, slots)]);
    assert_eq!(answer_of(&database, &distinct).unwrap(), sorted((-2..9).map(|group| vec![group])));

    // Both aggregates are fed by one pipeline, or each by its own.
    for (by_real, is_apart) in [(false, false), (false, true), (true, false), (true, true)] {
        let by = if by_real { column(0, 2) } else { column(0, 1) };
        let kind = if by_real { Kind::Real { bytes: 8 } } else { Kind::Integer { bytes: 2 } };
        let counted = |name: &str| (name.to_owned(), INTEGER, true);
        let layout_of = Layout::of([("by".to_owned(), kind, by_real), counted("n"), counted("s")]);
        let span = Span::default();
        let functions = vec![(AggregateFunction::Count, span), (AggregateFunction::Sum, span)];
        let condition = Some(compare(B::GreaterOrEqual, column(0, 0), Expr::Integer(1000)));
        let updates = [
            Update { aggregate: 0, argument: column(0, 2), condition: None },
            Update { aggregate: 1, argument: column(0, 0), condition },
        ];
        let feeds = if is_apart { updates.chunks(1) } else { updates.chunks(2) };
        let feeds = feeds.map(|updates| {
            let (by, updates) = (vec![by.clone()], updates.to_vec());
            let sink = Sink::Aggregate { aggregation: 0, by, updates };
            pipeline(scan(0), Vec::new(), sink, vec![layout()])
        });
        let field = |at: usize| Expr::Column { slot: 0, field: layout_of.fields[at].clone() };
        let groups = pipeline(
            Source::Groups { aggregation: 0, slot: 0 },
            Vec::new(),
            Sink::Rows(pack(vec![field(1), field(2)])),
            vec![layout_of.clone()],
        );
        let mut aggregated = plan(feeds.chain([groups]).collect());
        let aggregation =
            Aggregation { layout: layout_of.clone(), by: 1, functions, is_sorted: false };
        aggregated.aggregations = vec![aggregation];
        let mut groups = std::collections::BTreeMap::new();
        for key in 0..ROWS {
            let (group, real) = row(key);
            let by = if by_real { real.map(|real| (real * 2.0) as i64) } else { Some(group) };
            let total: &mut (i64, i64) = groups.entry(by).or_default();
            total.0 += i64::from(real.is_some());
            total.1 += if key >= 1000 { key } else { 0 };
        }
        let expected = sorted(groups.values().map(|total| vec![total.0, total.1]));
        assert_eq!(answer_of(&database, &aggregated).unwrap(), expected, "{by_real} {is_apart}");
    }
}

#[test]
fn an_error_counts_only_for_rows_that_qualify_so_far() {
    let database = database_of_rows();
    let quotient = compute(B::Divide, Expr::Integer(12), column(0, 1));
    let some = compare(B::NotEqual, column(0, 1), Expr::Integer(0));
    let large = compare(B::Greater, quotient.clone(), Expr::Integer(5));
    let run = |condition: Expr, values: Vec<Expr>| {
        let steps = vec![Step::Filter(condition)];
        let slots = vec![layout()];
        answer_of(&database, &plan(vec![pipeline(scan(0), steps, Sink::Rows(pack(values)), slots)]))
    };
    let expected = (0..ROWS).filter(|key| matches!(row(*key).0, 1 | 2));
    let found = run(Expr::And(vec![some.clone(), large.clone()]), vec![column(0, 0)]).unwrap();
    assert_eq!(found, sorted(expected.map(|key| vec![key])));
    let zero = compare(B::Equal, column(0, 1), Expr::Integer(0));
    assert!(run(Expr::Or(vec![zero, large.clone()]), vec![quotient.clone()]).is_err());
    assert!(run(some.clone(), vec![quotient.clone()]).is_ok());
    let error = run(Expr::And(vec![large, some]), vec![quotient]).unwrap_err().to_string();
    assert!(error.contains("division by zero") && error.contains("line 1"), "{error}");
    let most = compute(B::Add, column(0, 0), Expr::Integer(i64::MAX));
    let few = compare(B::Less, column(0, 0), Expr::Integer(1));
    assert!(run(few, vec![most.clone()]).is_ok());
    let all = compare(B::Less, column(0, 0), Expr::Integer(2));
    let error = run(all, vec![most]).unwrap_err().to_string();
    assert!(error.contains("does not fit into 64 bits"), "{error}");
}

#[test]
fn a_cancelled_query_ends_with_its_batch() {
    let database = database_of_rows();
    let sink = Sink::Rows(pack(vec![column(0, 0)]));
    let plan = plan(vec![pipeline(scan(0), Vec::new(), sink, vec![layout()])]);
    let cancel = Arc::new(AtomicBool::new(false));
    assert_eq!(answer(&database, &plan, &cancel).unwrap().len(), ROWS as usize);
    cancel.store(true, Ordering::Relaxed);
    let error = answer(&database, &plan, &cancel).unwrap_err();
    assert_eq!(error.to_string(), "the query was cancelled");
}
