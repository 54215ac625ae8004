//! The whole Wisconsin benchmark, both editions, in every storage structure, by every combination
//! of tactics, against the oracle. Each update is taken back, after which its relation and indexes
//! are as before.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int16Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray,
};
use loadstone_datasets::{Column, Relation};
use loadstone_quel::schema::{Attribute, Kind};
use lode_query::database::Storage;
use lode_query::tactics::{FileLayout, Tactics};

use crate::covering::{design, parameters};
use crate::outcome::Engine;
use crate::papers::{Effect, Operation, Suite};
use crate::programs::are_many;
use crate::random::{Random, setting};

/// In `make test`; `LODE_ROWS=10000` is the papers' size.
const ROWS: u64 = 1_000;

const DESIGNS: [&str; 4] = ["heap", "indexed", "hash", "string"];

/// The relations of an edition, stored by a design.
fn engine(suite: &Suite, design: &str, layout: FileLayout) -> Engine {
    let tactics = Tactics::of([("cache", "16MiB"), ("extent", "4")]).unwrap();
    let engine = Engine::new(&Tactics { layout, ..tactics });
    for relation in &suite.relations {
        load(&engine, relation, &storage(relation, design));
    }
    let names: Vec<&str> = suite.relations.iter().map(|one| one.name.as_str()).collect();
    engine.database.settle(&names).unwrap();
    engine
}

/// As `StoredRelation` of the benchmark in Python has it.
fn storage(relation: &Relation, design: &str) -> Storage {
    let called = |end: &str| {
        let names = relation.columns.iter().map(|(name, _)| name);
        names.clone().find(|name| name.ends_with(end)).cloned()
    };
    let key = |end| called(end).into_iter().collect();
    let is_large = relation.name.starts_with("tenthoustup") || relation.name.starts_with("tenktup");
    match design {
        "indexed" => Storage {
            organisation: "clustered".to_owned(),
            key: key("unique2"),
            indexes: called("unique1")
                .into_iter()
                .chain(called("hundred").or(called("onepercent")))
                .collect(),
        },
        "hash" if is_large => {
            Storage { organisation: "hash".to_owned(), key: key("unique2"), indexes: Vec::new() }
        }
        "string" if is_large => Storage {
            organisation: "clustered".to_owned(),
            key: key("stringu2"),
            indexes: key("stringu1"),
        },
        _ => Storage::default(),
    }
}

