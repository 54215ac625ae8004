//! Statements on a few tuples run in every budget that `memory=` takes.

use super::*;
use crate::memory::Memory;

const BY: &str = "range of t is t retrieve unique
    (x = countu(t.a by t.b), y = sumu(t.a by t.b), t.b)";

const MANY: &str = "range of t is t retrieve unique (t.b, c = countu(t.a by t.b),
    s = sumu(t.a by t.b), v = avgu(t.a by t.b), w = countu(t.c by t.b), k = count(t.a by t.b),
    m = min(t.c by t.b), all_c = countu(t.c), all_s = sumu(t.a))";

/// So many tuples, some of which have equal values.
fn filled(tactics: &str, tuples: i64) -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.lode");
    let database = Database::create(&path, &tactics.parse().unwrap()).unwrap();
    database.execute("create t (a = i4, b = i4, c = c12)", &[]).unwrap();
    for at in 0..tuples {
        let text = Parameter::Text(format!("t{}", at % 7).into());
        let parameters = [Parameter::Integer(at / 2), Parameter::Integer(at % 4), text];
        database.execute("append to t (a = $1, b = $2, c = $3)", &parameters).unwrap();
    }
    (folder, database)
}

#[test]
fn a_few_tuples_need_no_more_than_the_least_budget() {
    for tuples in [1, 2, 5, 17, 30] {
        let (_folder, roomy) = filled("", tuples);
        let expected = [BY, MANY].map(|text| answer(&roomy, text, &[]));
        for execution in ["vectorised", "closures", "interpreted", "compiled"] {
            let tactics = format!("execution={execution}");
            let (_folder, mut database) = filled(&tactics, tuples);
            for kib in [256, 300, 512, 777, 1 << 10, 2 << 10, 3 << 10, 8 << 10, 16 << 10, 64 << 10]
            {
                database.memory = Memory::new(kib << 10);
                for (text, expected) in [BY, MANY].iter().zip(&expected) {
                    let rows = database.query(text, &[]);
                    assert!(rows.is_ok(), "{tuples} tuples, {kib} KiB: {}", rows.err().unwrap());
                    assert_eq!(&answer(&database, text, &[]), expected, "{kib} KiB, {tactics}");
                }
            }
        }
    }
}
