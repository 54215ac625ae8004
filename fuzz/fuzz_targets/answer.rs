//! Any program gives an answer or an error, and the same one again from its canonical text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loadstone_datasets::{Column, Relation};
use loadstone_quel::{Oracle, parse, print};
use std::sync::LazyLock;

static ORACLE: LazyLock<Oracle> = LazyLock::new(|| {
    let mut oracle = Oracle::new().with_combinations_max(10_000);
    let text = Column::Text { width: 2, bytes: b"a b aba ".to_vec() };
    let columns = vec![("a".into(), Column::Int16(vec![1, 2, 2, -3])), ("b".into(), text)];
    oracle.add(Relation { name: "r".into(), columns });
    oracle
});

fuzz_target!(|text: &str| {
    let program = format!("range of t is r range of u is r {text}");
    let answer = ORACLE.answer(&program).ok();
    if let Ok(tree) = parse(&program) {
        let printed = print(&tree).expect("a parsed tree has a text");
        assert_eq!(ORACLE.answer(&printed).ok(), answer, "{printed}");
    }
});
