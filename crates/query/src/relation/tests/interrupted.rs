//! Whatever changes a relation stops soon after its transaction was to end.

use lode::{RecordId, Writing};

use super::*;
use crate::tactics::FileLayout;

/// A relation of numbers, clustered.
fn stored(writing: &mut Writing, layout: FileLayout) -> RelationInfo {
    let tuple = Layout::of([("a".to_owned(), Kind::Integer { bytes: 4 }, false)]);
    let structure = NewStructure::Clustered(vec![0]);
    let design = Design { structure, indexes: Vec::new(), layout };
    let mut loader = Loader::new(writing, "r", tuple, design).unwrap();
    for number in 0..1000_i32 {
        loader.add_many(writing, &number.to_le_bytes(), 1).unwrap();
    }
    loader.finish(writing).unwrap()
}

/// What one does to the relation when its transaction was to end before.
fn told<R>(
    layout: FileLayout,
    act: impl FnOnce(&mut Writing, RelationInfo, RecordId) -> Result<R>,
) -> QueryError {
    let database = database();
    let mut writing = database.writing();
    let info = stored(&mut writing, layout);
    let mut first = None;
    build::each_tuple(&writing, &info, |id, _| {
        first = first.or(Some(id));
        Ok(())
    })
    .unwrap();
    writing.interrupt().interrupt();
    let told = act(&mut writing, info, first.unwrap()).err().expect("it was to end");
    assert!(writing.commit().is_err());
    assert!(Catalog::read(&database.reading()).unwrap().relation("r").is_none());
    told
}

#[test]
fn what_changes_a_relation_stops_when_its_transaction_is_to_end() {
    for layout in [FileLayout::Rows, FileLayout::Columns] {
        each_change_stops(layout);
    }
}

fn each_change_stops(layout: FileLayout) {
    let one = 7_i32.to_le_bytes();
    let index =
        NewIndex { attributes: vec![0], is_unique: false, is_primary: false, is_hash: true };
    let told = [
        told(layout, |writing, mut info, _| change::append(writing, &mut info, [&one[..]])),
        told(layout, |writing, mut info, first| change::delete(writing, &mut info, &[first])),
        told(layout, |writing, mut info, first| {
            change::replace(writing, &mut info, [(first, &one[..])])
        }),
        told(layout, |writing, info, _| modify(writing, &info, NewStructure::Heap, layout)),
        told(layout, |writing, info, _| {
            modify(writing, &info, NewStructure::Clustered(vec![0]), layout)
        }),
        told(layout, |writing, mut info, _| add_index(writing, &mut info, &index)),
        told(layout, |writing, mut info, _| {
            add_index(writing, &mut info, &NewIndex { is_hash: false, ..index.clone() })
        }),
        told(layout, |writing, mut info, _| settle(writing, &mut info)),
    ];
    for error in told {
        assert!(matches!(error, QueryError::Cancelled), "{error}");
    }
}
