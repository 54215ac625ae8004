//! Crashes while access methods are at work: at every point, with any part of the unsynced writes.
//! After recovery there are the contents of a transaction's end, as recent as was promised, and
//! every structure is whole.
//!
//! All crashes of a workload are drawn, and so many of them are tried, evenly, that all
//! workloads come to [`IMAGES_DEFAULT`]; `LODE_CRASH_IMAGES=n` looks at more, with more seeds, and
//! `LODE_CRASH_SEED=n` begins behind that one: so a long test is run in parts.

use std::sync::Arc;

use lode::internals::disk::Disk;
use lode::internals::disk::simulated::{Crash, CrashOptions, Image, Simulation};
use lode::internals::error::Result;
use lode::tactics::Durability;
use lode::{Database, Tactics};

use crate::contents::{Contents, tactics};
use crate::operations::{Operator, commit_some};
use crate::random::{setting, show};
use crate::reading::read_and_check;
use crate::workloads::{STEPS, Workload};

const IMAGES_DEFAULT: usize = 960;

const LOGGING: [&str; 4] = ["page-diff", "page-diff&shadows=cache", "page-grain", "set-range"];
const DURABILITY: [&str; 3] = ["full", "group", "none"];
const BULK: [&str; 2] = ["unlogged", "logged"];

/// A mark says how many transactions have committed, and how many of them for good.
const MARK: u64 = 1_000;

#[test]
fn after_every_crash_all_files_are_whole_and_as_promised() {
    let asked = setting("LODE_CRASH_IMAGES").unwrap_or(IMAGES_DEFAULT as u64) as usize;
    let combinations = Workload::ALL.len() * LOGGING.len() * BULK.len();
    let begun = setting("LODE_CRASH_SEED").unwrap_or(0);
    let (mut images, mut seed) = (0, begun);
    while images < asked {
        for (log, bulk) in LOGGING.into_iter().flat_map(|log| BULK.map(|bulk| (log, bulk))) {
            for workload in Workload::ALL {
                // With each seed another durability, so that all meet all in three rounds.
                let durability = DURABILITY[seed as usize % DURABILITY.len()];
                seed += 1;
                let text = format!(
                    "log={log}&bulk={bulk}&durability={durability}&cache=65536&checkpoint=65536&\
                     extent=4"
                );
                let played = Played::record(workload, &tactics(&text), seed);
                images += played.check(IMAGES_DEFAULT / combinations);
            }
        }
    }
    show(format!("{images} crashes of {} workloads", seed - begun));
}

/// That a file is longer now is not durable by a commit, which syncs the log.
#[test]
fn a_volume_that_grew_for_a_transaction_is_as_long_after_a_crash() {
    let tactics = tactics("durability=full&extent=4");
    let simulation = Simulation::new();
    let disk = |name| Arc::new(simulation.disk(name));
    let database = Database::on(disk("volume"), disk("log"), &tactics).unwrap();
    let mut operator = Operator::new(4);
    let mut contents = Contents::create(&database).unwrap();
    grow(&database, &mut operator, &mut contents);
    let recovered = on_image(&simulation.image(&[]), &tactics).unwrap();
    assert!(read_and_check(&recovered).unwrap().as_ref() == Some(&contents));
    // A killed process has grown it, and nothing was synced: the next sees to that.
    database.close().unwrap();
    let killed = simulation.killed().simulation();
    let disk = |name| Arc::new(killed.disk(name));
    let volume = killed.disk("volume");
    volume.set_len(volume.len_bytes().unwrap() * 4).unwrap();
    let database = Database::on(disk("volume"), disk("log"), &tactics).unwrap();
    grow(&database, &mut operator, &mut contents);
    let recovered = on_image(&killed.image(&[]), &tactics).unwrap();
    assert!(read_and_check(&recovered).unwrap() == Some(contents));
}

/// Some hundred pages more.
fn grow(database: &Database, operator: &mut Operator, contents: &mut Contents) {
    let mut writing = database.writing();
    for _ in 0..100 {
        let changes = operator.new_record(&mut writing, contents, 3_000, None).unwrap();
        for change in changes {
            contents.apply(change);
        }
    }
    writing.commit().unwrap();
}

fn on_image(image: &Image, tactics: &Tactics) -> Result<Database> {
    Database::on(image.disk("volume"), image.disk("log"), tactics)
}

