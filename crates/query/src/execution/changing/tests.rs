//! The tuples that the sinks that change relations keep, and the changes that they make at the end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loadstone_quel::schema::Kind;
use lode::internals::disk::Memory as MemoryDisk;
use lode::{Database, Tactics};

use super::*;
use crate::catalog::Catalog;
use crate::execution::{CollectedRows, Receiver, Transaction};
use crate::expression::Expr;
use crate::memory::Memory;
use crate::plan::{Plan, Sink as PlannedSink};
use crate::relation::{Relation, TupleBatch, check_all};

/// Two integers of four bytes.
fn layout() -> Layout {
    let integer = Kind::Integer { bytes: 4 };
    Layout::of(["a", "b"].map(|name| (name.to_owned(), integer, false)))
}

fn pair(a: i32, b: i32) -> Vec<u8> {
    [a.to_le_bytes(), b.to_le_bytes()].concat()
}

fn pack() -> Pack {
    Pack { values: Vec::new(), layout: layout(), span: Span { start: 8, end: 9 } }
}

/// The place where sinks and plans name a record id that an executor computes.
fn record_id() -> Expr {
    Expr::RecordId { slot: 0 }
}

/// A transaction in a database where `r` has these tuples, and a unique index on its first
/// attribute.
fn transaction(tuples: &[(i32, i32)]) -> Transaction {
    let tactics: Tactics = "cache=1048576&extent=4".parse().unwrap();
    let disk = || Arc::new(MemoryDisk::new());
    let database = Database::on(disk(), disk(), &tactics).unwrap();
    let mut writing = database.writing();
    let design = Design { indexes: vec![(vec![0], true)], ..Design::default() };
    let mut loader =
        Loader::new(&mut writing, "r", layout(), design, &Workspace::of(1 << 24)).unwrap();
    for &(a, b) in tuples {
        loader.add_many(&mut writing, &pair(a, b), 1).unwrap();
    }
    loader.finish(&mut writing).unwrap();
    Transaction::Writing(writing)
}

/// The tuples of a relation and their record ids.
fn contents(transaction: &Transaction, name: &str) -> Vec<(u64, (i32, i32))> {
    let catalog = Catalog::read(transaction).unwrap();
    let mut scan = Relation::open(catalog.relation(name).unwrap()).scan(transaction).unwrap();
    let (mut found, mut batch) = (Vec::new(), TupleBatch::new());
    while scan.next_batch(transaction, &mut batch, 100).unwrap() {
        for at in 0..batch.len() {
            let number = |from| i32::from_le_bytes(tuple::array(batch.tuple(at), from));
            found.push((batch.record_id(at), (number(0), number(4))));
        }
    }
    found
}

fn values(transaction: &Transaction, name: &str) -> Vec<(i32, i32)> {
    let mut values: Vec<_> =
        contents(transaction, name).into_iter().map(|(_, pair)| pair).collect();
    values.sort_unstable();
    values
}

/// Give a sink these tuples; how many it changed. While it is given them `r` stays as it is.
fn give(
    transaction: &mut Transaction,
    sink: &PlannedSink,
    tuples: impl IntoIterator<Item = Vec<u8>>,
) -> Result<u64> {
    let before = contents(transaction, "r");
    let cancel = Arc::new(AtomicBool::new(false));
    let catalog = Arc::new(Catalog::read(transaction).unwrap());
    let mut state =
        State::new(transaction, "replace t", &[], Memory::new(1 << 20), catalog, cancel);
    let mut client = CollectedRows::default();
    let plan = Plan {
        pipelines: Vec::new(),
        tables: Vec::new(),
        temporaries: Vec::new(),
        aggregations: Vec::new(),
        ..Plan::default()
    };
    let mut receiver = Receiver::new(&plan, sink, &mut state, &mut client)?;
    if let Receiver::Tuples(sink) = &mut receiver {
        for tuple in tuples {
            sink.add(&mut state, &tuple)?;
        }
    }
    assert_eq!(contents(state.transaction, "r"), before, "nothing is seen before the end");
    receiver.finish(&mut state)?;
    let changed = state.changed;
    check_all(&*transaction)?;
    Ok(changed)
}

fn replace() -> PlannedSink {
    PlannedSink::Replace {
        relation: "r".to_owned(),
        id: record_id(),
        pack: pack(),
        changed: vec![0, 1],
    }
}

fn change((id, (a, b)): (u64, (i32, i32))) -> Vec<u8> {
    [id.to_le_bytes().to_vec(), pair(a, b)].concat()
}

#[test]
fn a_relation_may_be_stored_from_itself() {
    let mut transaction = transaction(&[(1, 10), (2, 20)]);
    let sink = PlannedSink::Store { relation: "r".to_owned(), pack: pack() };
    assert_eq!(give(&mut transaction, &sink, [pair(3, 30)]).unwrap(), 1);
    assert_eq!(values(&transaction, "r"), [(3, 30)]);
    assert!(Catalog::read(&transaction).unwrap().relation("r").unwrap().indexes.is_empty());
}

#[test]
fn appended_tuples_come_at_the_end() {
    let mut transaction = transaction(&[(1, 10)]);
    let sink = PlannedSink::Append { relation: "r".to_owned(), pack: pack() };
    assert_eq!(give(&mut transaction, &sink, [pair(2, 10), pair(3, 10)]).unwrap(), 2);
    assert_eq!(values(&transaction, "r"), [(1, 10), (2, 10), (3, 10)]);
    let twice = give(&mut transaction, &sink, [pair(3, 40)]).unwrap_err().to_string();
    assert!(twice.contains("two tuples with the same `a`"), "{twice}");
}

#[test]
fn a_replaced_tuple_is_counted_once_and_keys_may_move_along() {
    let mut transaction = transaction(&[(1, 10), (2, 20), (3, 30)]);
    let moved: Vec<_> = contents(&transaction, "r")
        .into_iter()
        .map(|(id, (a, b))| change((id, (a + 1, b))))
        .collect();
    let twice = moved.iter().chain(&moved).cloned();
    assert_eq!(give(&mut transaction, &replace(), twice).unwrap(), 3);
    assert_eq!(values(&transaction, "r"), [(2, 10), (3, 20), (4, 30)]);
}

#[test]
fn two_values_for_one_tuple_are_an_error_that_points_into_the_text() {
    let mut transaction = transaction(&[(1, 10)]);
    let id = contents(&transaction, "r")[0].0;
    let changes = [change((id, (1, 11))), change((id, (1, 12)))];
    let reported = give(&mut transaction, &replace(), changes).unwrap_err().to_string();
    assert!(
        reported.starts_with("line 1, column 9: a tuple would get two values of `b`"),
        "{reported}"
    );
}

#[test]
fn a_deleted_tuple_is_counted_once() {
    let mut transaction = transaction(&[(1, 10), (2, 20)]);
    let id = contents(&transaction, "r")[0].0.to_le_bytes().to_vec();
    let sink = PlannedSink::Delete { relation: "r".to_owned(), id: record_id() };
    assert_eq!(give(&mut transaction, &sink, [id.clone(), id]).unwrap(), 1);
    assert_eq!(values(&transaction, "r"), [(2, 20)]);
}
