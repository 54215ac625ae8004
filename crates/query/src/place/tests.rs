use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::message::{self, Frame};
use super::server::{LIMITS, Limits};
use super::*;
use crate::database::{Database, PLANTED_PANIC, Rows};
use crate::error::QueryError;
use crate::tactics::Tactics;
use crate::tuple::Layout;

/// More rows than a database collects before it gives the first, and than a socket takes.
const MANY: &str = "range of a is numbers range of b is numbers range of c is numbers \
                    retrieve (a.number, b.name, c.real)";

fn database() -> (TempDir, PathBuf, Arc<Database>) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(&folder.path().join("test.lode"), &Tactics::default()).unwrap();
    database.execute("create numbers (number = i4, name = c12, real = f8)", &[]).unwrap();
    for number in 0..80 {
        let text = format!(
            "append to numbers (number = {number}, name = \"n{number}\", real = {number}.5)"
        );
        database.execute(&text, &[]).unwrap();
    }
    let socket = folder.path().join("socket");
    (folder, socket, Arc::new(database))
}

fn all(mut rows: Rows) -> (Layout, Vec<u8>) {
    let mut tuples = Vec::new();
    while let Some(some) = rows.next_tuples().unwrap() {
        tuples.extend(some);
    }
    (rows.layout().clone(), tuples)
}

/// Texts of all types, with nulls, without rows, and of more than one message.
const TEXTS: [&str; 5] = [
    "retrieve (one = 1, half = 0.5, word = \"word\")",
    "range of n is numbers retrieve (n.all)",
    "range of n is numbers retrieve (n.number) where n.number > 1000",
    "range of n is numbers retrieve (x = avg(n.real where n.number > 1000))",
    MANY,
];

#[test]
fn every_place_gives_the_same_rows() {
    let (_folder, socket, database) = database();
    let beside = Beside::start(Arc::clone(&database)).unwrap();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    for text in TEXTS {
        let expected = all(database.query(text, &[]).unwrap());
        assert_eq!(all(beside.query(text).unwrap()), expected, "{text}");
        assert_eq!(all(connection.query(text).unwrap()), expected, "{text}");
    }
}

/// A thread of its own, and here of the same process.
#[test]
fn a_place_is_another_than_the_callers() {
    let (_folder, socket, database) = database();
    let here = requests::here().unwrap();
    let process = here.split('/').next().unwrap();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    let places = [
        Beside::start(Arc::clone(&database)).unwrap().place().unwrap(),
        connection.place().unwrap(),
    ];
    for place in places {
        assert_ne!(place, here);
        assert!(place.starts_with(&format!("{process}/task/")), "{place}");
    }
}

#[test]
fn every_place_changes_the_same_database() {
    let (_folder, socket, database) = database();
    let beside = Beside::start(Arc::clone(&database)).unwrap();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    let delete = |number| format!("range of n is numbers delete n where n.number = {number}");
    assert_eq!(beside.execute(&delete(1)).unwrap(), Some(1));
    assert_eq!(connection.execute(&delete(2)).unwrap(), Some(1));
    assert_eq!(connection.execute(&delete(2)).unwrap(), Some(0));
    assert_eq!(connection.execute("create other (x = i4)").unwrap(), None);
    let left = "range of n is numbers retrieve (x = count(n.number))";
    let expected = all(database.query(left, &[]).unwrap());
    assert_eq!(i64::from(expected.1[0]), 78);
    assert_eq!(all(connection.query(left).unwrap()), expected);
}

#[test]
fn an_error_has_its_class_and_its_words_and_the_next_statement_its_answer() {
    let (_folder, socket, database) = database();
    let beside = Beside::start(Arc::clone(&database)).unwrap();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    for wrong in ["retrieve (", "range of x is nothing retrieve (x.all)", "retrieve (x = 1 / 0)"] {
        let expected = database.query(wrong, &[]).map(all).unwrap_err().to_string();
        assert_eq!(beside.query(wrong).map(all).unwrap_err().to_string(), expected);
        let error = connection.query(wrong).map(all).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(matches!(error, QueryError::Input { .. }), "{error:?}");
        assert_eq!(all(connection.query(TEXTS[0]).unwrap()).0.fields.len(), 3);
    }
}

