//! The relations of OO7: what its specification says of them, whatever the random numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loadstone_datasets::{Column, DatasetError, Relation, Source, edition, open, read_all};
use proptest::prelude::*;

use relations::{assert_same_rows, column, integers, texts};

mod relations;

const SMALL: u64 = 10_000;

fn oo7(edition: &str, relation: &str, parts: u64, seed: u64) -> Arc<dyn Source> {
    open("oo7", edition, relation, parts, seed).expect("within the catalogue")
}

fn small(relation: &str) -> Relation {
    read_all(&oo7("1993-3", relation, SMALL, 0))
}

/// Values of `name`, each with how often it comes.
fn counted(relation: &Relation, name: &str) -> BTreeMap<i64, usize> {
    let mut counts = BTreeMap::new();
    for value in integers(relation, name) {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts
}

/// The number of letters I that a text has: what T4 and T8 count.
fn letters(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'I').count() - 1
}

/// Section 2, "Derived".
#[test]
fn sizes_are_the_published_ones() {
    for (parts, documents_bytes, manual_bytes) in
        [(SMALL, 2_000, 100_000), (100_000, 20_000, 1_000_000)]
    {
        for (edition, fan_out) in [("1993-3", 3), ("1993-6", 6), ("1993-9", 9)] {
            let rows = |relation: &str| oo7(edition, relation, parts, 0).rows();
            assert_eq!(rows("module"), 1);
            assert_eq!(rows("manual"), 1);
            assert_eq!(rows("complexassembly"), 364);
            assert_eq!(rows("baseassembly"), 729);
            assert_eq!(rows("componentpriv"), 2_187);
            assert_eq!(rows("componentshar"), 2_187);
            assert_eq!(rows("compositepart"), 500);
            assert_eq!(rows("document"), 500);
            assert_eq!(rows("atomicpart"), parts);
            assert_eq!(rows("connection"), parts * fan_out);
            let text = |relation: &str| {
                let attributes = oo7(edition, relation, parts, 0).attributes().to_vec();
                attributes.last().expect("a text").kind.width_bytes()
            };
            assert_eq!(text("document"), documents_bytes - 1);
            assert_eq!(text("manual"), manual_bytes - 1);
        }
    }
    let large = |relation: &str| oo7("1993-9", relation, 1_000_000, 0).rows();
    assert_eq!(
        (large("module"), large("complexassembly"), large("baseassembly")),
        (10, 3_640, 7_290)
    );
    assert_eq!((large("compositepart"), large("connection")), (5_000, 9_000_000));
}

/// Section 3: one root a module, each complex assembly with three children, ids from 1.
#[test]
fn assemblies_are_a_tree_of_seven_levels() {
    let (complex, base) = (small("complexassembly"), small("baseassembly"));
    assert!(integers(&complex, "id").into_iter().eq(1..=364));
    assert!(integers(&base, "id").into_iter().eq(1..=729));
    let mut children = counted(&complex, "super");
    assert_eq!(children.remove(&0), Some(1), "one root");
    for (parent, count) in counted(&base, "super") {
        assert!(children.insert(parent, count).is_none(), "a parent of both kinds: {parent}");
    }
    assert!(children.len() == 364 && children.values().all(|count| *count == 3));
    let levels: BTreeMap<i64, usize> = counted(&complex, "level");
    assert!(levels.into_iter().eq([(1, 1), (2, 3), (3, 9), (4, 27), (5, 81), (6, 243)]));
    assert_eq!(integers(&small("module"), "root"), [1]);
}

/// Section 3, "Base assembly to composites", with the shares that random numbers give.
#[test]
fn base_assemblies_name_composite_parts_of_their_own_module() {
    for relation in ["componentpriv", "componentshar"] {
        let components = small(relation);
        assert!(counted(&components, "assembly").values().eq(&[3; 729]));
        let used = counted(&components, "composite");
        assert!(used.keys().all(|id| (1..=500).contains(id)));
        assert!((485..=500).contains(&used.len()), "{relation}: {} used", used.len());
    }
    let two = read_all(&oo7("1993-3", "componentpriv", 200_000, 0));
    let (assemblies, composites) = (integers(&two, "assembly"), integers(&two, "composite"));
    for (assembly, composite) in assemblies.into_iter().zip(composites) {
        assert_eq!((assembly - 1) / 729, (composite - 1) / 500, "of another module");
    }
    let shared = read_all(&oo7("1993-3", "componentshar", 200_000, 0));
    assert!(integers(&shared, "composite")[..2_187].iter().any(|id| *id > 500));
}

