//! New pages, logged and placed: what each costs the log and the volume, and what a crash leaves.

use super::*;
use crate::disk::Disk;
use crate::log::Body;
use crate::space;

/// Far more than are logged one by one, and than the smallest cache holds.
const PAGES: usize = 300;

const CACHES: [&str; 2] = ["cache=65536", "cache=4MiB"];

/// So many new pages with a value, in one transaction.
pub(super) fn load(database: &Database, count: usize, value: u64) -> Vec<PageNumber> {
    let mut writing = database.writing();
    let pages = filled(&mut writing, count, value);
    writing.commit().unwrap();
    pages
}

fn filled(writing: &mut Writing, count: usize, value: u64) -> Vec<PageNumber> {
    let one = |_| {
        let page = writing.allocate(1, PageKind::Heap).unwrap();
        put(writing, page, value);
        page
    };
    (0..count).map(one).collect()
}

pub(super) fn log_bytes(database: &Database) -> u64 {
    database.counters().unwrap().log.record_bytes
}

#[test]
fn a_load_logs_little_and_all_of_it_is_there_after_a_crash() {
    for cache in CACHES {
        for logging in ["page-diff", "page-grain", "set-range"] {
            let bytes = ["logged", "unlogged"].map(|bulk| {
                let text = format!("{cache}&log={logging}&bulk={bulk}&checkpoint=4MiB");
                let simulation = Simulation::new();
                let database = database_on(&simulation, &tactics(&text)).unwrap();
                let before = log_bytes(&database);
                let pages = load(&database, PAGES, 7);
                let logged = log_bytes(&database) - before;
                // Nothing that was not synced has arrived.
                let recovered = after(&simulation.image(&[]), &tactics(&text));
                assert_eq!(values(&recovered, &pages), [7; PAGES], "{text}");
                recovered.abandon();
                database.abandon();
                logged
            });
            assert!(bytes[0] > 20 * bytes[1], "{cache}, {logging}: {bytes:?}");
        }
    }
}

/// The record that says that new pages lie in their places is the one that commits: what changed of
/// the others stands before it, and until it is there recovery would make the new ones zeros.
#[test]
fn what_changed_beside_a_load_is_committed_with_the_load_and_not_before() {
    let tactics = tactics("bulk=unlogged&log=page-diff&checkpoint=1GiB");
    let simulation = Simulation::new();
    let database = database_on(&simulation, &tactics).unwrap();
    let there = allocate(&database, 3);
    database.checkpoint().unwrap();
    let mut writing = database.writing();
    for &page in &there {
        put(&mut writing, page, 2);
    }
    let new = filled(&mut writing, PAGES, 2);
    writing.commit().unwrap();
    let log = database.changes().log();
    let bodies = log.read(log.checkpoint()).unwrap().map(|record| record.unwrap().body);
    let bodies: Vec<Body> = bodies.collect();
    assert!(matches!(bodies[..], [.., Body::Packed { .. }, Body::Placed]), "{bodies:?}");

    // Nothing that was not synced has arrived.
    let image = simulation.image(&[]);
    let whole = after(&image, &tactics);
    let recovery = whole.recovery().unwrap();
    assert_eq!((recovery.ended, recovery.taken_back), (1, 0));
    assert_eq!(values(&whole, &[&there[..], &new].concat()), [2; 3 + PAGES]);

    // As if the machine had stopped within the last record.
    let cut = image.disk("log");
    let mut bytes = vec![0; cut.len_bytes().unwrap() as usize];
    cut.read(0, &mut bytes).unwrap();
    let end = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    cut.write(end as u64, &[0]).unwrap();
    let cut = Database::on(image.disk("volume"), cut, &tactics).unwrap();
    let recovery = cut.recovery().unwrap();
    assert_eq!(recovery.records, bodies.len() as u64 - 1);
    assert_eq!((recovery.ended, recovery.taken_back), (0, 1));
    assert_eq!(values(&cut, &there), [0; 3]);
    let mut again = load(&cut, PAGES, 3);
    again.sort_unstable();
    let mut new = new;
    new.sort_unstable();
    assert_eq!(again, new, "the pages are free again");
}

