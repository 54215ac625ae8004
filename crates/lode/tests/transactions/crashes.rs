//! Every crash of short workloads: each point, and each way in which unsynced writes may have
//! arrived, torn ones too. What the tactics promise holds, and nothing is ever damaged.
//!
//! `LODE_CRASH_IMAGES=n` goes on with other seeds until so many crashes were looked at;
//! `LODE_CRASH_SEED=n` begins behind that one.

use std::collections::BTreeSet;
use std::sync::Arc;

use lode::internals::disk::simulated::{Crash, CrashOptions, Image, Simulation};
use lode::internals::page::{HEADER_BYTES, PAGE_BYTES, PageNumber};
use lode::{Database, LodeError, PageRead, PageWrite, Tactics, View, Writing};

use crate::random::{Random, setting, show};
use crate::words::{PLACES, State, allocate, get, put, state_of, tactics};

/// More than the smallest cache holds, so that pages are written before their commit.
const PAGES: usize = 22;

/// New pages of one transaction: they fit the cache, or not.
const LOADED: [usize; 2] = [5, 20];

/// Of each workload's crashes, unless more are requested.
const IMAGES_DEFAULT: usize = 3_000;

const LOGGING: [&str; 4] = ["page-diff", "page-diff&shadows=cache", "page-grain", "set-range"];
const DURABILITY: [&str; 3] = ["full", "group", "none"];
const BULK: [&str; 2] = ["unlogged", "logged"];

/// For commits of several records: less than their pages, and more.
const CACHES: [u64; 2] = [65_536, 1 << 20];

/// A mark says how many transactions have committed, and how many of them for good.
const MARK: u64 = 1_000;

#[test]
fn after_every_crash_there_is_what_was_promised_and_nothing_else() {
    let asked = setting("LODE_CRASH_IMAGES").unwrap_or(IMAGES_DEFAULT as u64) as usize;
    let workloads = LOGGING.len() * DURABILITY.len() * BULK.len();
    let begun = setting("LODE_CRASH_SEED").unwrap_or(0);
    let (mut images, mut seed) = (0, begun);
    while images < asked {
        for log in LOGGING {
            for durability in DURABILITY {
                for bulk in BULK {
                    seed += 1;
                    let text = format!(
                        "log={log}&bulk={bulk}&durability={durability}&cache=65536&\
                         checkpoint=65536&extent=4"
                    );
                    let about = IMAGES_DEFAULT / workloads;
                    images += Workload::record(&tactics(&text), seed).check(about);
                }
            }
        }
    }
    show(format!("{images} crashes of {} workloads", seed - begun));
}

/// Creating a database can crash, too: then there is none, or an empty one.
#[test]
fn a_crash_while_a_database_is_created_leaves_none_or_an_empty_one() {
    let simulation = Simulation::new();
    simulation.record();
    let tactics = tactics("checkpoint=65536&extent=4");
    on_simulation(&simulation, &tactics).unwrap().close().unwrap();
    let (mut none, mut empty) = (0, 0);
    for crash in simulation.trace().crashes(CrashOptions::new(5)) {
        match on_image(&crash.image, &tactics) {
            Ok(database) => {
                assert!(state_of(&database).unwrap().is_empty(), "{crash}");
                empty += 1;
            }
            Err(LodeError::NotADatabase { .. }) => none += 1,
            Err(error) => panic!("{crash}: {error}"),
        }
    }
    assert!(none > 0 && empty > 0, "{none} {empty}");
}

/// New pages that were rolled back are written as zeros, which no image precedes: none may be torn.
#[test]
fn a_crash_while_new_pages_become_free_again_leaves_them_whole() {
    let simulation = Simulation::new();
    let tactics = tactics("bulk=unlogged&cache=262144&checkpoint=1MiB&extent=4");
    let database = on_simulation(&simulation, &tactics).unwrap();
    let mut writing = database.writing();
    let mut state = State::new();
    load(&mut writing, &mut state, LOADED[1]);
    writing.commit().unwrap();
    let mut writing = database.writing();
    give_back(&mut writing, &mut state, &[]);
    writing.commit().unwrap();
    database.checkpoint().unwrap();
    let mut writing = database.writing();
    let retained = state.len();
    load(&mut writing, &mut state, LOADED[0]);
    assert_eq!(state.len(), retained + LOADED[0]);
    writing.rollback().unwrap();
    simulation.record();
    database.checkpoint().unwrap();
    database.abandon();
    let options = CrashOptions { images_per_point_max: 64, ..CrashOptions::new(7) };
    for crash in simulation.trace().crashes(options) {
        let database = on_image(&crash.image, &tactics).unwrap();
        load(&mut database.writing(), &mut State::new(), LOADED[1]);
        database.abandon();
    }
}

