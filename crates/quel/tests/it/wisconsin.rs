//! The Wisconsin queries at the papers' size, against the counts that are known for them.

use loadstone_datasets::{open, read_all};
use loadstone_quel::answer::RowEncoder;
use loadstone_quel::{Answer, Oracle, parse};
use std::path::Path;
use std::sync::LazyLock;

static ORACLE_1993: LazyLock<Oracle> =
    LazyLock::new(|| oracle("1993", &["onektup", "tenktup1", "tenktup2", "bprime"]));

static ORACLE_1983: LazyLock<Oracle> =
    LazyLock::new(|| oracle("1983", &["thoustup", "tenthoustup", "tenthoustup2", "tempbprime"]));

const RANGES: &str = "range of t is tenktup1 range of w is tenktup2 range of b is bprime
    range of o is onektup ";

fn oracle(edition: &str, relations: &[&str]) -> Oracle {
    let mut oracle = Oracle::new();
    for relation in relations {
        let source = open("wisconsin", edition, relation, 10_000, 0);
        oracle.add(read_all(&source.unwrap_or_else(|error| panic!("{error}"))));
    }
    oracle
}

/// (queries of 1993, text, rows)
const COUNTS: [(&str, &str, u64); 18] = [
    ("1 3 8", "retrieve (t.all) where t.unique2 >= 0 and t.unique2 <= 99", 100),
    ("2 4", "retrieve (t.all) where t.unique2 >= 792 and t.unique2 <= 1791", 1000),
    ("5", "retrieve (t.all) where t.unique1 >= 0 and t.unique1 <= 99", 100),
    ("6", "retrieve (t.all) where t.unique1 >= 792 and t.unique1 <= 1791", 1000),
    ("7", "retrieve (t.all) where t.unique2 = 2001", 1),
    ("9 12", "retrieve (t.all, w.all) where t.unique2 = w.unique2 and w.unique2 < 1000", 1000),
    ("10 13", "retrieve (t.all, b.all) where t.unique2 = b.unique2", 1000),
    (
        "11 14",
        "retrieve (o.all, t.all, w.all) where o.unique2 = t.unique2 and t.unique2 = w.unique2
         and t.unique2 < 1000",
        1000,
    ),
    ("15", "retrieve (t.all, w.all) where t.unique1 = w.unique1 and t.unique1 < 1000", 1000),
    (
        "15 as printed",
        "retrieve (t.all, w.all) where t.unique1 = w.unique1 and t.unique2 < 1000",
        1000,
    ),
    ("16", "retrieve (t.all, b.all) where t.unique1 = b.unique1", 1000),
    (
        "17",
        "retrieve (o.all, t.all, w.all) where o.unique1 = t.unique1 and t.unique1 = w.unique1
         and t.unique1 < 1000",
        1000,
    ),
    ("18", "retrieve unique (t.two, t.four, t.ten, t.twenty, t.onePercent, t.string4)", 400),
    ("18 small", "retrieve unique (o.two, o.four, o.ten, o.twenty, o.onePercent, o.string4)", 376),
    ("26 29", "append to tenktup1 (unique1 = 10001, unique2 = 10001)", 1),
    ("27 30", "delete t where t.unique1 = 10001", 0),
    ("28 31", "replace t (unique2 = 10001) where t.unique2 = 1491", 1),
    ("32", "replace t (unique1 = 10001) where t.unique1 = 1491", 1),
];

#[test]
fn counts_of_1993() {
    for (query, text, rows) in COUNTS {
        let answer = ORACLE_1993.answer(&format!("{RANGES}{text}"));
        assert_eq!(answer.unwrap_or_else(|error| panic!("{error}")).rows, rows, "Q{query}");
    }
}

/// Of three blocks of rows: where nothing is kept, each answer is as where all is.
#[test]
fn a_relation_that_is_generated_again_gives_the_same_answers() {
    let mut again = Oracle::new().with_kept_bytes_max(0);
    for relation in ["onektup", "tenktup1", "tenktup2", "bprime"] {
        let source = open("wisconsin", "1993", relation, 10_000, 0).unwrap();
        again.open(source, relation);
        assert_eq!(again.contents(relation), ORACLE_1993.contents(relation), "{relation}");
    }
    let others = [
        "retrieve (x = sum(t.unique3 by t.onePercent))",
        "retrieve (t.unique1, x = count(t.two where t.stringu2 = \"*G*\"))",
        "retrieve into temp (t.all) where t.ten = 3
         range of m is temp retrieve (m.all) where m.unique1 = w.unique1",
        "replace t (two = t.two + 1) where t.unique1 < 5000 retrieve (t.all) where t.two = 2",
    ];
    for text in COUNTS.map(|(_, text, _)| text).into_iter().chain(others) {
        let program = format!("{RANGES}{text}");
        assert_eq!(
            again.answer(&program).unwrap(),
            ORACLE_1993.answer(&program).unwrap(),
            "{text}"
        );
    }
}

