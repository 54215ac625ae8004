mod against_oracle;
mod by_columns;
mod cancelled;
mod ends;
mod exact;
mod kept;
mod long_texts;
mod making;
mod parallel;
mod small;
mod spilling;
mod structures;

mod counted;

use std::sync::Arc;

use arrow_array::{
    Int16Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use loadstone_datasets::{Column, Relation, read_all};
use loadstone_quel::answer::RowEncoder;
use loadstone_quel::schema::Kind;
use loadstone_quel::{Answer, Oracle};
use tempfile::TempDir;

use super::*;
use crate::tuple::{Value, read, trimmed};

const ROWS: u64 = 400;

/// A database on a file, and the folder that it lies in.
fn database() -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.lode");
    let database = Database::create(&path, &Tactics::default()).unwrap();
    (folder, database)
}

/// Three parts, of which one is lighter than a kilogram.
fn parts() -> (TempDir, Database) {
    let (folder, database) = database();
    database.execute("create parts (number = i4, name = c12, weight = f8)", &[]).unwrap();
    for (number, name, weight) in [(1, "wheel", 2.5), (2, "spoke", 0.25), (3, "rim", 1.0)] {
        let parameters =
            [Parameter::Integer(number), Parameter::Text(name.into()), Parameter::Real(weight)];
        let text = "append to parts (number = $1, name = $2, weight = $3)";
        assert_eq!(database.execute(text, &parameters).unwrap(), Some(1));
    }
    (folder, database)
}

fn answer(database: &Database, text: &str, parameters: &[Parameter]) -> Answer {
    let mut rows = database.query(text, parameters).unwrap();
    let layout = rows.layout().clone();
    let (mut answer, mut encoder) = (Answer::default(), RowEncoder::default());
    while let Some(tuples) = rows.next_tuples().unwrap() {
        for tuple in tuples.chunks_exact(layout.bytes) {
            for field in &layout.fields {
                match read(tuple, field) {
                    Value::Null => encoder.null(),
                    Value::Integer(value) => encoder.integer(value),
                    Value::Real(value) => encoder.real(value),
                    Value::Text(text) => encoder.text(trimmed(text)),
                }
            }
            answer.add(encoder.finish_row());
        }
    }
    answer
}

fn contents(database: &Database, relation: &str) -> Answer {
    answer(database, &format!("range of t is {relation} retrieve (t.all)"), &[])
}

fn names(database: &Database, text: &str, parameters: &[Parameter]) -> Vec<String> {
    let rows = database.query(text, parameters).unwrap();
    let mut names = Vec::new();
    for batch in rows {
        let batch = batch.unwrap();
        let texts = batch.column(0).as_any().downcast_ref::<StringArray>().unwrap();
        names.extend(texts.iter().flatten().map(str::to_owned));
    }
    names.sort();
    names
}

