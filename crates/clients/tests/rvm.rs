//! RVM's program on every engine: what the oracle says, balances that agree, a database that is as
//! generated after each trial, and what lode logs of it under each scheme.

use loadstone_clients::engines::rvm::{ENGINES, open};
use loadstone_clients::rvm::oracle::Oracle;
use loadstone_clients::rvm::{Client, Database, Measure, Pattern};
use loadstone_clients::{Address, ClientError, Logged, Tactics};
use tempfile::{TempDir, tempdir};

type Variant = (&'static str, &'static [(&'static str, &'static str)]);

const FAST: (&str, &str) = ("durability", "none");

const VARIANTS: [Variant; 10] = [
    ("memory", &[]),
    ("sqlite", &[FAST]),
    ("lmdb", &[FAST]),
    ("lode", &[FAST]),
    ("lode", &[FAST, ("log", "page-grain")]),
    ("lode", &[FAST, ("log", "set-range")]),
    ("lode", &[FAST, ("detect", "sigsegv")]),
    ("lode", &[FAST, ("detect", "kernel"), ("cache", "131072")]),
    ("lode", &[FAST, ("detect", "sigsegv"), ("log", "page-grain")]),
    ("lode", &[FAST, ("detect", "kernel"), ("log", "page-grain")]),
];

fn try_open(
    folder: &TempDir,
    (engine, tactics): Variant,
    database: Database,
) -> Result<Box<dyn Client>, ClientError> {
    let path = folder.path().join("database").display().to_string();
    let address = Address { database: path, library: None };
    open(engine, &address, Tactics::new(tactics.iter().copied()), database)
}

/// Loaded; `None` where this machine does not permit the kernel's detection.
fn loaded(folder: &TempDir, variant: Variant, database: Database) -> Option<Box<dyn Client>> {
    let mut client = match try_open(folder, variant, database) {
        Ok(client) => client,
        Err(error) => {
            let reported = error.to_string();
            assert!(reported.contains("choose detect=sigsegv"), "{variant:?}: {reported}");
            return None;
        }
    };
    client.load().expect("it loads");
    Some(client)
}

#[test]
fn every_client_leaves_what_the_oracle_says() {
    // Of the first database the ring comes round in a trial.
    for (accounts, variants) in [(1_500, &VARIANTS[..]), (5_000, &VARIANTS[..4])] {
        let database = Database::new(accounts, 7).unwrap();
        let oracle = Oracle::new(database);
        for &variant in variants {
            let folder = tempdir().unwrap();
            let Some(mut client) = loaded(&folder, variant, database) else { continue };
            for (name, measure) in Measure::ALL {
                let outcome = client.measure(measure, 2).unwrap();
                let seen = (outcome.visits, outcome.checksum);
                assert_eq!(seen, oracle.expected(measure, 2), "{variant:?}: {name}");
                assert!(outcome.commit_ns <= outcome.elapsed_ns, "{variant:?}: {name}");
            }
            assert!(client.size_bytes().unwrap() >= 256 * accounts, "{variant:?}");
        }
    }
}

#[test]
fn a_loaded_database_is_there_when_it_is_opened_again() {
    let database = Database::new(1_000, 1).unwrap();
    let wanted = Oracle::new(database).expected(Measure::Audit, 0);
    for variant in VARIANTS.into_iter().filter(|(engine, _)| *engine != "memory") {
        let folder = tempdir().unwrap();
        let Some(client) = loaded(&folder, variant, database) else { continue };
        drop(client);
        let mut client = try_open(&folder, variant, database).unwrap();
        let outcome = client.measure(Measure::Audit, 0).unwrap();
        assert_eq!((outcome.visits, outcome.checksum), wanted, "{variant:?}");
    }
}

/// Of each transaction 3 x 128 + 64 bytes are declared: set-range logs these, page-diff what
/// differs, page-grain whole pages, two for each.
#[test]
fn each_scheme_logs_what_it_says_of_a_transaction() {
    let database = Database::new(5_000, 7).unwrap();
    let logged = |variant: Variant| {
        let folder = tempdir().unwrap();
        let mut client = loaded(&folder, variant, database)?;
        let outcome = client.measure(Measure::Trial(Pattern::Random), 1).unwrap();
        Some(outcome.logged.expect("lode counts what it logs"))
    };
    let changed = 4_000 * (3 * 128 + 64);
    // Of an incremented word one byte differs, behind its mask.
    let words = 4_000 * 3 * 16 * 2;
    let heads = 4_000 * (3 * 48 + 4 * 4 + 32);
    for (place, variant) in VARIANTS.iter().enumerate().skip(3) {
        let Some(Logged { bytes, ranges }) = logged(*variant) else { continue };
        let is_grain = variant.1.contains(&("log", "page-grain"));
        let is_said = variant.1.contains(&("log", "set-range"));
        assert_eq!(ranges, if is_said { 16_000 } else { 0 }, "{variant:?}");
        if is_grain {
            // Three pages, each before and after; and images of pages that checkpoints write.
            let pages = 4_000 * 6 * 4_128;
            assert!((pages..2 * pages).contains(&bytes), "{variant:?}, {place}: {bytes}");
        } else if variant.1.contains(&("cache", "131072")) {
            // Images and undo of pages that left the cache, too.
            assert!(bytes > words, "{variant:?}: {bytes}");
        } else if !is_said {
            assert!((words..changed).contains(&bytes), "{variant:?}: {bytes}");
        } else {
            assert!((changed..=changed + heads).contains(&bytes), "{variant:?}: {bytes}");
        }
    }
}

#[test]
fn a_choice_that_the_program_does_not_have_is_reported() {
    let database = Database::new(1_000, 1).unwrap();
    let refused = |variant: Variant| {
        let folder = tempdir().unwrap();
        try_open(&folder, variant, database).err().expect("it is refused")
    };
    for variant in [
        ("lode", &[("place", "server")][..]),
        ("lode", &[("swizzle", "on")]),
        ("sqlite", &[("access", "clustered")]),
        ("lmdb", &[("access", "links")]),
    ] {
        let error = refused(variant);
        assert!(matches!(error, ClientError::Unsupported { .. }), "{variant:?}: {error}");
    }
    assert!(matches!(refused(("lode", &[("pace", "fast")])), ClientError::Unknown { .. }));
    assert!(matches!(refused(("zodb", &[])), ClientError::Unknown { .. }));
    assert!(ENGINES.contains(&"lode"));
}
