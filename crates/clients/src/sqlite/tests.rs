//! What is changed behind the back of a run shows in its answer.

use loadstone_datasets::oo1::Database;
use loadstone_measure::work::Meter;

use super::Relational;
use super::file::File;
use crate::driver::Driver;
use crate::loops;
use crate::measure::Measure;
use crate::oracle::Oracle;
use crate::tactics::{Address, Tactics};

/// What a measure sees after a statement that the run knows nothing of, and what it must see.
fn seen_and_expected(measure: Measure, behind: &str) -> [(u64, u64); 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("database").display().to_string();
    let address = Address { database: path, library: None };
    let mut tactics = Tactics::new([("durability", "none")]);
    let database = Database::new(200, 3, true).unwrap();
    let mut driver = Relational::open_rowid(&address, &mut tactics).unwrap();
    driver.load(&database).unwrap();
    File::open(&address, &mut tactics).unwrap().connection().run(behind).unwrap();
    let outcome = loops::run(&mut driver, &database, measure, 0, &Meter::default()).unwrap();
    let expected = Oracle::new(database).expected(measure, 0).unwrap();
    [(outcome.visits, outcome.checksum), expected]
}

#[test]
fn a_link_changed_behind_the_runs_back_is_seen() {
    let start = Database::new(200, 3, true).unwrap().start(0);
    for (measure, behind, caught) in [
        (Measure::Traversal, "select 1".to_owned(), false),
        (
            Measure::Traversal,
            format!("update connection set too = too % 200 + 1 where frm = {start} and place = 1"),
            true,
        ),
        // The two ways of following connections are in one relation here, so that one that is
        // gone shows in both.
        (Measure::Reverse, "delete from connection where place = 2".to_owned(), true),
        (Measure::Ordered, "update connection set length = 99999 - length".to_owned(), true),
        (Measure::Lookup, "update part set type = 'part-type9'".to_owned(), true),
        (Measure::Update, "update part set y = y + 1".to_owned(), true),
    ] {
        let [seen, expected] = seen_and_expected(measure, &behind);
        assert_eq!(seen != expected, caught, "{measure:?}: {behind}");
    }
}
