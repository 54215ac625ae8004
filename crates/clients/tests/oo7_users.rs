//! OO7's operations of several users: what they leave is what was acknowledged, no more and no
//! less, whichever transactions were given up on the way, and also after the server was killed.

#[path = "setup/serving.rs"]
mod serving;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use loadstone_clients::engines::oo7::open;
use loadstone_clients::oo7::oracle::Oracle;
use loadstone_clients::oo7::users::{Left, Pacing, Users};
use loadstone_clients::oo7::{Client, Database, Measure};
use loadstone_clients::{Address, Tactics};
use serving::serve;
use tempfile::{TempDir, tempdir};

type Variant = (&'static str, &'static [(&'static str, &'static str)]);

const FAST: (&str, &str) = ("durability", "none");

/// Each way in which an engine keeps transactions apart. PostgreSQL and DuckDB need what only
/// Python brings: `tests/conformance/` has them.
const VARIANTS: [Variant; 10] = [
    ("sqlite", &[FAST]),
    ("lmdb", &[FAST]),
    ("lode", &[FAST, ("locks", "database")]),
    ("lode", &[FAST, ("locks", "relation"), ("log", "page-grain")]),
    ("lode", &[FAST, ("locks", "page")]),
    ("lode", &[FAST, ("locks", "page"), ("log", "set-range"), ("swizzle", "on")]),
    ("lode", &[FAST, ("locks", "page"), ("detect", "sigsegv")]),
    ("lode", &[FAST, ("locks", "page"), ("cache", "262144")]),
    ("lode", &[FAST, ("locks", "page"), ("cache", "262144"), ("shadows", "cache")]),
    ("lode", &[("locks", "page"), ("durability", "group")]),
];

const WRITING: [Measure; 4] = [Measure::M2, Measure::M4, Measure::M5, Measure::M6];

/// Requests of each kind.
const REQUESTS: usize = 24;

fn database() -> Database {
    Database::new(1_000, 3, 7).expect("the size is allowed")
}

fn program(path: &Path, (engine, tactics): Variant) -> Box<dyn Client> {
    let address = Address { database: path.display().to_string(), library: None };
    open(engine, &address, Tactics::new(tactics.iter().copied()), database())
        .unwrap_or_else(|error| panic!("{engine} {tactics:?}: {error}"))
}

fn loaded(folder: &TempDir, variant: Variant) -> Box<dyn Client> {
    let mut client = program(&folder.path().join("database"), variant);
    client.load().expect("it loads");
    client
}

/// All are due at once: the count does not hang on speed.
fn users(readers: (Measure, u32), writers: (Measure, u32)) -> Users {
    let pacing = Pacing::Open { starts_ns: vec![0; REQUESTS], duration_ns: u64::MAX >> 1 };
    Users { readers, writers, pacing }
}

fn held(client: &mut dyn Client) -> (u64, u64) {
    let held = client.contents().expect("it can be read");
    (held.count, held.checksum)
}

/// Whether the contents are those, or cannot be read now: a reader of all beside writers may be the
/// one that a deadlock rolls back.
fn is_still(client: &mut dyn Client, contents: (u64, u64)) -> bool {
    match client.contents() {
        Ok(held) => (held.count, held.checksum) == contents,
        Err(error) => {
            assert!(error.to_string().contains("deadlock"), "{error}");
            true
        }
    }
}

#[test]
fn users_leave_every_acknowledged_change_once() {
    let oracle = Oracle::new(database());
    for variant in VARIANTS {
        let folder = tempdir().unwrap();
        let mut client = loaded(&folder, variant);
        for (reading, writing) in [Measure::M1, Measure::M3].into_iter().cycle().zip(WRITING) {
            let of = format!("{variant:?}: {reading:?} beside {writing:?}");
            let served = client.users(&users((reading, 2), (writing, 3))).expect(&of);
            let completed = (served.reads.completed(), served.writes.completed());
            assert_eq!(completed, (REQUESTS as u64, REQUESTS as u64), "{of}");
            // Three components of two atomic parts each.
            assert_eq!(served.changes, 3 * 2 * REQUESTS as u64, "{of}");
            assert_eq!(served.torn, 0, "{of}");
            assert_eq!(held(&mut *client), oracle.contents(), "{of}: taken back");
        }
    }
}

/// The contents before they are taken back, against the oracle, which shares no code with the
/// loops.
#[test]
fn contents_are_those_of_the_acknowledged_commits() {
    let oracle = Oracle::new(database());
    for variant in VARIANTS {
        let folder = tempdir().unwrap();
        let mut client = loaded(&folder, variant);
        let left = client.users_left(&users((Measure::M1, 1), (Measure::M4, 3))).unwrap();
        let Left { acknowledged, unknown, failed } = left;
        assert_eq!((acknowledged.len(), unknown.len(), failed), (REQUESTS, 0, None));
        let found = held(&mut *client);
        assert_eq!(found, oracle.after(&as_transactions(Measure::M4, &acknowledged)));
        let one_less = as_transactions(Measure::M4, &acknowledged[1..]);
        assert_ne!(found, oracle.after(&one_less), "{variant:?}: a lost update is seen");
        assert_ne!(found, oracle.after(&as_transactions(Measure::M2, &acknowledged)));
    }
}

