//! Random programs by every combination of tactics, against the oracle.

use std::cell::{Cell, RefCell};

use lode_query::QueryError;
use lode_query::tactics::Tactics;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::covering::design;
use crate::outcome::{Engine, Kind};
use crate::program::{Expected, Numbers, Program, Step};
use crate::random::{setting, show};

/// In `make test`; `make torture` sets `LODE_PROGRAMS`.
const PROGRAMS: u64 = 80;

/// So many rows of the design run each program in `make test`, one after another in turn.
const ROWS_EACH: usize = 3;

/// From so many programs on every three values of tactics meet, and not only every two.
const MANY: u64 = 1_000;

/// Whether so many are requested, as by `make torture`.
pub fn are_many() -> bool {
    setting("LODE_PROGRAMS") >= Some(MANY)
}

/// The outcomes of the programs' statements: what never happened was not tested.
#[derive(Debug, Default)]
struct Seen {
    /// Queries with rows, and without.
    full: u64,
    empty: u64,
    /// Statements that changed tuples, and those that found none to change.
    changed: u64,
    idle: u64,
    /// Errors of values, and of unique indexes.
    evaluations: u64,
    duplicates: u64,
    /// Errors that depend on a plan.
    open: u64,
    /// Runs of programs to the end, and those that a small budget of memory ended.
    whole: u64,
    refused: u64,
}

impl Seen {
    fn add(&mut self, program: &Program) {
        for Step { expected, may_fail, .. } in &program.steps {
            let count = match expected {
                Err(Kind::Duplicate) => &mut self.duplicates,
                Err(_) if *may_fail => &mut self.open,
                Err(_) => &mut self.evaluations,
                Ok(Expected { answer: None, .. }) => continue,
                Ok(Expected { answer: Some(answer), changed }) => {
                    match (answer.rows, changed.is_some()) {
                        (0, false) => &mut self.empty,
                        (_, false) => &mut self.full,
                        (0, true) => &mut self.idle,
                        (_, true) => &mut self.changed,
                    }
                }
            };
            *count += 1;
        }
    }
}

/// The numbers of programs.
fn numbers() -> impl Strategy<Value = Numbers> {
    let statement = vec(any::<u16>(), 20..80);
    (vec(any::<u16>(), 20..80), vec(statement, 2..9))
}

fn fault(tactics: &Tactics, text: &str, reported: impl std::fmt::Display) -> TestCaseError {
    TestCaseError::fail(format!("{reported}\n\nunder {tactics}\n\n{text}"))
}

/// Run the program statement by statement; each must come to what the oracle says. Whether all of
/// it ran: a small budget of memory may end it.
fn run(program: &Program, tactics: &Tactics) -> Result<bool, TestCaseError> {
    let failed = |reported: String| fault(tactics, &program.text(), reported);
    let engine = Engine::after(&program.setup, tactics);
    let engine = engine.map_err(|error| failed(format!("its relations: {error}")))?;
    for step in &program.steps {
        let has_run = compare(&engine, step, is_small(tactics));
        let has_run = has_run
            .map_err(|reported| failed(format!("{reported}, where it says:\n{}", step.text)))?;
        if !has_run {
            return Ok(false);
        }
    }
    // Another opening reads what was written.
    let engine = engine.reopened(&Tactics { storage: tactics.storage, ..Tactics::default() });
    for (relation, contents) in &program.left {
        let found = engine.contents(relation).map_err(|error| failed(error.to_string()))?;
        if found != *contents {
            return Err(failed(format!("{relation} has {found} at last, and not {contents}")));
        }
    }
    Ok(true)
}

/// Whether a statement may be refused for want of memory: not under the budget that all have.
fn is_small(tactics: &Tactics) -> bool {
    tactics.memory != Tactics::default().memory
}

