//! The bytes that each `log` writes, held against what Rhino's paper lets one expect (Saito and
//! Bershad, USENIX 1998), on a database of the shape and size of OO7's small one: 500 composite
//! parts of 20 atomic parts, of which a traversal visits 2,187, most of them again and again.

use super::*;
use crate::heap::{Heap, RecordId};
use crate::random::Random;

const COMPOSITES: usize = 500;
const ATOMIC_PARTS: usize = 20;
/// 729 base assemblies of three composite parts each.
const VISITS: usize = 2_187;
/// x and y, which an update exchanges.
const XY: std::ops::Range<usize> = 8..16;

/// Bytes of a redo record besides its runs, and of a run besides what lies there.
const RECORD_HEAD: u64 = 40;
const RUN_HEAD: u64 = 4;
const COMMIT: u64 = 32;

struct Oo7 {
    database: Database,
    parts: Heap,
    ids: Vec<RecordId>,
    visits: Vec<usize>,
}

/// The cost of a traversal to the log.
#[derive(Debug, Clone, Copy)]
struct Logged {
    bytes: u64,
    ranges: u64,
}

impl Oo7 {
    fn new(log: &str) -> Self {
        let database = Database::on(
            Arc::new(crate::disk::Memory::new()),
            Arc::new(crate::disk::Memory::new()),
            &tactics(&format!("log={log}&checkpoint=1GiB")),
        )
        .unwrap();
        let mut writing = database.writing();
        let parts = writing.heap("atomic part").unwrap();
        let ids = (0..COMPOSITES * ATOMIC_PARTS)
            .map(|part| {
                let mut record = [0; 100];
                record[8..12].copy_from_slice(&(part as u32).to_le_bytes());
                record[12..16].copy_from_slice(&(!part as u32).to_le_bytes());
                parts.insert(&mut writing, &record, None).unwrap()
            })
            .collect();
        writing.commit().unwrap();
        let mut random = Random::new(7);
        let visits = (0..VISITS).map(|_| random.below(COMPOSITES)).collect();
        Self { database, parts, ids, visits }
    }

    /// Exchange x and y so many times in so many parts of each composite part that is visited.
    fn traverse(&self, parts: usize, swaps: usize) -> Logged {
        let logged = || {
            let counters = self.database.counters().unwrap();
            Logged { bytes: counters.log.record_bytes, ranges: counters.ranges_said }
        };
        let before = logged();
        let mut writing = self.database.writing();
        for visit in &self.visits {
            for &id in &self.ids[visit * ATOMIC_PARTS..][..parts] {
                for _ in 0..swaps {
                    let swap = |xy: &mut [u8]| xy.rotate_left(4);
                    self.parts.change_range(&mut writing, id, XY, swap).unwrap();
                }
            }
        }
        writing.commit().unwrap();
        let after = logged();
        Logged { bytes: after.bytes - before.bytes, ranges: after.ranges - before.ranges }
    }

    /// The number of pages that have the first so many parts of the composite parts that are
    /// visited.
    fn pages(&self, parts: usize) -> u64 {
        let of = |visit: &usize| &self.ids[visit * ATOMIC_PARTS..][..parts];
        let pages: std::collections::BTreeSet<_> =
            self.visits.iter().flat_map(of).map(|id| id.page).collect();
        pages.len() as u64
    }

    /// The number of composite parts that are visited an odd number of times.
    fn odd(&self) -> u64 {
        let times = |one| self.visits.iter().filter(|&&visit| visit == one).count();
        (0..COMPOSITES).filter(|&one| times(one) % 2 == 1).count() as u64
    }

    fn x(&self, part: usize) -> u64 {
        let reading = self.database.reading();
        self.parts.read(&reading, self.ids[part], |view, at, _| view.u64(at + 8)).unwrap()
    }
}

/// T2c: each value is what it was. Set-range has to hold what was said all the same.
#[test]
fn four_exchanges_leave_nothing_to_page_diff_and_every_range_to_set_range() {
    let updates = VISITS * ATOMIC_PARTS * 4;
    assert_eq!(updates, 174_960);
    let diff = Oo7::new("page-diff");
    let logged = diff.traverse(ATOMIC_PARTS, 4);
    assert_eq!((logged.bytes, logged.ranges), (0, 0));

    let said = Oo7::new("set-range");
    let logged = said.traverse(ATOMIC_PARTS, 4);
    assert_eq!(logged.ranges, updates as u64);
    // Each range is a run, and there is at least a record for each page.
    let runs = updates as u64 * (8 + RUN_HEAD);
    let records = (logged.bytes - runs - COMMIT) / RECORD_HEAD;
    assert!(
        records >= said.pages(ATOMIC_PARTS) && records < 2 * said.pages(ATOMIC_PARTS),
        "{records}"
    );
    assert!(logged.bytes - runs - COMMIT < 2 * said.pages(ATOMIC_PARTS) * (RECORD_HEAD + 8));

    let grain = Oo7::new("page-grain");
    let logged = grain.traverse(ATOMIC_PARTS, 4);
    let page = (PAGE_BYTES - 16) as u64 + RECORD_HEAD + RUN_HEAD;
    assert_eq!(logged.bytes, 2 * grain.pages(ATOMIC_PARTS) * page.next_multiple_of(8) + COMMIT);
    let all = |oo7: &Oo7| (0..10_000).map(|part| oo7.x(part)).collect::<Vec<_>>();
    assert_eq!(all(&diff), all(&grain));
    assert_eq!(all(&diff), all(&said));
}

