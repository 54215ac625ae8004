//! PARTS of 1981: what the paper says of it, and what follows from the demonstration relation.

use std::collections::BTreeSet;
use std::sync::Arc;

use loadstone_datasets::{DatasetError, Source, edition, open, read_all, read_range};
use proptest::prelude::*;

use relations::{assert_same_rows, integers, texts};

mod relations;

fn parts(edition: &str, relation: &str, rows: u64) -> Arc<dyn Source> {
    open("ingres", edition, relation, rows, 0).expect("within the catalogue")
}

#[test]
fn tuples_have_34_and_200_bytes() {
    let bytes = |relation| {
        let attributes = parts("1981", relation, 1).attributes().to_vec();
        attributes.iter().map(|each| each.kind.width_bytes()).sum::<usize>()
    };
    assert_eq!((bytes("parts"), bytes("wideparts")), (34, 200));
}

#[test]
fn the_scanned_relation_repeats_the_demonstration() {
    let relation = read_all(&parts("1981", "parts", 3_360));
    assert!(integers(&relation, "pnum").into_iter().eq(1..=3_360));
    let (names, colors) = (texts(&relation, "pname"), texts(&relation, "pcolor"));
    assert_eq!((names[13].as_str(), names[14].as_str()), ("card punch", "central processor"));
    assert_eq!(colors.iter().filter(|color| *color == "black").count(), 4 * 240);
    // Query c: only the parts 1 and 2 are of no interest to it.
    let numbers = integers(&relation, "pnum");
    let kept = (0..3_360).filter(|row| numbers[*row] > 3 || colors[*row] == "black");
    assert_eq!(kept.count(), 3_358);
    // Query d, with log(9.5) as 2.2513.
    let on_hand = integers(&relation, "qoh").into_iter().zip(integers(&relation, "pweight"));
    let light = on_hand.filter(|(on_hand, weight)| (*on_hand as f64) < 2.2513 * *weight as f64);
    assert_eq!(light.count(), 10 * 240);
}

#[test]
fn the_keyed_relation_has_few_black_parts_and_130_late_ones() {
    let relation = read_all(&parts("1981", "wideparts", 3_360));
    let numbers = integers(&relation, "pnum");
    assert!(numbers.iter().copied().collect::<BTreeSet<_>>().into_iter().eq(1..=3_360));
    let black = texts(&relation, "pcolor").into_iter().filter(|color| color == "black");
    assert_eq!(black.count(), 240);
    assert_eq!(texts(&relation, "filler").into_iter().collect::<BTreeSet<_>>().len(), 3_360);

    // 3,230 in order fill 646 pages of five; each late one belongs on a full page of its own.
    let edition = edition("ingres", "1981").unwrap();
    assert_eq!(edition.late_rows("wideparts", 3_360), 130);
    assert_eq!(edition.late_rows("parts", 3_360), 0);
    let (built, late) = numbers.split_at(3_230);
    assert!(built.is_sorted());
    let pages = late.iter().map(|number| built.partition_point(|other| other < number) / 5);
    assert_eq!(pages.collect::<BTreeSet<_>>().len(), 130);
}

#[test]
fn part_numbers_end_where_their_width_does() {
    assert_eq!(read_all(&parts("1981", "parts", 1)).rows(), 1);
    let last = read_range(&parts("large", "wideparts", 1_000_000_000), 999_999_999, 1);
    assert_eq!(last.rows(), 1);
    for (edition, rows) in [("1981", 0), ("1981", 32_768), ("large", 1_000_000_001)] {
        let error = open("ingres", edition, "parts", rows, 0).err().unwrap();
        assert!(matches!(error, DatasetError::RowsOutOfRange { .. }), "{edition} {rows}: {error}");
    }
    assert!(open("ingres", "1981", "supply", 1, 0).is_err());
    let error = open("ingres", "1981", "parts", 1, 7).err().unwrap();
    assert!(matches!(error, DatasetError::SeedOutOfRange { seed_max: 0, .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_size_has_each_part_once(rows in 1_u64..30_000) {
        let relation = read_all(&parts("large", "wideparts", rows));
        let numbers: BTreeSet<_> = integers(&relation, "pnum").into_iter().collect();
        prop_assert!(numbers.into_iter().eq(1..=rows as i64));
    }

    #[test]
    fn any_split_gives_the_same_rows(
        rows in 1_u64..5_000,
        cuts in prop::collection::vec(0.0..1.0, 0..5),
        relation in prop::sample::select(vec!["parts", "wideparts"]),
    ) {
        let source = parts("1981", relation, rows);
        assert_same_rows(&source, &cuts);
    }
}
