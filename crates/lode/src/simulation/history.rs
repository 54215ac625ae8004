//! One history: some threads on one database under drawn tactics, crashes in the middle of it, and
//! what is found afterwards.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use super::disk::{Lie, SlowDisk};
use super::model::{Model, Stage, Version, Writer};
use super::scheduler::{self, Job, Turns};
use crate::database::Database;
use crate::disk::Disk;
use crate::disk::simulated::{Call, CrashOptions, Failure, Image, Simulation};
use crate::error::{LodeError, Result};
use crate::log::{Body, Log, Record};
use crate::page::{PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite, Pinned};
use crate::random::Random;
use crate::superblock::Superblock;
use crate::tactics::{Durability, Tactics};

/// More than the smallest cache holds.
const PAGES: usize = 20;

/// The file that they belong to, a number that the catalog gives to none.
const FILE: u32 = 500;

const THREADS_MAX: usize = 4;

const CRASHES_MAX: usize = 3;

const OPERATIONS_MAX: usize = 4;

/// Steps of a usual history, and of a long one: where crashes come.
const STEPS: [usize; 3] = [200, 1_000, 4_000];

/// What happened in the histories so far: what never happens is not tested.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) histories: u64,
    pub(super) steps: u64,
    pub(super) crashes: u64,
    pub(super) crashes_again: u64,
    pub(super) recoveries: u64,
    pub(super) commits: u64,
    pub(super) rollbacks: u64,
    pub(super) deadlocks: u64,
    pub(super) uncertain: u64,
    pub(super) checkpoints: u64,
    pub(super) taken_back: u64,
    pub(super) failures: u64,
    pub(super) pins: u64,
    /// Pins that were too many, and changes of what was pinned.
    pub(super) refused_pins: u64,
}

/// A crash, and what was known then.
struct Crash {
    image: Image,
    model: Model,
    step: usize,
}

/// What the threads share.
struct Shared {
    database: Database,
    pages: Rc<[PageNumber]>,
    /// Of these, transactions use the first so many.
    hot: usize,
    model: RefCell<Model>,
    problem: RefCell<Option<String>>,
    seen: RefCell<Seen>,
}

/// Play the history of a seed: what is wrong with it, if something is.
pub(super) fn play(number: u64, lie: Option<Lie>, seen: &mut Seen) -> Option<String> {
    let mut random = Random::new(number);
    seen.histories += 1;
    let (image, pages) = beginning(if random.below(3) == 0 { "4" } else { "64" });
    let mut model = Model::of(&[Version::FIRST; PAGES]);
    let mut image = image;
    let sessions = if random.below(4) == 0 { 2 } else { 1 };
    for session in 0..sessions {
        let outcome =
            Session { random: &mut random, lie, seen, pages: &pages }.play(&image, &model);
        match outcome {
            Err(problem) => return Some(format!("session {session}: {problem}")),
            Ok(left) => (image, model) = left,
        }
    }
    None
}

/// The files of a closed database, and the pages in it.
type Beginning = (Image, Rc<[PageNumber]>);

/// A closed database with the pages, made once for each kind.
fn beginning(extent: &'static str) -> Beginning {
    thread_local! {
        static MADE: RefCell<HashMap<&'static str, Beginning>> = RefCell::default();
    }
    let make = || {
        let simulation = Simulation::new();
        let tactics = tactics(&format!("checkpoint=65536&extent={extent}"));
        let database = on(&simulation, None, &tactics).expect("it can be made");
        let mut writing = database.writing();
        let allocate = |_| writing.allocate(FILE, PageKind::Heap).expect("there is room");
        let pages = (0..PAGES).map(allocate).collect();
        writing.commit().expect("nothing is against it");
        database.close().expect("nothing is against it");
        (simulation.killed(), pages)
    };
    MADE.with_borrow_mut(|made| made.entry(extent).or_insert_with(make).clone())
}

fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn on(simulation: &Simulation, lie: Option<Lie>, tactics: &Tactics) -> Result<Database> {
    let disk = |name, lie| Arc::new(SlowDisk::over(simulation.disk(name), lie)) as Arc<dyn Disk>;
    let of_volume = lie.filter(|lie| *lie != Lie::Synced);
    let of_log = lie.filter(|lie| *lie == Lie::Synced);
    Database::on(disk("volume", of_volume), disk("log", of_log), tactics)
}

fn draw<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len())]
}

fn draw_tactics(random: &mut Random) -> Tactics {
    tactics(&format!(
        "log={}&durability={}&locks={}&replacement={}&cache={}&checkpoint={}",
        draw(random, &["page-diff", "page-grain"]),
        draw(random, &["full", "group", "group", "none"]),
        draw(random, &["page", "page", "database"]),
        draw(random, &["clock", "lru", "lru-2", "random"]),
        draw(random, &[65_536, 65_536, 1_048_576]),
        draw(random, &[65_536, 65_536, 1_048_576]),
    ))
}

/// The versions of all pages.
fn read_all(database: &Database, pages: &[PageNumber]) -> Result<Vec<Version>, String> {
    let reading = database.reading();
    let read = |&page| match Version::get(&reading, page) {
        Ok((version, true)) => Ok(version),
        Ok((version, false)) => Err(format!("page {page} is half {version:?}")),
        Err(error) => Err(format!("page {page}: {error}")),
    };
    pages.iter().map(read).collect()
}

/// The log that recovery found, for people.
fn log_of(image: &Image) -> String {
    let superblock = Superblock::open(&*image.disk("volume"), Path::new("the volume"), true);
    let log = superblock.and_then(|found| Log::open(image.disk("log"), found.identity));
    let log = log.and_then(|log| log.read(log.checkpoint()).map(|records| (log, records)));
    let (log, records) = match log {
        Ok(opened) => opened,
        Err(error) => return error.to_string(),
    };
    let mut text = format!("from {} on", log.checkpoint());
    for record in records {
        let record = match record {
            Ok(Record { lsn, transaction, body }) => match body {
                Body::Redo { page, .. } => format!("{lsn}: {transaction} redo {page}"),
                Body::Undo { page, .. } => format!("{lsn}: {transaction} undo {page}"),
                Body::Image { page, .. } => format!("{lsn}: image {page}"),
                other => format!("{lsn}: {transaction} {other:?}"),
            },
            Err(error) => error.to_string(),
        };
        text = format!("{text}\n  {record}");
    }
    text
}

/// A database from its opening to its end.
struct Session<'a> {
    random: &'a mut Random,
    lie: Option<Lie>,
    seen: &'a mut Seen,
    pages: &'a Rc<[PageNumber]>,
}

