//! Random operations under random tactics, on disks that fail and crash, against a map.
//!
//! `LODE_SEED=n` plays one run again, `LODE_RUNS=n` makes a longer test.

use std::collections::BTreeMap;

use lode::internals::disk::simulated::Simulation;
use lode::internals::page::PageNumber;
use lode::{Database, LodeError, Tactics, Writing};

use crate::drawn::{draw_crash, draw_failure, draw_tactics, open, play_seeds};
use crate::random::{Random, show};
use crate::words::{PLACES, State, Words, allocate, get, put, state_of};

const RUNS: u64 = 60;
const SESSIONS: usize = 6;
const OPERATIONS: usize = 60;
const TRANSACTIONS_MAX: usize = 3;

/// A failing call is among so many.
const CALLS: usize = 40;

#[test]
fn whatever_happens_the_database_is_what_was_committed() {
    let (mut seen, mut runs) = (Seen::default(), 0);
    let all = play_seeds(RUNS, |seed| {
        runs += 1;
        Run::new(seed).play(&mut seen);
    });
    show(format!("{runs} runs: {seen:?}"));
    if all {
        // An event that never happened was not tested.
        let Seen { commits, rollbacks, deadlocks, recoveries, refusals, uncertain, full } = seen;
        let rare = [rollbacks, deadlocks, recoveries, refusals, full];
        assert!(commits > 500 && rare.iter().all(|&count| count > 10) && uncertain > 0, "{seen:?}");
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    commits: u32,
    rollbacks: u32,
    deadlocks: u32,
    recoveries: u32,
    refusals: u32,
    uncertain: u32,
    full: u32,
}

/// The state of a run.
struct Run {
    random: Random,
    simulation: Simulation,
    /// The states after each commit; any from `durable` on may be found after a crash.
    states: Vec<State>,
    durable: usize,
    next_word: u64,
}

/// The way in which a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// To be closed.
    Well,
    /// Something failed, or that was drawn.
    Abandoned,
}