/// The rows of a statement whose thread panicked end with an error, wherever they are read.
#[test]
fn a_panic_in_the_middle_of_an_answer_is_no_end_of_it() {
    let (_folder, socket, database) = database();
    let planted = str::from_utf8(PLANTED_PANIC).unwrap();
    database.execute("create some (number = i4, text = c16)", &[]).unwrap();
    for number in 0..40 {
        let text = if number < 20 { "harmless" } else { planted };
        let text = format!("append to some (number = {number}, text = \"{text}\")");
        database.execute(&text, &[]).unwrap();
    }
    let beside = Beside::start(Arc::clone(&database)).unwrap();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    let text = "range of a is numbers range of b is numbers range of s is some
        retrieve (a.number, b.name, s.text)";
    for rows in [database.query(text, &[]), beside.query(text), connection.query(text)] {
        let mut rows = rows.unwrap();
        let error = loop {
            match rows.next_tuples() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("an end"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("a test planted this"), "{error}");
    }
    assert!(connection.query(TEXTS[0]).is_ok());
}

/// Rows that nobody reads to their end take neither the connection nor the server with them.
#[test]
fn rows_may_be_left_and_statements_overlap() {
    let (_folder, socket, database) = database();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    let mut first = connection.query(MANY).unwrap();
    let begun = first.next_tuples().unwrap().unwrap();
    let expected = all(database.query(MANY, &[]).unwrap());
    assert_eq!(all(connection.query(MANY).unwrap()), expected);
    assert!(expected.1.starts_with(&begun));
    drop(first);
    assert_eq!(all(connection.query(MANY).unwrap()), expected);
}

#[test]
fn a_server_that_ends_ends_its_statements_and_lets_go_of_the_database() {
    let (folder, socket, database) = database();
    let server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    let mut rows = connection.query(MANY).unwrap();
    rows.next_tuples().unwrap();
    drop(server);
    let rest = std::iter::from_fn(|| rows.next_tuples().transpose());
    assert!(matches!(rest.last(), Some(Err(QueryError::Served { .. }))));
    assert!(!socket.exists());
    let error = connection.query(TEXTS[0]).map(drop).unwrap_err().to_string();
    assert!(error.contains("serve --statements"), "{error}");
    drop(rows);
    Arc::into_inner(database).expect("nobody else has it").close().unwrap();
    drop(folder);
}

#[test]
fn a_socket_is_taken_over_only_where_nobody_listens() {
    let (folder, socket, database) = database();
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    assert!(Server::start(Arc::clone(&database), &socket).is_err());
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    assert!(Server::start(Arc::clone(&database), &file).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert!(Connection::to(&socket).is_ok());
}

#[test]
fn nonsense_ends_a_connection_and_nothing_else() {
    let (_folder, socket, database) = database();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let frames: [&[u8]; 5] = [
        &[0; 64],
        &[Frame::Query as u8, 255, 255, 255, 255],
        &[Frame::Query as u8, 1, 0, 0, 0, 0xff],
        &[Frame::Tuples as u8, 0, 0, 0, 0],
        &[Frame::Report as u8, 1, 0, 0, 0, b'x'],
    ];
    for frame in frames {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(frame).unwrap();
        let mut said = Vec::new();
        assert_eq!(stream.read_to_end(&mut said).unwrap_or_default(), 0, "{frame:?}");
    }
    assert!(Connection::to(&socket).unwrap().query(TEXTS[0]).is_ok());
}

#[test]
fn a_client_beyond_the_limit_is_refused_and_the_others_go_on() {
    let (_folder, socket, database) = database();
    let limits = Limits { connections_max: 2, ..LIMITS };
    let _server = Server::start_within(Arc::clone(&database), &socket, limits).unwrap();
    let inside = [Connection::to(&socket).unwrap(), Connection::to(&socket).unwrap()];
    let error = Connection::to(&socket).map(drop).unwrap_err().to_string();
    assert!(error.contains("2 connections"), "{error}");
    for connection in inside {
        assert!(connection.query(TEXTS[0]).is_ok());
    }
    // Its thread sees that a client has left a moment after it has.
    while Connection::to(&socket).is_err() {
        std::thread::yield_now();
    }
}

/// A client that says this and no more.
fn asking(socket: &Path, frame: Frame, text: &str) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    message::send(&mut stream, frame, text.as_bytes()).unwrap();
    stream
}

/// Change all tuples that a client's statement reads, and do `act` when the change waits for it.
fn change_against(database: &Database, act: impl FnOnce()) {
    let waits = || database.storage().counters().unwrap().locks.waits;
    let before = waits();
    let change = "range of n is numbers replace n (real = 0.0)";
    std::thread::scope(|scope| {
        let changed = scope.spawn(|| database.execute(change, &[]).unwrap());
        while waits() == before && !changed.is_finished() {
            std::thread::yield_now();
        }
        act();
        assert_eq!(changed.join().unwrap(), Some(80));
    });
}

#[test]
fn a_client_that_hangs_up_ends_its_statement() {
    let (_folder, socket, database) = database();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let endless = "range of a is numbers range of b is numbers range of c is numbers
        range of d is numbers range of e is numbers range of f is numbers
        retrieve (x = count(a.number where
            a.number + b.number + c.number + d.number + e.number + f.number < 0))";
    let client = asking(&socket, Frame::Query, endless);
    while database.statements_running() == 0 {
        std::thread::yield_now();
    }
    change_against(&database, || drop(client));
    assert!(Connection::to(&socket).unwrap().query(TEXTS[0]).is_ok());
}

#[test]
fn a_client_that_takes_no_rows_gives_its_locks_up() {
    let (_folder, socket, database) = database();
    let limits = Limits { frame: Duration::from_millis(50), ..LIMITS };
    let _server = Server::start_within(Arc::clone(&database), &socket, limits).unwrap();
    let connection = Connection::to(&socket).unwrap();
    let mut rows = connection.query(MANY).unwrap();
    change_against(&database, || ());
    let error = std::iter::from_fn(|| rows.next_tuples().transpose()).last();
    let error = error.unwrap().unwrap_err().to_string();
    assert!(error.contains("were not taken"), "{error}");
}

#[test]
fn a_text_beyond_the_memory_budget_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let tactics = Tactics::of([("memory", "1MiB")]).unwrap();
    let database = Database::create(&folder.path().join("test.lode"), &tactics).unwrap();
    let (socket, database) = (folder.path().join("socket"), Arc::new(database));
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    for length in [17 << 10, 100 << 20] {
        let error = connection.execute(&" ".repeat(length)).unwrap_err().to_string();
        assert!(error.contains("memory budget of 1048576 bytes"), "{length}: {error}");
    }
    assert_eq!(connection.execute(&" ".repeat(16 << 10)).unwrap(), None);
}

