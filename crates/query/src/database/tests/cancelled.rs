//! Statements that are ended from another thread: while they wait, and while they change things.

use std::sync::mpsc::channel;
use std::thread;

use super::*;
use crate::catalog::Catalog;

#[test]
fn a_statement_is_cancelled_from_another_thread() {
    let (_folder, database) = database();
    let relation = generated("1993", "tenktup1", 1_000);
    load(&database, &relation, &Storage::default());
    let endless = "range of t is tenktup1 range of u is tenktup1 range of v is tenktup1
        range of w is tenktup1
        retrieve (x = count(t.unique1 where t.unique1 + u.unique1 + v.unique1 + w.unique1 < 0))";
    let (ended, end) = channel();
    thread::scope(|scope| {
        scope.spawn(|| ended.send(database.query(endless, &[]).err()).unwrap());
        let error = loop {
            database.cancel();
            match end.try_recv() {
                Ok(error) => break error,
                Err(_) => thread::yield_now(),
            }
        };
        assert!(matches!(error, Some(QueryError::Cancelled)), "{error:?}");
    });
}

#[test]
fn rows_on_their_way_are_cancelled() {
    let (_folder, database) = database();
    let relation = generated("1993", "tenktup1", 1_000);
    load(&database, &relation, &Storage::default());
    let product = "range of t is tenktup1 range of u is tenktup1
        retrieve (t.all, u.unique1)";
    let mut rows = database.query(product, &[]).unwrap();
    assert!(rows.next_tuples().unwrap().is_some());
    database.cancel();
    let error = loop {
        match rows.next_tuples() {
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(matches!(error, Some(QueryError::Cancelled)), "{error:?}");
}

/// The error of what waits on another thread for a transaction of this one, cancelled meanwhile.
fn cancelled_waiting<R>(database: &Database, act: impl FnOnce() -> Result<R> + Send) -> QueryError
where
    R: Send,
{
    let waits = || database.storage().counters().unwrap().locks.waits;
    let before = waits();
    thread::scope(|scope| {
        let waiting = scope.spawn(act);
        while waits() == before {
            thread::yield_now();
        }
        database.cancel();
        // The lock that it waits for is still held.
        waiting.join().unwrap().err().expect("it was cancelled")
    })
}

#[test]
fn a_statement_that_waits_for_a_lock_is_cancelled_and_keeps_nothing() {
    let (_folder, database) = parts();
    let before = contents(&database, "parts");
    let reading = database.storage().reading();
    Catalog::read(&reading).unwrap();
    let statements = [
        "create q (a = i4)",
        "append to parts (number = 4)",
        "range of p is parts delete p",
        "destroy parts",
        "modify parts to btree on number",
        "index on parts is x (number)",
    ];
    for text in statements {
        let error = cancelled_waiting(&database, || database.execute(text, &[]));
        assert!(matches!(error, QueryError::Cancelled), "{text}: {error}");
    }
    let statement = Statement::new("append to parts (number = 4)").unwrap();
    for error in [
        cancelled_waiting(&database, || database.remove("parts")),
        cancelled_waiting(&database, || database.settle(&["parts"])),
        cancelled_waiting(&database, || database.run_counted(&statement, &[])),
    ] {
        assert!(matches!(error, QueryError::Cancelled), "{error}");
    }
    drop(reading);
    assert_eq!(contents(&database, "parts"), before);
    let relations = database.relations().unwrap();
    let indexes: Vec<_> = relations.iter().map(|info| (&*info.name, info.indexes.len())).collect();
    assert_eq!(indexes, [("parts", 0)]);
}

#[test]
fn a_statement_that_waits_to_read_is_cancelled() {
    let (_folder, database) = parts();
    let before = contents(&database, "parts");
    let mut writing = database.storage().writing();
    let mut info = RelationInfo::clone(Catalog::read(&writing).unwrap().relation("parts").unwrap());
    settle(&mut writing, &mut info).unwrap();
    let text = "range of p is parts retrieve (p.all)";
    let statement = Statement::new(text).unwrap();
    for error in [
        cancelled_waiting(&database, || database.query(text, &[])),
        cancelled_waiting(&database, || database.plan(&statement, &[])),
        cancelled_waiting(&database, || database.relations()),
    ] {
        assert!(matches!(error, QueryError::Cancelled), "{error}");
    }
    drop(writing);
    assert_eq!(contents(&database, "parts"), before);
}

#[test]
fn a_load_is_cancelled_between_its_batches() {
    for organisation in ["heap", "clustered"] {
        let (_folder, database) = database();
        let attributes = [Attribute { name: "a".to_owned(), kind: Kind::Integer { bytes: 4 } }];
        let storage = Storage {
            organisation: organisation.to_owned(),
            key: vec!["a".to_owned()],
            indexes: Vec::new(),
        };
        let array: arrow_array::ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
        let schema = batch.schema();
        // The second one is requested when the first is in.
        let batches = [false, true].into_iter().map(|is_second| {
            if is_second {
                database.cancel();
            }
            Ok(batch.clone())
        });
        let reader = RecordBatchIterator::new(batches, schema);
        let error = database.load("t", &attributes, &storage, reader).unwrap_err();
        assert!(matches!(error, QueryError::Cancelled), "{organisation}: {error}");
        assert!(database.relations().unwrap().is_empty());
    }
}
