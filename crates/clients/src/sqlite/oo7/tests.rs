//! An operation that fails inside the clock leaves the database as generated.

use tempfile::tempdir;

use crate::oo7::oracle::Oracle;
use crate::oo7::{Client as _, Database, Measure, Program};
use crate::program::CallingProgram as _;
use crate::sqlite::raw::Connection;
use crate::tactics::{Address, Tactics};

/// Fails once, when the client's connection has changed so many rows: no rollback takes that count
/// back.
fn trigger(event: &str, rows: u32) -> String {
    format!(
        "create trigger fails after {event} on document when total_changes() = {rows} \
         begin select raise(fail, 'planned'); end"
    )
}

#[test]
fn an_undoing_that_fails_inside_the_clock_is_done_outside() {
    let database = Database::new(1_000, 3, 7).expect("the size is allowed");
    let oracle = Oracle::new(database);
    for (measure, event, step) in [(Measure::T5Undo, "update", 83), (Measure::S2, "delete", 9)] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("database").display().to_string();
        let address = Address { database: path.clone(), library: None };
        let client = || {
            let mut tactics = Tactics::new([("durability", "none")]);
            Program::new(super::open(&address, &mut tactics).expect("it opens"), database)
        };
        client().load().expect("it loads");
        let other = Connection::open(&path).unwrap();
        let mut failed = 0;
        for rows in (1..34 * step).step_by(step as usize) {
            other.run("drop trigger if exists fails").unwrap();
            other.run(&trigger(event, rows)).unwrap();
            let mut client = client();
            failed += u32::from(client.measure(measure, 1).is_err());
            let begun = "select count(*) from document where text like 'This is%'";
            assert_eq!(other.value(begun).unwrap(), "0", "{measure:?}, at row {rows}");
            let held = client.contents().expect("nothing is against it");
            let found = (held.count, held.checksum);
            assert_eq!(found, oracle.contents(), "{measure:?}, at row {rows}");
        }
        assert!(failed > 0, "{measure:?} never failed");
    }
}