#[test]
fn projections_without_duplicates_keep_all() {
    let all = "retrieve unique (t.two, t.four, t.ten, t.twenty, t.onePercent, t.tenPercent,
        t.twentyPercent, t.fiftyPercent, t.unique3, t.evenOnePercent, t.oddOnePercent,
        t.stringu1, t.stringu2, t.string4)";
    let unique = ORACLE_1993.answer(&format!("{RANGES}{all}")).unwrap();
    let plain = ORACLE_1993.answer(&format!("{RANGES}{}", all.replace("unique (", "("))).unwrap();
    assert_eq!(unique.rows, 10_000);
    assert_eq!(unique, plain);
}

fn integers(values: impl Iterator<Item = i64>) -> Answer {
    let mut answer = Answer::default();
    let mut row = RowEncoder::default();
    for value in values {
        row.integer(value);
        answer.add(row.finish_row());
    }
    answer
}

#[test]
fn aggregates_of_1993() {
    let answer = |text: &str| ORACLE_1993.answer(&format!("{RANGES}{text}")).unwrap();
    assert_eq!(answer("retrieve (x = min(t.unique2))"), integers(0..=0));
    assert_eq!(answer("retrieve (x = min(t.unique3 by t.onePercent))"), integers(0..100));
    let sums = integers((0..100).map(|group| 495_000 + 100 * group));
    assert_eq!(answer("retrieve (x = sum(t.unique3 by t.onePercent))"), sums);
}

#[test]
fn updates_that_undo_each_other() {
    let before = ORACLE_1993.contents("tenktup1").unwrap();
    let pairs = [
        "append to tenktup1 (unique1 = 10001) delete t where t.unique1 = 10001",
        "replace t (unique2 = 10001) where t.unique2 = 1491
         replace t (unique2 = 1491) where t.unique2 = 10001",
        "replace t (unique1 = 10001) where t.unique1 = 1491
         replace t (unique1 = 1491) where t.unique1 = 10001",
    ];
    for pair in pairs {
        let after = ORACLE_1993.answer(&format!("{RANGES}{pair}")).unwrap();
        assert_eq!(after, Answer { rows: 1, ..before }, "{pair}");
    }
}

#[test]
fn strings_of_1983_select_one_percent() {
    let ranges = "range of t is tenthoustup ";
    let (x25, x24) = ("x".repeat(25), "x".repeat(24));
    let below = format!("retrieve (t.all) where t.stringu2 < \"A{x25}E{x24}Q\"");
    let between = format!(
        "retrieve (t.all) where (t.stringu2 > \"B{x25}G{x24}E\") and t.stringu2 < \"B{x25}L{x24}A\""
    );
    for text in [below, between] {
        assert_eq!(ORACLE_1983.answer(&format!("{ranges}{text}")).unwrap().rows, 100, "{text}");
    }
}

#[test]
fn joins_of_1983_give_a_thousand() {
    for key in ["unique1", "unique2"] {
        let text = format!(
            "range of o is thoustup range of t is tenthoustup range of w is tenthoustup2
             range of b is tempBprime
             retrieve into tempsel1(t.all,w.all) where (t.{key} = w.two{key}) and w.two{key} < 1000
             go
             retrieve into tempjoinABpr (t.all,b.all) where t.{key} = b.two{key}
             go
             retrieve into tempsel3(t.all,w.all) where (t.{key} = w.two{key}) and
             (w.two{key} < 1000) and (t.{key} < 1000) and (t.{key} = o.one{key})"
        );
        // Each statement is the last once.
        for (number, _) in text.match_indices("go").chain([(text.len(), "")]) {
            assert_eq!(ORACLE_1983.answer(&text[..number]).unwrap().rows, 1000, "{key}");
        }
    }
}

#[test]
fn the_suites_own_files_parse() {
    let folder = "../../python/loadstone/benchmarks/wisconsin";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    for edition in ["1983", "1993"] {
        let text = std::fs::read_to_string(folder.join(format!("queries-{edition}.quel"))).unwrap();
        let statements = parse(&text).unwrap_or_else(|error| panic!("{edition}: {error}"));
        assert!(statements.len() > 60, "{edition}: {}", statements.len());
    }
}
