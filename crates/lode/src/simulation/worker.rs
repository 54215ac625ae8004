//! The threads of a history: read, pin, change, commit, roll back, checkpoint; and what each of
//! them finds, reported to the model.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::machine::Machine;
use super::model::{FILES, Model, Stage, Version, Writer};
use crate::database::Database;
use crate::error::{LodeError, Result};
use crate::page::PageNumber;
use crate::pages::{PageRead, Pinned};
use crate::random::Random;
use crate::tactics::Durability;
use crate::transaction::Writing;

const OPERATIONS_MAX: usize = 4;

/// The events of the histories so far: what never happens is not tested.
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
    /// Copies that were taken down or whose device died.
    pub(super) downs: u64,
    /// Copies that were filled, and those among them beside which others committed.
    pub(super) filled: u64,
    pub(super) filled_beside: u64,
    /// Copies of which nobody could know whether they were whole.
    pub(super) consents: u64,
}

/// The copies of a mirrored database.
pub(super) struct Copies {
    machine: Machine,
    /// Which is down: one at a time, because nothing is promised of two.
    down: Cell<Option<usize>>,
    /// Those that have missed something, or may have.
    pub(super) behind: Cell<[bool; 2]>,
}

impl Copies {
    /// One may be gone since an earlier session.
    pub(super) fn of(machine: &Machine, database: &Database) -> Self {
        let standings = database.mirror().map(|reported| reported.copies.map(|copy| copy.standing));
        let behind = standings.map_or([false; 2], |both| both.map(|one| one != "in step"));
        let down = behind.iter().position(|&behind| behind);
        Self { machine: machine.clone(), down: Cell::new(down), behind: Cell::new(behind) }
    }
}

/// The state that the threads share.
pub(super) struct Shared {
    pub(super) database: Database,
    pub(super) pages: Rc<[PageNumber]>,
    /// Of these, transactions use the first so many.
    pub(super) hot: usize,
    pub(super) model: RefCell<Model>,
    pub(super) problem: RefCell<Option<String>>,
    pub(super) seen: RefCell<Seen>,
    pub(super) copies: Option<Copies>,
}

impl Shared {
    /// The copies that have missed something, or may have: each, where calls fail by chance.
    pub(super) fn behind(&self) -> [bool; 2] {
        let fails = self.model.borrow().fails;
        let behind = self.copies.as_ref().map_or([false; 2], |copies| copies.behind.get());
        behind.map(|behind| behind || fails)
    }
}

/// A thread of the program.
pub(super) struct Worker {
    pub(super) shared: Rc<Shared>,
    pub(super) random: Random,
}

impl Worker {
    /// Read, change and check so many times, or until something is wrong.
    pub(super) fn work(&mut self, length: usize) {
        for _ in 0..length {
            if self.shared.problem.borrow().is_some() {
                return;
            }
            if self.shared.copies.is_some() && self.random.below(3) == 0 {
                self.lose_or_fill();
            }
            let outcome = match self.random.below(12) {
                0 | 1 => self.inspect(),
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

    /// Take one copy down or let its device die; or fill the one that is.
    fn lose_or_fill(&mut self) {
        let shared = Rc::clone(&self.shared);
        let copies = shared.copies.as_ref().expect("it is requested");
        if copies.down.get().is_none() {
            let side = self.random.below(2);
            copies.down.set(Some(side));
            let mut behind = copies.behind.get();
            behind[side] = true;
            copies.behind.set(behind);
            shared.seen.borrow_mut().downs += 1;
            if self.random.below(2) == 0 {
                copies.machine.kill(side);
            } else if let Err(error) = shared.database.take_down(side)
                && !shared.model.borrow().fails
            {
                self.is_wrong(error.to_string());
            }
            return;
        }
        let commits = shared.seen.borrow().commits;
        match shared.database.remirror() {
            Ok(Some(filled)) => {
                // Asked now: before this one began, another thread may have filled the copy that
                // was down, and a third have lost the other. From then on nobody changes it.
                let down = copies.down.get();
                if down != Some(filled.side) && !shared.model.borrow().fails {
                    self.is_wrong(format!("copy {} was filled, down was {down:?}", filled.side));
                }
                let mut seen = shared.seen.borrow_mut();
                seen.filled += 1;
                seen.filled_beside += u64::from(seen.commits > commits);
                copies.behind.set([false; 2]);
                copies.down.set(None);
            }
            // Nobody has noticed yet that its device is dead.
            Ok(None) => {}
            Err(LodeError::Mirror { what }) if what.contains("already") => {}
            Err(_) if shared.model.borrow().fails => {}
            Err(error) => self.is_wrong(error.to_string()),
        }
    }

    fn page(&mut self) -> usize {
        self.random.below(self.shared.hot)
    }

    /// Look at some pages at once.
    fn inspect(&mut self) -> Result<()> {
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

    /// All that was reported before is durable afterwards.
    fn checkpoint(&self) -> Result<()> {
        let reported = self.shared.model.borrow().reported();
        self.shared.database.checkpoint()?;
        self.shared.seen.borrow_mut().checkpoints += 1;
        let mut model = self.shared.model.borrow_mut();
        for writer in reported {
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
        writing: &mut Writing,
        page: usize,
        writer: Writer,
        times: Option<u64>,
    ) -> Result<()> {
        if times.is_none() {
            self.read(writing, page, Some(writer))?;
        }
        let version = Version { writer, times: times.unwrap_or(0) + 1 };
        let file = FILES[page % FILES.len()];
        // As one that gives it a free page.
        writing.lock_receiver(file)?;
        version.put(writing, self.shared.pages[page], file)?;
        let mut model = self.shared.model.borrow_mut();
        model.transactions[writer].writes.insert(page, version.times);
        Ok(())
    }

    /// The way in which a transaction ended that asked to be committed.
    fn note(&self, writer: Writer, outcome: &Result<()>) {
        let mut model = self.shared.model.borrow_mut();
        match outcome {
            Ok(()) => {
                self.shared.seen.borrow_mut().commits += 1;
                let is_durable = self.shared.database.tactics().durability != Durability::None;
                model.transactions[writer].stage =
                    if is_durable { Stage::Durable } else { Stage::Reported };
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