fn load(database: &Database, relation: &Relation, storage: &Storage) {
    let (mut attributes, mut columns) = (Vec::new(), Vec::new());
    for (name, column) in &relation.columns {
        let (kind, array): (_, arrow_array::ArrayRef) = match column {
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
            other => panic!("{other:?}"),
        };
        attributes.push(Attribute { name: name.clone(), kind });
        columns.push((name.clone(), array));
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let rows = RecordBatchIterator::new([Ok(batch)], schema);
    let loaded = database.load(&relation.name, &attributes, storage, rows).unwrap();
    assert_eq!(loaded, relation.rows() as u64);
}

fn generated(edition: &str, relation: &str, rows: u64) -> Relation {
    read_all(&loadstone_datasets::open("wisconsin", edition, relation, rows, 0).unwrap())
}

/// The programs of a file of the benchmark, those that take an update back among them.
fn programs(text: &str) -> Vec<String> {
    let mut programs = Vec::new();
    let mut rest = text;
    while let Some((program, comment)) = rest.split_once("/*") {
        programs.push(program.trim().to_owned());
        rest = comment.split_once("*/").unwrap().1;
    }
    programs.push(rest.trim().to_owned());
    programs.retain(|program| !program.is_empty());
    programs
}

#[test]
fn the_papers_programs_have_the_oracles_answers() {
    let mut oracle = Oracle::new();
    for name in PAPERS {
        oracle.add(generated("1993", name, ROWS));
    }
    let text = include_str!("../../../../python/loadstone/benchmarks/wisconsin/queries-1993.quel");
    let programs = programs(text);
    assert!(programs.len() > 32);
    let expected = programs.iter().map(|program| (program, oracle.answer(program).unwrap()));
    let expected: Vec<_> = expected.collect();
    for tactics in ["", "join=merge&distinct=sort&aggregate=sort", "join=merge&optimizer=none"] {
        papers(&tactics.parse().unwrap(), &expected);
    }
}

const PAPERS: [&str; 4] = ["tenktup1", "tenktup2", "onektup", "bprime"];

/// Run the programs under these tactics.
fn papers(tactics: &Tactics, programs: &[(&String, Answer)]) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(&folder.path().join("test.lode"), tactics).unwrap();
    let mut large = Vec::new();
    for name in PAPERS {
        let indexes = vec!["unique1".to_owned(), "onepercent".to_owned()];
        let key = vec!["unique2".to_owned()];
        let storage = match name {
            "tenktup1" => Storage { organisation: "clustered".to_owned(), key, indexes },
            "tenktup2" => Storage { organisation: "hash".to_owned(), key, indexes },
            _ => Storage::default(),
        };
        load(&database, &generated("1993", name, ROWS), &storage);
        large.push((generated("1993", name, ROWS), storage));
    }
    database.settle(&PAPERS).unwrap();
    for (program, expected) in programs {
        let statement = Statement::new(program).unwrap();
        if statement.gives_rows() {
            assert_eq!(&answer(&database, program, &[]), expected, "{program}");
        } else if program.contains("into tmp (") {
            let stored = database.execute(program, &[]).unwrap();
            assert_eq!((&contents(&database, "tmp"), stored), (expected, Some(expected.rows)));
        } else {
            let changed = database.execute(program, &[]).unwrap().unwrap();
            let after = contents(&database, "tenktup1").checksum;
            assert_eq!((changed, after), (expected.rows, expected.checksum), "{program}");
            load(&database, &large[0].0, &large[0].1);
        }
    }
}

#[test]
fn a_text_is_one_transaction() {
    let (_folder, database) = parts();
    let before = contents(&database, "parts");
    let text = "range of p is parts
        delete p where p.number = 1
        replace p (number = p.number / 0)";
    let error = database.execute(text, &[]).unwrap_err().to_string();
    assert!(error.starts_with("line 3, column"), "{error}");
    assert!(error.contains("division by zero") && error.contains('^'), "{error}");
    assert_eq!(contents(&database, "parts"), before);
    let text = "range of p is parts
        retrieve into light (p.all) where p.weight < 2
        range of l is light
        delete l where l.number = 2
        retrieve (l.name)";
    assert_eq!(names(&database, text, &[]), ["rim"]);
    assert_eq!(contents(&database, "light").rows, 1);
}

#[test]
fn the_commands_of_a_text_run_one_by_one() {
    let (_folder, database) = parts();
    let text = "range of p is parts; retrieve (p.name) go
        delete p where p.number = 1
        retrieve (p.weight)
        range of q is nothing";
    let mut ranges = std::collections::BTreeMap::new();
    let mut run = |statement: &Statement| {
        let statement = statement.clone().with_ranges(ranges.clone());
        let outcome = database.run(&statement, &[])?;
        ranges.extend(statement.declares());
        Ok(match outcome {
            Outcome::Rows(rows) => rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
            Outcome::Changed(changed) => 100 + changed.unwrap_or_default() as usize,
        })
    };
    let statements = Statement::each(text).unwrap();
    let ran: Vec<Result<usize>> = statements.iter().map(&mut run).collect();
    assert!(matches!(ran[..4], [Ok(100), Ok(3), Ok(101), Ok(2)]), "{ran:?}");
    let error = ran[4].as_ref().unwrap_err().to_string();
    assert!(error.starts_with("line 4, column 23") && error.contains("`nothing`"), "{error}");
    assert!(Statement::each("range of p is parts retrieve (p.name").is_err());
}

