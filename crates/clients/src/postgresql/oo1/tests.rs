//! The tests that need a server and more than the public interface; see `tests/postgresql.rs` for
//! the rest.

use super::{PostgreSql, Query};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo1::driver::Driver;
use crate::postgresql::address::{Server, Transport};
use crate::postgresql::session::Session;
use crate::postgresql::statement::Value;
use crate::postgresql::wire::WireError;
use crate::tactics::{Address, Tactics};
use loadstone_datasets::oo1::Database;

const VARIABLE: &str = "LOADSTONE_TEST_POSTGRESQL";

/// Answers of 2 KB each: 40 MB, more than any buffer between two processes.
const CALLS: i32 = 20_000;

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn server(schema: &str) -> Option<String> {
    let Ok(server) = std::env::var(VARIABLE) else {
        eprintln!("skipped: {VARIABLE} names no server");
        return None;
    };
    Some(format!("{server} schema='{schema}'"))
}

fn driver(database: String) -> PostgreSql {
    let address = Address { database, library: None };
    PostgreSql::open(&address, &mut Tactics::default()).unwrap()
}

fn process(session: &mut Session) -> String {
    session.value("SELECT pg_backend_pid()").unwrap().unwrap()
}

/// End a connection as its administrator would, and wait until it has ended.
fn end(pid: &str, by: &mut Session) {
    let ended = by.value(&format!("SELECT pg_terminate_backend({pid}, 60000)")).unwrap();
    assert_eq!(ended.as_deref(), Some("t"));
}

#[test]
fn a_connection_that_was_ended_is_a_clear_error() {
    let Some(server) = server("ended") else { return };
    let mut victim = driver(server);
    victim.load(&Database::new(200, 1, true).unwrap()).unwrap();
    let mut other = victim.another().unwrap();
    end(&process(&mut victim.session), &mut other.session);
    let error = victim.find(1).unwrap_err();
    assert!(matches!(error, ClientError::Engine { .. }), "{error:?}");
    assert!(error.to_string().contains("terminating connection"), "{error}");
    let error = victim.begin_write().unwrap_err();
    assert!(error.to_string().contains("closed the connection"), "{error}");
    assert_eq!(other.find(1).unwrap().1.id, 1);
}

#[test]
fn a_connection_that_is_ended_in_the_middle_says_why() {
    let Some(server) = server("middle") else { return };
    let mut victim = driver(server);
    let mut other = victim.another().unwrap().session;
    let pid = process(&mut victim.session);
    let sleeping = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'"
    );
    let error = std::thread::scope(|scope| {
        let user = scope.spawn(|| victim.session.execute("SELECT pg_sleep(600)").unwrap_err());
        while other.value(&sleeping).unwrap().as_deref() != Some("1") {}
        end(&pid, &mut other);
        user.join().unwrap()
    });
    assert!(matches!(&error, WireError::Server { code, .. } if code == "57P01"), "{error}");
}

#[test]
fn a_statement_that_fails_leaves_the_session_usable() {
    let Some(server) = server("failing") else { return };
    let mut session = driver(server).session;
    let division = session.prepare("division", "SELECT 1 / $1::int4").unwrap();
    for divisor in [1, 0, 2] {
        session.queue(&division, divisor);
    }
    let mut rows = 0;
    let error = session.finish(|_| rows += 1).unwrap_err();
    assert!(matches!(&error, WireError::Server { code, .. } if code == "22012"), "{error}");
    assert_eq!(rows, 1, "what came after the failure was not run");
    session.queue_with(&division, &[Value::Int(1)]).unwrap();
    let mut quotient = 0;
    session.finish(|mut row| quotient = row.int()).unwrap();
    assert_eq!(quotient, 1);
}

#[test]
fn a_pipeline_longer_than_all_buffers_ends() {
    let Some(server) = server("pipeline") else { return };
    let mut session = driver(server).session;
    let echo = session.prepare("echo", "SELECT repeat('x', 2000), $1::int4").unwrap();
    for call in 0..CALLS {
        session.queue(&echo, call);
    }
    let mut expected = 0..i64::from(CALLS);
    session
        .finish(|mut row| assert_eq!((row.text().len(), Some(row.int())), (2000, expected.next())))
        .unwrap();
    assert_eq!(expected.next(), None);
}

#[test]
fn links_hold_in_both_directions_after_what_was_rolled_back() {
    let Some(server) = server("rollback") else { return };
    let database = Database::new(200, 1, true).unwrap();
    let mut driver = driver(server);
    driver.load(&database).unwrap();
    let count = "SELECT count(*) FROM connection c JOIN part p ON p.id = c.frm \
                 JOIN part q ON q.id = c.too";
    driver.begin_write().unwrap();
    driver.insert(&database.new_parts(0)[0]).unwrap();
    assert_eq!(driver.session.value(count).unwrap().as_deref(), Some("603"));
    driver.rollback().unwrap();
    assert_eq!(driver.session.value(count).unwrap().as_deref(), Some("600"));
    driver.rollback().unwrap();
    assert!(driver.statement(Query::Find).is_ok());
}

/// The server's own check of the password, by making roles that have one. Needs a role that may
/// make others, and a line for them in the server's `pg_hba.conf`; where the server trusts every
/// local connection, the password is sent to nobody and the test shows nothing.
#[test]
fn a_wrong_password_is_refused_and_shown_to_nobody() {
    let Some(server) = server("passwords") else { return };
    let mut administrator = driver(server.clone());
    let role = "CREATE ROLE loadstone_clients_test LOGIN PASSWORD 'correct horse'";
    _ = administrator.session.execute("DROP ROLE IF EXISTS loadstone_clients_test");
    administrator.session.execute(role).unwrap();
    let mut asked = Server::parse(&server).unwrap();
    asked.transport = Transport::Tcp { host: "127.0.0.1".to_owned() };
    asked.user = "loadstone_clients_test".to_owned();
    let mut outcomes = Vec::new();
    for password in ["correct horse", "battery staple"] {
        asked.password = crate::postgresql::address::Password::of(password);
        let outcome = Session::open(&asked).err().map(|error| error.to_string());
        assert!(!outcome.as_deref().unwrap_or_default().contains(password), "{outcome:?}");
        outcomes.push(outcome);
    }
    administrator.session.execute("DROP ROLE loadstone_clients_test").unwrap();
    assert_eq!(outcomes[0], None);
    if let Some(refusal) = &outcomes[1] {
        assert!(refusal.contains("28P01"), "{refusal}");
    }
}
