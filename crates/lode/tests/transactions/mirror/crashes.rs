//! Crashes of a mirrored database, while one device is dead, away, stale or torn: what had been
//! acknowledged is there, or opening says why it cannot know.
//!
//! `LODE_MIRROR_IMAGES=n` looks at so many at least; `make torture` at 10,000.

use lode::internals::disk::simulated::{Crash, CrashOptions, Image, Simulation};
use lode::internals::mirror::Side;
use lode::internals::page::PageNumber;
use lode::{Database, LodeError, Tactics};

use super::copies::{Machine, are_alike};
use crate::random::{Random, setting, show};
use crate::words::{PLACES, State, allocate, get, put, state_of, tactics};

/// More than the smallest cache holds, so that pages are written before their commit.
const PAGES: usize = 20;

const STEPS: usize = 10;

const IMAGES_DEFAULT: usize = 400;

/// Seeds begin here: among the first images a copy is found that is being filled while the other is
/// gone, which one in some 600 images shows.
const SEED_FIRST: u64 = 26;

/// Of one workload.
const IMAGES: usize = 50;

/// A mark says how many transactions have committed, how many of them for good, and which copies
/// have missed something or may have.
const MARK: u64 = 1_000;

/// When a device dies: among so many of its calls.
const CALLS: usize = 60;

/// The outcome of a device in the crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Both are there again.
    Back,
    /// It is there and does nothing.
    Dead(Side),
    /// An empty one is in its place.
    Replaced(Side),
}

#[derive(Debug, Default)]
struct Seen {
    images: usize,
    opened: usize,
    alone: usize,
    refused: usize,
    taken: usize,
    never: usize,
    again: usize,
    filled: usize,
}

#[test]
fn with_one_copy_dead_stale_or_torn_nothing_acknowledged_is_lost() {
    let asked = setting("LODE_MIRROR_IMAGES").map_or(IMAGES_DEFAULT, |images| images as usize);
    let mut seen = Seen::default();
    let mut workloads = 0;
    while seen.images < asked {
        Workload::record(SEED_FIRST + workloads).check(&mut seen);
        workloads += 1;
    }
    show(format!("{seen:?} of {workloads} workloads"));
    // An event that never happened was not tested.
    let Seen { opened, alone, refused, taken, never, again, filled, .. } = seen;
    let all = [opened, alone, refused, taken, never, again, filled];
    assert!(all.iter().all(|&count| count > 0), "{seen:?}");
}

/// The changes that a workload made to both copies, and the states that it went through.
struct Workload {
    tactics: Tactics,
    seed: u64,
    machine: Machine,
    states: Vec<State>,
    durable: usize,
    /// Bit k: copy k has missed something, or may have.
    behind: u64,
}

impl Workload {
    fn record(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mirror = random.of(&["idle", "nearer", "first"]);
        let drawn = random.of(&["page-diff", "page-grain"]);
        let log = if seed.is_multiple_of(4) { "set-range" } else { drawn };
        let text = format!(
            "mirror={mirror}&log={log}&bulk={}&durability={}&cache=65536&checkpoint=65536&extent=4",
            random.of(&["logged", "unlogged"]),
            random.of(&["full", "group", "none"]),
        );
        let tactics = tactics(&text);
        let machine = Machine::on(Simulation::new());
        let database = machine.open(&tactics).unwrap();
        let mut writing = database.writing();
        let pages: Vec<_> = (0..PAGES).map(|_| allocate(&mut writing).unwrap()).collect();
        writing.commit().unwrap();
        database.checkpoint().unwrap();
        let states = vec![state_of(&database).unwrap()];
        machine.simulation.record();
        let mut workload = Self { tactics, seed, machine, states, durable: 0, behind: 0 };
        workload.mark();
        workload.play(&database, &pages, &mut random);
        database.abandon();
        workload
    }

    /// In most workloads a device dies some time, and in most of these it is filled again.
    fn play(&mut self, database: &Database, pages: &[PageNumber], random: &mut Random) {
        let dies_at = if random.one_in(4) { STEPS } else { random.below(STEPS) };
        let filled_at = dies_at + 1 + random.below(STEPS);
        let side = random.below(2);
        for step in 0..STEPS {
            if step == dies_at {
                self.behind |= 1 << side;
                self.mark();
                self.machine.lives[side].end_after(random.below(CALLS) as u64);
            }
            self.transaction(database, pages, random, step);
            if step == filled_at {
                self.fill(database);
            }
        }
    }

    fn fill(&mut self, database: &Database) {
        // Nobody may have noticed yet that its device is dead.
        if database.remirror().unwrap().is_some() {
            self.behind = 0;
            self.mark();
        }
        assert!(database.mirror().unwrap().copies.iter().all(|copy| copy.standing == "in step"));
    }

    /// Some are taken back, some are larger than the cache, some end with a checkpoint.
    fn transaction(
        &mut self,
        database: &Database,
        pages: &[PageNumber],
        random: &mut Random,
        step: usize,
    ) {
        let mut writing = database.writing();
        let mut state = self.states.last().unwrap().clone();
        let count = if step % 4 == 2 { 2 * PAGES } else { 1 + random.below(4) };
        for _ in 0..count {
            let page = random.of(pages);
            let (place, word) = (random.below(PLACES.len()), random.next() | 1);
            put(&mut writing, page, place, word).unwrap();
            state.get_mut(&page).unwrap()[place] = word;
        }
        for _ in 0..random.of(&[0, 0, 1, 18]) {
            let page = allocate(&mut writing).unwrap();
            put(&mut writing, page, 1, step as u64 + 1).unwrap();
            state.insert(page, get(&writing, page).unwrap());
        }
        if random.one_in(4) {
            writing.rollback().unwrap();
            return;
        }
        self.states.push(state);
        writing.commit().unwrap();
        if self.tactics.durability != lode::tactics::Durability::None {
            self.durable = self.states.len() - 1;
        }
        self.mark();
        if random.one_in(3) {
            database.checkpoint().unwrap();
            self.durable = self.states.len() - 1;
            self.mark();
        }
    }

