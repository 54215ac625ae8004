//! `cold_objects FOLDER [PARTS [ROUNDS]]`: what OO1's look-up and traversal cost cold, and what
//! they ask of the device for it.
//!
//! Makes objects as OO1's OODBMS has them, PARTS (20,000) with three references each, of which
//! nine in ten lead to one of the nearest hundredth, and a hash index on their ids. Then, ROUNDS
//! (9) times under each set of tactics, alternating, cold every time: opens the database; looks
//! 1,000 random parts up, or visits 3,280 from one of them. Prints the medians of the times, and
//! bytes that the device was requested, in pages: for opening; and for the visits, beside the pages
//! that hold what was visited, and how many times these they are. The files stay, for the next run.

use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::io::{self, Write, stdout};
use std::path::Path;
use std::process::{self, ExitCode};

use loadstone_datasets::splitmix::SplitMix64;
use loadstone_measure::clock::now_ns;
use loadstone_measure::counters::storage_bytes;
use loadstone_measure::eviction::evict;
use loadstone_measure::idle_states::IdleStates;

use lode::internals::hash::Hash;
use lode::internals::objects::{Objects, Oid, Reference};
use lode::internals::{named, page::PAGE_BYTES, page::PageNumber};
use lode::{Database, LodeError, Reading, Tactics};

const PARTS_DEFAULT: u64 = 20_000;
const ROUNDS_DEFAULT: usize = 9;
const SEED: u64 = 1;

/// With its reverse references.
const OBJECT_BYTES: usize = 184;
/// The place where the three references begin in an object.
const TO: usize = 40;
const REFERENCES: usize = 3;

const LOOK_UPS: usize = 1000;
const LEVELS: u32 = 7;

const VARIANTS: [&str; 5] = [
    "disk=direct&readahead=off",
    "disk=direct&readahead=on",
    "disk=direct&readahead=on&swizzle=on",
    "disk=buffered&readahead=off",
    "disk=buffered&readahead=on",
];

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A function that uses an open database: the object pages that it looks at are added to a set.
type Act = fn(&Files, u64, &mut dyn FnMut(PageNumber)) -> Result<(), LodeError>;

const ACTS: [(&str, Act); 2] = [("look-up", look_up), ("traversal", traverse)];

/// The files of a database, in a transaction.
struct Files {
    reading: Reading,
    objects: Objects,
    ids: Hash,
    parts: u64,
}

/// One cold run.
struct Run {
    open_us: f64,
    act_us: f64,
    open_pages: f64,
    act_pages: f64,
    visited_pages: f64,
    reads: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(io::stderr(), "cold_objects: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = arguments.first().ok_or("wanted is FOLDER, and PARTS and ROUNDS if you like")?;
    let parts = arguments.get(1).map_or(Ok(PARTS_DEFAULT), |parts| parts.parse())?;
    let rounds = arguments.get(2).map_or(Ok(ROUNDS_DEFAULT), |rounds| rounds.parse())?;
    let path = Path::new(folder).join(format!("cold-{parts}.lode"));
    if !path.exists() {
        fill(&path, parts)?;
    }
    let idle_states = IdleStates::disable();
    if !idle_states.held() {
        writeln!(stdout(), "processors may sleep: {}", idle_states.reason())?;
    }
    writeln!(stdout(), "{:<48}open us  pages    act us  reads  pages  visited", "")?;
    for (name, act) in ACTS {
        let mut runs = VARIANTS.map(|_| Vec::with_capacity(rounds));
        for round in 0..rounds {
            for (variant, runs) in VARIANTS.iter().zip(&mut runs) {
                runs.push(cold(&path, parts, variant, act, SEED + round as u64)?);
            }
        }
        for (variant, runs) in VARIANTS.iter().zip(&runs) {
            let median = |of: fn(&Run) -> f64| {
                let mut all: Vec<f64> = runs.iter().map(of).collect();
                all.sort_unstable_by(f64::total_cmp);
                all[all.len() / 2]
            };
            writeln!(
                stdout(),
                "{name:<10} {variant:<36} {:>7.0} {:>6.0} {:>9.0} {:>6.0} {:>6.0} {:>5.0}: {:.2}",
                median(|run| run.open_us),
                median(|run| run.open_pages),
                median(|run| run.act_us),
                median(|run| run.reads),
                median(|run| run.act_pages),
                median(|run| run.visited_pages),
                median(|run| run.act_pages / run.visited_pages),
            )?;
        }
    }
    Ok(())
}

fn cold(path: &Path, parts: u64, variant: &str, act: Act, seed: u64) -> Outcome<Run> {
    let mut log = path.as_os_str().to_owned();
    log.push("-log");
    evict(path)?;
    evict(Path::new(&log))?;
    let device_pages = || {
        let bytes = storage_bytes(process::id()).map(|bytes| bytes.read as f64);
        bytes.map(|bytes| bytes / PAGE_BYTES as f64).ok_or("the system counts no bytes")
    };
    let at_first = device_pages()?;
    let start_ns = now_ns();
    let database = Database::open(path, &variant.parse::<Tactics>()?)?;
    let files = Files::of(&database, parts)?;
    let open_ns = now_ns() - start_ns;
    let (at_open, reads) = (device_pages()?, database.counters()?.buffer.reads);
    let start_ns = now_ns();
    act(&files, seed, &mut |_| ())?;
    let act_ns = now_ns() - start_ns;
    let reads = database.counters()?.buffer.reads - reads;
    let at_end = device_pages()?;
    let mut visited = HashSet::new();
    act(&files, seed, &mut |page| {
        visited.insert(page);
    })?;
    Ok(Run {
        open_us: open_ns as f64 / 1e3,
        act_us: act_ns as f64 / 1e3,
        open_pages: at_open - at_first,
        act_pages: at_end - at_open,
        visited_pages: visited.len() as f64,
        reads: reads as f64,
    })
}

impl Files {
    fn of(database: &Database, parts: u64) -> Result<Self, LodeError> {
        let reading = database.reading();
        let objects = named::find(&reading, "parts")?;
        let ids = named::find(&reading, "part by id")?;
        Ok(Self { reading, objects, ids, parts })
    }

