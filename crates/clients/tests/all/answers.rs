use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::{Client, Measure};
use loadstone_clients::{Address, ClientError, Tactics};
use tempfile::tempdir;

use crate::variants::{VARIANTS, database};

/// Measures that the client has are as the oracle says.
fn hold(client: &mut dyn Client, oracle: &Oracle, iteration: u32, of: &str) {
    for (name, measure) in Measure::ALL {
        match client.measure(measure, iteration) {
            Ok(outcome) => {
                let seen = (outcome.visits, outcome.checksum);
                match oracle.expected(measure, iteration) {
                    Some(expected) => assert_eq!(seen, expected, "{of}: {name}, {iteration}"),
                    None => assert_eq!((seen, outcome.calls), ((0, 0), 1000), "{of}: {name}"),
                }
            }
            Err(ClientError::Unsupported { .. }) => {}
            Err(error) => panic!("{of}: {name}: {error}"),
        }
    }
}

#[test]
fn every_client_sees_what_the_oracle_says() {
    for (parts, locality) in [(200, true), (1000, true), (1000, false)] {
        let database = database(parts, locality);
        let oracle = Oracle::new(database);
        for variant in VARIANTS {
            let folder = tempdir().unwrap();
            let mut client = variant.load(&folder, database);
            for iteration in [0, 9] {
                hold(&mut *client, &oracle, iteration, &format!("{variant:?}, {parts} parts"));
            }
        }
    }
}

#[test]
fn the_papers_measures_are_had_by_all() {
    let database = database(200, true);
    for variant in VARIANTS {
        let folder = tempdir().unwrap();
        let mut client = variant.load(&folder, database);
        for measure in [
            Measure::Lookup,
            Measure::Traversal,
            Measure::Reverse,
            Measure::Insert,
            Measure::Range,
            Measure::Scan,
            Measure::Update,
            Measure::Ordered,
        ] {
            let outcome = client.measure(measure, 3).unwrap();
            assert!(outcome.visits > 0 && outcome.elapsed_ns > 0, "{variant:?}: {measure:?}");
        }
        let traversal = client.measure(Measure::Traversal, 3).unwrap();
        // An engine that walks by itself gets the start and the walk, and gives the rest.
        let calls = if variant.walks() { 2 + 3279 } else { 3280 + 1093 };
        assert_eq!((traversal.visits, traversal.calls), (3280, calls), "{variant:?}");
    }
}

#[test]
fn another_databases_answers_are_wrong() {
    let (ours, theirs) = (database(1000, true), database(1000, false));
    let oracle = Oracle::new(ours);
    for variant in VARIANTS {
        let folder = tempdir().unwrap();
        let mut client = variant.load(&folder, theirs);
        for measure in [Measure::Traversal, Measure::Reverse, Measure::Ordered, Measure::Group] {
            let outcome = client.measure(measure, 0).unwrap();
            let seen = (outcome.visits, outcome.checksum);
            assert_ne!(Some(seen), oracle.expected(measure, 0), "{variant:?}: {measure:?}");
        }
    }
}

/// The value of a term, read back from a loaded database.
fn reported(engine: &str, tactics: &[(&str, &str)], term: &str) -> Result<String, ClientError> {
    let folder = tempdir().expect("a folder can be made");
    let path = folder.path().join("database").display().to_string();
    let address = Address { database: path, library: None };
    let tactics = Tactics::new(tactics.iter().copied());
    let mut client = open(engine, &address, tactics, database(200, true))?;
    client.load()?;
    let terms = client.terms()?;
    let found = terms.into_iter().find(|(name, _)| name == term);
    Ok(found.map_or_else(String::new, |(_, value)| value))
}

#[test]
fn an_engine_that_prefetches_says_so_and_one_that_cannot_refuses() {
    let prefetch = |value| ("prefetch", value);
    for value in ["off", "on"] {
        assert_eq!(reported("memory", &[prefetch(value)], "prefetch").unwrap(), value);
        for access in ["objects", "links"] {
            let tactics = [prefetch(value), ("access", access)];
            assert_eq!(reported("lode", &tactics, "prefetch").unwrap(), value, "{access}");
        }
    }
    assert_eq!(reported("memory", &[], "prefetch").unwrap(), "off");
    for access in ["btree", "hash"] {
        assert_eq!(reported("lode", &[("access", access)], "prefetch").unwrap(), "off");
        let refused =
            reported("lode", &[prefetch("on"), ("access", access)], "prefetch").unwrap_err();
        assert!(matches!(refused, ClientError::Unsupported { .. }), "{refused}");
        assert!(refused.to_string().contains("prefetch=on"), "{refused}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let reported = |engine: &str, tactics: &[(&str, &str)]| {
        let folder = tempdir().unwrap();
        let path = folder.path().join("database").to_str().unwrap().to_owned();
        let address = Address { database: path, library: None };
        let tactics = Tactics::new(tactics.iter().copied());
        open(engine, &address, tactics, database(200, true)).err().unwrap().to_string()
    };
    assert!(reported("oracle", &[]).contains("sqlite"));
    assert!(reported("sqlite", &[("access", "hash")]).contains("access=clustered"));
    assert!(reported("lmdb", &[("swizzle", "on")]).contains("durability"));
    assert!(Measure::named("walk").unwrap_err().to_string().contains("traversal"));
}