impl Session<'_> {
    /// What is left at the end, or after a crash.
    fn play(mut self, image: &Image, model: &Model) -> Result<(Image, Model), String> {
        let simulation = image.simulation();
        let tactics = draw_tactics(self.random);
        let database = on(&simulation, self.lie, &tactics).map_err(|error| error.to_string())?;
        let mut model = model.clone();
        if self.random.below(2) == 0 {
            // The cache is full from the beginning.
            read_all(&database, self.pages)?;
        }
        if self.lie.is_none() && self.random.below(8) == 0 {
            model.fails = true;
            self.plan_failure(&simulation);
        }
        let shared = Rc::new(Shared {
            database,
            pages: Rc::clone(self.pages),
            hot: draw(self.random, &[2, 4, 8, PAGES]),
            model: RefCell::new(model),
            problem: RefCell::default(),
            seen: RefCell::new(*self.seen),
        });
        let crashes = self.run(&shared, &simulation);
        let shared = Rc::into_inner(shared).expect("the threads have ended");
        *self.seen = shared.seen.into_inner();
        let told = format!("{tactics}");
        let model = shared.model.into_inner();
        if let Some(problem) = shared.problem.into_inner() {
            shared.database.abandon();
            return Err(format!("{problem}\nunder {told}"));
        }
        let mut left = Vec::new();
        for Crash { image, model, step } in crashes {
            let found = self.look_after_crash(image, &model);
            let found =
                found.map_err(|problem| format!("crash at {step}: {problem}\nunder {told}"))?;
            left.push(found);
        }
        let ended = self.end(shared.database, &simulation, &model);
        left.push(ended.map_err(|problem| format!("at the end: {problem}\nunder {told}"))?);
        let chosen = self.random.below(left.len());
        Ok(left.swap_remove(chosen))
    }

    fn plan_failure(&mut self, simulation: &Simulation) {
        let kinds = [Call::Read, Call::Write, Call::Sync, Call::SetLen].map(Some);
        let failure = Failure::nth(draw(self.random, &kinds), 1 + self.random.below(20) as u64);
        let failure = if self.random.below(3) == 0 { failure.for_ever() } else { failure };
        let kind = draw(self.random, &[ErrorKind::Other, ErrorKind::StorageFull]);
        simulation.fail(failure.with(kind));
    }

    /// Let the threads run.
    fn run(&mut self, shared: &Rc<Shared>, simulation: &Simulation) -> Vec<Crash> {
        let steps = draw(self.random, &STEPS);
        let looks = 1 + self.random.below(CRASHES_MAX);
        let look_at = (0..looks).map(|_| 1 + self.random.below(steps) as u64).collect();
        let threads = 2 + self.random.below(THREADS_MAX - 1);
        let length = 2 + self.random.below(4);
        let jobs = (0..threads).map(|_| {
            let random = Random::new(self.random.next());
            let mut worker = Worker { shared: Rc::clone(shared), random };
            Box::new(move || worker.work(length)) as Job
        });
        let jobs: Vec<Job> = jobs.collect();
        let crashes: Rc<RefCell<Vec<Crash>>> = Rc::default();
        let look = {
            let (shared, crashes) = (Rc::clone(shared), Rc::clone(&crashes));
            let (simulation, random) = (simulation.clone(), RefCell::new(self.random.clone()));
            move || {
                let image = draw_image(&mut random.borrow_mut(), &simulation);
                let model = shared.model.borrow().clone();
                let step = crashes.borrow().len();
                crashes.borrow_mut().push(Crash { image, model, step });
            }
        };
        let turns = Turns {
            random: Random::new(self.random.next()),
            one_in: draw(self.random, &[2, 5, 20]),
            look_at,
            look: Rc::new(look),
        };
        let steps = scheduler::run(turns, jobs);
        shared.seen.borrow_mut().steps += steps;
        Rc::into_inner(crashes).expect("nobody looks any more").into_inner()
    }

    /// What a crash has left, perhaps of a recovery that was cut short by another.
    fn look_after_crash(&mut self, image: Image, model: &Model) -> Result<(Image, Model), String> {
        self.seen.crashes += 1;
        let mut image = image;
        if self.random.below(4) == 0 {
            self.seen.crashes_again += 1;
            let simulation = image.simulation();
            simulation.record();
            let tactics = draw_tactics(self.random);
            let database = on(&simulation, None, &tactics);
            database.map_err(|error| format!("the first recovery: {error}"))?.abandon();
            let options = CrashOptions::new(self.random.next());
            image = simulation.trace().random_crash(&options).image;
        }
        let simulation = image.simulation();
        let tactics = draw_tactics(self.random);
        let database = on(&simulation, None, &tactics).map_err(|error| error.to_string())?;
        if let Some(recovery) = database.recovery() {
            self.seen.recoveries += 1;
            self.seen.taken_back += recovery.taken_back;
        }
        let found = read_all(&database, self.pages)?;
        database.abandon();
        match model.compare_after_crash(&found) {
            Some(problem) => Err(format!("{problem}\nthe log: {}", log_of(&image))),
            None => Ok((simulation.killed(), Model::of(&found))),
        }
    }

    /// Everybody has ended. The database is closed, or left as it is.
    fn end(
        &mut self,
        database: Database,
        simulation: &Simulation,
        model: &Model,
    ) -> Result<(Image, Model), String> {
        simulation.mend();
        let is_left = database.changes().is_broken() || self.random.below(2) == 0;
        let closed = if is_left {
            database.abandon();
            Err(Closing::Failed(String::new()))
        } else {
            self.close(database, model)
        };
        match closed {
            Ok(()) => {}
            Err(Closing::Failed(_)) if is_left || model.fails => {
                let image = draw_image(self.random, simulation);
                return self.look_after_crash(image, model);
            }
            Err(Closing::Failed(problem) | Closing::Wrong(problem)) => return Err(problem),
        }
        let closed = on(simulation, None, &draw_tactics(self.random));
        let closed = closed.map_err(|error| error.to_string())?;
        let found = read_all(&closed, self.pages)?;
        closed.abandon();
        match model.compare(&found) {
            Some(problem) => Err(problem),
            None => Ok((simulation.killed(), Model::of(&found))),
        }
    }

    fn close(&self, database: Database, model: &Model) -> Result<(), Closing> {
        match read_all(&database, self.pages).map(|found| model.compare(&found)) {
            Ok(None) => database.close().map_err(|error| Closing::Failed(error.to_string())),
            Ok(Some(problem)) => {
                database.abandon();
                Err(Closing::Wrong(problem))
            }
            Err(problem) => {
                database.abandon();
                Err(Closing::Failed(problem))
            }
        }
    }
}

