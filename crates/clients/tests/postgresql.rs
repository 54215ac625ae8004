//! PostgreSQL's client against the oracle, on the server of `LOADSTONE_TEST_POSTGRESQL`: a
//! connection string as `Address::database` has it, without a schema. Skipped where it is not set.

#[path = "setup/oo1.rs"]
mod setup;

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::{Client, Database, Measure};
use loadstone_clients::{Address, Tactics};
use setup::{agree, users_leave_every_link};

const VARIABLE: &str = "LOADSTONE_TEST_POSTGRESQL";

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn address(schema: &str) -> Option<Address> {
    let Ok(server) = std::env::var(VARIABLE) else {
        eprintln!("skipped: {VARIABLE} names no server");
        return None;
    };
    Some(Address { database: format!("{server} schema='{schema}'"), library: None })
}

fn client(address: &Address, tactics: &[(&str, &str)], database: Database) -> Box<dyn Client> {
    let tactics = Tactics::new(tactics.iter().copied());
    open("postgresql", address, tactics, database).expect("the server is there")
}

#[test]
fn every_measure_answers_as_the_oracle_whatever_the_tactics() {
    let Some(address) = address("every \"measure\"") else { return };
    let database = Database::new(200, 7, true).unwrap();
    let oracle = Oracle::new(database);
    client(&address, &[], database).load().unwrap();
    let variants: [&[(&str, &str)]; 7] = [
        &[("statement", "prepared")],
        &[("statement", "prepared"), ("hop", "join"), ("transaction", "measure")],
        &[("statement", "text")],
        &[("statement", "procedure")],
        &[("statement", "pipeline")],
        &[("statement", "pipeline"), ("hop", "join")],
        &[("statement", "batch"), ("hop", "join")],
    ];
    for tactics in variants {
        agree(&mut *client(&address, tactics, database), &oracle, 1, &format!("{tactics:?}"));
    }
}

#[test]
fn every_measure_leaves_the_database_as_it_was() {
    let Some(address) = address("restored") else { return };
    let database = Database::new(1000, 7, false).unwrap();
    let oracle = Oracle::new(database);
    let mut client = client(&address, &[], database);
    client.load().unwrap();
    // Three times round: what a measure left behind would be seen by the next.
    agree(&mut *client, &oracle, 3, "one after another");
}

#[test]
fn another_user_sees_the_same_database() {
    let Some(address) = address("another") else { return };
    let database = Database::new(200, 1, false).unwrap();
    let oracle = Oracle::new(database);
    let mut first = client(&address, &[("statement", "text")], database);
    first.load().unwrap();
    let mut second = first.another().unwrap();
    drop(first);
    agree(&mut *second, &oracle, 1, "second user");
}

#[test]
fn a_changed_link_is_seen() {
    let Some(address) = address("changed") else { return };
    let database = Database::new(200, 1, true).unwrap();
    let oracle = Oracle::new(database);
    let mut loaded = client(&address, &[], database);
    loaded.load().unwrap();
    let expected = oracle.expected(Measure::Traversal, 0);
    let other = Database::new(200, 2, true).unwrap();
    client(&address, &[], other).load().unwrap();
    let mut client = client(&address, &[], database);
    let outcome = client.measure(Measure::Traversal, 0).unwrap();
    assert_ne!(Some((outcome.visits, outcome.checksum)), expected);
}

#[test]
fn a_client_without_a_database_says_so() {
    let Some(address) = address("nobody loaded this") else { return };
    let database = Database::new(200, 1, true).unwrap();
    let error = client(&address, &[], database).measure(Measure::Lookup, 0).unwrap_err();
    assert!(error.to_string().contains("load one"), "{error}");
}

#[test]
fn no_refusal_shows_the_password() {
    let text = "host=127.0.0.1 port=1 user=me password=hush dbname=none";
    let address = Address { database: text.to_owned(), library: None };
    let database = Database::new(200, 1, true).unwrap();
    for tactics in [vec![], vec![("place", "socket")]] {
        let error = open("postgresql", &address, Tactics::new(tactics), database).err().unwrap();
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hush") && text.contains("127.0.0.1"), "{text}");
    }
}

#[test]
fn concurrent_users_leave_every_link_in_both_directions() {
    let Some(address) = address("users") else { return };
    let database = Database::new(200, 7, true).unwrap();
    users_leave_every_link(&mut *client(&address, &[], database), database);
}