/// Run all that changes something as one transaction: the same is left. Whether it ran.
fn run_as_one(program: &Program, tactics: &Tactics) -> Result<bool, TestCaseError> {
    let (engine, text) = (Engine::new(tactics), program.as_one_text());
    let failed = |reported: String| fault(tactics, &text, reported);
    match engine.run(&text) {
        Err(QueryError::Memory { .. }) if is_small(tactics) => return Ok(false),
        outcome => _ = outcome.map_err(|error| failed(error.to_string()))?,
    }
    for (relation, contents) in &program.left {
        let found = engine.contents(relation).map_err(|error| failed(error.to_string()))?;
        if found != *contents {
            return Err(failed(format!("{relation} has {found}, and not {contents}")));
        }
    }
    engine.check().map_err(|error| failed(error.to_string()))?;
    Ok(true)
}

/// Hold one statement to the oracle; whether it ran.
fn compare(engine: &Engine, step: &Step, is_small: bool) -> Result<bool, String> {
    let found = engine.run(&step.text).map_err(|error| (Kind::of_lode(&error), error.to_string()));
    match (found, &step.expected) {
        (Ok(found), Ok(expected)) => holds(engine, found.as_ref(), expected).map(|()| true),
        (Err((Ok(kind), _)), Err(expected)) if kind == *expected => Ok(true),
        // Changes are kept in memory: a small budget refuses them, and what comes then differs.
        (Err((Ok(Kind::Memory), _)), _) if is_small => Ok(false),
        // Which conditions are tried where others decide is the plan's.
        (Err((Ok(Kind::Evaluation), _)), Ok(_)) | (Ok(_), Err(Kind::Evaluation))
            if step.may_fail =>
        {
            Ok(true)
        }
        (Err((_, error)), Ok(_)) => Err(format!("an error that the oracle has not: {error}")),
        (Err((kind, error)), Err(expected)) => {
            Err(format!("an error {kind:?} where the oracle has one of {expected:?}: {error}"))
        }
        (Ok(found), Err(expected)) => {
            Err(format!("{found:?} where the oracle has an error {expected:?}"))
        }
    }
}

fn holds(
    engine: &Engine,
    found: Option<&loadstone_quel::Answer>,
    expected: &Expected,
) -> Result<(), String> {
    if found != expected.answer.as_ref() {
        return Err(format!("{found:?} and not {:?}", expected.answer));
    }
    let Some((relation, contents)) = &expected.changed else { return Ok(()) };
    let after = engine.contents(relation).map_err(|error| error.to_string())?;
    if after != *contents {
        return Err(format!("{relation} has {after} then, and not {contents}"));
    }
    engine.check().map_err(|error| error.to_string())
}

#[test]
fn random_programs_have_the_oracles_answers() {
    let programs = setting("LODE_PROGRAMS").unwrap_or(PROGRAMS);
    let (strength, rows_each) = if programs >= MANY { (3, 2 * ROWS_EACH) } else { (2, ROWS_EACH) };
    let rows = design(strength).rows;
    let config = ProptestConfig {
        cases: programs as u32,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    };
    let (next, failing) = (Cell::new(0), Cell::new(None));
    let seen = RefCell::new(Seen::default());
    let outcome = TestRunner::new(config).run(&numbers(), |numbers| {
        let program = Program::of(&numbers);
        // A failing program is tried again under the same tactics while it shrinks.
        let chosen = failing.get().map_or(next.get()..next.get() + rows_each, |row| row..row + 1);
        for at in chosen {
            let tactics = &rows[at % rows.len()];
            for way in [run, run_as_one] {
                let is_whole = way(&program, tactics).inspect_err(|_| failing.set(Some(at)))?;
                let mut seen = seen.borrow_mut();
                seen.whole += u64::from(is_whole);
                seen.refused += u64::from(!is_whole);
            }
        }
        next.set(next.get() + rows_each);
        seen.borrow_mut().add(&program);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    show(format!("{seen:?}"));
    let Seen { full, empty, changed, idle, evaluations, duplicates, open, .. } = seen;
    assert!(full.min(changed) > programs / 4 && seen.refused < seen.whole / 4, "{seen:?}");
    let rare = [empty, idle, evaluations, duplicates, open];
    assert!(programs < MANY || rare.iter().all(|&count| count > 10), "{seen:?}");
}
