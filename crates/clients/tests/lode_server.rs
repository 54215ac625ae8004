//! lode's designs with the database at a page server, held to the oracle.

#[path = "setup/serving.rs"]
mod serving;

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::users::{Pacing, Users};
use loadstone_clients::oo1::{Client, Database, Measure};
use loadstone_clients::{Address, ClientError, Tactics};
use lode::server::Server;
use serving::serve;
use tempfile::{TempDir, tempdir};

/// A program's tactics.
type Own = &'static [(&'static str, &'static str)];

/// Each design with the server's tactics and the program's. Some caches are smaller than the
/// database.
const VARIANTS: [(&str, &str, Own); 8] = [
    ("objects", "", &[("swizzle", "on")]),
    ("objects", "locks=page&cache=65536", &[]),
    ("objects", "prefetch=off", &[("prefetch", "on"), ("cache", "1048576")]),
    ("links", "durability=none", &[("cache", "1048576")]),
    ("links", "locks=page", &[("prefetch", "on"), ("swizzle", "on"), ("cache", "1048576")]),
    ("links", "locks=relation&log=page-grain", &[("swizzle", "on")]),
    ("btree", "locks=relation&durability=group", &[]),
    ("hash", "locks=page", &[("replacement", "lru")]),
];

fn database() -> Database {
    Database::new(1000, 3, true).expect("the size is allowed")
}

/// A server of this process, in a folder that goes with it.
struct Served {
    folder: TempDir,
    server: Server,
}

impl Served {
    /// A database in a design, which its program made before it is served.
    fn load(access: &str, tactics: &str) -> Self {
        let folder = tempdir().expect("a folder can be made");
        let path = folder.path().join("database");
        let mut maker = program(&path.display().to_string(), access, &[("durability", "none")]);
        maker.load().expect("it loads");
        drop(maker);
        let server = serve(folder.path(), tactics);
        Self { folder, server }
    }

    fn program(&self, access: &str, tactics: &[(&str, &str)]) -> Box<dyn Client> {
        let all: Vec<_> = [("place", "server")].iter().chain(tactics).copied().collect();
        program(&self.server.address().to_string(), access, &all)
    }
}

fn try_program(
    database: &str,
    access: &str,
    tactics: &[(&str, &str)],
) -> Result<Box<dyn Client>, ClientError> {
    let address = Address { database: database.to_owned(), library: None };
    let tactics = Tactics::new([("access", access)].iter().chain(tactics).copied());
    open("lode", &address, tactics, self::database())
}

fn program(database: &str, access: &str, tactics: &[(&str, &str)]) -> Box<dyn Client> {
    try_program(database, access, tactics).unwrap_or_else(|error| panic!("{access}: {error}"))
}

fn assert_right(client: &mut dyn Client, oracle: &Oracle, of: &str) {
    for (name, measure) in Measure::ALL {
        let Ok(outcome) = client.measure(measure, 2) else { continue };
        let seen = (outcome.visits, outcome.checksum);
        let expected = oracle.expected(measure, 2).unwrap_or_default();
        assert_eq!(seen, expected, "{of}: {name}");
    }
}

#[test]
fn every_design_answers_at_a_server_as_the_oracle_does() {
    let oracle = Oracle::new(database());
    for (access, theirs, ours) in VARIANTS {
        let served = Served::load(access, theirs);
        let mut client = served.program(access, ours);
        let of = format!("{access}?{theirs}");
        for measure in [Measure::Traversal, Measure::Insert, Measure::Update] {
            let outcome = client.measure(measure, 1);
            assert!(outcome.is_ok(), "{of}: {measure:?}: {:?}", outcome.err());
        }
        assert_right(&mut *client, &oracle, &of);
        // The next server finds what the last one left.
        drop(client);
        served.server.stop().unwrap();
        let again = Served { server: serve(served.folder.path(), theirs), ..served };
        assert_right(&mut *again.program(access, ours), &oracle, &of);
        again.server.stop().unwrap();
    }
}

#[test]
fn the_tactics_reported_are_the_clients_and_the_servers() {
    let served = Served::load("objects", "durability=group&locks=page&extent=4");
    let mut client = served
        .program("objects", &[("cache", "1048576"), ("durability", "none"), ("prefetch", "on")]);
    let terms = client.terms().unwrap();
    let reported =
        |name: &str| terms.iter().find(|(term, _)| term == name).map(|(_, value)| &**value);
    assert_eq!(reported("place"), Some("server"));
    assert_eq!(reported("cache"), Some("1048576"));
    assert_eq!(reported("durability"), Some("group"));
    assert_eq!(reported("locks"), Some("page"));
    assert_eq!(reported("prefetch"), Some("on"));
}

#[test]
fn users_of_several_programs_at_once_leave_every_link_in_both_directions() {
    let oracle = Oracle::new(database());
    for (access, theirs, ours) in VARIANTS {
        let served = Served::load(access, theirs);
        let mut clients = [(); 2].map(|()| served.program(access, ours));
        let reading = Users { readers: 2, writers: 0, pacing: pacing() };
        let both = Users { readers: 1, writers: 2, pacing: pacing() };
        std::thread::scope(|scope| {
            let [one, other] = &mut clients;
            let one = scope.spawn(move || one.users(&reading).unwrap());
            let changed = other.users(&both).unwrap();
            assert_eq!(changed.links_found, 3 * 20, "{access}?{theirs}");
            assert_eq!(changed.inserts.completed(), 20, "{access}?{theirs}");
            assert_eq!(one.join().unwrap().lookups.completed(), 20, "{access}?{theirs}");
        });
        for client in &mut clients {
            assert_right(&mut **client, &oracle, access);
        }
    }
}

/// All due at once: the count does not hang on speed.
fn pacing() -> Pacing {
    Pacing::Open { starts_ns: vec![0; 20], duration_ns: u64::MAX >> 1 }
}

#[test]
fn a_tactic_that_a_server_lacks_is_reported() {
    let served = Served::load("links", "locks=page&readahead=on");
    let unlocked = try_program(
        &served.server.address().to_string(),
        "links",
        &[("place", "server"), ("readahead", "on")],
    );
    let reported = unlocked.err().expect("nothing would be read ahead");
    assert!(matches!(reported, ClientError::Unsupported { .. }), "{reported}");
    assert!(reported.to_string().contains("readahead"), "{reported}");
    let mut client = served.program("links", &[]);
    for refused in [client.load().unwrap_err(), client.size_bytes().unwrap_err()] {
        assert!(matches!(refused, ClientError::Unsupported { .. }), "{refused}");
    }
    let absent = client.measure(Measure::Lookup, 1).map(|outcome| outcome.visits);
    assert_eq!(absent.unwrap(), 1000);
    served.server.stop().unwrap();
    let gone = client.measure(Measure::Lookup, 1).unwrap_err().to_string();
    assert!(gone.contains("page server is gone"), "{gone}");
}
