//! Queries beside updates, from several threads: every answer is that of some place in one order of
//! the statements, and what is left is what they leave in that order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use loadstone_quel::Answer;
use lode_query::relation::check_all;
use lode_query::tactics::Tactics;

use crate::journal::{Expected, QUESTION, all_of, ask, numbers, run, setup, statement};
use crate::outcome::Engine;
use crate::programs::are_many;

const WRITERS: u64 = 3;

/// Statements of each writer in `make test`.
const STATEMENTS: u64 = 12;

const VARIANTS: [(&str, &str); 6] = [
    ("locks=page&layout=columns", "indexed"),
    ("locks=database&layout=columns&execution=compiled", "hash"),
    ("locks=relation&durability=none&log=page-grain", "indexed"),
    ("locks=database&durability=none", "indexed"),
    ("locks=page&durability=group&execution=interpreted&optimizer=rules", "hash"),
    ("locks=page&durability=none&execution=closures&join=nested-loops", "heap"),
];

/// As many statements as there were when it was asked, and what was answered.
type Answers = Mutex<BTreeMap<u64, Answer>>;

fn question_until_done(engine: &Engine, left: &AtomicU64, answers: &Answers) {
    // At least once, also where the writers were quick.
    loop {
        let is_last = left.load(Ordering::SeqCst) == 0;
        let before = numbers(&engine.database).len() as u64;
        let answer = ask(&engine.database, QUESTION);
        if numbers(&engine.database).len() as u64 == before {
            answers.lock().unwrap().insert(before, answer);
        }
        if is_last {
            return;
        }
    }
}

#[test]
fn answers_beside_updates_are_those_of_one_order() {
    let statements = if are_many() { 20 * STATEMENTS } else { STATEMENTS };
    for (text, structure) in VARIANTS {
        let tactics: Tactics = format!("{text}&cache=1MiB&extent=4").parse().unwrap();
        let engine = Engine::new(&tactics);
        let setup = setup(structure);
        run(&engine.database, &setup);
        let (left, answers) = (AtomicU64::new(WRITERS), Mutex::new(BTreeMap::new()));
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (engine, left) = (&engine, &left);
                scope.spawn(move || {
                    for at in 0..statements {
                        run(&engine.database, &statement(1 + writer * statements + at));
                    }
                    left.fetch_sub(1, Ordering::SeqCst);
                });
            }
            for _ in 0..2 {
                scope.spawn(|| question_until_done(&engine, &left, &answers));
            }
        });
        let order = numbers(&engine.database);
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(1..=WRITERS * statements), "{text}: some are lost");
        let expected = Expected::after(&setup);
        for (count, answer) in answers.into_inner().unwrap() {
            let known = expected.answer(&order[..count as usize], QUESTION);
            assert_eq!(answer, known, "{text}: after {count} of {order:?}");
        }
        check_all(&engine.database.storage().reading()).unwrap();
        let found = ask(&engine.database, &all_of("accounts"));
        assert_eq!(found, expected.answer(&order, &all_of("accounts")), "{text}: {order:?}");
        engine.database.close().unwrap();
    }
}