#[test]
fn few_new_pages_are_logged_and_wait_for_no_volume() {
    let database = database_on(&Simulation::new(), &tactics("bulk=unlogged")).unwrap();
    let before = database.counters().unwrap().buffer.pages_written;
    let pages = load(&database, 5, 3);
    assert_eq!(database.counters().unwrap().buffer.pages_written, before);
    assert_eq!(values(&database, &pages), [3; 5]);
    let more = load(&database, 50, 4);
    assert_eq!(database.counters().unwrap().buffer.pages_written, before + 50);
    assert_eq!(values(&database, &more), [4; 50]);
}

#[test]
fn pages_of_an_uncommitted_load_are_free_for_others() {
    for cache in CACHES {
        for text in [format!("{cache}&bulk=unlogged"), format!("{cache}&bulk=logged")] {
            let simulation = Simulation::new();
            let database = database_on(&simulation, &tactics(&text)).unwrap();
            let there = load(&database, 20, 1);
            let mut writing = database.writing();
            let mut taken = filled(&mut writing, PAGES, 2);
            taken.sort_unstable();
            database.checkpoint().unwrap();
            let crashed = after(&simulation.killed(), &tactics(&text));
            writing.rollback().unwrap();
            for database in [database, crashed] {
                let mut again = load(&database, PAGES, 3);
                again.sort_unstable();
                assert_eq!(again, taken, "{text}: the pages are free again");
                assert_eq!(values(&database, &again), [3; PAGES], "{text}");
                assert_eq!(values(&database, &there), [1; 20], "{text}");
                database.close().unwrap();
            }
        }
    }
}

#[test]
fn a_page_that_was_given_back_and_taken_again_is_retained_whole() {
    let simulation = Simulation::new();
    let tactics = tactics("bulk=unlogged&cache=65536");
    let database = database_on(&simulation, &tactics).unwrap();
    let pages = load(&database, PAGES, 1);
    // In one transaction: what the pages were is what a rollback brings back.
    let mut writing = database.writing();
    for &page in &pages {
        writing.free(page).unwrap();
    }
    filled(&mut writing, PAGES, 2);
    let crashed = after(&simulation.killed(), &tactics);
    writing.rollback().unwrap();
    for database in [database, crashed] {
        assert_eq!(values(&database, &pages), [1; PAGES]);
        database.close().unwrap();
    }
}

#[test]
fn a_copy_made_meanwhile_has_all_of_a_load_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (locks, commits)) in ["database", "relation", "page"]
        .into_iter()
        .flat_map(|locks| [(locks, true), (locks, false)])
        .enumerate()
    {
        let text = format!("bulk=unlogged&cache=65536&locks={locks}");
        let database = database_on(&Simulation::new(), &tactics(&text)).unwrap();
        let there = load(&database, 20, 1);
        let mut writing = database.writing();
        let taken = filled(&mut writing, PAGES, 2);
        let path = folder.path().join(format!("copy-{number}"));
        let waits = || database.counters().unwrap().locks.waits;
        let before = waits();
        std::thread::scope(|scope| {
            let copying = scope.spawn(|| database.backup(&path));
            while waits() == before {
                std::thread::yield_now();
            }
            if commits {
                writing.commit().unwrap();
            } else {
                writing.rollback().unwrap();
            }
            copying.join().unwrap().unwrap();
        });
        let copy = Database::open(&path, &tactics("")).unwrap();
        assert!(copy.recovery().is_none());
        assert_eq!(values(&copy, &there), [1; 20], "{text}");
        let used = space::usage(&copy.reading(), copy.extent_pages()).unwrap().pages_used;
        assert_eq!(used, 20 + if commits { PAGES as u64 } else { 0 }, "{text}");
        if commits {
            assert_eq!(values(&copy, &taken), [2; PAGES], "{text}");
        }
        copy.close().unwrap();
    }
}
