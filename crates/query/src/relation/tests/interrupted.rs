//! Whatever changes a relation stops soon after its transaction was to end.

use lode::{RecordId, Writing};

use super::*;
use crate::tactics::FileLayout;

/// A relation of numbers, clustered.
fn stored(writing: &mut Writing, layout: FileLayout) -> RelationInfo {
    let tuple = Layout::of([("a".to_owned(), Kind::Integer { bytes: 4 }, false)]);
    let structure = NewStructure::Clustered(vec![0]);
    let design = Design { structure, indexes: Vec::new(), layout };
    let mut loader = Loader::new(writing, "r", tuple, design, &workspace()).unwrap();
    for number in 0..1000_i32 {
        loader.add_many(writing, &number.to_le_bytes(), 1).unwrap();
    }
    loader.finish(writing).unwrap()
}

/// The error of using the relation when its transaction was to end before.
fn reported<R>(
    layout: FileLayout,
    act: impl FnOnce(&mut Writing, RelationInfo, RecordId) -> Result<R>,
) -> QueryError {
    let database = database();
    let mut writing = database.writing();
    let info = stored(&mut writing, layout);
    let mut first = None;
    every::each_tuple(&writing, &info, |id, _| {
        first = first.or(Some(id));
        Ok(())
    })
    .unwrap();
    writing.interrupt().interrupt();
    let reported = act(&mut writing, info, first.unwrap()).err().expect("it was to end");
    assert!(writing.commit().is_err());
    assert!(Catalog::read(&database.reading()).unwrap().relation("r").is_none());
    reported
}

#[test]
fn changes_of_a_relation_stop_when_the_transaction_is_to_end() {
    for layout in [FileLayout::Rows, FileLayout::Columns] {
        each_change_stops(layout);
    }
}

fn each_change_stops(layout: FileLayout) {
    let one = 7_i32.to_le_bytes();
    let index =
        NewIndex { attributes: vec![0], is_unique: false, is_primary: false, is_hash: true };
    let reported = [
        reported(layout, |writing, mut info, _| change::append(writing, &mut info, [&one[..]])),
        reported(layout, |writing, mut info, first| change::delete(writing, &mut info, &[first])),
        reported(layout, |writing, mut info, first| {
            change::replace(writing, &mut info, [(first, &one[..])])
        }),
        reported(layout, |writing, info, _| {
            modify(writing, &info, NewStructure::Heap, layout, &workspace())
        }),
        reported(layout, |writing, info, _| {
            modify(writing, &info, NewStructure::Clustered(vec![0]), layout, &workspace())
        }),
        reported(layout, |writing, mut info, _| {
            add_index(writing, &mut info, &index, &workspace())
        }),
        reported(layout, |writing, mut info, _| {
            add_index(
                writing,
                &mut info,
                &NewIndex { is_hash: false, ..index.clone() },
                &workspace(),
            )
        }),
        reported(layout, |writing, mut info, _| settle(writing, &mut info)),
    ];
    for error in reported {
        assert!(matches!(error, QueryError::Cancelled), "{error}");
    }
}

#[test]
fn a_sort_stops_when_its_statement_is_to_end_and_leaves_nothing() {
    let index = |is_hash: bool| NewIndex {
        attributes: vec![0],
        is_unique: !is_hash,
        is_primary: false,
        is_hash,
    };
    let clustered = || NewStructure::Clustered(vec![0]);
    for layout in [FileLayout::Rows, FileLayout::Columns] {
        let database = database();
        let mut writing = database.writing();
        let mut info = stored(&mut writing, layout);
        writing.commit().unwrap();
        let cancelled = Workspace::of_cancelled(1 << 24);
        let mut writing = database.writing();
        let reported = [
            add_index(&mut writing, &mut info, &index(true), &cancelled).unwrap_err(),
            add_index(&mut writing, &mut info, &index(false), &cancelled).unwrap_err(),
            modify(&mut writing, &info, clustered(), layout, &cancelled).unwrap_err(),
        ];
        for error in reported {
            assert!(matches!(error, QueryError::Cancelled), "{error}");
        }
        writing.rollback().unwrap();
        let reading = database.reading();
        assert_eq!(check_all(&reading).unwrap(), [("r".to_owned(), 1000)]);
        assert_eq!(Catalog::read(&reading).unwrap().relation("r").unwrap().indexes.len(), 1);
    }
}
