//! The relations of the IDM tests: what the papers say of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use loadstone_datasets::{AttributeType, Source, edition, open, read_all};
use proptest::prelude::*;

use relations::{assert_same_rows, integers, texts};

mod relations;

fn idm(relation: &str, rows: u64, seed: u64) -> Arc<dyn Source> {
    open("idm", "1986", relation, rows, seed).expect("within the catalogue")
}

#[test]
fn the_simple_relation_has_nine_attributes_in_100_bytes() {
    let attributes = idm("simple", 100, 0).attributes().to_vec();
    assert_eq!(attributes.len(), 9);
    assert_eq!(attributes.iter().map(|each| each.kind.width_bytes()).sum::<usize>(), 100);
    assert_eq!(attributes.iter().filter(|each| each.kind == AttributeType::Int4).count(), 7);
    let relation = read_all(&idm("simple", 5_000, 0));
    assert!(integers(&relation, "ordered").into_iter().eq(0..5_000));
    let mut scattered = integers(&relation, "scattered");
    assert!(!scattered.is_sorted());
    scattered.sort_unstable();
    assert!(scattered.into_iter().eq(0..5_000));
    for name in ["random1", "random5"] {
        let values = integers(&relation, name);
        assert!(values.iter().all(|value| (0..10_000).contains(value)));
        assert!(values.iter().collect::<BTreeSet<_>>().len() > 3_500);
    }
}

#[test]
fn the_dictionary_has_24001_words_in_order() {
    let relation = read_all(&idm("dictionary", 100, 0));
    let (words, lengths) = (texts(&relation, "word"), integers(&relation, "length"));
    assert_eq!(words.len(), 24_001);
    assert!(words.is_sorted_by(|one, next| one < next), "in order, and each once");
    assert_eq!(words.iter().filter(|word| word.starts_with('s')).count(), 2_210);
    let letters: BTreeSet<_> = words.iter().map(|word| word.as_bytes()[0]).collect();
    assert_eq!(letters.len(), 26);
    for (word, length) in words.iter().zip(&lengths) {
        let known = word == "databasemanagementsystem";
        assert_eq!(*length, if known { 10 } else { word.len() as i64 }, "{word}");
    }
    assert!(words.iter().any(|word| word == "databasemanagementsystem"));
    let long = lengths.iter().filter(|length| **length >= 13).count();
    assert!((1_500..2_500).contains(&long), "{long}");
    let other = texts(&read_all(&idm("dictionary", 100, 7)), "word");
    assert_ne!(other, words);
    assert_eq!(other.iter().filter(|word| word.starts_with('s')).count(), 2_210);
}

#[test]
fn borrowed_relations_are_those_of_wisconsin() {
    for (name, of, prefix) in [("onektup", "thoustup", "one"), ("tenktup", "tenthoustup", "")] {
        let ours = read_all(&idm(name, 100, 0));
        let theirs = read_all(&open("wisconsin", "1983", of, 100, 0).unwrap());
        assert_eq!(ours.name, name);
        for ((name, column), (of, other)) in ours.columns.iter().zip(&theirs.columns) {
            assert_eq!((name.as_str(), column), (of.strip_prefix(prefix).unwrap(), other));
        }
    }
    let relation = read_all(&idm("onektup", 100, 0));
    let strings = texts(&relation, "stringu2");
    assert_eq!(strings.iter().filter(|text| text.starts_with('G')).count(), 46);
    assert_eq!(strings.iter().filter(|text| text.contains('G')).count(), 88);
}

#[test]
fn sizes_and_names_that_are_not_defined() {
    for rows in [0, 9, 1_000_000_001] {
        assert!(open("idm", "1986", "simple", rows, 0).is_err(), "{rows}");
    }
    assert!(edition("idm", "1986").unwrap().attributes("words").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_split_gives_the_same_rows(
        rows in 10_u64..5_000,
        cuts in prop::collection::vec(0.0..1.0, 0..5),
        seed in 0_u64..100,
        relation in prop::sample::select(vec!["simple", "dictionary", "onektup"]),
    ) {
        let source = idm(relation, rows, seed);
        assert_same_rows(&source, &cuts);
    }
}