    fn mark(&self) {
        let committed = self.states.len() as u64 - 1;
        let mark = (self.behind * MARK + committed) * MARK + self.durable as u64;
        self.machine.simulation.mark(mark);
    }

    /// Look at some of the crashes, spread evenly.
    fn check(&self, seen: &mut Seen) {
        let trace = self.machine.simulation.trace();
        let options = CrashOptions { images_per_point_max: 12, ..CrashOptions::new(self.seed) };
        let every = (trace.event_count() * 8 / IMAGES).max(1);
        let mut random = Random::new(self.seed);
        for crash in trace.crashes(options).skip(self.seed as usize % every).step_by(every) {
            self.check_one(&crash, &mut random, seen);
        }
    }

    fn check_one(&self, crash: &Crash, random: &mut Random, seen: &mut Seen) {
        let outcomes = [
            Outcome::Back,
            Outcome::Dead(0),
            Outcome::Dead(1),
            Outcome::Replaced(0),
            Outcome::Replaced(1),
        ];
        let outcome = random.of(&outcomes);
        let reported = || format!("seed {}, {}, {outcome:?}, {crash}", self.seed, self.tactics);
        seen.images += 1;
        let mut image = crash.image.clone();
        if random.one_in(8) {
            // Opening crashes, too.
            seen.again += 1;
            let machine = machine(&image, outcome);
            machine.simulation.record();
            if let Ok(database) = machine.open(&self.tactics) {
                database.abandon();
            }
            image =
                machine.simulation.trace().random_crash(&CrashOptions::new(random.next())).image;
        }
        let machine = machine(&image, outcome);
        let mark = crash.mark.unwrap_or(0);
        let behind = mark / MARK / MARK;
        let Some(database) = self.opened(&machine, outcome, behind, seen, &reported) else {
            return;
        };
        let (committed, durable) = ((mark / MARK % MARK) as usize, (mark % MARK) as usize);
        let may_be = &self.states[durable..(committed + 2).min(self.states.len())];
        let found = state_of(&database).unwrap_or_else(|error| panic!("{error}: {}", reported()));
        assert!(may_be.contains(&found), "{}\nfound {found:?}\nof {may_be:?}", reported());
        self.go_on(&machine, database, &found, random, seen, &reported);
    }

    /// The database, unless a refusal is in order: with the copy's consent where nobody can know.
    fn opened(
        &self,
        machine: &Machine,
        outcome: Outcome,
        behind: u64,
        seen: &mut Seen,
        reported: &impl Fn() -> String,
    ) -> Option<Database> {
        match machine.open(&self.tactics) {
            Ok(database) => {
                seen.opened += 1;
                return Some(database);
            }
            Err(LodeError::Mirror { .. }) => seen.refused += 1,
            Err(error) => panic!("{error}: {}", reported()),
        }
        let (Outcome::Dead(gone) | Outcome::Replaced(gone)) = outcome else {
            panic!("refused, though both are there: {}", reported());
        };
        let left = 1 - gone;
        let is_behind = behind >> left & 1 == 1;
        match machine.take_alone(left) {
            Ok(()) => seen.taken += 1,
            Err(error) => {
                assert!(is_behind, "{error}: {}", reported());
                seen.never += 1;
                return None;
            }
        }
        let database = machine.open(&self.tactics);
        // A copy that could not be reported that it is behind gives what it has.
        if is_behind {
            database.map(Database::abandon).ok();
            return None;
        }
        Some(database.unwrap_or_else(|error| panic!("{error}: {}", reported())))
    }

    /// The copies become alike, and the one that was filled is as good as the other.
    fn go_on(
        &self,
        machine: &Machine,
        database: Database,
        found: &State,
        random: &mut Random,
        seen: &mut Seen,
        reported: &impl Fn() -> String,
    ) {
        let copies = database.mirror().unwrap().copies.map(|copy| copy.standing == "in step");
        if copies.contains(&false) {
            seen.alone += 1;
            if !random.one_in(3) {
                database.abandon();
                return;
            }
            let filled =
                database.remirror().unwrap_or_else(|error| panic!("{error}: {}", reported()));
            seen.filled += usize::from(filled.is_some());
        }
        database.close().unwrap_or_else(|error| panic!("{error}: {}", reported()));
        assert!(are_alike(&machine.simulation.killed()), "the copies differ: {}", reported());
        // Writes that were not synced when it was closed are of no account.
        let image = machine.simulation.image(&[]);
        let gone = random.below(2);
        let machine = self::machine(&image, Outcome::Dead(gone));
        machine.take_alone(1 - gone).unwrap_or_else(|error| panic!("{error}: {}", reported()));
        let database = machine.open(&self.tactics);
        let database = database.unwrap_or_else(|error| panic!("{error}: {}", reported()));
        assert_eq!(&state_of(&database).unwrap(), found, "{}", reported());
        database.abandon();
    }
}

/// The machine after a crash.
fn machine(image: &Image, outcome: Outcome) -> Machine {
    let machine = Machine::on(image.simulation());
    match outcome {
        Outcome::Back => {}
        Outcome::Dead(side) => machine.lives[side].end_after(0),
        Outcome::Replaced(side) => machine.replace(side),
    }
    machine
}
