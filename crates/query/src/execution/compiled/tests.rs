//! The parts that only compiled code has: its memory, its cache, and Rust that panics beneath it.
//! Whole pipelines and the meaning of expressions are tested for all executors together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;
use lode::internals::disk;
use lode::{Database, Tactics};

use super::{CodeCache, Compiled, Way, explain};
use crate::catalog::Catalog;
use crate::error::Result;
use crate::execution::{self, CollectedRows, Sink, State, Transaction};
use crate::expression::Expr;
use crate::memory::{Memory, Tuples};
use crate::plan::{self, Pack, Pipeline, Plan, Source};
use crate::temporary::Temporary;
use crate::tuple::{Field, Layout};

/// A text longer than is moved without a call, between two numbers.
fn layout() -> Layout {
    let number = |name: &str, bytes| (name.to_owned(), Kind::Integer { bytes }, false);
    let text = ("text".to_owned(), Kind::Text { width: 700 }, false);
    Layout::of([number("a", 1), text, number("b", 2)])
}

/// All fields of a temporary relation, to the client, in another order.
fn plan() -> Plan {
    let fields = layout().fields;
    let order = [2, 1, 0];
    let values = order.map(|at| Expr::Column { slot: 0, field: fields[at].clone() }).to_vec();
    let column = |field: &Field| (field.name.clone(), field.kind, false);
    let layout_of = Layout::of(order.map(|at| column(&fields[at])));
    let pack = Pack { values, layout: layout_of, span: Span::default() };
    let source = Source::Temporary { temporary: 0, slot: 0 };
    let (sink, slots) = (plan::Sink::Rows(pack), vec![layout()]);
    let pipeline = Pipeline {
        source,
        steps: Vec::new(),
        sink,
        slots,
        purpose: plan::Purpose::default(),
        rows_estimated: 0.0,
    };
    Plan { pipelines: vec![pipeline], ..Plan::default() }
}

/// Runs the plan over so many tuples.
fn run(count: usize, client: &mut dyn Sink) -> Result<()> {
    let tactics: Tactics = "cache=1048576&extent=4".parse().unwrap();
    let (volume, log) = (Arc::new(disk::Memory::new()), Arc::new(disk::Memory::new()));
    let database = Database::on(volume, log, &tactics).unwrap();
    let mut transaction = Transaction::Reading(database.reading());
    let (memory, cancel) = (Memory::new(1 << 24), Arc::new(AtomicBool::new(false)));
    let catalog = Arc::new(Catalog::default());
    let mut state = State::new(&mut transaction, "", &[], memory, catalog, cancel);
    let reservation = state.memory.reservation("a test");
    let mut tuples = Tuples::new(layout().bytes, reservation);
    for number in 0..count {
        tuples.push(&tuple(number)).unwrap();
    }
    state.temporaries.push(Some(Arc::new(Temporary::new(tuples))));
    execution::run(&plan(), &Compiled, &mut state, client)
}

fn text(number: usize) -> [u8; 700] {
    std::array::from_fn(|at| b'a' + ((number + at) % 23) as u8)
}

fn tuple(number: usize) -> Vec<u8> {
    [&[number as u8][..], &text(number), &(number as u16).to_le_bytes()].concat()
}

#[test]
fn long_texts_and_many_rows_arrive_whole() {
    let mut client = CollectedRows::default();
    run(2500, &mut client).unwrap();
    assert_eq!(client.count, 2500);
    for (number, found) in client.tuples.chunks_exact(703).enumerate() {
        let bytes = (number as u16).to_le_bytes();
        assert_eq!(found, [&bytes[..], &text(number), &[number as u8]].concat());
    }
}

struct Panicking;

impl Sink for Panicking {
    fn add(&mut self, _: &mut State<'_>, _: &[u8]) -> Result<()> {
        panic!("the client is gone")
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_panic_beneath_compiled_code_arrives_above_it() {
    let outcome = catch_unwind(AssertUnwindSafe(|| run(1500, &mut Panicking)));
    let Err(panic) = outcome else { panic!("the sink panics") };
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the client is gone"));
}

#[test]
fn memory_of_code_is_executed_and_not_written() {
    let cache = CodeCache::default();
    let (code, is_new) = cache.code(&plan().pipelines[0], None, &Way::default()).unwrap();
    assert!(is_new);
    let address = code.machine.function(0) as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let permissions = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (low, high) = range.split_once('-')?;
        let bound = |text| usize::from_str_radix(text, 16).ok();
        (bound(low)?..bound(high)?).contains(&address).then(|| rest[..3].to_owned())
    });
    assert_eq!(permissions.as_deref(), Some("r-x"));
}

#[test]
fn the_same_pipeline_is_compiled_once_and_explained_from_its_code() {
    let (cache, plan) = (CodeCache::default(), plan());
    let reported = explain(&plan, &cache).unwrap();
    let (code, is_new) = cache.code(&plan.pipelines[0], None, &Way::default()).unwrap();
    assert!(!is_new);
    let bytes = code.machine.bytes;
    assert_eq!(reported, format!("pipeline 1 is compiled to 1 function of {bytes} bytes\n"));
    let mut other = plan.pipelines[0].clone();
    other.rows_estimated = 7.0;
    assert!(
        !cache.code(&other, None, &Way::default()).unwrap().1,
        "what is expected changes no code"
    );
    let is_less = loadstone_quel::tree::BinaryOperator::Less;
    let (left, right) = (Box::new(Expr::Integer(1)), Box::new(Expr::Real(1.5)));
    let condition = Expr::Compare { operator: is_less, left, right };
    other.steps.push(plan::Step::Filter(condition));
    let reported = explain(&Plan { pipelines: vec![other], ..Plan::default() }, &cache).unwrap();
    assert!(reported.ends_with("which call: compare an integer with a real\n"), "{reported}");
}
