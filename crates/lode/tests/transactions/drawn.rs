//! The draws that the models here and in `tests/reliability` share: seeds, tactics, failures of the
//! disk, crashes.

use std::io::{ErrorKind, Write, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use lode::internals::disk::simulated::{Call, CrashOptions, Failure, Image, Simulation};
use lode::tactics::ReadAhead;
use lode::{Database, LodeError, Tactics};

use crate::random::{Random, setting};

/// Play so many seeds, or what the environment says; whether it did not name a single one.
pub fn play_seeds(runs_default: u64, mut play: impl FnMut(u64)) -> bool {
    let one = setting("LODE_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 1..1 + setting("LODE_RUNS").unwrap_or(runs_default),
    };
    for seed in seeds {
        telling_the_seed(seed, || play(seed));
    }
    one.is_none()
}

/// Run, and if that fails say how to run it again.
pub fn telling_the_seed(seed: u64, run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        let text = format!("play it again with LODE_SEED={seed}\n");
        stderr().write_all(text.as_bytes()).unwrap();
        resume_unwind(panic);
    }
}

pub fn draw_tactics(random: &mut Random) -> Tactics {
    let text = format!(
        "log={}&bulk={}&durability={}&locks={}&replacement={}&swizzle={}&cache={}&checkpoint={}{}",
        random.of(&["page-diff", "page-grain", "set-range"]),
        random.of(&["logged", "unlogged"]),
        random.of(&["full", "group", "none"]),
        random.of(&["database", "relation", "page"]),
        random.of(&["clock", "lru", "lru-2", "random"]),
        random.of(&["off", "on"]),
        random.of(&[65_536, 98_304, 262_144]),
        random.of(&[65_536, 262_144]),
        random.of(&["", "&extent=4", "&extent=4&readahead=on"]),
    );
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// In half of the cases one kind of call fails some time: among the next `calls`, or sooner if it
/// is a rare one.
pub fn draw_failure(random: &mut Random, simulation: &Simulation, calls: usize) {
    if random.one_in(2) {
        return;
    }
    let kinds = [Call::Read, Call::Write, Call::Sync, Call::SetLen].map(Some);
    let call = if random.one_in(4) { None } else { random.of(&kinds) };
    let calls = if matches!(call, Some(Call::Sync | Call::SetLen)) { 6 } else { calls };
    let failure = Failure::nth(call, 1 + random.below(calls) as u64);
    let failure = if random.one_in(3) { failure.for_ever() } else { failure };
    simulation.fail(failure.with(random.of(&[ErrorKind::Other, ErrorKind::StorageFull])));
}

/// The files after a crash of the machine, or of the program.
pub fn draw_crash(random: &mut Random, simulation: &Simulation) -> Simulation {
    let image: Image = if random.one_in(2) {
        simulation.killed()
    } else {
        simulation.random_image(&CrashOptions::new(random.next()))
    };
    image.simulation()
}

/// Open, or, where the cache is too small for the volume's own extents, which `readahead=on`
/// refuses, without reading ahead.
pub fn open_fitting(
    tactics: &Tactics,
    open: impl Fn(&Tactics) -> Result<Database, LodeError>,
) -> Result<Database, LodeError> {
    match open(tactics) {
        Err(LodeError::Tactic { .. }) => open(&Tactics { read_ahead: ReadAhead::Off, ..*tactics }),
        outcome => outcome,
    }
}

/// It may fail when that was planned; tried again, it opens.
pub fn open(random: &mut Random, simulation: &mut Simulation, tactics: &Tactics) -> Database {
    let on = |simulation: &Simulation| {
        let disk = |name| Arc::new(simulation.disk(name));
        open_fitting(tactics, |tactics| Database::on(disk("volume"), disk("log"), tactics))
    };
    if let Ok(database) = on(simulation) {
        return database;
    }
    simulation.mend();
    if random.one_in(2) {
        *simulation = draw_crash(random, simulation);
    }
    on(simulation).unwrap_or_else(|error| panic!("it does not open again: {error}"))
}
