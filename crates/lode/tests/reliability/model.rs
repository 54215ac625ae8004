//! Random operations on all files within transactions, under random tactics, on disks that fail and
//! crash, against maps. `LODE_SEED=n` plays one run again, `LODE_RUNS=n` makes a longer test.

use lode::internals::disk::simulated::Simulation;
use lode::internals::error::Result;
use lode::tactics::Durability;
use lode::{Database, LodeError, Tactics, Writing};

use crate::contents::{Contents, Files};
use crate::drawn::{draw_crash, draw_failure, draw_tactics, open, play_seeds};
use crate::operations::{Changes, Operator};
use crate::random::show;
use crate::reading::read_and_check;

const RUNS: u64 = 24;
const SESSIONS: usize = 5;
const OPERATIONS: usize = 70;
const TRANSACTIONS_MAX: usize = 2;

/// A failing call is among so many.
const CALLS: usize = 120;

#[test]
fn whatever_happens_all_files_are_what_was_committed() {
    let (mut seen, mut runs) = (Seen::default(), 0);
    let all = play_seeds(RUNS, |seed| {
        runs += 1;
        Run::new(seed).play(&mut seen);
    });
    show(format!("{runs} runs: {seen:?}"));
    if all {
        // An event that never happened was not tested.
        let Seen { commits, rollbacks, deadlocks, recoveries, failed, full, uncertain } = seen;
        let rare = [rollbacks, deadlocks, recoveries, failed, full, uncertain];
        assert!(commits > 100 && rare.iter().all(|&count| count > 0), "{seen:?}");
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    commits: u32,
    rollbacks: u32,
    deadlocks: u32,
    recoveries: u32,
    failed: u32,
    full: u32,
    uncertain: u32,
}

/// The state of a run.
struct Run {
    operator: Operator,
    simulation: Simulation,
    /// The states after each commit, the first the oldest that may be found after a crash. `None`
    /// before there were files.
    states: Vec<Option<Contents>>,
}

/// A session cannot go on.
struct Abandoned;

/// A running transaction.
struct Open {
    writing: Writing,
    changes: Changes,
    /// The contents that it sees.
    now: Contents,
}

impl Run {
    fn new(seed: u64) -> Self {
        Self { operator: Operator::new(seed), simulation: Simulation::new(), states: vec![None] }
    }

    fn play(mut self, seen: &mut Seen) {
        for session in 0..SESSIONS {
            let tactics = draw_tactics(&mut self.operator.random);
            self.draw_failure(session);
            let database = open(&mut self.operator.random, &mut self.simulation, &tactics);
            seen.recoveries += u32::from(database.recovery().is_some());
            self.recognize(&database);
            self.draw_failure(session);
            let ended = self.session(&database, seen);
            self.simulation.set_capacity_bytes(None);
            if ended.is_ok() && database.close().is_ok() {
                self.all_durable();
            }
            self.simulation = draw_crash(&mut self.operator.random, &self.simulation);
        }
        let random = &mut self.operator.random;
        let database = open(random, &mut self.simulation, &Tactics::default());
        self.recognize(&database);
    }

    /// The first session has a disk that works.
    fn draw_failure(&mut self, session: usize) {
        if session > 0 {
            draw_failure(&mut self.operator.random, &self.simulation, CALLS);
        }
    }

    /// The database must be in one of the states that it may be in, and stays in it.
    fn recognize(&mut self, database: &Database) {
        let found = match read_and_check(database) {
            Err(LodeError::Io { .. } | LodeError::Full { .. }) => {
                self.simulation.mend();
                read_and_check(database)
            }
            other => other,
        };
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        assert!(self.states.contains(&found), "found {found:?}\nof {:?}", self.states);
        self.states = vec![found];
    }

    fn all_durable(&mut self) {
        self.states.drain(..self.states.len() - 1);
    }

    fn state(&self) -> Option<&Contents> {
        self.states.last().unwrap().as_ref()
    }

    fn session(&mut self, database: &Database, seen: &mut Seen) -> Result<(), Abandoned> {
        if self.state().is_none() {
            let mut writing = database.writing();
            let files = Files::create(&mut writing).map_err(|_| Abandoned)?;
            self.commit(writing, Contents::empty(files), database, seen)?;
        }
        let mut open: Vec<Open> = Vec::new();
        for _ in 0..OPERATIONS {
            let step = self.operator.random.below(24);
            let place = self.operator.random.below(TRANSACTIONS_MAX);
            if place >= open.len() {
                let Some(now) = self.state().cloned() else { return Err(Abandoned) };
                let writing = database.writing();
                open.push(Open { writing, changes: Changes::new(), now });
            }
            let place = place.min(open.len() - 1);
            match step {
                0 => self.disturb(database)?,
                1..=3 => {
                    let one = open.swap_remove(place);
                    self.commit(one.writing, one.now, database, seen)?;
                    self.let_see(&mut open);
                }
                4 => {
                    seen.rollbacks += 1;
                    open.swap_remove(place).writing.rollback().map_err(|_| Abandoned)?;
                }
                _ => {
                    let one = &mut open[place];
                    let done =
                        self.operator.operate(&mut one.writing, &one.now, database.extent_pages());
                    if let Ok(changes) = &done {
                        for change in changes {
                            one.now.apply(change.clone());
                        }
                        one.changes.extend(changes.iter().cloned());
                    } else {
                        drop(open.swap_remove(place));
                    }
                    note(done.map(drop), seen)?;
                }
            }
        }
        Ok(())
    }

    /// Disturb a database, as others do meanwhile.
    fn disturb(&mut self, database: &Database) -> Result<(), Abandoned> {
        match self.operator.random.below(12) {
            0 => return Err(Abandoned),
            1 => self.simulation.set_capacity_bytes(Some(0)),
            2 | 3 => self.simulation.set_capacity_bytes(None),
            4..=6 => database.forget().map_err(|_| Abandoned)?,
            _ => {
                database.checkpoint().map_err(|_| Abandoned)?;
                self.all_durable();
            }
        }
        Ok(())
    }

    /// One has committed: what the others see is that, and their own.
    fn let_see(&self, open: &mut [Open]) {
        for one in open {
            if let Some(state) = self.state() {
                one.now = state.clone();
            }
            one.changes.iter().for_each(|change| one.now.apply(change.clone()));
        }
    }

    fn commit(
        &mut self,
        writing: Writing,
        after: Contents,
        database: &Database,
        seen: &mut Seen,
    ) -> Result<(), Abandoned> {
        match writing.commit() {
            Ok(()) => {
                seen.commits += 1;
                // One that changed nothing logs nothing.
                let differs = self.state() != Some(&after);
                self.states.push(Some(after));
                if differs && database.tactics().durability != Durability::None {
                    self.all_durable();
                }
                Ok(())
            }
            Err(LodeError::Uncertain { .. }) => {
                seen.uncertain += 1;
                self.states.push(Some(after));
                Err(Abandoned)
            }
            Err(LodeError::Deadlock | LodeError::RolledBack) => panic!("it was dropped before"),
            other => note(other, seen),
        }
    }
}

fn note(outcome: Result<()>, seen: &mut Seen) -> Result<(), Abandoned> {
    match outcome {
        Ok(()) => Ok(()),
        Err(LodeError::Deadlock) => {
            seen.deadlocks += 1;
            Ok(())
        }
        Err(LodeError::Full { .. }) => {
            seen.full += 1;
            Ok(())
        }
        Err(LodeError::Io { .. }) => {
            seen.failed += 1;
            Ok(())
        }
        Err(LodeError::Reopen { .. }) => Err(Abandoned),
        Err(error) => panic!("{error}"),
    }
}