/// T2a: the first part of each composite part, once a visit.
#[test]
fn one_exchange_costs_page_diff_those_that_were_visited_an_odd_number_of_times() {
    let diff = Oo7::new("page-diff");
    let logged = diff.traverse(1, 1);
    let odd = diff.odd();
    assert!((200..300).contains(&odd), "{odd}");
    // The page takes one byte, the place two, and the record that commits some 40.
    assert!(logged.bytes > odd * 8, "{logged:?}");
    assert!(logged.bytes <= odd * (8 + 3) + COMMIT + 8, "{logged:?}");

    // All twenty: few pages, and places within 256 bytes take one byte each.
    let diff = Oo7::new("page-diff");
    let logged = diff.traverse(ATOMIC_PARTS, 1);
    let changed = odd * ATOMIC_PARTS as u64 * 8;
    assert!(logged.bytes > changed && logged.bytes <= changed * 115 / 100, "{logged:?}");
    let all = |oo7: &Oo7| (0..10_000).map(|part| oo7.x(part)).collect::<Vec<_>>();
    let diff = Oo7::new("page-diff");
    diff.traverse(1, 1);

    let said = Oo7::new("set-range");
    let logged = said.traverse(1, 1);
    assert_eq!(logged.ranges, VISITS as u64);
    let runs = VISITS as u64 * (8 + RUN_HEAD);
    assert!(logged.bytes > runs, "{logged:?}");
    assert!(logged.bytes <= runs + said.pages(1) * (RECORD_HEAD + 8) + COMMIT, "{logged:?}");
    assert_eq!(all(&diff), all(&said));
}

/// T1, and what a transaction that reads costs.
#[test]
fn who_only_reads_logs_nothing() {
    for log in ["page-diff", "page-grain", "set-range"] {
        let oo7 = Oo7::new(log);
        let before = oo7.database.counters().unwrap().log.records;
        let writing = oo7.database.writing();
        for &id in &oo7.ids {
            oo7.parts.read(&writing, id, |view, at, _| view.u64(at)).unwrap();
        }
        writing.commit().unwrap();
        assert_eq!(oo7.database.counters().unwrap().log.records, before, "{log}");
    }
}

struct Changing {
    simulation: Simulation,
    database: Database,
    writing: Writing,
    pages: Vec<PageNumber>,
}

/// Forty pages changed by a transaction that has not ended, under a cache of that size.
fn forty_changed(log: &str, cache: u64) -> Changing {
    let simulation = Simulation::new();
    let tactics = tactics(&format!("log={log}&cache={cache}&checkpoint=1GiB"));
    let database = database_on(&simulation, &tactics).unwrap();
    let pages = allocate(&database, 40);
    database.checkpoint().unwrap();
    let mut writing = database.writing();
    for &page in &pages {
        let range = |_: &page::PageBytes| Ok(AT..AT + 8);
        writing.write_range(page, range, |bytes| bytes.fill(1)).unwrap().unwrap();
    }
    Changing { simulation, database, writing, pages }
}

const SMALL: u64 = 16 * PAGE_BYTES as u64;
const LARGE: u64 = 1 << 20;

/// Undo is logged by page-diff and set-range only where the cache is smaller than what is changed;
/// by page-grain always, and no more.
#[test]
fn undo_is_logged_where_a_page_leaves_the_cache_before_the_commit() {
    let undo = |log: &str, cache: u64| undo_records(&forty_changed(log, cache).database);
    for log in ["page-diff", "set-range"] {
        assert!((25..=40).contains(&undo(log, SMALL)), "{log}");
        assert_eq!(undo(log, LARGE), 0, "{log}");
    }
    assert_eq!([SMALL, LARGE].map(|cache| undo("page-grain", cache)), [40; 2]);
}

/// Room for the forty pages, but not for a shadow of each.
const ONCE: u64 = 64 * PAGE_BYTES as u64;

