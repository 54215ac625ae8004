//! Tests that hold of each engine's program for OO1, whichever server or library it needs.

use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::users::{Pacing, Users};
use loadstone_clients::oo1::{Client, Database, Measure};

/// Every measure answers as the oracle does, `iterations` times one after another.
pub fn agree(client: &mut dyn Client, oracle: &Oracle, iterations: u32, when: &str) {
    for (name, measure) in Measure::ALL {
        for iteration in 0..iterations {
            let outcome = client.measure(measure, iteration).expect(name);
            let Some(expected) = oracle.expected(measure, iteration) else { continue };
            assert_eq!((outcome.visits, outcome.checksum), expected, "{name} {iteration} {when}");
        }
    }
}

/// A program has been opened for a database of 200 parts: its concurrent users leave every link
/// that they add in both directions.
pub fn users_leave_every_link(client: &mut dyn Client, database: Database) {
    let oracle = Oracle::new(database);
    client.load().expect("it loads");
    let pacing = Pacing::Open { starts_ns: vec![0; 60], duration_ns: u64::MAX >> 1 };
    let users = Users { readers: 2, writers: 2, pacing };
    let served = client.users(&users).expect("they are served");
    assert_eq!((served.lookups.completed(), served.inserts.completed()), (60, 60));
    assert_eq!(served.links_found, 3 * 60);
    agree(client, &oracle, 1, "after the users");
}
