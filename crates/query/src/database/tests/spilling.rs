//! Statements under budgets so small that they spill, against the same ones with memory enough.

use super::*;
use crate::memory::{Memory, times_returned};
use crate::relation::check_all;

/// Tuples of `r` and `s`: more than any budget of these tests holds.
const TUPLES: u64 = 12_000;

/// The least with which all of these statements run.
const BUDGET_BYTES: u64 = 400 << 10;

/// Two relations of a key, another relation's key, one that all share, and a text.
fn filled(tactics: &str, budget_bytes: u64) -> (TempDir, Database) {
    let (folder, mut database) = loaded(tactics);
    database.memory = Memory::new(budget_bytes);
    (folder, database)
}

/// The same in whatever memory the tactics say.
fn loaded(tactics: &str) -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.lode");
    let database = Database::create(&path, &tactics.parse().unwrap()).unwrap();
    let attributes = ["k", "g", "one"].map(|name| {
        let kind = Kind::Integer { bytes: 4 };
        Attribute { name: name.to_owned(), kind }
    });
    let text = Attribute { name: "t".to_owned(), kind: Kind::Text { width: 24 } };
    let attributes: Vec<_> = attributes.into_iter().chain([text]).collect();
    for (name, factor) in [("r", 7), ("s", 11)] {
        let keys = (0..TUPLES).map(|at| (at * factor % TUPLES) as i32);
        let others: Vec<_> = keys.clone().map(|key| key / 3 * 2).collect();
        let texts = StringArray::from_iter_values(keys.clone().map(|key| format!("t{}", key / 2)));
        let columns: [(&str, arrow_array::ArrayRef); 4] = [
            ("k", Arc::new(Int32Array::from_iter_values(keys))),
            ("g", Arc::new(Int32Array::from(others))),
            ("one", Arc::new(Int32Array::from(vec![1; TUPLES as usize]))),
            ("t", Arc::new(texts)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        database.load(name, &attributes, &Storage::default(), rows).unwrap();
    }
    database.settle(&["r", "s"]).unwrap();
    (folder, database)
}

const RANGES: &str = "range of r is r range of s is s range of u is r";

/// Statements, and the part of the tactics under which each of them must spill.
const STATEMENTS: [(&str, &str); 9] = [
    ("retrieve (r.k, s.t, x = s.k) where r.g = s.k", "join="),
    ("retrieve (r.t, s.t) where r.g = s.g and r.t = s.t", "join="),
    ("retrieve (r.k, s.k, u.t) where r.g = s.k and s.g = u.k", "join="),
    // All keys are equal, which no division parts.
    ("retrieve (r.k, s.k, s.t) where r.one = s.one and r.k < 9", "join=merge"),
    ("retrieve (r.k, s.k, r.t) where r.one = s.one and s.k < 9", "join=merge"),
    ("retrieve unique (r.k, r.t)", ""),
    ("retrieve unique (r.t, r.one, x = r.k / 3, s.t) where r.g = s.k", ""),
    ("retrieve (r.one, c = count(r.k by r.one))", "aggregate=sort"),
    ("retrieve (m = min(r.k by r.t), t = max(r.t by r.t), u = countu(r.g by r.t))", ""),
];

const TACTICS: [&str; 4] = [
    "join=hash",
    "join=merge&distinct=sort&aggregate=sort",
    "join=hash&optimizer=none&distinct=sort",
    "join=merge&optimizer=rules&aggregate=sort",
];

fn files(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn spilling_changes_no_answer() {
    let (_folder, roomy) = filled("", 1 << 30);
    let expected = STATEMENTS.map(|(text, _)| answer(&roomy, &format!("{RANGES} {text}"), &[]));
    assert_eq!(roomy.work().unwrap().spilled_bytes, 0);
    for tactics in TACTICS {
        for execution in ["vectorised", "closures", "compiled"] {
            let tactics = format!("{tactics}&execution={execution}");
            let (folder, database) = filled(&tactics, BUDGET_BYTES);
            let before = files(&folder);
            for ((text, part), expected) in STATEMENTS.iter().zip(&expected) {
                let spilled = database.work().unwrap().spilled_bytes;
                let found = answer(&database, &format!("{RANGES} {text}"), &[]);
                assert_eq!(&found, expected, "{tactics}: {text}");
                let is_spilled = database.work().unwrap().spilled_bytes > spilled;
                assert!(is_spilled || !tactics.contains(part), "{tactics}: {text}");
                assert_eq!(database.memory().used_bytes(), 0, "{tactics}: {text}");
            }
            assert!(database.memory().peak_bytes() <= BUDGET_BYTES);
            assert_eq!(files(&folder), before);
        }
    }
}

#[test]
fn a_cancelled_statement_leaves_no_file() {
    for tactics in ["join=hash", "join=merge"] {
        let (folder, database) = filled(tactics, BUDGET_BYTES);
        let before = files(&folder);
        let text = "retrieve (r.k, s.t, x = s.k, y = r.t) where r.one = s.one";
        let mut rows = database.query(&format!("{RANGES} {text}"), &[]).unwrap();
        assert!(rows.next_tuples().unwrap().is_some());
        assert_eq!(files(&folder), before);
        database.cancel();
        let error = std::iter::from_fn(|| rows.next_tuples().transpose()).find_map(Result::err);
        assert!(matches!(error, Some(QueryError::Cancelled)), "{error:?}");
        drop(rows);
        assert!(database.work().unwrap().spilled_bytes > 0);
        assert_eq!((files(&folder), database.memory().used_bytes()), (before, 0));
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    for tactics in TACTICS {
        let (folder, mut database) = filled(tactics, BUDGET_BYTES);
        database.spill_folder = folder.path().join("missing");
        let text = format!("{RANGES} {}", STATEMENTS[0].0);
        let error = database.query(&text, &[]).err().unwrap().to_string();
        assert!(error.contains("missing") && error.contains("free space"), "{tactics}: {error}");
        assert_eq!(database.memory().used_bytes(), 0);
    }
}

#[test]
fn little_needs_no_room_for_buffers() {
    for tactics in TACTICS {
        for execution in ["vectorised", "closures", "compiled"] {
            let tactics = format!("{tactics}&execution={execution}");
            let (_folder, database) = filled(&tactics, 256 << 10);
            for text in [
                "retrieve (x = sumu(r.k where r.k < 9))",
                "retrieve (x = sumu(r.g by r.one where r.k < 9), y = countu(r.k by r.one where \
                 r.k < 9))",
                "retrieve unique (r.one, x = sumu(s.k where s.k < 9), z = avgu(r.k where r.k < 9))",
            ] {
                let found = database.query(&format!("{RANGES} {text}"), &[]);
                let rows = found.unwrap_or_else(|error| panic!("{tactics}: {text}: {error}"));
                assert!(rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>() > 0);
                assert_eq!(database.memory().used_bytes(), 0, "{tactics}: {text}");
            }
        }
    }
}

#[test]
fn a_budget_without_room_for_buffers_is_refused() {
    let (_folder, database) = filled("join=hash", 20 << 10);
    let text = format!("{RANGES} {}", STATEMENTS[0].0);
    let error = database.query(&text, &[]).err().unwrap().to_string();
    assert!(error.contains("needs more than the memory budget"), "{error}");
}

/// Commands that store `r` anew or make an index of it, and need more than the budget.
const STORING: [&str; 6] = [
    "index on r is x (k)",
    "index on r is x (t, k)",
    "index on r is x (one)",
    "modify r to btree on t",
    "modify r to hash on k",
    "modify r to hash on one",
];

#[test]
fn storing_a_relation_spills_within_the_budget() {
    for layout in ["rows", "columns"] {
        let (_folder, roomy) = filled(&format!("layout={layout}"), 1 << 30);
        let asked = format!("{RANGES} retrieve (r.k, r.g, r.t) where r.k = 77 or r.one = 1");
        let expected = answer(&roomy, &asked, &[]);
        for text in STORING {
            let (folder, database) = filled(&format!("layout={layout}"), BUDGET_BYTES);
            let before = files(&folder);
            let spilled = database.work().unwrap().spilled_bytes;
            database.execute(text, &[]).unwrap();
            assert!(database.work().unwrap().spilled_bytes > spilled, "{layout}: {text}");
            let memory = database.memory();
            let (used, peak) = (memory.used_bytes(), memory.peak_bytes());
            assert!(used == 0 && peak <= BUDGET_BYTES, "{layout}: {text}: {used}, {peak}");
            assert_eq!(files(&folder), before);
            let checked = check_all(&database.storage().reading()).unwrap();
            assert_eq!(checked, [("r".to_owned(), TUPLES), ("s".to_owned(), TUPLES)], "{text}");
            assert_eq!(answer(&database, &asked, &[]), expected, "{layout}: {text}");
        }
    }
}

#[test]
fn a_budget_without_room_for_the_buffers_of_a_sort_is_refused_and_keeps_what_there_is() {
    let (_folder, database) = filled("", 10 << 10);
    for text in STORING {
        let error = database.execute(text, &[]).unwrap_err().to_string();
        assert!(error.contains("a sort needs more than"), "{text}: {error}");
    }
    let checked = check_all(&database.storage().reading()).unwrap();
    assert_eq!(checked, [("r".to_owned(), TUPLES), ("s".to_owned(), TUPLES)]);
}

#[test]
fn freed_memory_is_returned_only_where_memory_is_short() {
    for (tactics, text) in [
        ("join=hash", STATEMENTS[0].0),
        ("join=merge", STATEMENTS[0].0),
        ("distinct=hash", STATEMENTS[5].0),
        ("distinct=sort", STATEMENTS[5].0),
    ] {
        for (budget_bytes, is_short) in [(1 << 30, false), (BUDGET_BYTES, true)] {
            let (_folder, database) = filled(tactics, budget_bytes);
            let text = format!("{RANGES} {text}");
            let (times, _) = times_returned(|| answer(&database, &text, &[]));
            assert_eq!(times > 0, is_short, "{tactics}, {budget_bytes} bytes: {times} times");
        }
    }
}

/// Pages that are there with frames that statements have, the most that both may be, and the most
/// that statements ever had.
fn frames(database: &Database) -> (u64, u64, u64) {
    let counted = database.storage().counters().unwrap().buffer;
    let both = counted.pages_resident + counted.pages_lent;
    (both, counted.pages_resident_max, counted.pages_lent_max)
}

#[test]
fn one_budget_bounds_pages_and_what_statements_keep() {
    let (_folder, roomy) = filled("", 1 << 30);
    let expected = STATEMENTS.map(|(text, _)| answer(&roomy, &format!("{RANGES} {text}"), &[]));
    for (tactics, replacement) in TACTICS.into_iter().zip(["clock", "lru", "lru-2", "random"]) {
        let tactics = format!("{tactics}&memory=cache&cache=1MiB&replacement={replacement}");
        let (_folder, database) = loaded(&tactics);
        let budget_bytes = database.memory().budget_bytes();
        assert_eq!(budget_bytes, 768 << 10);
        let spilled = database.work().unwrap().spilled_bytes;
        for ((text, _), expected) in STATEMENTS.iter().zip(&expected) {
            let found = answer(&database, &format!("{RANGES} {text}"), &[]);
            assert_eq!(&found, expected, "{tactics}: {text}");
            let lent = database.storage().counters().unwrap().buffer.pages_lent;
            assert_eq!((database.memory().used_bytes(), lent), (0, 0), "{tactics}: {text}");
        }
        assert!(database.work().unwrap().spilled_bytes > spilled, "{tactics}");
        let (_, cap, lent_max) = frames(&database);
        let peak_bytes = database.memory().peak_bytes();
        assert!(peak_bytes > budget_bytes / 2 && peak_bytes <= lent_max * 4096, "{tactics}");
        assert!(lent_max * 4096 <= budget_bytes, "{tactics}");
        // What no statement has, pages have.
        let text = "range of r is r range of s is s retrieve (n = count(r.k), m = count(s.k))";
        answer(&database, text, &[]);
        let (both, _, _) = frames(&database);
        assert!(both > cap * 7 / 8, "{tactics}: {both} of {cap}");
        database.close().unwrap();
    }
}

#[test]
fn a_load_and_an_index_sort_in_the_cache() {
    let (_folder, database) = loaded("memory=cache&cache=1MiB&durability=none");
    for text in STORING {
        database.execute(text, &[]).unwrap();
        let (_, _, lent_max) = frames(&database);
        assert!(lent_max * 4096 >= database.memory().peak_bytes(), "{text}");
        let checked = check_all(&database.storage().reading()).unwrap();
        assert_eq!(checked, [("r".to_owned(), TUPLES), ("s".to_owned(), TUPLES)], "{text}");
    }
}