fn as_transactions(measure: Measure, iterations: &[u32]) -> Vec<(Measure, u32)> {
    iterations.iter().map(|&iteration| (measure, iteration)).collect()
}

/// The taking back would be that of another database: it is refused before.
#[test]
fn contents_that_nobody_acknowledged_are_told() {
    let folder = tempdir().unwrap();
    let mut client = loaded(&folder, VARIANTS[0]);
    client.users_left(&users((Measure::M1, 0), (Measure::M2, 1))).unwrap();
    let error = client.users(&users((Measure::M1, 0), (Measure::M2, 1))).unwrap_err();
    assert!(error.to_string().contains("24 acknowledged commits"), "{error}");
}

#[test]
fn plain_structures_and_other_operations_have_one_user() {
    let folder = tempdir().unwrap();
    let refused =
        |client: &mut dyn Client, users: &Users| client.users(users).unwrap_err().to_string();
    let mut memory = loaded(&folder, ("memory", &[]));
    let reported = refused(&mut *memory, &users((Measure::M1, 2), (Measure::M2, 0)));
    assert!(reported.contains("no concurrency control"), "{reported}");
    let mut sqlite = loaded(&folder, VARIANTS[0]);
    let reported = refused(&mut *sqlite, &users((Measure::M1, 1), (Measure::T2b, 1)));
    assert!(reported.contains("M1 to M6"), "{reported}");
}

#[test]
fn users_of_a_server_leave_every_acknowledged_change_once() {
    let oracle = Oracle::new(database());
    for theirs in ["locks=page&durability=none", "locks=relation&durability=none"] {
        let folder = tempdir().unwrap();
        drop(loaded(&folder, ("lode", &[FAST])));
        let server = serve(folder.path(), theirs);
        let socket = server.address().to_string();
        let mut client = program(Path::new(&socket), ("lode", &[("place", "server")]));
        let done = client.users(&users((Measure::M3, 2), (Measure::M2, 3))).expect(theirs);
        assert_eq!((done.changes, done.torn), (6 * REQUESTS as u64, 0), "{theirs}");
        assert_eq!(held(&mut *client), oracle.contents(), "{theirs}");
        drop(client);
        server.stop().unwrap();
    }
}

/// The folder of the server that this program is, when it is started once more.
const SERVED: &str = "LOADSTONE_TEST_OO7_SERVED";

/// The server to be killed, in a process of its own; nothing where nobody requests it.
#[test]
fn serves_until_it_is_killed() {
    let Some(folder) = std::env::var_os(SERVED) else { return };
    let server = serve(Path::new(&folder), "locks=page&durability=full");
    mark_start(&server.address().to_string());
    // Until nobody is there who could want it.
    std::io::stdin().read_to_end(&mut Vec::new()).expect("a pipe can be read");
}

#[expect(clippy::print_stdout, reason = "the parent process reads it")]
fn mark_start(address: &str) {
    println!("\n{SERVING}{address}");
}

const SERVING: &str = "serving at ";

/// A killed child is waited for also where the test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may be dead already.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn server_process(folder: &Path) -> (Killed, String) {
    let mut child = Command::new(std::env::current_exe().expect("it has a path"))
        .args(["--exact", "serves_until_it_is_killed", "--nocapture"])
        .env(SERVED, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started");
    let reported = BufReader::new(child.stdout.take().expect("it is piped"));
    let killed = Killed(child);
    let mut lines = reported.lines().map(|line| line.expect("it writes text"));
    let address = lines.find_map(|line| line.strip_prefix(SERVING).map(str::to_owned));
    (killed, address.expect("it says where"))
}

#[test]
fn a_killed_server_loses_no_acknowledged_commit() {
    let oracle = Oracle::new(database());
    for writing in [Measure::M2, Measure::M4] {
        let folder = tempdir().unwrap();
        drop(loaded(&folder, ("lode", &[FAST])));
        let (server, address) = server_process(folder.path());
        let client = || program(Path::new(&address), ("lode", &[("place", "server")]));
        let left = std::thread::scope(|scope| {
            let pacing = Pacing::Closed { duration_ns: u64::MAX >> 1 };
            let endless = Users { readers: (Measure::M1, 1), writers: (writing, 3), pacing };
            let mut writers = client();
            let users = scope.spawn(move || writers.users_left(&endless).unwrap());
            let mut watching = client();
            while is_still(&mut *watching, oracle.contents()) {}
            drop(watching);
            drop(server);
            users.join().unwrap()
        });
        assert!(left.failed.is_some(), "it was killed while they worked");
        let mut client = program(&folder.path().join("database"), ("lode", &[]));
        let found = held(&mut *client);
        // Each commit that was under way is there or not.
        let may_be = (0..1_u32 << left.unknown.len()).any(|some| {
            let arrived = (0..).zip(&left.unknown).filter(|(at, _)| some >> at & 1 == 1);
            let all: Vec<u32> =
                left.acknowledged.iter().chain(arrived.map(|(_, one)| one)).copied().collect();
            found == oracle.after(&as_transactions(writing, &all))
        });
        assert!(may_be, "{writing:?}: {} acknowledged, {:?}", left.acknowledged.len(), left.failed);
    }
}
