//! The same walks in every kind of transaction, over caches that hold less than the records.

use std::sync::Arc;

use lode::internals::disk::Memory;
use lode::remote::Remote;
use lode::server::{Listener, Server};
use lode::{Database, PageRead};

use crate::stored::{Graph, SWITCHES, Stored};

const RECORDS: usize = 240;
const DEPTH: u32 = 3;
const STARTS: [usize; 4] = [0, 17, 101, 239];

/// Both files take more than the 16 pages of the smallest cache.
const MORE: usize = 520;

/// Two nearby, one anywhere: as OO1 has it.
fn wide() -> Graph {
    let to = |at: usize| [at + 1, at + 7, at * 97 + 5].map(|to| to % RECORDS).to_vec();
    (0..RECORDS).map(to).collect()
}

/// Tactics in words, and whether they prefetch.
fn every_switch() -> impl Iterator<Item = (String, bool)> {
    ["database", "relation", "page"].into_iter().flat_map(|locks| {
        SWITCHES.map(|(swizzle, prefetch)| {
            let text = format!("locks={locks}&swizzle={swizzle}&prefetch={prefetch}&cache=65536");
            (text, prefetch == "on")
        })
    })
}

fn filled(text: &str) -> (Database, Stored) {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::on(volume, log, &text.parse().unwrap()).unwrap();
    let mut writing = database.writing();
    let stored = Stored::new(&mut writing, &wide(), MORE).unwrap();
    writing.commit().unwrap();
    (database, stored)
}

fn compare_all(stored: &Stored, pages: &impl PageRead, graph: &Graph) -> u64 {
    STARTS.iter().map(|&from| stored.compare(pages, graph, from, DEPTH)).sum()
}

#[test]
fn a_walk_is_the_same_in_every_transaction_of_a_database() {
    let graph = wide();
    for (text, prefetch) in every_switch() {
        let (database, stored) = filled(&text);
        let so_far = || database.counters().unwrap().buffer;
        let before = so_far();
        assert_eq!(before.prefetches, 0, "{text}: loading walks nowhere");
        let reading = database.reading();
        let read = compare_all(&stored, &reading, &graph);
        drop(reading);
        let after = so_far();
        assert!(after.evictions > before.evictions, "{text}: the cache holds all");
        assert_eq!(after.prefetches, if prefetch { read } else { 0 }, "{text}, reading");
        let mut writing = database.writing();
        stored.grow(&mut writing, 17, 2_000).unwrap();
        let read = compare_all(&stored, &writing, &graph);
        writing.rollback().unwrap();
        let prefetches = so_far().prefetches - after.prefetches;
        assert_eq!(prefetches, if prefetch { read } else { 0 }, "{text}, writing");
    }
}

#[test]
fn a_walk_is_the_same_at_a_servers_client() {
    let graph = wide();
    for (text, prefetch) in every_switch() {
        // A tactic that the client chooses for itself, and the other way round at the server.
        let other = text.replace("prefetch=on", "prefetch=off");
        let other = if prefetch { other } else { text.replace("prefetch=off", "prefetch=on") };
        let (database, stored) = filled(&other);
        let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
        let server = Server::start(database, listener).unwrap();
        let remote = Remote::connect(server.address(), &text.parse().unwrap()).unwrap();
        let read = compare_all(&stored, &remote.reading(), &graph);
        let after = remote.counters().buffer;
        assert!(after.evictions > 0, "{text}: the cache holds all");
        assert_eq!(after.prefetches, if prefetch { read } else { 0 }, "{text}, reading");
        let mut writing = remote.writing();
        stored.grow(&mut writing, 17, 2_000).unwrap();
        let read = compare_all(&stored, &writing, &graph);
        writing.rollback().unwrap();
        let prefetches = remote.counters().buffer.prefetches - after.prefetches;
        assert_eq!(prefetches, if prefetch { read } else { 0 }, "{text}, writing");
        drop(remote);
        server.stop().unwrap();
    }
}