/// The changes that a workload made to its files, and the states that it went through.
struct Played {
    workload: Workload,
    tactics: Tactics,
    seed: u64,
    simulation: Simulation,
    states: Vec<Contents>,
}

impl Played {
    fn record(workload: Workload, tactics: &Tactics, seed: u64) -> Self {
        let simulation = Simulation::new();
        let disk = |name| Arc::new(simulation.disk(name));
        let database = Database::on(disk("volume"), disk("log"), tactics).unwrap();
        let mut operator = Operator::new(seed);
        let mut contents = Contents::create(&database).unwrap();
        commit_some(&mut operator, &database, &mut contents, 60).unwrap();
        database.checkpoint().unwrap();
        simulation.record();
        simulation.mark(0);
        let states = vec![contents];
        let mut played = Self { workload, tactics: *tactics, seed, simulation, states };
        played.play(&database, &mut operator);
        database.abandon();
        played
    }

    /// One transaction is taken back, and in one there is a checkpoint.
    fn play(&mut self, database: &Database, operator: &mut Operator) {
        let mut durable = 0;
        for step in 0..STEPS {
            let mut writing = database.writing();
            let mut contents = self.states.last().unwrap().clone();
            let extent = database.extent_pages();
            self.workload.play(step, operator, &mut writing, &mut contents, extent).unwrap();
            if step == 3 {
                database.checkpoint().unwrap();
                durable = self.states.len() - 1;
                self.mark(durable);
                self.workload.play(step, operator, &mut writing, &mut contents, extent).unwrap();
            }
            if step == 2 {
                writing.rollback().unwrap();
                self.again(database, operator);
            } else {
                self.states.push(contents);
                writing.commit().unwrap();
            }
            if self.tactics.durability != Durability::None {
                durable = self.states.len() - 1;
            }
            self.mark(durable);
        }
    }

    /// Changes that were taken back are made differently.
    fn again(&mut self, database: &Database, operator: &mut Operator) {
        let mut writing = database.writing();
        let mut contents = self.states.last().unwrap().clone();
        let extent = database.extent_pages();
        self.workload.play(2, operator, &mut writing, &mut contents, extent).unwrap();
        self.states.push(contents);
        writing.commit().unwrap();
    }

    fn mark(&self, durable: usize) {
        self.simulation.mark((self.states.len() as u64 - 1) * MARK + durable as u64);
    }

    /// Look at about so many of the crashes; how many it were.
    fn check(&self, images_about: usize) -> usize {
        let trace = self.simulation.trace();
        let options = CrashOptions { images_per_point_max: 12, ..CrashOptions::new(self.seed) };
        let every = (trace.event_count() * 6 / images_about).max(1);
        let from = self.seed as usize % every;
        let mut images = 0;
        for crash in trace.crashes(options).skip(from).step_by(every) {
            self.check_one(&crash, images);
            images += 1;
        }
        images
    }

    fn check_one(&self, crash: &Crash, number: usize) {
        let reported =
            || format!("{:?}, seed {}, {}, {crash}", self.workload, self.seed, self.tactics);
        let mark = crash.mark.unwrap_or(0);
        let (committed, durable) = ((mark / MARK) as usize, (mark % MARK) as usize);
        let may_be = &self.states[durable..(committed + 2).min(self.states.len())];
        let mut image = crash.image.clone();
        if number.is_multiple_of(16) {
            // Recovery crashes, too.
            let again = image.simulation();
            again.record();
            let disk = |name| Arc::new(again.disk(name));
            let database = Database::on(disk("volume"), disk("log"), &self.tactics);
            database.unwrap_or_else(|error| panic!("{error}: {}", reported())).abandon();
            image = again.trace().random_crash(&CrashOptions::new(number as u64)).image;
        }
        let database = on_image(&image, &self.tactics)
            .unwrap_or_else(|error| panic!("{error}: {}", reported()));
        let found = read_and_check(&database);
        let found = found.unwrap_or_else(|error| panic!("{error}: {}", reported()));
        let mut found = found.unwrap_or_else(|| panic!("the files are gone: {}", reported()));
        assert!(may_be.contains(&found), "{}\nfound {found:?}", reported());
        if number.is_multiple_of(8) {
            // Life goes on.
            let mut operator = Operator::new(1 << 20 | number as u64);
            commit_some(&mut operator, &database, &mut found, 10).unwrap();
            assert_eq!(read_and_check(&database).unwrap(), Some(found), "{}", reported());
            database.close().unwrap();
        } else {
            database.abandon();
        }
    }
}