/// The paper's full buffer of shadows: where these take frames of the cache, page-diff writes undo
/// as soon as what is changed fills half of it, and never has more pages than `cache` allows.
#[test]
fn shadows_in_the_cache_drive_changed_pages_out_of_it() {
    let shadowed = |shadows: &str, cache: u64| {
        let changing = forty_changed(&format!("page-diff&shadows={shadows}"), cache);
        let counters = changing.database.counters().unwrap();
        let pages = counters.buffer.pages_resident + counters.buffer.pages_lent;
        (undo_records(&changing.database), pages, changing)
    };
    let (undo, pages, changing) = shadowed("beside", ONCE);
    assert_eq!((undo, changing.database.counters().unwrap().buffer.pages_lent), (0, 0));
    assert!(pages <= 64, "{pages}");
    for (cache, wanted) in [(LARGE, 0..=0), (ONCE, 5..=40), (SMALL, 25..=40)] {
        let (undo, pages, changing) = shadowed("cache", cache);
        assert!(wanted.contains(&undo), "{cache}: {undo}");
        assert!(pages <= cache / PAGE_BYTES as u64, "{cache}: {pages}");
        changing.writing.commit().unwrap();
        let reading = changing.database.reading();
        let first = |page: &PageNumber| reading.read(*page, |view| view.u64(AT)).unwrap();
        assert!(changing.pages.iter().map(first).all(|value| value == ONES), "{cache}");
        drop(reading);
        assert_eq!(changing.database.counters().unwrap().buffer.pages_lent, 0, "{cache}");
        let (_, _, changing) = shadowed("cache", cache);
        changing.database.changes().log().write_out().unwrap();
        let recovered = after(&changing.simulation.killed(), &tactics("log=page-diff"));
        assert_eq!(values(&recovered, &changing.pages), [0; 40], "{cache}: crash");
        changing.writing.rollback().unwrap();
        assert_eq!(values(&changing.database, &changing.pages), [0; 40], "{cache}: rollback");
        assert_eq!(changing.database.counters().unwrap().buffer.pages_lent, 0, "{cache}");
    }
}

/// The place where the cache lends no frame, a page is logged whole, before and after, as by
/// page-grain.
#[test]
fn a_page_without_room_for_its_shadow_is_logged_whole() {
    for commits in [true, false] {
        let simulation = Simulation::new();
        let text = format!("log=page-diff&shadows=cache&cache={LARGE}&checkpoint=1GiB");
        let database = database_on(&simulation, &tactics(&text)).unwrap();
        let pages = allocate(&database, 40);
        let frames = database.frames();
        assert!(frames.borrow(frames.lendable()));
        let before = database.counters().unwrap().log.record_bytes;
        let mut writing = database.writing();
        for &page in &pages {
            put(&mut writing, page, 7);
        }
        assert_eq!(undo_records(&database), 40);
        if commits {
            writing.commit().unwrap();
            let bytes = database.counters().unwrap().log.record_bytes - before;
            assert!(bytes > 40 * 2 * 4_000, "{bytes}");
        } else {
            writing.rollback().unwrap();
        }
        let wanted = if commits { 7 } else { 0 };
        assert_eq!(values(&database, &pages), [wanted; 40]);
        let recovered = after(&simulation.killed(), &tactics("log=page-diff"));
        assert_eq!(values(&recovered, &pages), [wanted; 40]);
    }
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// Undo records since the last checkpoint.
fn undo_records(database: &Database) -> usize {
    let log = database.changes().log();
    log.write_out().unwrap();
    let is_undo = |body: &crate::log::Body| matches!(body, crate::log::Body::Undo { .. });
    let records = log.read(log.checkpoint()).unwrap();
    records.filter(|record| is_undo(&record.as_ref().unwrap().body)).count()
}

/// After a crash before the commit nothing is taken back where the log got nothing:
/// of set-range and page-diff with room for all. Page-grain has undone from the log what it said.
#[test]
fn after_a_crash_before_the_commit_undo_is_done_by_who_logged_it() {
    for (log, cache, wanted) in [
        ("set-range", LARGE, 0),
        ("page-diff", LARGE, 0),
        ("page-grain", LARGE, 1),
        ("set-range", SMALL, 1),
        ("page-diff", SMALL, 1),
    ] {
        let Changing { simulation, database, writing, pages } = forty_changed(log, cache);
        database.changes().log().write_out().unwrap();
        let recovered = after(&simulation.killed(), &tactics(&format!("log={log}")));
        let taken_back = recovered.recovery().map_or(0, |recovery| recovery.taken_back);
        assert_eq!(taken_back, wanted, "{log}, {cache}");
        assert_eq!(values(&recovered, &pages), [0; 40], "{log}, {cache}");
        writing.rollback().unwrap();
    }
}

/// A range that ends behind its record is refused, and nothing has changed or is lost by it.
#[test]
fn a_range_beyond_the_record_is_refused_and_the_transaction_goes_on() {
    let oo7 = Oo7::new("set-range");
    let mut writing = oo7.database.writing();
    let change = |writing: &mut Writing, range| {
        oo7.parts.change_range(writing, oo7.ids[0], range, |bytes| bytes.fill(9))
    };
    change(&mut writing, 8..16).unwrap();
    let refused = change(&mut writing, 96..101).unwrap_err().to_string();
    assert!(refused.contains("of 101 bytes is longer than the 100"), "{refused}");
    assert!(change(&mut writing, 16..usize::MAX).is_err());
    writing.commit().unwrap();
    assert_eq!(oo7.x(0), u64::from_le_bytes([9; 8]));
}