#[test]
fn parameters_are_values_and_never_patterns() {
    let (_folder, database) = parts();
    let text = "range of p is parts retrieve (p.name) where p.name = $1 or p.weight < $2";
    let of = |name: &str, weight| {
        names(&database, text, &[Parameter::Text(name.into()), Parameter::Real(weight)])
    };
    assert_eq!(of("wheel", 0.5), ["spoke", "wheel"]);
    assert_eq!(of("*", 0.5), ["spoke"]);
    let error = database.query(text, &[Parameter::Text("wheel".into())]).err().unwrap();
    assert!(error.to_string().contains("no value for the parameter $2"), "{error}");
}

#[test]
fn an_accelerator_judges_tuples_before_they_leave_the_pages() {
    let relation = generated("1993", "tenktup1", 2_000);
    let text = "range of t is tenktup1 retrieve (t.unique1) where t.unique2 < 20 and t.unique2 > 9";
    for execution in ["vectorised", "closures", "interpreted", "compiled"] {
        for (accelerator, judged, given) in
            [("off", 0, 2_000), ("on", 2_000, 10), ("thread", 2_000, 10)]
        {
            let tactics = [("accelerator", accelerator), ("execution", execution)];
            let (folder, tactics) = (tempfile::tempdir().unwrap(), Tactics::of(tactics).unwrap());
            let database = Database::create(&folder.path().join("a"), &tactics).unwrap();
            load(&database, &relation, &Storage::default());
            let plan = database.plan(&Statement::new(text).unwrap(), &[]).unwrap().explain(None);
            let (scan, _) = plan.split_once('\n').unwrap();
            assert_eq!(scan.contains("where (a.unique2 < 20)"), accelerator != "off", "{plan}");
            let before = database.work().unwrap();
            let found = answer(&database, text, &[]).rows;
            let work = database.work().unwrap();
            let (tuples, seen) = (work.tuples - before.tuples, work.tuples_judged);
            assert_eq!((found, seen, tuples), (10, judged, given), "{execution} {accelerator}");
            // A page whose tuples come in two batches is judged twice.
            let pages = if judged == 0 { 0 } else { work.pages - before.pages };
            assert!((pages..pages + 2).contains(&work.pages_judged), "{execution} {accelerator}");
        }
    }
}

#[test]
fn rows_that_would_be_lost_are_an_error_and_so_is_asking_for_none() {
    let (_folder, database) = parts();
    let lost = "range of p is parts retrieve (p.name) delete p";
    let error = database.execute(lost, &[]).unwrap_err().to_string();
    assert!(error.contains("would be lost") && error.contains('^'), "{error}");
    let silent = database.query("destroy parts", &[]).err().unwrap();
    assert!(silent.to_string().contains("gives no rows"), "{silent}");
    assert!(database.execute("range of p is parts retrieve (p.name)", &[]).is_err());
    assert_eq!(contents(&database, "parts").rows, 3);
}

#[test]
fn many_rows_come_while_they_are_read_and_stop_when_nobody_reads() {
    let (_folder, database) = database();
    let relation = generated("1993", "tenktup1", 1_000);
    load(&database, &relation, &Storage::default());
    let product = "range of t is tenktup1 range of u is tenktup1
        retrieve (t.unique1, u.unique1, t.stringu1) where t.unique1 < $1";
    let some = database.query(product, &[Parameter::Integer(300)]).unwrap();
    assert_eq!(some.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 300_000);
    let mut all = database.query(product, &[Parameter::Integer(1_000)]).unwrap();
    assert!(all.next_tuples().unwrap().is_some());
    drop(all);
    // The thread has let go of the database.
    assert!(!database.storage().is_in_use());
    database.execute("destroy tenktup1", &[]).unwrap();
}