/// In a process of its own that may open few files.
#[test]
fn descriptors_that_run_out_end_no_server() {
    const INSIDE: &str = "LODE_QUERY_FEW_DESCRIPTORS";
    if std::env::var_os(INSIDE).is_none() {
        let name = "place::tests::descriptors_that_run_out_end_no_server";
        let mut few = std::process::Command::new("sh");
        few.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]);
        few.arg(std::env::current_exe().unwrap()).args(["--exact", name]).env(INSIDE, "1");
        let ended = few.output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    let (_folder, socket, database) = database();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    // It is at its door, with what it keeps for this.
    let _inside = Connection::to(&socket).unwrap();
    let open = || std::fs::File::open("/dev/null").ok();
    let mut files: Vec<_> = std::iter::from_fn(open).collect();
    files.truncate(files.len() - 3);
    let clients = [(); 3].map(|()| UnixStream::connect(&socket).unwrap());
    // The first may have been let in: the server had a descriptor for it.
    let mut reported = Vec::new();
    (&clients[2]).read_to_end(&mut reported).unwrap();
    let reported = String::from_utf8_lossy(&reported);
    assert!(reported.contains("ulimit -n"), "{reported:?}");
    drop((files, clients));
    assert!(Connection::to(&socket).unwrap().query(TEXTS[0]).is_ok());
}