fn load(engine: &Engine, relation: &Relation, storage: &Storage) {
    let (mut attributes, mut columns) = (Vec::new(), Vec::new());
    for (name, column) in &relation.columns {
        let (kind, array): (Kind, ArrayRef) = match column {
            Column::Int16(values) => {
                (Kind::Integer { bytes: 2 }, Arc::new(Int16Array::from(values.clone())))
            }
            Column::Int32(values) => {
                (Kind::Integer { bytes: 4 }, Arc::new(Int32Array::from(values.clone())))
            }
            Column::Text { width, bytes } => {
                let texts = bytes.chunks(*width).map(|text| std::str::from_utf8(text).unwrap());
                (Kind::Text { width: *width }, Arc::new(StringArray::from_iter_values(texts)))
            }
            other => panic!("the benchmark has no {other:?}"),
        };
        attributes.push(Attribute { name: name.clone(), kind });
        columns.push((name.clone(), array));
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let rows = RecordBatchIterator::new([Ok(batch)], schema);
    let loaded = engine.database.load(&relation.name, &attributes, storage, rows).unwrap();
    assert_eq!(loaded, relation.rows() as u64, "{}", relation.name);
}

/// Run an operation and hold it to the oracle; an update is taken back.
fn compare(engine: &Engine, operation: &Operation, suite: &Suite) -> Result<(), String> {
    let reported = |error: lode_query::QueryError| error.to_string();
    let expected = operation.expected;
    let (Effect::Client | Effect::Into(_)) = &operation.effect else {
        return compare_update(engine, operation, suite);
    };
    let found = engine.run(&operation.text).map_err(reported)?;
    let found = match &operation.effect {
        Effect::Into(result) => {
            let stored = engine.contents(result).map_err(reported)?;
            engine.run(&format!("destroy {result}")).map_err(reported)?;
            if found.map(|found| found.rows) != Some(stored.rows) {
                return Err(format!("{found:?} and {stored} are stored"));
            }
            Some(stored)
        }
        _ => found,
    };
    if found == Some(expected) { Ok(()) } else { Err(format!("{found:?} and not {expected}")) }
}

fn compare_update(engine: &Engine, operation: &Operation, suite: &Suite) -> Result<(), String> {
    let Effect::Update { relation, undo } = &operation.effect else { return Ok(()) };
    let reported = |error: lode_query::QueryError| error.to_string();
    let before = suite.oracle.contents(relation);
    // An update that touches no tuple would prove nothing.
    let expected = operation.expected;
    if expected.rows != 1 || Some(expected) == before || undo.is_empty() {
        return Err(format!("it changes {} tuples, and {undo:?} takes it back", expected.rows));
    }
    let (last, first) = undo.split_last().unwrap();
    for text in first {
        engine.run(text).map_err(reported)?;
    }
    let changed = engine.run(&operation.text).map_err(reported)?.map(|found| found.rows);
    let after = engine.contents(relation).map_err(reported)?;
    if (changed, after.checksum) != (Some(expected.rows), expected.checksum) {
        return Err(format!("{changed:?} tuples and {after}, and not {expected}"));
    }
    engine.check().map_err(reported)?;
    engine.run(last).map_err(reported)?;
    let again = engine.contents(relation).map_err(reported)?;
    if Some(again) != before {
        return Err(format!("taken back, {relation} has {again}, and not {before:?}"));
    }
    engine.check().map_err(reported)
}

/// Of each operation the rows of the design that run it: all, or in `make test` as many as it takes
/// for every value of a tactic of the query engine to be among them.
fn chosen(rows: &[Tactics], operation: usize, is_all: bool) -> Vec<usize> {
    if is_all {
        return (0..rows.len()).collect();
    }
    let own: Vec<&str> = lode_query::tactics::all().iter().map(|one| one.name).collect();
    let of_engine = |row: usize| {
        let pairs = rows[row].pairs().into_iter();
        pairs.filter(|(name, _)| own.contains(name)).collect::<Vec<_>>()
    };
    let mut random = Random::new(operation as u64);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at + 1));
    }
    let mut seen = Vec::new();
    order.retain(|&row| {
        let new: Vec<_> = of_engine(row).into_iter().filter(|pair| !seen.contains(pair)).collect();
        seen.extend(new.clone());
        !new.is_empty()
    });
    order
}

fn every_operation(edition: &str) {
    let is_all = are_many();
    let suite = Suite::of(edition, setting("LODE_ROWS").unwrap_or(ROWS) as i64);
    assert!(suite.operations.len() > 30, "{}", suite.operations.len());
    let rows: Vec<Tactics> = design(2).rows;
    let mut engines: BTreeMap<(&str, bool), Engine> = BTreeMap::new();
    let mut runs = 0;
    let of: Vec<Vec<usize>> =
        (0..suite.operations.len()).map(|number| chosen(&rows, number, is_all)).collect();
    for (row, tactics) in rows.iter().enumerate() {
        for design in DESIGNS {
            let mine = suite.operations.iter().enumerate().filter(|(number, operation)| {
                operation.design == design && of[*number].contains(&row)
            });
            let mine: Vec<&Operation> = mine.map(|(_, operation)| operation).collect();
            if mine.is_empty() {
                continue;
            }
            let layout = tactics.layout;
            let stored = (design, layout == FileLayout::Columns);
            let before = engines.remove(&stored);
            let before = before.unwrap_or_else(|| engine(&suite, design, layout));
            let engine = before.reopened(tactics);
            for operation in mine {
                let outcome = compare(&engine, operation, &suite);
                let Operation { name, text, .. } = operation;
                outcome.unwrap_or_else(|reported| {
                    panic!("{edition} {name} ({design}): {reported}\n\nunder {tactics}\n\n{text}")
                });
                runs += 1;
            }
            engines.insert(stored, engine);
        }
    }
    // Every value of every tactic has run every operation.
    let own = lode_query::tactics::all().len();
    let values = parameters()[..own].iter().map(|one| one.values.len()).max().unwrap_or(1);
    assert!(runs >= values * suite.operations.len(), "{runs} runs");
}

#[test]
fn every_operation_of_1983_has_the_oracles_answer() {
    every_operation("1983");
}

#[test]
fn every_operation_of_1993_has_the_oracles_answer() {
    every_operation("1993");
}