/// Section 3, "Connection rule".
#[test]
fn connections_stay_in_their_composite_part_and_close_a_ring() {
    for (edition, fan_out) in [("1993-3", 3), ("1993-9", 9)] {
        let connections = read_all(&oo7(edition, "connection", SMALL, 0));
        let (from, to) = (integers(&connections, "frm"), integers(&connections, "too"));
        let numbers = integers(&connections, "number");
        let mut own = 0;
        for (place, (from, to)) in from.iter().zip(&to).enumerate() {
            assert_eq!(*from, place as i64 / fan_out + 1);
            assert_eq!(numbers[place], place as i64 % fan_out + 1);
            assert_eq!((from - 1) / 20, (to - 1) / 20, "leaves its composite part");
            if numbers[place] == 1 {
                assert_eq!(*to, (from - 1) / 20 * 20 + from % 20 + 1, "the ring");
            }
            own += usize::from(from == to);
        }
        // A twentieth of all but the ring's.
        let expected = 10_000.0 * (fan_out - 1) as f64 / 20.0;
        assert!((own as f64 - expected).abs() < 0.1 * expected, "{own} lead to themselves");
    }
}

/// Section 3, "Build dates", and the value rules of section 1.
#[test]
fn dates_and_values_lie_in_their_ranges() {
    for relation in ["module", "complexassembly", "baseassembly", "atomicpart"] {
        let dates = integers(&small(relation), "builddate");
        assert!(dates.iter().all(|date| (1_000..2_000).contains(date)), "{relation}");
    }
    let composites = small("compositepart");
    for (id, date) in (1_i64..).zip(integers(&composites, "builddate")) {
        let range = if id % 10 == 0 { 2_000..3_000 } else { 0..1_000 };
        assert!(range.contains(&date), "composite part {id}: {date}");
    }
    let parts = small("atomicpart");
    for name in ["x", "y"] {
        let values = integers(&parts, name);
        assert!(values.iter().all(|value| (0..100_000).contains(value)));
        assert!(
            values.iter().any(|value| *value > 99_900) && values.iter().any(|value| *value < 100)
        );
    }
    assert!(integers(&parts, "docid").into_iter().collect::<BTreeSet<_>>().into_iter().eq(1..=500));
    assert!(counted(&parts, "composite").into_iter().eq((1..=500).map(|id| (id, 20))));
    assert!(integers(&composites, "rootpart").into_iter().eq((0..500).map(|id| 20 * id + 1)));
    let types: BTreeSet<String> = texts(&parts, "type").into_iter().collect();
    assert!(types.into_iter().eq((0..10).map(|kind| format!("type00{kind}"))));
}

#[test]
fn documents_and_manuals_hold_their_line_again_and_again() {
    let documents = small("document");
    assert_eq!(texts(&documents, "title")[499], "Composite Part 00000500");
    let Column::Text { bytes, .. } = column(&documents, "text") else { panic!("no text") };
    assert_eq!(letters(bytes), 500 * 38);
    let manual = small("manual");
    assert_eq!(integers(&manual, "textlen"), [99_999]);
    let Column::Text { bytes, .. } = column(&manual, "text") else { panic!("no text") };
    assert_eq!(letters(bytes), 2_632);
}

/// The same objects however many connections: only the draws after them differ.
#[test]
fn another_seed_is_another_database_and_seed_0_is_seed_1() {
    let rows = |seed| read_all(&oo7("1993-3", "connection", 1_000, seed));
    assert_eq!(rows(0), rows(1));
    assert_ne!(rows(1), rows(2));
}

#[test]
fn sizes_and_names_that_are_not_defined() {
    let error = |rows| open("oo7", "1993-3", "atomicpart", rows, 0).err();
    for rows in [0, 500, 50_000_500] {
        assert!(matches!(error(rows), Some(DatasetError::RowsOutOfRange { .. })), "{rows}");
    }
    for rows in [1_001, 10_100, 100_500, 250_000] {
        assert!(matches!(error(rows), Some(DatasetError::RowsOffStep { .. })), "{rows}");
    }
    assert!(open("oo7", "1993-3", "atomicpart", SMALL, 1 << 31).is_err());
    assert!(edition("oo7", "1993-3").unwrap().attributes("parts").is_err());
    assert!(edition("oo7", "1993-4").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_split_gives_the_same_rows(
        each in 2_u64..12,
        modules in prop::sample::select(vec![0_u64, 2]),
        cuts in prop::collection::vec(0.0..1.0, 0..5),
        seed in 0_u64..100,
        edition in prop::sample::select(vec!["1993-3", "1993-6", "1993-9"]),
        relation in prop::sample::select(vec![
            "module", "complexassembly", "baseassembly", "componentpriv", "componentshar",
            "compositepart", "document", "atomicpart", "connection",
        ]),
    ) {
        let few = matches!(relation, "atomicpart" | "connection" | "document");
        let parts = if modules == 0 || few { each * 500 } else { 200_000 };
        assert_same_rows(&oo7(edition, relation, parts, seed), &cuts);
    }
}
