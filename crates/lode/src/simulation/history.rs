//! One history: some threads on one database under drawn tactics, crashes in the middle of it, and
//! what is found afterwards. What the threads do: [`super::worker`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;

use super::disk::Lie;
use super::machine::{Machine, are_alike};
use super::model::{FILES, Model, Version};
use super::scheduler::{self, Interleaving, Job};
use super::worker::{Copies, Seen, Shared, Worker};
use crate::database::Database;
use crate::disk::simulated::{Call, CrashOptions, Failure, Image, Simulation};
use crate::error::{LodeError, Result};
use crate::log::{Body, Log, Record};
use crate::page::{NO_FILE, PageKind, PageNumber, offset};
use crate::pages::PageWrite;
use crate::random::Random;
use crate::superblock::Superblock;
use crate::tactics::Tactics;

/// More than the smallest cache holds.
const PAGES: usize = 20;

const THREADS_MAX: usize = 4;

const CRASHES_MAX: usize = 3;

/// Steps of a usual history, and of a long one: where crashes come.
const STEPS: [usize; 3] = [200, 1_000, 4_000];

/// A crash, and what was known then.
struct Crash {
    image: Image,
    model: Model,
    step: usize,
    /// The copies that have missed something, or may have.
    behind: [bool; 2],
}

/// Play the history of a seed: what is wrong with it, if something is.
pub(super) fn play(
    number: u64,
    lie: Option<Lie>,
    mirrored: bool,
    seen: &mut Seen,
) -> Option<String> {
    let mut random = Random::new(number);
    seen.histories += 1;
    let (image, pages) = beginning(if random.below(3) == 0 { "4" } else { "64" }, mirrored);
    let mut model = Model::of(&[Version::FIRST; PAGES]);
    let mut image = image;
    let sessions = if random.below(4) == 0 { 2 } else { 1 };
    for session in 0..sessions {
        let outcome = Session { random: &mut random, lie, mirrored, seen, pages: &pages }
            .play(&image, &model);
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
fn beginning(extent: &'static str, mirrored: bool) -> Beginning {
    thread_local! {
        static MADE: RefCell<HashMap<(&'static str, bool), Beginning>> = RefCell::default();
    }
    let make = || {
        let simulation = Simulation::new();
        let mirror = if mirrored { "idle" } else { "off" };
        let tactics = tactics(&format!("checkpoint=65536&extent={extent}&mirror={mirror}"));
        let machine = Machine::new(simulation.clone(), None);
        let database = machine.open(&tactics).expect("it can be made");
        let mut writing = database.writing();
        let allocate = |place: usize| {
            let file = FILES[place % FILES.len()];
            writing.allocate(file, PageKind::Heap).expect("there is room")
        };
        let pages: Rc<[PageNumber]> = (0..PAGES).map(allocate).collect();
        // The first transaction to change one takes it for a free page, which belongs to no file.
        for &page in &*pages {
            let freed = writing.write(page, |bytes| {
                bytes.put_u8(offset::KIND, PageKind::Free as u8);
                bytes.put_u32(offset::FILE, NO_FILE);
            });
            freed.expect("there is room");
        }
        writing.commit().expect("nothing is against it");
        database.close().expect("nothing is against it");
        (simulation.killed(), pages)
    };
    MADE.with_borrow_mut(|made| made.entry((extent, mirrored)).or_insert_with(make).clone())
}

pub(super) fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn draw<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len())]
}