    fn oid(&self, id: u64, visit: &mut dyn FnMut(PageNumber)) -> Result<Oid, LodeError> {
        let (word, (bucket, _)) = self.ids.find(&self.reading, id)?.ok_or_else(|| missing(id))?;
        visit(bucket);
        Oid::of(word).ok_or_else(|| missing(id))
    }
}

fn missing(id: u64) -> LodeError {
    LodeError::Missing { what: format!("part {id}") }
}

fn look_up(files: &Files, seed: u64, visit: &mut dyn FnMut(PageNumber)) -> Result<(), LodeError> {
    let mut random = SplitMix64::new(seed);
    for _ in 0..LOOK_UPS {
        let oid = files.oid(random.below(files.parts as usize) as u64, visit)?;
        visit(oid.page);
        files.objects.read_at(&files.reading, Reference::to(oid), |view, at| view.u64(at + TO))?;
    }
    Ok(())
}

fn traverse(files: &Files, seed: u64, visit: &mut dyn FnMut(PageNumber)) -> Result<(), LodeError> {
    let root = SplitMix64::new(seed).below(files.parts as usize) as u64;
    let mut waiting = vec![(files.oid(root, visit)?, LEVELS)];
    while let Some((oid, levels)) = waiting.pop() {
        visit(oid.page);
        let to = files.objects.read_at(&files.reading, Reference::to(oid), |view, at| {
            [0, 1, 2].map(|place| view.u64(at + TO + 8 * place))
        })?;
        if levels > 0 {
            waiting.extend(to.iter().rev().filter_map(|&word| Some((Oid::of(word)?, levels - 1))));
        }
    }
    Ok(())
}

fn fill(path: &Path, parts: u64) -> Outcome<()> {
    let database = Database::create(path, &Tactics::of([("durability", "none")])?)?;
    let mut random = SplitMix64::new(SEED);
    let mut writing = database.writing();
    let objects: Objects = named::find_or_create(&mut writing, "parts")?;
    let mut oids = Vec::with_capacity(parts as usize);
    for id in 0..parts {
        let mut object = [0; OBJECT_BYTES];
        object[..8].copy_from_slice(&id.to_le_bytes());
        oids.push(objects.insert(&mut writing, &object, None)?);
    }
    for id in 0..oids.len() {
        let to: [Oid; REFERENCES] = [(); REFERENCES].map(|()| oids[target(&mut random, id, &oids)]);
        objects.change(&mut writing, oids[id], |object| {
            for (place, oid) in object[TO..].chunks_exact_mut(8).zip(to) {
                place.copy_from_slice(&oid.to_u64().to_le_bytes());
            }
        })?;
    }
    let ids: Hash = named::find_or_create(&mut writing, "part by id")?;
    for (id, oid) in (0..).zip(&oids) {
        ids.insert(&mut writing, id, oid.to_u64())?;
    }
    writing.commit()?;
    Ok(database.close()?)
}

/// The number of a part that one may be connected to, as OO1 draws it.
fn target(random: &mut SplitMix64, id: usize, all: &[Oid]) -> usize {
    let near = all.len().div_ceil(100);
    if random.below(10) > 0 {
        (id + all.len() + random.below(near) - near / 2) % all.len()
    } else {
        random.below(all.len())
    }
}
