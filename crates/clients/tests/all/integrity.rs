use loadstone_clients::ClientError;
use loadstone_clients::oo1::Measure;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::users::{Pacing, Users};
use tempfile::tempdir;

use crate::variants::{VARIANTS, database};

/// All that reading can determine: two databases that agree in it are the same.
const READ: [Measure; 6] = [
    Measure::Scan,
    Measure::Lookup,
    Measure::Traversal,
    Measure::Reverse,
    Measure::Group,
    Measure::Range,
];

#[test]
fn the_writes_of_a_measure_are_taken_back() {
    let database = database(200, true);
    let oracle = Oracle::new(database);
    for variant in VARIANTS {
        let folder = tempdir().unwrap();
        let mut client = variant.load(&folder, database);
        for writing in [Measure::Insert, Measure::Update] {
            client.measure(writing, 5).unwrap();
            for measure in READ {
                let outcome = client.measure(measure, 6).unwrap();
                let seen = (outcome.visits, outcome.checksum);
                let expected = oracle.expected(measure, 6).unwrap();
                assert_eq!(seen, expected, "{variant:?}: {measure:?} after {writing:?}");
            }
        }
    }
}

#[test]
fn a_loaded_database_outlives_the_program() {
    let database = database(200, true);
    let oracle = Oracle::new(database);
    for variant in VARIANTS.into_iter().filter(|variant| variant.keeps) {
        let folder = tempdir().unwrap();
        drop(variant.load(&folder, database));
        let mut client = variant.open(&folder, database);
        for measure in READ {
            let outcome = client.measure(measure, 0).unwrap();
            let seen = (outcome.visits, outcome.checksum);
            assert_eq!(Some(seen), oracle.expected(measure, 0), "{variant:?}: {measure:?}");
        }
        assert!(client.size_bytes().unwrap() > 10_000, "{variant:?}");
    }
}

#[test]
fn readers_and_writers_at_once_leave_every_link_in_both_directions() {
    let database = database(1000, true);
    for variant in VARIANTS.into_iter().filter(|variant| variant.shares) {
        let folder = tempdir().unwrap();
        let mut client = variant.load(&folder, database);
        // As many starts as there are inserts, all due at once: the count does not hang on speed.
        let pacing = Pacing::Open { starts_ns: vec![0; 60], duration_ns: u64::MAX >> 1 };
        let served = client.users(&Users { readers: 2, writers: 2, pacing }).unwrap();
        assert_eq!(served.lookups.completed(), 60, "{variant:?}");
        assert_eq!(served.inserts.completed(), 60, "{variant:?}");
        assert_eq!(served.links_found, 3 * 60, "{variant:?}");
        let oracle = Oracle::new(database);
        for measure in READ {
            let outcome = client.measure(measure, 0).unwrap();
            let seen = (outcome.visits, outcome.checksum);
            assert_eq!(Some(seen), oracle.expected(measure, 0), "{variant:?}: {measure:?}");
        }
    }
}

#[test]
fn requests_due_after_the_end_are_skipped_and_a_closed_loop_ends() {
    let database = database(200, true);
    let variant = VARIANTS.into_iter().find(|variant| variant.engine == "lmdb").unwrap();
    let folder = tempdir().unwrap();
    let mut client = variant.load(&folder, database);
    let pacing = Pacing::Open { starts_ns: vec![0; 5], duration_ns: 0 };
    let served = client.users(&Users { readers: 1, writers: 1, pacing }).unwrap();
    assert_eq!((served.lookups.completed(), served.lookups.skipped()), (0, 5));
    assert_eq!((served.inserts.completed(), served.inserts.skipped()), (0, 5));
    let pacing = Pacing::Closed { duration_ns: 1_000_000 };
    let served = client.users(&Users { readers: 1, writers: 0, pacing }).unwrap();
    assert!(served.elapsed_ns >= 1_000_000);
}

#[test]
fn plain_structs_say_that_they_take_one_user() {
    let folder = tempdir().unwrap();
    let variant = VARIANTS.into_iter().find(|variant| !variant.shares).unwrap();
    let mut client = variant.load(&folder, database(200, true));
    let pacing = Pacing::Closed { duration_ns: 0 };
    let refused = client.users(&Users { readers: 2, writers: 0, pacing }).unwrap_err();
    assert!(matches!(refused, ClientError::Unsupported { .. }), "{refused}");
}