#[test]
fn values_that_do_not_fit_are_refused_and_leave_nothing() {
    let (_folder, database) = database();
    let attributes = [Attribute { name: "a".to_owned(), kind: Kind::Integer { bytes: 1 } }];
    for (values, message) in [(vec![Some(128)], "128 does not fit"), (vec![None], "a null")] {
        let column: arrow_array::ArrayRef = Arc::new(Int16Array::from(values));
        let batch = RecordBatch::try_from_iter_with_nullable([("a", column, true)]).unwrap();
        let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        let error = database.load("r", &attributes, &Storage::default(), rows).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(database.relations().unwrap().is_empty());
    }
    let storage = Storage { organisation: "hash".to_owned(), ..Storage::default() };
    let rows = RecordBatchIterator::new([], Arc::new(arrow_schema::Schema::empty()));
    let error = database.load("r", &attributes, &storage, rows).unwrap_err().to_string();
    assert!(error.contains("without a key"), "{error}");
}

#[test]
fn a_text_that_comes_again_is_made_anew_only_where_none_is_kept() {
    for (statement, functions) in [("kept", 1), ("text", 3)] {
        let (_folder, database) = parts();
        let tactics = Tactics::of([("execution", "compiled"), ("statement", statement)]).unwrap();
        let database = Database::over(database.into_storage(), &tactics);
        for _ in 0..3 {
            names(&database, "range of p is parts retrieve (p.name)", &[]);
        }
        assert_eq!(database.work().unwrap().functions_compiled, functions, "{statement}");
        // A statement keeps its own, whatever becomes of texts.
        let prepared = Statement::new("range of p is parts retrieve (p.name)").unwrap();
        for _ in 0..3 {
            let Outcome::Rows(rows) = database.run(&prepared, &[]).unwrap() else {
                panic!("it gives rows")
            };
            rows.for_each(|batch| drop(batch.unwrap()));
        }
        assert_eq!(database.work().unwrap().functions_compiled, functions + 1, "{statement}");
    }
}

#[test]
fn a_statement_keeps_its_code_whatever_its_parameters_are() {
    let (_folder, database) = parts();
    let tactics = Tactics::of([("execution", "compiled")]).unwrap();
    let database = Database::over(database.into_storage(), &tactics);
    let text = "range of p is parts retrieve (x = sum(p.weight where p.number < $1) * $2)";
    let statement = Statement::new(text).unwrap();
    // In quarters, of which every weight has a whole number.
    let sum = |number, factor| {
        let parameters = [Parameter::Integer(number), Parameter::Real(factor)];
        let Outcome::Rows(mut rows) = database.run(&statement, &parameters).unwrap() else {
            panic!("it gives rows")
        };
        let tuple = rows.next_tuples().unwrap().unwrap();
        match read(&tuple, &rows.layout().fields[0]) {
            Value::Real(sum) => (4.0 * sum) as i64,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(sum(3, 2.0), 22);
    let compiled = database.work().unwrap();
    assert!(compiled.functions_compiled == 2 && compiled.code_bytes > 100);
    assert!(compiled.compile_ns > 1000);
    assert_eq!((sum(2, 2.0), sum(9, -1.0)), (20, -15));
    let now = database.work().unwrap();
    assert_eq!(now.functions_compiled, 2, "the second time it is there");
    // Another statement of the same text has none.
    names(&database, "range of p is parts retrieve (p.name)", &[]);
    assert_eq!(database.work().unwrap().functions_compiled, 3);
}
