//! Statements by several threads, against the same ones by one.

use super::*;
use crate::counters::Work;
use crate::memory::Memory;

/// Tuples of `r` and `s`, of 220 bytes.
const TUPLES: u64 = 30_000;

/// Less than what threads would like to keep of them, and enough for threads to keep some.
const BUDGET_BYTES: u64 = 12 << 20;

/// Two relations of keys, numbers of which few are equal, and texts.
fn filled() -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let tactics = "cache=64MiB".parse().unwrap();
    let database = Database::create(&folder.path().join("test.lode"), &tactics).unwrap();
    let kinds = [
        ("k", Kind::Integer { bytes: 4 }),
        ("g", Kind::Integer { bytes: 4 }),
        ("d", Kind::Integer { bytes: 4 }),
        ("t", Kind::Text { width: 200 }),
    ];
    let attributes = kinds.map(|(name, kind)| Attribute { name: name.to_owned(), kind });
    for (name, factor) in [("r", 7), ("s", 11)] {
        let keys = (0..TUPLES).map(|at| (at * factor % TUPLES) as i32);
        let texts = StringArray::from_iter_values(keys.clone().map(|key| format!("t{}", key / 2)));
        let columns: [(&str, arrow_array::ArrayRef); 4] = [
            ("k", Arc::new(Int32Array::from_iter_values(keys.clone()))),
            ("g", Arc::new(Int32Array::from_iter_values(keys.clone().map(|key| key / 3 * 2)))),
            // Zero in one tuple.
            ("d", Arc::new(Int32Array::from_iter_values(keys.map(|key| key - 20_000)))),
            ("t", Arc::new(texts)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        database.load(name, &attributes, &Storage::default(), rows).unwrap();
    }
    database.settle(&["r", "s"]).unwrap();
    (folder, database)
}

/// The same under other tactics, and with so much memory.
fn under(database: Database, tactics: &str, budget_bytes: u64) -> Database {
    let mut database = Database::over(database.into_storage(), &tactics.parse().unwrap());
    database.memory = Memory::new(budget_bytes);
    database
}

/// An answer, and the work that it was.
fn asked(database: &Database, text: &str) -> (Answer, Work) {
    let text = format!("range of r is r range of s is s {text}");
    let answer = answer(database, &text, &[]);
    assert_eq!(database.memory().used_bytes(), 0, "{text}");
    (answer, database.work().unwrap())
}

const STATEMENTS: [(&str, &str); 9] = [
    ("", "retrieve (r.all) where r.g mod 3 = 0"),
    ("", "retrieve (c = count(r.k), m = max(r.t), u = countu(r.g))"),
    ("", "retrieve (r.g, c = count(r.k by r.g))"),
    ("", "retrieve (m = min(r.k by r.t), t = max(r.t by r.t), u = countu(r.g by r.t))"),
    ("join=hash", "retrieve (r.all, s.t) where r.k = s.g"),
    ("join=hash", "retrieve (c = count(r.k where r.t = s.t))"),
    ("join=merge", "retrieve (r.k, s.t, x = r.t) where r.k = s.g"),
    ("distinct=sort", "retrieve unique (r.t, r.d)"),
    ("join=substitution", "retrieve (r.k, s.t) where r.g = s.k and s.d < -19000 and r.k > 100"),
];

#[test]
fn threads_change_no_answer_however_much_memory_there_is() {
    let (_folder, mut database) = filled();
    for (tactics, text) in STATEMENTS {
        let mut expected = None;
        for (threads, budget_bytes) in
            [(1, 1 << 30), (2, 1 << 30), (3, 1 << 30), (2, BUDGET_BYTES), (2, 2 << 20)]
        {
            let all = format!("{tactics}&parallelism={threads}");
            database = under(database, &all, budget_bytes);
            let (answer, work) = asked(&database, text);
            let reported = format!("{text} {all} {budget_bytes}: {work:?}");
            assert_eq!(*expected.get_or_insert(answer), answer, "{reported}");
            if budget_bytes == 1 << 30 {
                assert_eq!(work.threads_beside > 0, threads > 1, "{reported}");
                assert_eq!(work.spilled_bytes, 0, "{reported}");
            }
            assert!(database.memory().peak_bytes() <= budget_bytes, "{reported}");
        }
    }
}

#[test]
fn partitions_that_do_not_fit_several_times_are_one_threads_and_the_count_says_so() {
    let (_folder, database) = filled();
    let database = under(database, "parallelism=2", BUDGET_BYTES);
    let text = "range of r is r retrieve (u = countu(r.g by r.t))";
    let counted = database.run_counted(&Statement::new(text).unwrap(), &[]).unwrap().explain();
    assert!(counted.contains("up to 2 threads (counted 1, of 30000 tuples)"), "{counted}");
    let database = under(database, "parallelism=2", 1 << 30);
    let counted = database.run_counted(&Statement::new(text).unwrap(), &[]).unwrap().explain();
    assert!(counted.contains("up to 2 threads (counted 2, of "), "{counted}");
    assert!(counted.contains("scan a is r (counted 30000)"), "{counted}");
}

#[test]
fn changes_of_relations_are_collected_by_several_threads() {
    let (_folder, database) = filled();
    let mut expected = None;
    let mut database = database;
    for threads in [1, 3] {
        database = under(database, &format!("parallelism={threads}"), 1 << 30);
        let text = "range of r is r retrieve into x (r.all) where r.g mod 3 = 0
            range of x is x
            replace x (d = x.d + 1) where x.k mod 2 = 0
            append to x (k = r.k, g = 0, d = 1, t = r.t) where r.k < 500
            delete x where x.d < -19000 and x.k > 7";
        let changed = database.execute(text, &[]).unwrap();
        let result = (changed, contents(&database, "x"));
        assert_eq!(*expected.get_or_insert(result), result, "{threads}");
        assert_eq!(database.work().unwrap().threads_beside > 0, threads > 1);
        crate::relation::check_all(&database.storage().reading()).unwrap();
    }
}

#[test]
fn an_error_of_one_thread_ends_all_and_is_reported_once() {
    let (_folder, mut database) = filled();
    for execution in ["vectorised", "closures", "interpreted", "compiled"] {
        for text in [
            "retrieve (x = 1 / r.d)",
            "retrieve (x = sum(r.k / r.d by r.g))",
            "retrieve (s.k, x = r.k / r.d) where r.k = s.k",
            "retrieve (x = sum(r.k * 4611686018427387904))",
        ] {
            let text = format!("range of r is r range of s is s {text}");
            let mut reported = None;
            for threads in [1, 2] {
                let tactics = format!("parallelism={threads}&execution={execution}");
                database = under(database, &tactics, 1 << 30);
                let ended = database.query(&text, &[]).and_then(|mut rows| {
                    while rows.next_tuples()?.is_some() {}
                    Ok(())
                });
                let error = ended.unwrap_err().to_string();
                assert_eq!(reported.get_or_insert(error.clone()), &error, "{tactics} {text}");
                assert_eq!(database.memory().used_bytes(), 0, "{tactics} {text}");
            }
        }
    }
}

#[test]
fn all_threads_of_a_statement_are_cancelled() {
    let (_folder, database) = filled();
    let database = under(database, "parallelism=3&join=nested-loops", 1 << 30);
    let text = "range of r is r range of s is s retrieve (r.t, s.t) where r.k != s.k";
    let mut rows = database.query(text, &[]).unwrap();
    assert!(rows.next_tuples().unwrap().is_some());
    database.cancel();
    let error = std::iter::from_fn(|| rows.next_tuples().transpose()).find_map(Result::err);
    assert!(matches!(error, Some(QueryError::Cancelled)), "{error:?}");
    drop(rows);
    // Nobody reads what others of it have to give.
    let mut rows = database.query(text, &[]).unwrap();
    assert!(rows.next_tuples().unwrap().is_some());
    drop(rows);
    assert_eq!(database.memory().used_bytes(), 0);
}