/// Why a database is not closed.
enum Closing {
    /// The log had failed before, perhaps, and nobody was there whom it could tell.
    Failed(String),
    Wrong(String),
}

/// What a crash of the program leaves, or of the machine.
fn draw_image(random: &mut Random, simulation: &Simulation) -> Image {
    match random.below(3) {
        0 => simulation.killed(),
        1 => simulation.image(&[]),
        _ => simulation.random_image(&CrashOptions::new(random.next())),
    }
}

/// A thread of the program.
struct Worker {
    shared: Rc<Shared>,
    random: Random,
}

impl Worker {
    fn work(&mut self, length: usize) {
        for _ in 0..length {
            if self.shared.problem.borrow().is_some() {
                return;
            }
            let outcome = match self.random.below(12) {
                0 | 1 => self.look(),
                2 | 3 => self.checkpoint(),
                4 => self.shared.database.forget(),
                _ => self.change(),
            };
            match outcome {
                Ok(()) => {}
                Err(LodeError::Deadlock) => self.shared.seen.borrow_mut().deadlocks += 1,
                Err(LodeError::PinsFull { .. } | LodeError::Pinned { .. }) => {
                    self.shared.seen.borrow_mut().refused_pins += 1;
                }
                Err(_) if self.shared.model.borrow().fails => {
                    self.shared.seen.borrow_mut().failures += 1;
                }
                Err(error) => self.is_wrong(error.to_string()),
            }
        }
    }

    fn is_wrong(&self, problem: String) {
        self.shared.problem.borrow_mut().get_or_insert(problem);
    }

    fn is_wrong_if(&self, problem: Option<String>) {
        if let Some(problem) = problem {
            self.is_wrong(problem);
        }
    }

    fn page(&mut self) -> usize {
        self.random.below(self.shared.hot)
    }

    /// Look at some pages at once.
    fn look(&mut self) -> Result<()> {
        let shared = Rc::clone(&self.shared);
        let reading = shared.database.reading();
        let mut pins = Vec::new();
        for _ in 0..=self.random.below(OPERATIONS_MAX) {
            let page = self.page();
            self.read(&reading, page, None)?;
            if self.random.below(3) == 0 {
                pins.push(self.pin(&reading, page)?);
            }
        }
        drop(reading);
        self.check_pins(&pins);
        Ok(())
    }

    /// Pin a page, and learn which version of it.
    fn pin(&self, pages: &impl PageRead, page: usize) -> Result<(Pinned, Version)> {
        let page = self.shared.pages[page];
        let pinned = pages.pin(page)?;
        self.shared.seen.borrow_mut().pins += 1;
        let (version, is_whole) = Version::of(&pinned, page);
        if !is_whole {
            self.is_wrong(format!("page {page} was pinned as half {version:?}"));
        }
        Ok((pinned, version))
    }