#[test]
fn a_client_of_pages_is_refused_with_the_kind_of_server() {
    let (_folder, socket, database) = database();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let address = socket.display().to_string().parse().unwrap();
    let remote = lode::remote::Remote::connect(&address, &lode::Tactics::default());
    let error = remote.map(drop).unwrap_err().to_string();
    assert!(error.contains("executes statements"), "{error}");
}

/// A server that sends these bytes in answer to what is asked after the first question.
fn answering(bytes: Vec<u8>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = BufReader::new(stream.try_clone().unwrap());
        message::receive(&mut asked).unwrap();
        message::send(&mut stream, Frame::Reported, b"1/task/1").unwrap();
        message::receive(&mut asked).unwrap();
        stream.write_all(&bytes).unwrap();
    });
    (folder, socket)
}

#[test]
fn an_answer_that_is_none_is_no_answer_without_rows() {
    let form = b"c\x02\0\0\0\0\x01\0x";
    let framed = |frames: &[(Frame, &[u8])]| {
        let mut bytes = Vec::new();
        for (frame, content) in frames {
            message::send(&mut bytes, *frame, content).unwrap();
        }
        bytes
    };
    let right = framed(&[(Frame::Form, form), (Frame::Tuples, b"ab"), (Frame::End, b"")]);
    let broken = [
        framed(&[(Frame::Form, b""), (Frame::End, b"")]),
        framed(&[(Frame::Form, form), (Frame::Tuples, b"abc"), (Frame::End, b"")]),
        framed(&[(Frame::Form, form), (Frame::Tuples, b""), (Frame::End, b"")]),
        framed(&[(Frame::Form, form), (Frame::Tuples, b"\xff\xfe"), (Frame::End, b"")]),
        framed(&[(Frame::Form, form)]),
        right[..right.len() - 3].to_vec(),
    ];
    let asked = |bytes: Vec<u8>| {
        let (_folder, socket) = answering(bytes);
        let connection = Connection::to(&socket)?;
        let mut rows = connection.query("retrieve (x = 1)")?;
        let mut tuples = Vec::new();
        while let Some(some) = rows.next_tuples()? {
            tuples.extend(some);
        }
        Ok::<_, QueryError>(tuples)
    };
    assert_eq!(asked(right).unwrap(), b"ab");
    for bytes in broken {
        assert!(matches!(asked(bytes), Err(QueryError::Served { .. })));
    }
}

#[test]
fn a_form_that_is_none_is_refused() {
    for bytes in
        [&b""[..], b"i\x03\0\0\0\0\0\0", b"c\0\0\0\0\0\0\0", b"x", b"i\x04\0\0\0\0\x09\0ab"]
    {
        assert!(message::layout(bytes).is_err(), "{bytes:?}");
    }
    let mut cut = BufReader::new(&[Frame::Reported as u8, 9, 0, 0, 0, b'x'][..]);
    assert!(message::receive(&mut cut).is_err());
}

#[test]
fn a_server_reports_of_its_database() {
    let (_folder, socket, database) = database();
    let _server = Server::start(Arc::clone(&database), &socket).unwrap();
    let connection = Connection::to(&socket).unwrap();
    assert!(connection.request("tactics", "").unwrap().contains("execution "));
    assert_eq!(connection.request("relations", "").unwrap(), "numbers");
    connection.request("settle", "numbers").unwrap();
    connection.request("checkpoint", "").unwrap();
    let scan = TEXTS[1];
    assert_eq!(connection.request("access", scan).unwrap(), "heap");
    assert!(connection.request("explain", scan).unwrap().contains("numbers"));
    assert!(connection.request("size", "").unwrap().parse::<u64>().unwrap() > 0);
    let count = |text: String| -> u64 {
        text.lines().find_map(|line| line.strip_prefix("tuples ")).unwrap().parse().unwrap()
    };
    let before = count(connection.request("work", "").unwrap());
    drop(all(connection.query(scan).unwrap()));
    assert_eq!(count(connection.request("work", "").unwrap()) - before, 80);
    assert_eq!(connection.request("remove", "numbers").unwrap(), "true");
    assert_eq!(connection.request("remove", "numbers").unwrap(), "false");
    assert!(connection.request("weather", "").unwrap_err().to_string().contains("it has place"));
}
