//! The least and the greatest value by the end of an index, whatever executes it and however the
//! relation is stored.

use super::*;

/// The ways to store a relation of which `end` is an end.
const STORAGES: [(&str, &str); 3] = [
    ("modify r to isam on k modify s to isam on t modify n to isam on v", "clustered"),
    ("modify r to btree on k, v modify s to btree on t, k modify n to btree on v, g", "clustered"),
    ("index on r is x (k) index on s is y (t) index on n is z (v)", "nonclustered"),
];

/// Texts that differ only beyond what an index keeps of them, the ends not first and not last.
fn long(last: char) -> Parameter {
    Parameter::Text(format!("{}{last}", "x".repeat(520)).into())
}

/// `r` has the hundred `k` from -50, `s` long texts, and `n` values of which some are null.
fn filled(tactics: &str, storage: &str) -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(&folder.path().join("test.lode"), &tactics.parse().unwrap());
    let database = database.unwrap();
    let text = "create d (n = i4) range of d is d range of e is d";
    database.execute(text, &[]).unwrap();
    for digit in 0..10 {
        database.execute("append to d (n = $1)", &[Parameter::Integer(digit)]).unwrap();
    }
    let text = "range of d is d range of e is d
        create r (k = i4, v = f8, pad = c200) create s (k = i4, t = c600)
        append to r (k = mod(37 * (10 * d.n + e.n), 100) - 50, v = d.n / 4.0)
        range of r is r
        retrieve into n (g = d.n, v = max(r.k by r.v where r.k > 45)) where r.v = d.n / 4.0";
    database.execute(text, &[]).unwrap();
    for (number, last) in "cbadec".chars().enumerate() {
        let values = [Parameter::Integer(number as i64), long(last)];
        database.execute("append to s (k = $1, t = $2)", &values).unwrap();
    }
    database.execute(storage, &[]).unwrap();
    (folder, database)
}

/// The two values that a text requests, as text; and the tuples that it read.
fn two(database: &Database, text: &str) -> ([String; 2], u64) {
    let text = format!("range of r is r range of s is s range of n is n {text}");
    let plan = database.explain(&Statement::new(&text).unwrap(), &[]).unwrap();
    assert!(plan.contains("least a is") && plan.contains("greatest a is"), "{plan}");
    let before = database.work().unwrap().tuples;
    let mut rows = database.query(&text, &[]).unwrap();
    let layout = rows.layout().clone();
    let tuple = rows.next_tuples().unwrap().unwrap().clone();
    assert_eq!(tuple.len(), layout.bytes);
    drop(rows);
    let reported = |at: usize| match read(&tuple, &layout.fields[at]) {
        Value::Text(text) => String::from_utf8_lossy(trimmed(text)).into_owned(),
        other => format!("{other:?}"),
    };
    ([reported(0), reported(1)], database.work().unwrap().tuples - before)
}

#[test]
fn an_end_of_an_index_is_the_least_value_or_the_greatest() {
    let integers = |least: i64, greatest: i64| [least, greatest].map(|k| format!("Integer({k})"));
    for execution in ["vectorised", "closures", "interpreted", "compiled"] {
        for (layout, threads) in [("rows", 2), ("columns", 1)] {
            for (storage, structure) in STORAGES {
                let tactics = format!("execution={execution}&layout={layout}");
                let tactics = format!("{tactics}&parallelism={threads}&durability=none");
                let (_folder, database) = filled(&tactics, storage);
                let of = |text: &str| two(&database, text);
                let reported = format!("{tactics}, {storage}");
                let asked = "retrieve (x = min(r.k), y = max(r.k))";
                assert_eq!(of(asked), (integers(-50, 49), 2), "{reported}");
                // A tuple that is gone is at no end, and one that has come may be.
                let changed = "range of r is r delete r where r.k < -40 or r.k = 49
                    replace r (k = 1000) where r.k = 0";
                database.execute(changed, &[]).unwrap();
                assert_eq!(of(asked), (integers(-40, 1000), 2), "{reported}");
                let (least, greatest) = ("least a is r by", "greatest a is r by");
                let text = format!("range of r is r {asked}");
                let plan = database.explain(&Statement::new(&text).unwrap(), &[]).unwrap();
                for end in [least, greatest] {
                    assert!(plan.contains(&format!("{end} {structure} k\n")), "{plan}");
                }
                // Every tuple whose key is cut like the last one's is looked at.
                let (texts, tuples) = of("retrieve (x = min(s.t), y = max(s.t))");
                let ends = texts.each_ref().map(|text| (text.len(), &text[520..]));
                assert_eq!((ends, tuples), ([(521, "a"), (521, "e")], 12), "{reported}");
                // Nulls are at no end.
                let (found, _) = of("retrieve (x = min(n.v), y = max(n.v))");
                assert_eq!(found, integers(46, 49), "{reported}");
                database.execute("range of n is n delete n where n.v > 0", &[]).unwrap();
                assert!(contents(&database, "n").rows > 0);
                let none = ["Null".to_owned(), "Null".to_owned()];
                let asked = "retrieve (x = min(n.v), y = max(n.v))";
                assert_eq!(of(asked), (none.clone(), 0), "{reported}");
                database.execute("range of n is n delete n", &[]).unwrap();
                assert_eq!(of(asked), (none, 0), "{reported}");
            }
        }
    }
}