/// A commit that takes several records of the log: all of its pages are there afterwards, or none,
/// those that it has begun and those that were there.
#[test]
fn a_crash_within_a_commit_of_several_records_leaves_all_of_it_or_nothing() {
    let (mut images, mut new) = (0, 0);
    for (bulk, cache) in BULK.into_iter().flat_map(|bulk| CACHES.map(|cache| (bulk, cache))) {
        let text = format!("bulk={bulk}&cache={cache}&checkpoint=1MiB&extent=4");
        let tactics = tactics(&text);
        let simulation = Simulation::new();
        let database = on_simulation(&simulation, &tactics).unwrap();
        let mut writing = database.writing();
        let mut pages: Vec<PageNumber> =
            (0..PAGES).map(|_| allocate(&mut writing).unwrap()).collect();
        fill(&mut writing, &pages, 1);
        writing.commit().unwrap();
        database.checkpoint().unwrap();
        simulation.record();
        simulation.mark(0);
        let mut writing = database.writing();
        fill(&mut writing, &pages, 2);
        writing.rollback().unwrap();
        let mut writing = database.writing();
        pages.extend((0..LOADED[1]).map(|_| allocate(&mut writing).unwrap()));
        fill(&mut writing, &pages, 2);
        let before = database.counters().unwrap().log;
        writing.commit().unwrap();
        let after = database.counters().unwrap().log;
        // Where the cache holds them: other pages were written out before, and are images.
        let records = after.records - before.records;
        assert!(cache == CACHES[0] || records > 6, "{text}: {records}");
        simulation.mark(1);
        database.abandon();
        let options = CrashOptions { images_per_point_max: 3, ..CrashOptions::new(cache) };
        for crash in simulation.trace().crashes(options) {
            let database = on_image(&crash.image, &tactics).unwrap();
            let round = filled(&database.reading(), &pages[..PAGES]);
            let is_new = filled(&database.reading(), &pages) == Some(2);
            assert!(is_new || round == Some(1), "{crash}, {text}");
            assert!(is_new || crash.mark != Some(1), "{crash}, {text}");
            (images, new) = (images + 1, new + usize::from(is_new));
            database.abandon();
        }
    }
    assert!(new > 0 && new < images, "{new} of {images}");
}

/// Let every byte of pages be another than in another round, and in most other places.
fn fill(writing: &mut Writing, pages: &[PageNumber], round: u8) {
    for &page in pages {
        let byte = |at: usize| (at as u8).wrapping_mul(7) ^ page as u8 ^ round;
        let bytes: Vec<u8> = (HEADER_BYTES..PAGE_BYTES).map(byte).collect();
        writing.write(page, |into| into.put(HEADER_BYTES, &bytes)).unwrap();
    }
}

/// The round in which all of these pages were filled, if it is one.
fn filled(pages: &impl PageRead, numbers: &[PageNumber]) -> Option<u8> {
    let rounds = numbers.iter().map(|&page| {
        let round = |view: View<'_>| {
            let bytes = view.copy();
            let byte = |at: usize| (at as u8).wrapping_mul(7) ^ page as u8 ^ bytes[at];
            let first = byte(HEADER_BYTES);
            (HEADER_BYTES..PAGE_BYTES).all(|at| byte(at) == first).then_some(first)
        };
        pages.read(page, round).ok().flatten()
    });
    let rounds: BTreeSet<Option<u8>> = rounds.collect();
    rounds.first().copied().flatten().filter(|_| rounds.len() == 1)
}

fn on_simulation(
    simulation: &Simulation,
    tactics: &Tactics,
) -> lode::internals::error::Result<Database> {
    Database::on(Arc::new(simulation.disk("volume")), Arc::new(simulation.disk("log")), tactics)
}

fn on_image(image: &Image, tactics: &Tactics) -> lode::internals::error::Result<Database> {
    Database::on(image.disk("volume"), image.disk("log"), tactics)
}

/// So many new pages at once.
fn load(writing: &mut Writing, state: &mut State, count: usize) {
    for number in 0..count {
        let page = allocate(writing).unwrap();
        for place in 0..PLACES.len() {
            put(writing, page, place, number as u64 + 1).unwrap();
        }
        state.insert(page, get(writing, page).unwrap());
    }
}

/// Every second page that was not there at the beginning.
fn give_back(writing: &mut Writing, state: &mut State, pages: &[PageNumber]) {
    let loaded = state.keys().filter(|page| !pages.contains(page));
    let given: Vec<PageNumber> = loaded.step_by(2).copied().collect();
    for page in given {
        writing.free(page).unwrap();
        state.remove(&page);
    }
}

/// The changes that a workload made to its files, and the states that it went through.
struct Workload {
    tactics: Tactics,
    seed: u64,
    simulation: Simulation,
    states: Vec<State>,
}

