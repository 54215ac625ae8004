//! The catalog's records of a relation are read again, by its transaction and by later ones.

use loadstone_quel::schema::Kind;
use lode::PageWrite;
use lode::internals::heap::RECORD_BYTES_MAX;

use super::*;
use crate::catalog::{AttributeStatistics, Constant, remove};

fn layout(attributes: &[(&str, Kind)]) -> Layout {
    Layout::of(attributes.iter().map(|&(name, kind)| (name.to_owned(), kind, false)))
}

fn make(pages: &mut impl PageWrite, name: &str, layout: Layout, design: Design) -> RelationInfo {
    Loader::new(pages, name, layout, design, &workspace()).unwrap().finish(pages).unwrap()
}

#[test]
fn a_database_without_relations_has_an_empty_catalog() {
    let database = database();
    assert_eq!(Catalog::read(&database.reading()).unwrap().relations().count(), 0);
}

#[test]
fn facts_of_a_relation_are_read_again() {
    let database = database();
    let long = "n".repeat(300);
    let kinds = [
        ("a", Kind::Integer { bytes: 1 }),
        ("a", Kind::Real { bytes: 4 }),
        (long.as_str(), Kind::Text { width: 3 }),
    ];
    let design = Design {
        structure: NewStructure::Clustered(vec![2, 0]),
        indexes: vec![(vec![1], true), (vec![0, 1], false)],
        ..Design::default()
    };
    let mut writing = database.writing();
    let mut made = make(&mut writing, &long, layout(&kinds), design);
    settle(&mut writing, &mut made).unwrap();
    assert_eq!(**Catalog::read(&writing).unwrap().relation(&long).unwrap(), made);
    writing.commit().unwrap();
    let reading = database.reading();
    let catalog = Catalog::read(&reading).unwrap();
    let info = catalog.relation(&long).unwrap();
    assert_eq!(**info, made);
    assert_eq!(info.organisation, Organisation::Clustered { attribute: 2 });
    assert_eq!(info.statistics[0], AttributeStatistics { distinct: 0, range: None });
    assert_eq!(info.secondary(0).unwrap().attributes, [0, 1]);
    assert!(info.secondary(1).unwrap().is_unique && info.primary().unwrap().is_primary);
    assert_eq!(catalog.quel_catalogue()[&long].len(), 3);
}

#[test]
fn a_relation_replaces_the_one_of_its_name_and_goes_without_a_trace() {
    let database = database();
    let kind = [("a", Kind::Integer { bytes: 4 })];
    let indexed = Design { indexes: vec![(vec![0], false)], ..Design::default() };
    let mut writing = database.writing();
    for _ in 0..3 {
        make(&mut writing, "r", layout(&kind), indexed.clone());
    }
    let other = make(&mut writing, "other", layout(&kind), Design::default());
    assert_eq!(check_all(&writing).unwrap().len(), 2);
    remove(&mut writing, &other).unwrap();
    writing.commit().unwrap();
    let reading = database.reading();
    assert_eq!(check_all(&reading).unwrap(), [("r".to_owned(), 0)]);
}

#[test]
fn two_relations_may_be_filled_at_once() {
    let database = database();
    let kind = [("a", Kind::Integer { bytes: 4 })];
    let mut writing = database.writing();
    let mut first =
        Loader::new(&mut writing, "first", layout(&kind), Design::default(), &workspace()).unwrap();
    let mut second =
        Loader::new(&mut writing, "second", layout(&kind), Design::default(), &workspace())
            .unwrap();
    first.add_many(&mut writing, &[1, 0, 0, 0], 1).unwrap();
    second.add_many(&mut writing, &[2; 8], 2).unwrap();
    first.finish(&mut writing).unwrap();
    second.finish(&mut writing).unwrap();
    let counts = check_all(&writing).unwrap();
    assert_eq!(counts, [("first".to_owned(), 1), ("second".to_owned(), 2)]);
}

#[test]
fn a_tuple_that_fits_no_page_is_refused() {
    let database = database();
    let mut writing = database.writing();
    let wide = layout(&[("a", Kind::Text { width: RECORD_BYTES_MAX + 1 })]);
    let refused =
        Loader::new(&mut writing, "wide", wide, Design::default(), &workspace()).unwrap_err();
    assert!(refused.to_string().contains("a tuple of 4017 bytes"), "{refused}");
}

#[test]
fn settling_reports_how_many_tuples_and_what_they_hold() {
    let database = database();
    let text = Kind::Text { width: 100 };
    let kinds = [("a", Kind::Integer { bytes: 2 }), ("b", Kind::Real { bytes: 4 }), ("c", text)];
    let mut writing = database.writing();
    let (layout, mut tuples) = (layout(&kinds), Vec::new());
    for number in 0..60_i16 {
        tuples.extend((number % 7 - 3).to_le_bytes());
        tuples.extend((f32::from(number) / 2.0).to_le_bytes());
        tuples.extend([b'a' + (number % 20) as u8; 80]);
        tuples.extend([b' '; 20]);
    }
    let mut loader =
        Loader::new(&mut writing, "r", layout, Design::default(), &workspace()).unwrap();
    loader.add_many(&mut writing, &tuples, 60).unwrap();
    let mut info = loader.finish(&mut writing).unwrap();
    assert!(info.statistics.is_empty());
    settle(&mut writing, &mut info).unwrap();
    let known = Catalog::read(&writing).unwrap();
    let known = known.relation("r").unwrap();
    assert_eq!((known.rows, known.pages), (60, 2));
    let text = |letter| Constant::Text(vec![letter; 64]);
    let expected = [
        (7, (Constant::Integer(-3), Constant::Integer(3))),
        (60, (Constant::Real(0.0), Constant::Real(29.5))),
        (20, (text(b'a'), text(b't'))),
    ];
    for (found, (distinct, range)) in known.statistics.iter().zip(expected) {
        assert!(found.distinct.abs_diff(distinct) <= 1, "{found:?} of {distinct}");
        assert_eq!(found.range, Some(range));
    }
    assert_eq!(known.statistics.len(), 3);
    // Stored otherwise, it holds the same.
    let mut stored = RelationInfo::clone(known);
    for structure in [NewStructure::Hash(vec![0]), NewStructure::Clustered(vec![2])] {
        stored =
            modify(&mut writing, &stored, structure, stored.file_layout, &workspace()).unwrap();
        assert_eq!((stored.rows, &stored.statistics), (60, &known.statistics));
        let catalog = Catalog::read(&writing).unwrap();
        assert_eq!(**catalog.relation("r").unwrap(), stored);
        settle(&mut writing, &mut RelationInfo::clone(&stored)).unwrap();
        let settled = Catalog::read(&writing).unwrap();
        assert_eq!(settled.relation("r").unwrap().statistics, known.statistics);
    }
}
