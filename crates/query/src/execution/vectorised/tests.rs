//! Vectors hold the meaning of random expressions, errors and their places included. Whole
//! pipelines are tested for all executors together, in `execution/tests.rs`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lode::internals::disk;
use lode::{Database, Tactics};
use proptest::prelude::*;

use super::condition::Condition;
use super::rows::Rows;
use super::value::Computed;
use crate::catalog::Catalog;
use crate::counters::Work;
use crate::execution::{State, Transaction, random};
use crate::memory::Memory;
use crate::tuple::OwnedValue;

fn empty_database() -> Database {
    let tactics: Tactics = "cache=1048576&extent=4".parse().unwrap();
    let (volume, log) = (Arc::new(disk::Memory::new()), Arc::new(disk::Memory::new()));
    Database::on(volume, log, &tactics).unwrap()
}

/// Runs a test on the row of those values, which is the third of its batch and the only one
/// selected, with a state.
fn on_row<T>(
    rows: &[Vec<OwnedValue>],
    database: &Database,
    test: impl FnOnce(&Rows, &[u16], &mut State<'_>) -> T,
) -> T {
    let tuples: Vec<_> = rows.iter().map(|values| random::tuple(values)).collect();
    let mut batch = Rows::new(2);
    for (slot, tuple) in tuples.iter().enumerate() {
        batch.slots[slot].tuples = vec![tuple.as_ptr(); 3];
        batch.slots[slot].ids = vec![10 + slot as u64; 3];
    }
    batch.len = 3;
    let mut transaction = Transaction::Reading(database.reading());
    let (catalog, memory) = (Arc::new(Catalog::default()), Memory::new(0));
    let cancel = Arc::new(AtomicBool::new(false));
    let mut state = State::new(&mut transaction, "", &[], memory, catalog, cancel);
    test(&batch, &[2], &mut state)
}

#[test]
fn random_values_mean_what_they_say() {
    let database = empty_database();
    let mut runner = proptest::test_runner::TestRunner::default();
    let values = (random::value(), random::values(), random::values());
    let outcome = runner.run(&values, |(expr, left, right)| {
        let rows = [left, right];
        let expected = random::meaning(&expr, &rows).map_err(|span| span.start);
        let expected =
            expected.map(|value| random::plain(value.unwrap_or(OwnedValue::Null).borrow()));
        let found = on_row(&rows, &database, |batch, selection, state| {
            let mut computed = Computed::new(&expr, state);
            let vector = computed.compute(batch, selection);
            vector.map(|vector| random::plain(vector.value(2))).map_err(random::place)
        });
        prop_assert_eq!(found, expected);
        Ok(())
    });
    outcome.unwrap();
}

/// A part behind one that a null leaves open is not looked at, since the row is lost already: so
/// errors are held to their places only in rows without a null.
#[test]
fn random_conditions_mean_what_they_say() {
    let database = empty_database();
    let mut runner = proptest::test_runner::TestRunner::default();
    let values = (random::condition(), random::values(), random::values());
    let outcome = runner.run(&values, |(expr, left, right)| {
        let rows = [left, right];
        let has_null = rows.iter().flatten().any(|value| *value == OwnedValue::Null);
        let expected = random::truth(&expr, &rows).map_err(|span| span.start);
        let found = on_row(&rows, &database, |batch, selection, state| {
            let (mut selection, mut work) = (selection.to_vec(), Work::default());
            let filtered = Condition::new(&expr, state).filter(batch, &mut selection, &mut work);
            filtered.map(|()| selection == [2]).map_err(random::place)
        });
        match expected {
            Ok(truth) => prop_assert_eq!(found, Ok(truth == Some(true))),
            Err(place) if !has_null => prop_assert_eq!(found, Err(place)),
            Err(_) => {}
        }
        Ok(())
    });
    outcome.unwrap();
}