    /// That pinned pages are what they were.
    fn check_pins(&self, pins: &[(Pinned, Version)]) {
        for (pinned, version) in pins {
            let page = pinned.page();
            if Version::of(pinned, page) != (*version, true) {
                self.is_wrong(format!("page {page} was pinned as {version:?} and has changed"));
            }
        }
    }

    fn read(&self, pages: &impl PageRead, page: usize, writer: Option<Writer>) -> Result<()> {
        let (seen, is_whole) = Version::get(pages, self.shared.pages[page])?;
        if !is_whole {
            self.is_wrong(format!("page {page} was read as half {seen:?}"));
        }
        let problem = self.shared.model.borrow_mut().read(writer, page, seen);
        self.is_wrong_if(problem);
        Ok(())
    }

    /// All that was told before is durable afterwards.
    fn checkpoint(&self) -> Result<()> {
        let told = self.shared.model.borrow().told();
        self.shared.database.checkpoint()?;
        self.shared.seen.borrow_mut().checkpoints += 1;
        let mut model = self.shared.model.borrow_mut();
        for writer in told {
            model.transactions[writer].stage = Stage::Durable;
        }
        Ok(())
    }

    /// Change some pages, and read some; in the end, or some time before, think better of it.
    fn change(&mut self) -> Result<()> {
        let shared = Rc::clone(&self.shared);
        let writer = shared.model.borrow_mut().begin();
        let mut writing = shared.database.writing();
        let mut pins = Vec::new();
        for _ in 0..=self.random.below(OPERATIONS_MAX) {
            let page = self.page();
            let times = shared.model.borrow().transactions[writer].writes.get(&page).copied();
            let done = if self.random.below(4) == 0 && times.is_none() {
                let pinned = self.read(&writing, page, Some(writer));
                pinned.and_then(|()| self.pin(&writing, page)).map(|pinned| pins.push(pinned))
            } else {
                self.write(&mut writing, page, writer, times)
            };
            if let Err(error) = done {
                shared.model.borrow_mut().transactions[writer].stage = Stage::Undone;
                return Err(error);
            }
        }
        if self.random.below(4) == 0 {
            shared.seen.borrow_mut().rollbacks += 1;
            shared.model.borrow_mut().transactions[writer].stage = Stage::Undone;
            return if self.random.below(2) == 0 { writing.rollback() } else { Ok(()) };
        }
        shared.model.borrow_mut().ask(writer);
        let outcome = writing.commit();
        self.check_pins(&pins);
        self.note(writer, &outcome);
        outcome
    }

    fn write(
        &self,
        writing: &mut impl PageWrite,
        page: usize,
        writer: Writer,
        times: Option<u64>,
    ) -> Result<()> {
        if times.is_none() {
            self.read(writing, page, Some(writer))?;
        }
        let version = Version { writer, times: times.unwrap_or(0) + 1 };
        version.put(writing, self.shared.pages[page])?;
        let mut model = self.shared.model.borrow_mut();
        model.transactions[writer].writes.insert(page, version.times);
        Ok(())
    }

    /// How a transaction ended that asked to be committed.
    fn note(&self, writer: Writer, outcome: &Result<()>) {
        let mut model = self.shared.model.borrow_mut();
        match outcome {
            Ok(()) => {
                self.shared.seen.borrow_mut().commits += 1;
                let is_durable = self.shared.database.tactics().durability != Durability::None;
                model.transactions[writer].stage =
                    if is_durable { Stage::Durable } else { Stage::Told };
            }
            // It stays as one that asked.
            Err(LodeError::Uncertain { .. }) => self.shared.seen.borrow_mut().uncertain += 1,
            Err(_) => {
                let problem = model.refuse(writer);
                drop(model);
                self.is_wrong_if(problem);
            }
        }
    }
}
