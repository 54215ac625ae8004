//! Errors say what is wrong, show where, and say what would be right.

use loadstone_datasets::{Column, Relation};
use loadstone_quel::{MAX_DEPTH, Oracle, QuelError, from_json, parse, print, to_json};

fn oracle() -> Oracle {
    let mut oracle = Oracle::new();
    oracle.add(Relation {
        name: "parts".into(),
        columns: vec![
            ("pnum".into(), Column::Int16(vec![1, 2])),
            ("pname".into(), Column::Text { width: 4, bytes: b"diskdrum".to_vec() }),
        ],
    });
    oracle
}

#[test]
fn a_syntax_error_as_the_user_sees_it() {
    let error = parse("range of t is tenthoustup\nretrieve (t.all) were t.unique2 < 100");
    let expected = "\
line 2, column 18: `were` cannot stand here
  |
2 | retrieve (t.all) were t.unique2 < 100
  |                  ^^^^
  = expected a command: range of, retrieve, append, replace, delete, create, index, modify, \
destroy or go";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

#[test]
fn an_unknown_name_as_the_user_sees_it() {
    let error = oracle().answer("range of p is parts\nretrieve (p.pnum)\n  where p.color = 'red'");
    let expected = "\
line 3, column 11: `parts` has no attribute `color`
  |
3 |   where p.color = 'red'
  |           ^^^^^
  = attributes there are: pnum, pname";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

/// (text, place of the caret, beginning of the message, part of the hint)
const SYNTAX: [(&str, (usize, usize), &str, &str); 20] = [
    ("retrieve (t.all", (1, 16), "the end of the text", "`,` or `)`"),
    ("retrieve (t.a < 1)", (1, 11), "a computed target needs a name", "name = value"),
    ("delete t where t.a < 1 < 2", (1, 24), "comparisons do not chain", "`and`"),
    ("delete t where (1 < (2) < 3)", (1, 25), "comparisons do not chain", "`and`"),
    ("range of where is r", (1, 10), "`where` is a word", "range variable"),
    ("delete t where t.a = \"x", (1, 22), "this text is never closed", "closing \""),
    ("/* note", (1, 1), "this comment", "*/"),
    ("delete t where t.a = 9223372036854775808", (1, 22), "this integer is too large", "largest"),
    ("delete t where t.a = 1e999", (1, 22), "this number is too large", "largest"),
    ("delete t where t.a = 3x", (1, 22), "a name cannot begin", "blank"),
    ("delete t where t.a = #", (1, 22), "the character '#'", ""),
    ("delete t where t.a = $0", (1, 22), "this is not a parameter", "$1"),
    ("delete t where t.a = $1001", (1, 22), "this is not a parameter", "$1000"),
    ("delete $1", (1, 8), "the parameter $1 cannot", "range variable"),
    ("create r (a = i3)", (1, 15), "`i3` is not a type", "i1, i2"),
    ("modify r to tree", (1, 13), "`tree` cannot", "btree"),
    ("delete t where t.all = 1", (1, 18), "`.all` stands only", "one attribute"),
    ("delete t where é", (1, 16), "the character 'é'", ""),
    ("delete t where", (1, 15), "the end of the text", "an attribute such as"),
    ("retrieve (min(t.a))", (1, 11), "a computed target needs a name", "name = value"),
];

#[test]
fn syntax_errors() {
    for (text, place, message, hint) in SYNTAX {
        match parse(text) {
            Err(QuelError::Syntax(report)) => {
                assert_eq!((report.line, report.column), place, "{text}");
                assert!(report.message.starts_with(message), "{text}: {report}");
                assert!(report.expected.unwrap_or_default().contains(hint), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// (text, part of the message, part of the hint)
const MEANING: [(&str, &str, &str); 23] = [
    ("retrieve (q.a)", "no range variable `q`", "there are: p"),
    ("range of q is partz", "no relation `partz`", "there are: parts"),
    ("retrieve (x = p.qoh)", "no attribute `qoh`", "pnum, pname"),
    ("retrieve (x = p.pname + 1)", "a text is not a number", "a number"),
    ("retrieve (p.pnum) where p.pnum", "an integer is not a condition", "comparison"),
    ("retrieve (p.pnum) where p.pnum = 'x'", "an integer and a text", "two numbers"),
    ("retrieve (x = p.pnum = 1)", "a condition is not a value", "where"),
    ("retrieve (x = sine(p.pnum))", "no function `sine`", "sin"),
    ("retrieve (x = log(1, 2))", "wrong arguments", "one number"),
    ("retrieve (x = 1.5 mod 2)", "`mod` takes integers", "int4"),
    ("retrieve (x = sum(p.pname))", "`sum` cannot take a text", "a number"),
    ("retrieve (x = min(p.pnum by count(p.pnum)))", "cannot stand after `by`", "attributes"),
    ("retrieve (p.pnum) where p.pname = '[a'", "never closed", "]"),
    ("retrieve (p.pnum) where p.pname = '[]'", "empty", "]"),
    ("append to parts (pnum = 1.5)", "`pnum` cannot hold a real number", "int4"),
    ("append to parts (pnum = 1, pnum = 2)", "set twice", ""),
    ("replace p (size = 1)", "no attribute `size`", "pnum"),
    ("delete parts", "no range variable `parts`", "p"),
    ("create parts (a = i2)", "already", "destroy"),
    ("modify parts to isam on color", "no attribute `color`", "pnum"),
    ("create index on partz (a)", "no relation `partz`", "parts"),
    ("delete p where p.pnum = $2", "no value for the parameter $2", "0 given"),
    ("destroy parts retrieve (p.pnum)", "no relation `parts`", "no relations"),
];

#[test]
fn errors_of_meaning() {
    for (text, message, hint) in MEANING {
        match oracle().answer(&format!("range of p is parts\n{text}")) {
            Err(QuelError::Meaning(report)) => {
                assert!(report.message.contains(message), "{text}: {report}");
                assert!(report.expected.clone().unwrap_or_default().contains(hint), "{report}");
                assert!(report.line == 2, "{report}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// (text, part of the message)
const EVALUATION: [(&str, &str); 14] = [
    ("retrieve (x = 1 / (p.pnum - 1))", "division by zero"),
    ("retrieve (x = 1 mod (p.pnum - 1))", "division by zero"),
    ("retrieve (x = 9223372036854775807 + p.pnum)", "does not fit into 64 bits"),
    ("retrieve (x = -(-9223372036854775807 - p.pnum))", "does not fit into 64 bits"),
    ("retrieve (x = sum(p.pnum * 6000000000000000000))", "does not fit into 64 bits"),
    ("retrieve (x = sum(p.pnum + 9223372036854775800))", "does not fit into 64 bits"),
    ("retrieve (x = log(p.pnum - 1))", "not a finite number"),
    ("retrieve (x = int1(p.pnum * 100))", "does not fit into 1 bytes"),
    ("append to parts (pnum = 32768)", "32768 does not fit into `pnum`"),
    (
        "retrieve into b (most = max(p.pname), one = 'x') append to b (most = 'drums')",
        "a text of 5 bytes does not fit",
    ),
    ("append to parts (pname = 'drums')", "a text of 5 bytes does not fit"),
    ("append to parts (pnum = min(p.pnum where p.pnum > 9))", "cannot hold a null"),
    ("range of q is parts replace p (pnum = q.pnum)", "two values of `pnum`"),
    ("replace p (pnum = p.pnum * 20000)", "40000 does not fit into `pnum`"),
];

#[test]
fn errors_of_evaluation() {
    for (text, message) in EVALUATION {
        match oracle().answer(&format!("range of p is parts\n{text}")) {
            Err(QuelError::Evaluation(report)) => {
                assert!(report.message.contains(message), "{text}: {report}");
                assert_eq!(report.line, 2, "{report}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_program_that_asks_nothing() {
    let error = oracle().answer("range of p is parts").unwrap_err();
    assert!(error.to_string().contains("has no query"), "{error}");
}

#[test]
fn a_large_product_ends_with_a_message() {
    let mut oracle = Oracle::new().with_combinations_max(10_000);
    let columns = vec![("a".into(), Column::Int32((0..1000).collect()))];
    oracle.add(Relation { name: "r".into(), columns });
    let ranges = "range of t is r range of u is r ";
    for text in ["retrieve (t.a)", "retrieve (t.a) where t.a = u.a"] {
        assert!(oracle.answer(&format!("{ranges}{text}")).is_ok(), "{text}");
    }
    let products = [
        "retrieve (t.a, u.a)",
        "retrieve (t.a) where t.a < u.a",
        "retrieve (t.a) where t.a mod 2 = u.a mod 2",
        "retrieve (x = count(t.a where t.a < u.a))",
        "retrieve (x = count(t.a by u.a))",
        "delete t where t.a != u.a",
    ];
    for text in products {
        let error = oracle.answer(&format!("{ranges}{text}")).unwrap_err().to_string();
        assert!(error.contains("more than 10000 combinations"), "{error}");
        assert!(error.contains("equalities"), "{error}");
    }
}

#[test]
fn deep_texts_are_refused_and_the_deepest_allowed_work() {
    let deep = |open: &str, close: &str, levels: usize| {
        format!("delete t where {}t.a = 1{}", open.repeat(levels), close.repeat(levels))
    };
    for (open, close) in
        [("(", ")"), ("not ", ""), ("", " and t.a = 1"), ("1 < count(t.a where ", ")")]
    {
        let error = parse(&deep(open, close, 100_000)).unwrap_err();
        assert!(error.to_string().contains("too deeply"), "{open}");
    }
    assert!(parse(&format!("delete t where {}1 = 1", "-".repeat(100_000))).is_err());
    for (open, close) in [("not ", ""), ("", " and t.a = 1")] {
        let tree = parse(&deep(open, close, MAX_DEPTH - 3)).unwrap();
        assert_eq!(parse(&print(&tree).unwrap()).unwrap(), tree);
        assert_eq!(from_json(&to_json(&tree)).unwrap(), tree);
    }
    let calls = "f(".repeat(MAX_DEPTH - 2) + "1" + &")".repeat(MAX_DEPTH - 2);
    let tree = parse(&format!("retrieve (x = {calls})")).unwrap();
    assert_eq!(from_json(&to_json(&tree)).unwrap(), tree);
    let nested = r#"{"kind":"unary","operator":"not","operand":"#.repeat(500_000);
    let json = format!(r#"[{{"kind":"delete","variable":"t","where":{nested}"#);
    assert!(from_json(&json).unwrap_err().to_string().contains("too deeply"));
}

#[test]
fn a_long_line_is_shown_around_the_caret() {
    let text = format!("delete t where {} t.a ! 1", "t.a = 1 or ".repeat(200));
    let shown = parse(&text).unwrap_err().to_string();
    assert!(shown.lines().all(|line| line.chars().count() < 120), "{shown}");
    let lines: Vec<_> = shown.lines().collect();
    let caret = lines[3].find('^').unwrap();
    assert_eq!(&lines[2][caret..=caret], "!", "{shown}");
}

#[test]
fn trees_that_have_no_text_are_refused() {
    let go = |json: &str| from_json(json).and_then(|tree| print(&tree));
    let refused = [
        r#"[{"kind":"range","variable":"t","relation":"two words"}]"#,
        r#"[{"kind":"range","variable":"t","relation":"where"}]"#,
        r#"[{"kind":"range","variable":"t"}]"#,
        r#"[{"kind":"retrieve","unique":false,"into":null,"targets":[{"kind":"named","name":null,
            "value":{"kind":"integer","value":1}}],"where":null}]"#,
        r#"[{"kind":"retrieve","unique":false,"into":null,"targets":[],"where":null}]"#,
        r#"{"kind":"go"}"#,
        "[",
    ];
    for json in refused {
        assert!(matches!(go(json), Err(QuelError::Tree(_))), "{json}");
    }
}
