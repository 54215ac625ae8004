//! The meaning of programs, on relations small enough to see the answer.

use loadstone_datasets::{Column, Relation};
use loadstone_quel::answer::RowEncoder;
use loadstone_quel::{Answer, Oracle};

/// A value of an expected row.
#[derive(Clone, Copy)]
enum V {
    I(i64),
    R(f64),
    T(&'static str),
    Null,
}
use V::{I, Null, R, T};

/// parts(pnum, name, qoh): 1 nut 5 · 2 bolt 5 · 3 Bolt -7 · 3 nut 0
fn oracle() -> Oracle {
    let mut oracle = Oracle::new();
    oracle.add(Relation {
        name: "Parts".into(),
        columns: vec![
            ("Pnum".into(), Column::Int16(vec![1, 2, 3, 3])),
            ("name".into(), Column::Text { width: 4, bytes: b"nut boltBoltnut ".to_vec() }),
            ("qoh".into(), Column::Int64(vec![5, 5, -7, 0])),
        ],
    });
    let columns = vec![("pnum".into(), Column::Int32(vec![3, 1, 4]))];
    oracle.add(Relation { name: "wanted".into(), columns });
    oracle
}

fn rows(expected: &[&[V]]) -> Answer {
    let mut answer = Answer::default();
    let mut row = RowEncoder::default();
    for values in expected {
        for value in *values {
            match value {
                I(value) => row.integer(*value),
                R(value) => row.real(*value),
                T(text) => row.text(text.as_bytes()),
                Null => row.null(),
            }
        }
        answer.add(row.finish_row());
    }
    answer
}

#[track_caller]
fn check(text: &str, expected: &[&[V]]) {
    let program = format!("range of p is parts range of w is wanted {text}");
    let answer = oracle().answer(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answer, rows(expected), "{text}");
}

/// `changed` tuples, and the relation afterwards.
#[track_caller]
fn check_change(text: &str, changed: u64, expected: &[&[V]]) {
    let program = format!("range of p is parts range of w is wanted {text}");
    let answer = oracle().answer(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answer, Answer { rows: changed, ..rows(expected) }, "{text}");
    // The incremental sum is that of the relation a later statement sees.
    let program = format!("{program} range of x is parts retrieve (x.all)");
    let seen = oracle().answer(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(seen, rows(expected), "{text}");
}

const NUT: &[V] = &[I(1), T("nut"), I(5)];
const BOLT: &[V] = &[I(2), T("bolt"), I(5)];
const UPPER: &[V] = &[I(3), T("Bolt"), I(-7)];
const LAST: &[V] = &[I(3), T("nut"), I(0)];

#[test]
fn no_variable_is_one_row() {
    check("retrieve (a = 1)", &[&[I(1)]]);
    check("retrieve (a = 1) where 1 = 2", &[]);
}

#[test]
fn duplicates_stay_unless_unique() {
    check("retrieve (p.qoh) where p.qoh > 0", &[&[I(5)], &[I(5)]]);
    check("retrieve unique (p.qoh)", &[&[I(5)], &[I(-7)], &[I(0)]]);
    check("retrieve unique (x = p.qoh / 4.0)", &[&[R(1.25)], &[R(-1.75)], &[I(0)]]);
}

#[test]
fn conditions() {
    check("retrieve (p.all) where p.name = \"bolt\" or p.qoh = 0", &[BOLT, LAST]);
    check("retrieve (p.all) where not (p.pnum < 3 or p.qoh = 0)", &[UPPER]);
    check("retrieve (p.all) where p.name < \"bolt\"", &[UPPER]);
    check("retrieve (p.all) where p.name = \"nut   \"", &[NUT, LAST]);
    check("retrieve (p.all) where p.qoh < log(9.5) * p.pnum", &[UPPER, LAST]);
    check("retrieve (p.all) where p.pnum = 2.0", &[BOLT]);
}

#[test]
fn patterns() {
    check("retrieve (p.pnum) where p.name = \"*olt\"", &[&[I(2)], &[I(3)]]);
    check("retrieve (p.pnum) where p.name != \"?olt\"", &[&[I(1)], &[I(3)]]);
    check("retrieve (p.pnum) where p.name = \"[A-Z]*\"", &[&[I(3)]]);
    check("retrieve (p.pnum) where \"b*\" = p.name", &[&[I(2)]]);
    // Only = and != match; `<` compares with the characters themselves, as a backslash does.
    check("retrieve (p.pnum) where p.name < \"*\"", &[]);
    check("retrieve (p.pnum) where p.name = \"\\*olt\"", &[]);
    check("retrieve (x = \"a\\*b*\")", &[&[T("a*b*")]]);
}

#[test]
fn arithmetic() {
    check(
        "retrieve (a = 7 / 2, b = -7 / 2, c = -7 mod 2, d = mod(7, 4))",
        &[&[I(3), I(-3), I(-1), I(3)]],
    );
    check(
        "retrieve (a = 7 / 2.0, b = 2 ** 3, c = 2 ** -1, d = 2 ** 3 ** 2)",
        &[&[R(3.5), I(8), R(0.5), I(512)]],
    );
    check(
        "retrieve (a = abs(-3), b = abs(-1.5), c = int4(-2.9), d = bcdflt(0, 3))",
        &[&[I(3), R(1.5), I(-2), I(3)]],
    );
    check(
        "retrieve (a = log(9.5), b = sqrt(16), c = exp(0), d = float4(0.1))",
        &[&[R(9.5_f64.ln()), I(4), I(1), R(f64::from(0.1_f32))]],
    );
}

#[test]
fn joins() {
    check("retrieve (p.all) where p.pnum = w.pnum", &[NUT, UPPER, LAST]);
    check("retrieve (p.pnum, w.pnum) where p.pnum = w.pnum + 1", &[&[I(2), I(1)]]);
    check("retrieve (p.pnum, w.pnum) where p.pnum > w.pnum and p.qoh > 0", &[&[I(2), I(1)]]);
    check(
        "range of q is parts
        retrieve (p.qoh, q.qoh) where p.pnum = q.pnum and p.name = \"Bolt\"",
        &[&[I(-7), I(-7)], &[I(-7), I(0)]],
    );
    // A variable without a condition multiplies.
    check("retrieve (p.pnum) where p.pnum = 1 and w.pnum < 9", &[&[I(1)], &[I(1)], &[I(1)]]);
    check("retrieve (p.pnum) where w.pnum > 9", &[]);
}

#[test]
fn scalar_aggregates() {
    check(
        "retrieve (a = count(p.qoh), b = countu(p.qoh), c = sum(p.qoh), d = sumu(p.qoh))",
        &[&[I(4), I(3), I(3), I(-2)]],
    );
    check(
        "retrieve (a = avg(p.qoh), b = avgu(p.qoh), c = min(p.name), d = max(p.name))",
        &[&[R(0.75), R(-2.0 / 3.0), T("Bolt"), T("nut")]],
    );
    check(
        "retrieve (a = any(p.qoh where p.qoh > 4), b = any(p.qoh where p.qoh > 5))",
        &[&[I(1), I(0)]],
    );
    check("retrieve (p.all) where p.qoh = max(p.qoh)", &[NUT, BOLT]);
    // Self-contained: the qualification outside does not reach inside.
    check("retrieve (p.pnum, n = count(p.pnum)) where p.pnum = 1", &[&[I(1), I(4)]]);
    check("retrieve (n = count(p.pnum where p.qoh = min(p.qoh)) + 1)", &[&[I(2)]]);
    check("retrieve (n = sum(p.qoh / 2.0))", &[&[R(1.5)]]);
}

#[test]
fn aggregates_of_nothing() {
    check(
        "retrieve (a = count(p.qoh where p.qoh > 9), b = sum(p.qoh where p.qoh > 9))",
        &[&[I(0), Null]],
    );
    check(
        "retrieve (a = min(p.name where p.qoh > 9), b = 1 + avg(p.qoh where p.qoh > 9))",
        &[&[Null, Null]],
    );
    check("retrieve (p.pnum) where p.pnum != min(p.pnum where p.qoh > 9)", &[]);
    check("retrieve (p.pnum) where p.pnum = 1 or p.pnum = min(p.pnum where p.qoh > 9)", &[&[I(1)]]);
    check("retrieve (p.pnum) where not p.pnum = min(p.pnum where p.qoh > 9)", &[]);
}

#[test]
fn a_null_leaves_a_condition_open() {
    // An aggregate of nothing makes `open` neither true nor false.
    let open = "p.pnum = min(p.pnum where p.qoh > 9)";
    let all: &[&[V]] = &[NUT, BOLT, UPPER, LAST];
    for (condition, expected) in [
        (format!("{open} or p.pnum > 0"), all),
        (format!("p.pnum > 0 or {open}"), all),
        (format!("not ({open} or p.pnum < 0)"), &[]),
        (format!("not (p.pnum < 0 or {open})"), &[]),
        (format!("not ({open} and p.pnum < 0)"), all),
        (format!("not (p.pnum < 0 and {open})"), all),
        (format!("not ({open} and p.pnum > 0)"), &[]),
        ("not (p.pnum < 0 and p.pnum > 0)".to_owned(), all),
        ("not (p.pnum > 2 and p.qoh = 0)".to_owned(), &[NUT, BOLT, UPPER]),
    ] {
        check(&format!("retrieve (p.all) where {condition}"), expected);
    }
}

#[test]
fn partitions() {
    // Nothing else mentions p: one row per partition.
    check("retrieve (n = count(p.qoh by p.pnum))", &[&[I(1)], &[I(1)], &[I(2)]]);
    check(
        "retrieve (n = min(p.qoh by p.pnum) + 1, m = max(p.qoh by p.pnum))",
        &[&[I(6), I(5)], &[I(6), I(5)], &[I(-6), I(0)]],
    );
    // Every partition is there, even one without a qualifying tuple.
    check("retrieve (n = count(p.qoh by p.pnum where p.qoh > 0))", &[&[I(1)], &[I(1)], &[I(0)]]);
    check("retrieve (n = sum(p.qoh by p.pnum where p.qoh > 0))", &[&[I(5)], &[I(5)], &[Null]]);
    check("retrieve (n = count(p.qoh by p.pnum)) where count(p.qoh by p.pnum) > 1", &[&[I(2)]]);
    // Two partitionings multiply.
    check(
        "retrieve (n = count(p.qoh by p.pnum), m = sum(p.qoh by p.name)) where 1 = 1",
        &[
            &[I(1), I(5)],
            &[I(1), I(5)],
            &[I(1), I(-7)],
            &[I(1), I(5)],
            &[I(1), I(5)],
            &[I(1), I(-7)],
            &[I(2), I(5)],
            &[I(2), I(5)],
            &[I(2), I(-7)],
        ],
    );
    check("retrieve (n = countu(p.qoh by p.name))", &[&[I(2)], &[I(1)], &[I(1)]]);
    check("retrieve (n = count(p.qoh by p.pnum / 2))", &[&[I(1)], &[I(3)]]);
}

#[test]
fn partitions_joined_back() {
    check(
        "retrieve (p.pnum, n = count(p.qoh by p.pnum))",
        &[&[I(1), I(1)], &[I(2), I(1)], &[I(3), I(2)], &[I(3), I(2)]],
    );
    check("retrieve unique (p.pnum, n = count(p.qoh by p.pnum)) where p.qoh < 5", &[&[I(3), I(2)]]);
    check("retrieve (p.all) where p.qoh > avg(p.qoh by p.pnum)", &[LAST]);
    check(
        "retrieve (w.pnum, n = sum(p.qoh by w.pnum where p.pnum = w.pnum))",
        &[&[I(3), I(-7)], &[I(1), I(5)], &[I(4), Null]],
    );
    check(
        "retrieve (p.pnum) where p.qoh = min(p.qoh by p.pnum where p.qoh >= avg(p.qoh by p.pnum))",
        &[&[I(1)], &[I(2)], &[I(3)]],
    );
}

#[test]
fn changes() {
    check_change(
        "append to parts (pnum = 9, name = \"tap\", qoh = 1)",
        1,
        &[NUT, BOLT, UPPER, LAST, &[I(9), T("tap"), I(1)]],
    );
    check_change("append to parts (pnum = 9)", 1, &[NUT, BOLT, UPPER, LAST, &[I(9), T(""), I(0)]]);
    check_change(
        "append to parts (p.all) where p.qoh = 5",
        2,
        &[NUT, BOLT, UPPER, LAST, NUT, BOLT],
    );
    check_change("delete p where p.name = \"nut\"", 2, &[BOLT, UPPER]);
    check_change("delete p", 4, &[]);
    check_change("delete p where p.pnum = w.pnum", 3, &[BOLT]);
    check_change("delete p where p.qoh > 9", 0, &[NUT, BOLT, UPPER, LAST]);
    check_change(
        "replace p (qoh = p.qoh + 1) where p.pnum < 3",
        2,
        &[&[I(1), T("nut"), I(6)], &[I(2), T("bolt"), I(6)], UPPER, LAST],
    );
    check_change("replace p (name = p.name)", 4, &[NUT, BOLT, UPPER, LAST]);
    check_change(
        "replace p (qoh = w.pnum, name = \"x\") where p.pnum = w.pnum and p.qoh = 0",
        1,
        &[NUT, BOLT, UPPER, &[I(3), T("x"), I(3)]],
    );
    // An update sees the relation as it was.
    check_change(
        "replace p (qoh = max(p.qoh) - p.qoh) where p.pnum = 3",
        2,
        &[NUT, BOLT, &[I(3), T("Bolt"), I(12)], &[I(3), T("nut"), I(5)]],
    );
}

#[test]
fn statements_see_what_came_before() {
    check("append to parts (pnum = 7) delete p where p.pnum < 7 retrieve (p.pnum)", &[&[I(7)]]);
    check(
        "retrieve into b (p.pnum, twice = p.pnum * 2.0) where p.qoh = 5
        range of b is b retrieve (b.all, m = min(b.twice)) where b.pnum = 2",
        &[&[I(2), I(4), I(2)]],
    );
    check(
        "create s (word = c3, length = f8) range of s is s
        append to s (word = \"ab\", length = 2) replace s (length = s.length / 4)
        retrieve (s.all) destroy s",
        &[&[T("ab"), R(0.5)]],
    );
    check("retrieve (p.pnum) where p.pnum = 1 modify parts to isam on pnum go", &[&[I(1)]]);
}

#[test]
fn the_oracles_own_relations_stay() {
    let oracle = oracle();
    let before = oracle.contents("PARTS").unwrap();
    assert_eq!(before, rows(&[NUT, BOLT, UPPER, LAST]));
    oracle.answer("range of p is parts delete p retrieve (a = 1)").unwrap();
    assert_eq!(oracle.contents("parts").unwrap(), before);
    assert_eq!(oracle.contents("none"), None);
}