/// A running transaction and what it has changed; `None` for a page that it gave back.
struct Open {
    writing: Writing,
    changed: BTreeMap<PageNumber, Option<Words>>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        let states = vec![State::new()];
        Self { random, simulation: Simulation::new(), states, durable: 0, next_word: 1 }
    }

    fn play(mut self, seen: &mut Seen) {
        for session in 0..SESSIONS {
            let tactics = draw_tactics(&mut self.random);
            self.draw_failure(session);
            let database = open(&mut self.random, &mut self.simulation, &tactics);
            seen.recoveries += u32::from(database.recovery().is_some());
            self.recognize(&database);
            self.draw_failure(session);
            let end = self.session(&database, seen);
            self.simulation.set_capacity_bytes(None);
            if end == End::Well && database.close().is_ok() {
                self.all_durable();
            }
            self.simulation = draw_crash(&mut self.random, &self.simulation);
        }
        let database = open(&mut self.random, &mut self.simulation, &Tactics::default());
        self.recognize(&database);
    }

    /// The first session has a disk that works.
    fn draw_failure(&mut self, session: usize) {
        if session > 0 {
            draw_failure(&mut self.random, &self.simulation, CALLS);
        }
    }

    /// The database must be in one of the states that it may be in, and stays in it.
    fn recognize(&mut self, database: &Database) {
        let found = state_of(database);
        let found = match found {
            Ok(found) => found,
            Err(LodeError::Io { .. } | LodeError::Full { .. }) => {
                self.simulation.mend();
                state_of(database).unwrap()
            }
            Err(error) => panic!("{error}"),
        };
        let may_be = &self.states[self.durable..];
        assert!(may_be.contains(&found), "found {found:?}\nof {may_be:?}");
        self.states = vec![found];
        self.durable = 0;
    }

    fn all_durable(&mut self) {
        self.durable = self.states.len() - 1;
    }

    fn state(&self) -> &State {
        self.states.last().unwrap()
    }

    fn session(&mut self, database: &Database, seen: &mut Seen) -> End {
        let mut open: Vec<Open> = Vec::new();
        for _ in 0..OPERATIONS {
            let step = self.random.below(20);
            if step == 0 && self.random.one_in(10) {
                return End::Abandoned;
            }
            if step == 1 && self.random.one_in(3) {
                if database.checkpoint().is_err() {
                    return End::Abandoned;
                }
                self.all_durable();
            }
            if step == 2 && self.random.one_in(10) {
                self.simulation.set_capacity_bytes(Some(0));
            }
            let place = self.random.below(TRANSACTIONS_MAX);
            if place >= open.len() {
                open.push(Open { writing: database.writing(), changed: BTreeMap::new() });
            }
            let place = place.min(open.len() - 1);
            let outcome = match step {
                3 | 4 => {
                    let mut one = open.swap_remove(place);
                    match self.end(&mut one.changed, one.writing, database, seen) {
                        Ok(()) => continue,
                        Err(end) => return end,
                    }
                }
                5 => {
                    seen.rollbacks += 1;
                    open.swap_remove(place).writing.rollback()
                }
                _ => self.operate(&mut open[place], step).inspect_err(|_| {
                    drop(open.swap_remove(place));
                }),
            };
            match outcome {
                Ok(()) => {}
                Err(LodeError::Deadlock) => seen.deadlocks += 1,
                Err(LodeError::Full { .. }) => seen.full += 1,
                Err(LodeError::Reopen { .. }) => return End::Abandoned,
                Err(LodeError::Io { .. }) => seen.refusals += 1,
                Err(error) => panic!("{error}"),
            }
        }
        drop(open);
        End::Well
    }

    fn end(
        &mut self,
        changed: &mut BTreeMap<PageNumber, Option<Words>>,
        writing: Writing,
        database: &Database,
        seen: &mut Seen,
    ) -> Result<(), End> {
        let mut after = self.state().clone();
        for (page, words) in std::mem::take(changed) {
            match words {
                Some(words) => drop(after.insert(page, words)),
                None => drop(after.remove(&page)),
            }
        }
        match writing.commit() {
            Ok(()) => {
                seen.commits += 1;
                self.states.push(after);
                // One that changed nothing logs nothing.
                let last_two = &self.states[self.states.len() - 2..];
                let durability = lode::tactics::Durability::None;
                if database.tactics().durability != durability && last_two[0] != last_two[1] {
                    self.all_durable();
                }
                Ok(())
            }
            Err(LodeError::Uncertain { .. }) => {
                seen.uncertain += 1;
                self.states.push(after);
                Err(End::Abandoned)
            }
            Err(LodeError::Reopen { .. }) => Err(End::Abandoned),
            Err(LodeError::Deadlock | LodeError::RolledBack) => panic!("it was dropped before"),
            Err(_) => Ok(()),
        }
    }

    /// One operation of a transaction.
    fn operate(&mut self, open: &mut Open, step: usize) -> lode::internals::error::Result<()> {
        let (known, changed) = (self.states.last().unwrap(), &mut open.changed);
        let now = |page: PageNumber, changed: &BTreeMap<PageNumber, Option<Words>>| {
            changed.get(&page).copied().unwrap_or_else(|| known.get(&page).copied())
        };
        let pages: Vec<PageNumber> = known.keys().chain(changed.keys()).copied().collect();
        let page = if pages.is_empty() { None } else { Some(self.random.of(&pages)) };
        match (page, step) {
            (None, _) | (_, 6..=8) => {
                let page = allocate(&mut open.writing)?;
                assert_eq!(now(page, changed), None, "page {page} is in use");
                changed.insert(page, Some([0; PLACES.len()]));
            }
            (Some(page), 9) => {
                if now(page, changed).is_some() {
                    lode::PageWrite::free(&mut open.writing, page)?;
                    changed.insert(page, None);
                }
            }
            (Some(page), 10..=12) => {
                if now(page, changed).is_some() {
                    let found = get(&open.writing, page)?;
                    // Another may have committed while this one waited for nothing: look now.
                    assert_eq!(Some(found), now(page, changed), "page {page}");
                }
            }
            (Some(page), _) => {
                if let Some(mut words) = now(page, changed) {
                    let place = self.random.below(PLACES.len());
                    words[place] = self.next_word;
                    self.next_word += 1;
                    put(&mut open.writing, page, place, words[place])?;
                    changed.insert(page, Some(words));
                }
            }
        }
        Ok(())
    }
}