impl Workload {
    fn record(tactics: &Tactics, seed: u64) -> Self {
        let simulation = Simulation::new();
        let database = on_simulation(&simulation, tactics).unwrap();
        let mut writing = database.writing();
        let pages: Vec<_> = (0..PAGES).map(|_| allocate(&mut writing).unwrap()).collect();
        writing.commit().unwrap();
        database.checkpoint().unwrap();
        let states = vec![state_of(&database).unwrap()];
        simulation.record();
        simulation.mark(0);
        let mut workload = Self { tactics: *tactics, seed, simulation, states };
        workload.play(&database, &pages);
        database.abandon();
        workload
    }

    /// Small transactions, some that are taken back, some larger than the cache, a checkpoint in
    /// the middle of one, many new pages, and pages given back that are new ones later.
    fn play(&mut self, database: &Database, pages: &[PageNumber]) {
        let mut random = Random::new(self.seed);
        let mut durable = 0;
        for step in 0..14 {
            let mut writing = database.writing();
            let mut state = self.states.last().unwrap().clone();
            let count = if step % 4 == 2 { PAGES } else { 1 + random.below(4) };
            for _ in 0..count {
                let page =
                    if count == PAGES { pages[random.below(PAGES)] } else { random.of(pages) };
                let (place, word) = (random.below(PLACES.len()), random.next() | 1);
                put(&mut writing, page, place, word).unwrap();
                state.get_mut(&page).unwrap()[place] = word;
            }
            if step == 3 || step == 6 {
                let page = allocate(&mut writing).unwrap();
                put(&mut writing, page, 1, step as u64).unwrap();
                state.insert(page, get(&writing, page).unwrap());
            }
            if matches!(step, 1 | 4 | 5 | 7 | 9 | 10 | 12) {
                load(&mut writing, &mut state, random.of(&LOADED));
            }
            if step == 6 || step == 10 {
                give_back(&mut writing, &mut state, pages);
            }
            if matches!(step, 4 | 7 | 9 | 13) {
                database.checkpoint().unwrap();
                durable = self.states.len() as u64 - 1;
                self.mark(durable);
                let (page, word) = (random.of(pages), random.next() | 1);
                put(&mut writing, page, 2, word).unwrap();
                state.get_mut(&page).unwrap()[2] = word;
            }
            if matches!(step, 1 | 5 | 7 | 9 | 12) {
                writing.rollback().unwrap();
                continue;
            }
            self.states.push(state);
            writing.commit().unwrap();
            if self.tactics.durability != lode::tactics::Durability::None {
                durable = self.states.len() as u64 - 1;
            }
            self.mark(durable);
        }
    }

    fn mark(&self, durable: u64) {
        self.simulation.mark((self.states.len() as u64 - 1) * MARK + durable);
    }

    /// Look at about so many of the crashes; how many it were.
    fn check(&self, images_about: usize) -> usize {
        let trace = self.simulation.trace();
        let per_point = (images_about / trace.event_count()).max(2);
        let options =
            CrashOptions { images_per_point_max: per_point, ..CrashOptions::new(self.seed) };
        let mut images = 0;
        for crash in trace.crashes(options) {
            self.check_one(&crash, images);
            images += 1;
        }
        images
    }

    fn check_one(&self, crash: &Crash, number: usize) {
        let reported = || format!("seed {}, {}, {crash}", self.seed, self.tactics);
        let mark = crash.mark.unwrap_or(0);
        let (committed, durable) = ((mark / MARK) as usize, (mark % MARK) as usize);
        let may_be = &self.states[durable..(committed + 2).min(self.states.len())];
        // Now and then recovery crashes, too.
        let mut image = crash.image.clone();
        if number.is_multiple_of(16) {
            let again = image.simulation();
            again.record();
            on_simulation(&again, &self.tactics)
                .unwrap_or_else(|error| panic!("{error}: {}", reported()))
                .abandon();
            let options = CrashOptions::new(self.seed + number as u64);
            image = again.trace().random_crash(&options).image;
        }
        let database = on_image(&image, &self.tactics)
            .unwrap_or_else(|error| panic!("{error}: {}", reported()));
        let found = state_of(&database).unwrap_or_else(|error| panic!("{error}: {}", reported()));
        assert!(may_be.contains(&found), "{}\nfound {found:?}\nof {may_be:?}", reported());
        if number.is_multiple_of(8) {
            let page = *found.keys().next().unwrap();
            let mut writing = database.writing();
            put(&mut writing, page, 0, 1).unwrap();
            // As many as were ever given back: each of them is whole.
            for _ in 0..2 * LOADED[1] {
                let allocated = allocate(&mut writing)
                    .unwrap_or_else(|error| panic!("{error}: {}", reported()));
                assert!(!found.contains_key(&allocated), "{}", reported());
            }
            writing.commit().unwrap();
            database.close().unwrap();
        } else {
            database.abandon();
        }
    }
}
