//! A change behind the back of a run shows in its answer, and so does a row that a look-up leaves
//! behind.

use loadstone_datasets::oo1::Database;
use loadstone_measure::work::Meter;

use super::{Objects, Relational};
use crate::clocked::Transactions;
use crate::oo1::Measure;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::loops;
use crate::oo1::oracle::Oracle;
use crate::sqlite::file::File;
use crate::tactics::{Address, Tactics};

/// The answer of a measure after a statement that the run knows nothing of, and the expected one.
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

/// A loaded file of objects, with the tactic `transaction`.
fn objects(folder: &tempfile::TempDir, transaction: &str) -> (Address, Objects) {
    let path = folder.path().join("database").display().to_string();
    let address = Address { database: path, library: None };
    let mut tactics = Tactics::new([("durability", "none"), ("transaction", transaction)]);
    let mut driver = Objects::open(&address, &mut tactics).unwrap();
    driver.load(&Database::new(200, 3, true).unwrap()).unwrap();
    (address, driver)
}

#[test]
fn links_are_those_of_the_part_asked_for_whatever_was_read_last() {
    let database = Database::new(200, 3, true).unwrap();
    let all: Vec<_> = database.connection_range(0..database.connection_count()).collect();
    for transaction in ["measure", "call"] {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut driver) = objects(&folder, transaction);
        driver.begin().unwrap();
        for (read, asked) in [(1, 1), (1, 2), (2, 1), (200, 200), (3, 3)] {
            driver.find(read).unwrap();
            let mut ends = [Vec::new(), Vec::new()];
            driver.links(asked, Direction::Forward, &mut ends[0]).unwrap();
            driver.links(asked, Direction::Reverse, &mut ends[1]).unwrap();
            for ends in &mut ends {
                ends.sort_unstable();
            }
            let to = all.iter().filter(|link| link.from == asked).map(|link| link.to);
            let from = all.iter().filter(|link| link.to == asked).map(|link| link.from);
            let mut expected = [to.collect::<Vec<_>>(), from.collect()];
            for ends in &mut expected {
                ends.sort_unstable();
            }
            assert_eq!(ends, expected, "transaction={transaction}: {read} read, {asked} asked");
        }
        driver.end().unwrap();
    }
}

#[test]
fn a_look_up_holds_a_snapshot_only_within_its_transaction() {
    for (transaction, held) in [("measure", "1"), ("call", "0")] {
        let folder = tempfile::tempdir().unwrap();
        let (address, mut driver) = objects(&folder, transaction);
        driver.begin().unwrap();
        driver.find(1).unwrap();
        let mut tactics = Tactics::new([("durability", "none")]);
        let other = File::open(&address, &mut tactics).unwrap();
        other.connection().run("pragma busy_timeout = 0; create table other(id)").unwrap();
        let busy = &other.connection().rows("pragma wal_checkpoint(truncate)").unwrap()[0][0];
        assert_eq!(busy, held, "transaction={transaction}");
        driver.end().unwrap();
        let busy = &other.connection().rows("pragma wal_checkpoint(truncate)").unwrap()[0][0];
        assert_eq!(busy, "0", "transaction={transaction}, after its end");
    }
}

/// The build that is compiled in here: what it costs beside engines that have neither is a term.
#[test]
fn the_allocator_and_the_checks_of_this_build_are_terms() {
    let folder = tempfile::tempdir().unwrap();
    let (_, mut driver) = objects(&folder, "measure");
    let terms = driver.terms().unwrap();
    let term =
        |name: &str| terms.iter().find(|(found, _)| found == name).map(|(_, it)| it.as_str());
    assert_eq!(term("allocator"), Some("SYSTEM_MALLOC"));
    assert_eq!(term("checks at each call"), Some("API armour, memory statistics"));
}