fn draw_tactics(random: &mut Random, mirrored: bool) -> Tactics {
    let mirror = if mirrored { draw(random, &["idle", "nearer", "first"]) } else { "off" };
    tactics(&format!(
        "mirror={mirror}&log={}&bulk={}&durability={}&locks={}&replacement={}&cache={}&\
         checkpoint={}",
        draw(random, &["page-diff", "page-grain", "set-range"]),
        draw(random, &["unlogged", "logged"]),
        draw(random, &["full", "group", "group", "none"]),
        draw(random, &["page", "page", "relation", "database"]),
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
    let superblock = Superblock::open(&*image.disk("volume"), Path::new("the volume"), false);
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
                Body::Packed { changes, commits } => {
                    let pages: Vec<_> = changes.pages().map(|(page, _)| page).collect();
                    let commit = if commits { " and commit" } else { "" };
                    format!("{lsn}: {transaction} redo {pages:?}{commit}")
                }
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
    mirrored: bool,
    seen: &'a mut Seen,
    pages: &'a Rc<[PageNumber]>,
}

impl Session<'_> {
    /// Play a session.
    fn play(mut self, image: &Image, model: &Model) -> Result<(Image, Model), String> {
        let simulation = image.simulation();
        let tactics = draw_tactics(self.random, self.mirrored);
        let machine = Machine::new(simulation.clone(), self.lie);
        let database = machine.open(&tactics).map_err(|error| error.to_string())?;
        let mut model = model.clone();
        if self.random.below(2) == 0 {
            // The cache is full from the beginning.
            read_all(&database, self.pages)?;
        }
        if self.lie.is_none() && self.random.below(8) == 0 {
            model.fails = true;
            self.plan_failure(&simulation);
        }
        let copies = self.mirrored.then(|| Copies::of(&machine, &database));
        let shared = Rc::new(Shared {
            database,
            pages: Rc::clone(self.pages),
            hot: draw(self.random, &[2, 4, 8, PAGES]),
            model: RefCell::new(model),
            problem: RefCell::default(),
            seen: RefCell::new(*self.seen),
            copies,
        });
        let crashes = self.run(&shared, &simulation);
        let shared = Rc::into_inner(shared).expect("the threads have ended");
        let behind = shared.behind();
        *self.seen = shared.seen.into_inner();
        let reported = format!("{tactics}");
        let model = shared.model.into_inner();
        if let Some(problem) = shared.problem.into_inner() {
            shared.database.abandon();
            return Err(format!("{problem}\nunder {reported}"));
        }
        let mut left = Vec::new();
        for Crash { image, model, step, behind } in crashes {
            let found = self.check_after_crash(image, &model, behind);
            let found =
                found.map_err(|problem| format!("crash at {step}: {problem}\nunder {reported}"))?;
            left.push(found);
        }
        let ended = self.end(shared.database, &machine, &model, behind);
        left.push(ended.map_err(|problem| format!("at the end: {problem}\nunder {reported}"))?);
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
        let inspections = 1 + self.random.below(CRASHES_MAX);
        let inspect_at = (0..inspections).map(|_| 1 + self.random.below(steps) as u64).collect();
        let threads = 2 + self.random.below(THREADS_MAX - 1);
        let length = 2 + self.random.below(4);
        let jobs = (0..threads).map(|_| {
            let random = Random::new(self.random.next());
            let mut worker = Worker { shared: Rc::clone(shared), random };
            Box::new(move || worker.work(length)) as Job
        });
        let jobs: Vec<Job> = jobs.collect();
        let crashes: Rc<RefCell<Vec<Crash>>> = Rc::default();
        let inspect = {
            let (shared, crashes) = (Rc::clone(shared), Rc::clone(&crashes));
            let (simulation, random) = (simulation.clone(), RefCell::new(self.random.clone()));
            move || {
                let image = draw_image(&mut random.borrow_mut(), &simulation);
                let model = shared.model.borrow().clone();
                let step = crashes.borrow().len();
                let behind = shared.behind();
                crashes.borrow_mut().push(Crash { image, model, step, behind });
            }
        };
        let interleaving = Interleaving {
            random: Random::new(self.random.next()),
            one_in: draw(self.random, &[2, 5, 20]),
            inspect_at,
            inspect: Rc::new(inspect),
        };
        let steps = scheduler::run(interleaving, jobs);
        shared.seen.borrow_mut().steps += steps;
        Rc::into_inner(crashes).expect("nobody looks any more").into_inner()
    }

    /// Look at the files after a crash, perhaps of a recovery that was cut short by another.
    fn check_after_crash(
        &mut self,
        image: Image,
        model: &Model,
        behind: [bool; 2],
    ) -> Result<(Image, Model), String> {
        self.seen.crashes += 1;
        let dead = (self.mirrored && self.random.below(2) == 0).then(|| self.random.below(2));
        if let Some(dead) = dead
            && let Some(left) = self.check_with(image.clone(), model, behind, Some(dead))?
        {
            return Ok(left);
        }
        let left = self.check_with(image, model, behind, None)?;
        left.ok_or_else(|| "refused, though all devices are there".to_owned())
    }

    /// The same with one device dead; nothing where opening rightly says that no copy is whole.
    fn check_with(
        &mut self,
        image: Image,
        model: &Model,
        behind: [bool; 2],
        dead: Option<usize>,
    ) -> Result<Option<(Image, Model)>, String> {
        let mut image = image;
        if self.random.below(4) == 0 {
            self.seen.crashes_again += 1;
            let simulation = image.simulation();
            simulation.record();
            let tactics = draw_tactics(self.random, self.mirrored);
            match self.opened(&simulation, &tactics, behind, dead) {
                Ok(Some(database)) => database.abandon(),
                Ok(None) => return Ok(None),
                Err(error) => return Err(format!("the first recovery: {error}")),
            }
            let options = CrashOptions::new(self.random.next());
            image = simulation.trace().random_crash(&options).image;
        }
        let simulation = image.simulation();
        let tactics = draw_tactics(self.random, self.mirrored);
        let Some(database) = self.opened(&simulation, &tactics, behind, dead)? else {
            return Ok(None);
        };
        if let Some(recovery) = database.recovery() {
            self.seen.recoveries += 1;
            self.seen.taken_back += recovery.taken_back;
        }
        let found = read_all(&database, self.pages)?;
        let is_in_step = database.tactics_in_force().mirror == tactics.mirror && self.mirrored;
        if is_in_step && !are_alike(&simulation.killed()) {
            return Err(format!("the copies differ\nthe log: {}", log_of(&image)));
        }
        if self.mirrored && !is_in_step {
            let filled = database.remirror().map_err(|error| error.to_string())?;
            self.seen.filled += u64::from(filled.is_some());
        }
        database.abandon();
        match model.compare_after_crash(&found) {
            Some(problem) => Err(format!("{problem}\nthe log: {}", log_of(&image))),
            None => Ok(Some((simulation.killed(), Model::of(&found)))),
        }
    }

    /// The database of an image, with a copy's consent where nobody can know whether it is whole;
    /// nothing where it is not, or could not be determined.
    fn opened(
        &mut self,
        simulation: &Simulation,
        tactics: &Tactics,
        behind: [bool; 2],
        dead: Option<usize>,
    ) -> Result<Option<Database>, String> {
        let machine = Machine::new(simulation.clone(), None);
        if let Some(dead) = dead {
            machine.kill(dead);
        }
        let refused = match (machine.open(tactics), dead) {
            (Ok(database), _) => return Ok(Some(database)),
            (Err(LodeError::Mirror { .. }), Some(dead)) => 1 - dead,
            (Err(error), _) => return Err(error.to_string()),
        };
        self.seen.consents += 1;
        match machine.take_alone(refused) {
            _ if behind[refused] => Ok(None),
            Ok(()) => machine.open(tactics).map(Some).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Everybody has ended. The database is closed, or left as it is.
    fn end(
        &mut self,
        database: Database,
        machine: &Machine,
        model: &Model,
        behind: [bool; 2],
    ) -> Result<(Image, Model), String> {
        let simulation = &machine.simulation;
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
                return self.check_after_crash(image, model, behind);
            }
            Err(Closing::Failed(problem) | Closing::Wrong(problem)) => return Err(problem),
        }
        let tactics = draw_tactics(self.random, self.mirrored);
        let closed = Machine::new(simulation.clone(), None).open(&tactics);
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
    /// The log had failed before, perhaps, and nobody was there whom it could determine.
    Failed(String),
    Wrong(String),
}

/// The files after a crash of the program, or of the machine.
fn draw_image(random: &mut Random, simulation: &Simulation) -> Image {
    match random.below(3) {
        0 => simulation.killed(),
        1 => simulation.image(&[]),
        _ => simulation.random_image(&CrashOptions::new(random.next())),
    }
}
