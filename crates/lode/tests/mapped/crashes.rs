//! Random stores under every log and every detection, committed and rolled back, with checkpoints
//! among them, and crashes at every point: afterwards there is what was promised.
//!
//! `LODE_CRASH_IMAGES=n` looks at so many crashes, `LODE_CRASH_SEED=n` at those of other workloads.

use std::sync::Arc;

use lode::internals::disk::simulated::{CrashOptions, Image, Simulation};
use lode::tactics::Durability;
use lode::{Database, LodeError, Tactics};

use crate::random::{Random, setting, show};
use crate::setup::{Bytes, PAGES, combinations, contents, create, pages_of, store_some, tactics};

const IMAGES_DEFAULT: usize = 700;
const DURABILITY: [&str; 3] = ["full", "group", "none"];
const STEPS: usize = 8;

/// A mark says how many transactions have committed, and how many of them for good.
const MARK: u64 = 1_000;

#[test]
fn after_every_crash_there_is_what_was_committed_whatever_found_the_stores() {
    let asked = setting("LODE_CRASH_IMAGES").unwrap_or(IMAGES_DEFAULT as u64) as usize;
    let combinations = combinations();
    let begun = setting("LODE_CRASH_SEED").unwrap_or(0);
    let (mut images, mut seed) = (0, begun);
    while images < asked {
        for combination in &combinations {
            let durability = DURABILITY[seed as usize % DURABILITY.len()];
            seed += 1;
            let mut random = Random::new(seed);
            let cache = if random.one_in(2) { 65_536 } else { 1_048_576 };
            let locks = random.of(&["page", "relation", "database"]);
            let text = format!(
                "{combination}&durability={durability}&cache={cache}&locks={locks}&\
                 checkpoint=65536&extent=4"
            );
            images += play(&tactics(&text), seed, IMAGES_DEFAULT / combinations.len());
        }
    }
    let workloads = seed - begun;
    let count = combinations.len();
    show(format!("{images} crashes of {workloads} workloads under {count} combinations"));
}

fn on(image: &Image, tactics: &Tactics) -> Result<Database, LodeError> {
    Database::on(image.disk("volume"), image.disk("log"), tactics)
}

/// A workload, and about so many of its crashes; how many it were.
fn play(tactics: &Tactics, seed: u64, images_about: usize) -> usize {
    let simulation = Simulation::new();
    let disk = |name| Arc::new(simulation.disk(name));
    let database = Database::on(disk("volume"), disk("log"), tactics).unwrap();
    let pages = create(&database, PAGES);
    database.checkpoint().unwrap();
    simulation.record();
    simulation.mark(0);
    let mut states: Vec<Bytes> = vec![contents(&database).unwrap()];
    let (mut random, mut durable) = (Random::new(seed), 0);
    for step in 0..STEPS {
        let mut writing = database.writing();
        let mut after = states.last().unwrap().clone();
        store_some(&mut random, &mut writing, tactics.detect, &pages, &mut after).unwrap();
        if step % 3 == 1 {
            database.checkpoint().unwrap();
            durable = states.len() - 1;
            simulation.mark((states.len() as u64 - 1) * MARK + durable as u64);
        }
        match random.below(4) {
            0 => writing.rollback().unwrap(),
            1 => drop(writing),
            _ => {
                states.push(after);
                writing.commit().unwrap();
            }
        }
        assert_eq!(contents(&database).unwrap(), *states.last().unwrap(), "{tactics}, {seed}");
        if tactics.durability != Durability::None {
            durable = states.len() - 1;
        }
        simulation.mark((states.len() as u64 - 1) * MARK + durable as u64);
    }
    database.abandon();
    check(&simulation, tactics, seed, images_about, &states)
}

fn check(
    simulation: &Simulation,
    tactics: &Tactics,
    seed: u64,
    images_about: usize,
    states: &[Bytes],
) -> usize {
    let trace = simulation.trace();
    let options = CrashOptions { images_per_point_max: 12, ..CrashOptions::new(seed) };
    let every = (trace.event_count() * 6 / images_about).max(1);
    let mut images = 0;
    for crash in trace.crashes(options).skip(seed as usize % every).step_by(every) {
        let reported = || format!("seed {seed}, {tactics}, {crash}");
        let mark = crash.mark.unwrap_or(0);
        let (committed, durable) = ((mark / MARK) as usize, (mark % MARK) as usize);
        let database =
            on(&crash.image, tactics).unwrap_or_else(|error| panic!("{error}: {}", reported()));
        let found = contents(&database).unwrap_or_else(|error| panic!("{error}: {}", reported()));
        let may_be = &states[durable..(committed + 2).min(states.len())];
        assert!(may_be.contains(&found), "{}", reported());
        if images % 8 == 0 {
            // Life goes on.
            let (mut random, mut after) = (Random::new(images as u64), found);
            let mut writing = database.writing();
            let pages = pages_of_writing(&mut writing);
            store_some(&mut random, &mut writing, tactics.detect, &pages, &mut after).unwrap();
            writing.commit().unwrap();
            assert_eq!(pages_of(&database).unwrap(), pages);
            assert_eq!(contents(&database).unwrap(), after, "{}", reported());
        }
        database.abandon();
        images += 1;
    }
    images
}

fn pages_of_writing(writing: &mut lode::Writing) -> Vec<u32> {
    let region = writing.region("object").unwrap();
    region.pages(writing).unwrap()
}
