//! DuckDB's client against the oracle, with the library of `LOADSTONE_TEST_DUCKDB`: the file of
//! Python's module `_duckdb`. Skipped where it is not set. Outside Python the module needs an
//! interpreter's library: `LOADSTONE_TEST_PYTHON` names one, of about the same version.

use std::path::PathBuf;

#[path = "setup/oo1.rs"]
mod setup;

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::{Client, Database, Measure};
use loadstone_clients::{Address, Tactics};
use setup::{agree, users_leave_every_link};
use tempfile::TempDir;

const MODULE: &str = "LOADSTONE_TEST_DUCKDB";
const PYTHON: &str = "LOADSTONE_TEST_PYTHON";

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn address(folder: &TempDir) -> Option<Address> {
    let Some(library) = std::env::var_os(MODULE) else {
        eprintln!("skipped: {MODULE} names no library");
        return None;
    };
    if let Some(python) = std::env::var_os(PYTHON) {
        use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};
        #[expect(unsafe_code, reason = "a library runs code when it is loaded")]
        // SAFETY: an interpreter that nobody starts does nothing.
        let python = unsafe { Library::open(Some(python), RTLD_LAZY | RTLD_GLOBAL) };
        std::mem::forget(python.expect("the interpreter's library can be loaded"));
    }
    let database = folder.path().join("oo1.duckdb").display().to_string();
    Some(Address { database, library: Some(PathBuf::from(library)) })
}

fn client(address: &Address, tactics: &[(&str, &str)], database: Database) -> Box<dyn Client> {
    open("duckdb", address, Tactics::new(tactics.iter().copied()), database).expect("it opens")
}

#[test]
fn every_measure_answers_as_the_oracle() {
    let folder = TempDir::new().unwrap();
    let Some(address) = address(&folder) else { return };
    let database = Database::new(1000, 7, true).unwrap();
    let oracle = Oracle::new(database);
    let mut first = client(&address, &[("parallelism", "2")], database);
    first.load().unwrap();
    agree(&mut *first, &oracle, 1, "as loaded");
    let mut second = first.another().unwrap();
    drop(first);
    agree(&mut *second, &oracle, 1, "another user");
}

#[test]
fn whatever_the_tactics() {
    let folder = TempDir::new().unwrap();
    let Some(address) = address(&folder) else { return };
    let database = Database::new(200, 7, false).unwrap();
    let oracle = Oracle::new(database);
    let mut loaded = client(&address, &[], database);
    loaded.load().unwrap();
    assert!(loaded.size_bytes().unwrap() > 0);
    drop(loaded);
    let tactics = [("statement", "batch"), ("hop", "join"), ("transaction", "call")];
    let mut client = client(&address, &tactics, database);
    agree(&mut *client, &oracle, 1, "all tactics switched, the file opened again");
}

#[test]
fn a_file_without_a_database_and_a_library_without_an_engine_are_clear_errors() {
    let folder = TempDir::new().unwrap();
    let Some(mut address) = address(&folder) else { return };
    let database = Database::new(200, 1, true).unwrap();
    let error = client(&address, &[], database).measure(Measure::Lookup, 0).unwrap_err();
    assert!(error.to_string().contains("load one"), "{error}");
    for (library, words) in [(None, "_duckdb"), (Some("/none/such.so"), "such.so")] {
        address.library = library.map(PathBuf::from);
        let error = open("duckdb", &address, Tactics::default(), database).err().unwrap();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn concurrent_users_leave_every_link_in_both_directions() {
    let folder = TempDir::new().unwrap();
    let Some(address) = address(&folder) else { return };
    let database = Database::new(200, 7, true).unwrap();
    users_leave_every_link(&mut *client(&address, &[], database), database);
}
