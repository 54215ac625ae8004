//! The tests that look inside; the rest is in `tests/server`.

use std::sync::Arc;

use crate::database::Database;
use crate::disk::{Disk, Memory};
use crate::error::{LodeError, Result};
use crate::page::{self, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::random::Random;
use crate::remote::Remote;
use crate::server::{History, Listener, Server};
use crate::tactics::Tactics;
use crate::view::View;

const PAGES: usize = 6;

fn serve(text: &str, changes_max: usize) -> (Server, Vec<PageNumber>) {
    let tactics: Tactics = text.parse().unwrap();
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::on(volume, log, &tactics).unwrap();
    let mut writing = database.writing();
    let pages = (0..PAGES).map(|_| writing.allocate(9, PageKind::Heap).unwrap()).collect();
    writing.commit().unwrap();
    let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
    let history = History::remembering(changes_max);
    (Server::start_with(database, listener, history).unwrap(), pages)
}

fn words(remote: &Remote, pages: &[PageNumber]) -> Vec<u64> {
    let reading = remote.reading();
    pages.iter().map(|&page| reading.read(page, |view| view.u64(64)).unwrap()).collect()
}

fn write(remote: &Remote, page: PageNumber, word: u64) -> Result<()> {
    let mut writing = remote.writing();
    writing.write(page, |bytes| bytes.put_u64(64, word))?;
    writing.commit()
}

#[test]
fn who_was_away_for_long_drops_everything() {
    for text in ["locks=database", "locks=page"] {
        let (server, pages) = serve(text, 2);
        let [first, second] =
            [0, 1].map(|_| Remote::connect(server.address(), &Tactics::default()).unwrap());
        let mut model = vec![0; PAGES];
        for round in 1..40 {
            assert_eq!(words(&first, &pages), model, "{text}, round {round}");
            for step in 0..round % 5 {
                let at = (round * 7 + step) % PAGES;
                model[at] = (round * 10 + step) as u64;
                write(&second, pages[at], model[at]).unwrap();
            }
        }
        assert_eq!(words(&second, &pages), model);
    }
}

#[test]
fn nothing_is_written_to_the_disk_that_is_elsewhere() {
    let (server, pages) = serve("locks=database", 100);
    let remote = Remote::connect(server.address(), &Tactics::default()).unwrap();
    write(&remote, pages[0], 5).unwrap();
    assert_eq!(remote.client.buffer.counters().writes, 0);
    let written = remote.client.disk.write(0, &[0; page::PAGE_BYTES]);
    assert!(written.is_err());
    remote.client.disk.sync().unwrap();
    remote.client.disk.read(1, &mut [0; page::PAGE_BYTES]).unwrap_err();
    remote.client.disk.read(0, &mut [0; 100]).unwrap_err();
}

#[test]
fn an_error_of_the_server_about_a_page_is_reported_unchanged() {
    let (server, pages) = serve("locks=database", 100);
    let remote = Remote::connect(server.address(), &Tactics::default()).unwrap();
    let outcome = remote.reading().read(1_000_000, |_| ());
    assert!(matches!(outcome, Err(LodeError::Corrupt { .. })), "{outcome:?}");
    let reading = remote.reading();
    reading.read(pages[0], |_| ()).unwrap();
    server.abandon();
    // Pages in memory are there until the transaction ends; others are not.
    reading.read(pages[0], |_| ()).unwrap();
    let outcome = reading.read(pages[1], |_| ());
    assert!(matches!(outcome, Err(LodeError::Server { .. })), "{outcome:?}");
}

/// Another client makes the volume longer.
#[test]
fn a_volume_that_grows_is_seen_to() {
    for text in ["locks=database&extent=4", "locks=page&extent=4"] {
        let (server, pages) = serve(text, 1_000);
        let [first, second] =
            [0, 1].map(|_| Remote::connect(server.address(), &Tactics::default()).unwrap());
        words(&first, &pages);
        let before = first.client.buffer.pages_total();
        let mut added = Vec::new();
        for word in 1..30 {
            let mut writing = second.writing();
            let page = writing.allocate(9, PageKind::Heap).unwrap();
            writing.write(page, |bytes| bytes.put_u64(64, word)).unwrap();
            writing.commit().unwrap();
            added.push(page);
        }
        assert_eq!(words(&first, &added), (1..30).collect::<Vec<u64>>(), "{text}");
        assert!(first.client.buffer.pages_total() > before);
        // A page that was allocated and rolled back is allocated again.
        let allocate = |remote: &Remote| {
            let mut writing = remote.writing();
            let page = writing.allocate(9, PageKind::Heap).unwrap();
            writing.free(added[0]).unwrap();
            writing.rollback().unwrap();
            page
        };
        assert_eq!(allocate(&first), allocate(&second));
    }
}

#[test]
fn a_write_transaction_at_a_server_swizzles_and_reads_its_own_changes() {
    for text in ["locks=database", "locks=page"] {
        let (server, _) = serve(text, 1);
        let remote = Remote::connect(server.address(), &"swizzle=on".parse().unwrap()).unwrap();
        let mut writing = remote.writing();
        assert!(writing.swizzles());
        let heap = writing.heap("parts").unwrap();
        let id = heap.insert(&mut writing, &7_u64.to_le_bytes(), None).unwrap();
        let reference = heap.reference(&writing, id).unwrap();
        let value = |view: View<'_>, at: usize| view.u64(at);
        assert_eq!(heap.try_read_at(&writing, reference, value), Some(7), "{text}");
        writing.commit().unwrap();
        let mut writing = remote.writing();
        assert_eq!(heap.read_at(&writing, reference, value).unwrap(), 7);
        assert_eq!(heap.try_read_at(&writing, reference, value), Some(7), "{text}, in the cache");
        heap.change(&mut writing, id, |record| record.fill(1)).unwrap();
        let changed = u64::from_le_bytes([1; 8]);
        assert_eq!(heap.try_read_at(&writing, reference, value), Some(changed), "its own");
    }
}

/// More of them than a record of the log or a frame of the wire has room for.
#[test]
fn a_clients_ranges_reach_the_server_as_it_said_them() {
    for text in ["locks=database&log=set-range", "locks=page&log=set-range"] {
        let (server, _) = serve(text, 1);
        let connect = || Remote::connect(server.address(), &Tactics::default()).unwrap();
        let (remote, other) = (connect(), connect());
        let mut writing = remote.writing();
        let heap = writing.heap("parts").unwrap();
        let mut records = vec![[0_u8; 100]; 60];
        let insert = |record: &[u8; 100]| heap.insert(&mut writing, record, None).unwrap();
        let ids: Vec<_> = records.iter().map(insert).collect();
        writing.commit().unwrap();
        let mut random = Random::new(3);
        for round in 0..3 {
            let (mut writing, mut after) = (remote.writing(), records.clone());
            for number in 0..12_000 {
                let (at, start) = (random.below(60), random.below(90));
                let range = start..start + 1 + random.below(10);
                let fill = |bytes: &mut [u8]| bytes.fill(number as u8);
                heap.change_range(&mut writing, ids[at], range.clone(), fill).unwrap();
                fill(&mut after[at][range]);
                if number == 6_000 && round == 2 {
                    // A page is said, among ranges of it.
                    heap.update(&mut writing, ids[0], &[9; 100]).unwrap();
                    after[0] = [9; 100];
                }
            }
            if round == 1 {
                drop(writing);
            } else {
                writing.commit().unwrap();
                records = after;
            }
            let reading = other.reading();
            for (id, record) in ids.iter().zip(&records) {
                assert_eq!(heap.get(&reading, *id).unwrap(), record, "{text}, round {round}");
            }
        }
    }
}

#[test]
fn a_clients_pins_are_copies_that_keep_no_lock() {
    for text in ["locks=database", "locks=page"] {
        let (server, pages) = serve(text, 100);
        let remote = Remote::connect(server.address(), &Tactics::default()).unwrap();
        write(&remote, pages[0], 1).unwrap();
        let before = remote.reading().pin(pages[0]).unwrap();
        let mut writing = remote.writing();
        writing.write(pages[0], |bytes| bytes.put_u64(64, 2)).unwrap();
        let own = writing.pin(pages[0]).unwrap();
        writing.write(pages[0], |bytes| bytes.put_u64(64, 3)).unwrap();
        writing.commit().unwrap();
        let seen = [&before, &own].map(|pinned| page::u64_at(pinned, 64));
        assert_eq!((seen, words(&remote, &pages[..1])), ([1, 2], vec![3]), "{text}");
    }
}
