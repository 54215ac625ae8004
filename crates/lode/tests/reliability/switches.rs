//! All tactics are one database: the same transactions under any combination of tactics give the
//! same contents, which any other combination reads.
//!
//! In the default run each two values of different tactics meet once at least; all combinations
//! with `--ignored`.

use std::env;
use std::path::Path;
use std::thread;

use lode::tactics::{Detect, Mirroring};
use lode::{Database, Tactics};

use crate::contents::{Contents, Plain};
use crate::drawn::open_fitting;
use crate::operations::Operator;
use crate::random::{Random, show};
use crate::reading::read_and_check;

const SWITCHES: [(&str, &[&str]); 16] = [
    ("log", &["page-diff", "page-grain", "set-range"]),
    ("shadows", &["beside", "cache"]),
    ("detect", &["explicit", "sigsegv"]),
    ("bulk", &["logged", "unlogged"]),
    ("durability", &["none", "group", "full"]),
    ("locks", &["database", "relation", "page"]),
    ("disk", &["buffered", "direct"]),
    ("mirror", &["off", "idle"]),
    ("cache", &["65536", "262144", "64MiB"]),
    ("hugepages", &["on", "off"]),
    ("replacement", &["clock", "lru", "lru-2", "random"]),
    ("swizzle", &["off", "on"]),
    ("prefetch", &["off", "on"]),
    ("extent", &["4", "16", "64"]),
    ("readahead", &["off", "on"]),
    ("checkpoint", &["65536", "1MiB"]),
];

/// The value of each tactic, by its place in the table.
type Combination = [usize; SWITCHES.len()];

const TRANSACTIONS: usize = 14;
const OPERATIONS: usize = 8;
const SEED: u64 = 5;

/// A prime, so that every value of every other tactic is met.
const SOME_ONE_IN: usize = 17;

/// They wait for the disk most of the time.
const THREADS: usize = 8;

#[test]
fn tactics_change_no_contents() {
    let covering = covering();
    assert!(covering.len() < 40, "{}", covering.len());
    drop(compare(&covering));
    show(format!("{} combinations of tactics", covering.len()));
}

#[test]
#[ignore = "some thousand databases on real files: minutes"]
fn no_combination_of_tactics_changes_contents() {
    let is_apart = |combination: &Combination| {
        tactics_of(combination).is_some_and(|tactics| {
            tactics.mirror != Mirroring::Off || tactics.detect != Detect::Explicit
        })
    };
    // The mirror stands below all the others, and what is mapped beside them (`tests/mapped`): some
    // combinations with these are enough.
    let (with, mut all): (Vec<_>, Vec<_>) = all().into_iter().partition(is_apart);
    all.extend(with.into_iter().step_by(SOME_ONE_IN));
    let written: Vec<Plain> = thread::scope(|scope| {
        let shares = all.chunks(all.len().div_ceil(THREADS));
        let threads: Vec<_> = shares.map(|share| scope.spawn(|| compare(share))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(written.iter().all(|contents| *contents == written[0]));
    show(format!("{} combinations of tactics", all.len()));
}

/// The contents that all of them give.
fn compare(combinations: &[Combination]) -> Plain {
    // Beside the test program, which is on a disk that has direct I/O.
    let program = env::current_exe().unwrap();
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let mut expected: Option<Plain> = None;
    let mut before = Tactics::default();
    for (number, combination) in combinations.iter().enumerate() {
        let tactics = tactics_of(combination).expect("only those that go together");
        let path = folder.path().join(number.to_string());
        let written = play(&path, &tactics).plain();
        let known = expected.get_or_insert_with(|| written.clone());
        assert_eq!(&written, known, "written under {tactics}");
        for reading in [&tactics, &before] {
            let database = open_fitting(reading, |tactics| Database::open(&path, tactics)).unwrap();
            let found = read_and_check(&database).unwrap().expect("the files are there");
            assert_eq!(&found.plain(), known, "written under {tactics}, read under {reading}");
            database.close().unwrap();
        }
        before = tactics;
        for name in [number.to_string(), format!("{number}-log")] {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
    expected.expect("there is a combination")
}

/// Transactions, some taken back, checkpoints and cold caches between them.
fn play(path: &Path, tactics: &Tactics) -> Contents {
    let database = Database::create(path, tactics).unwrap();
    let mut operator = Operator::new(SEED);
    let mut contents = Contents::create(&database).unwrap();
    for number in 0..TRANSACTIONS {
        let mut writing = database.writing();
        let mut after = contents.clone();
        for _ in 0..OPERATIONS {
            let extent = database.extent_pages();
            let changes = operator.operate(&mut writing, &after, extent).unwrap();
            for change in changes {
                after.apply(change);
            }
        }
        if number % 4 == 3 {
            writing.rollback().unwrap();
        } else {
            writing.commit().unwrap();
            contents = after;
        }
        match number {
            5 => database.checkpoint().unwrap(),
            9 => database.forget().unwrap(),
            _ => {}
        }
    }
    assert_eq!(read_and_check(&database).unwrap().as_ref(), Some(&contents), "{tactics}");
    database.close().unwrap();
    contents
}

/// `None` where they exclude each other.
fn tactics_of(combination: &Combination) -> Option<Tactics> {
    let pairs = SWITCHES.iter().zip(combination).map(|((name, values), &at)| (*name, values[at]));
    Tactics::of(pairs).ok()
}

fn all() -> Vec<Combination> {
    let mut all = vec![[0; SWITCHES.len()]];
    for (switch, (_, values)) in SWITCHES.iter().enumerate() {
        let with = |combination: &Combination| {
            let mut combination = *combination;
            (0..values.len())
                .map(|at| {
                    combination[switch] = at;
                    combination
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all.retain(|combination| tactics_of(combination).is_some());
    all
}

/// Two values of different tactics.
type Pair = ((usize, usize), (usize, usize));

fn pairs_of(combination: &Combination) -> Vec<Pair> {
    let places: Vec<(usize, usize)> = combination.iter().copied().enumerate().collect();
    let with = |at: usize| {
        let first = places[at];
        places[at + 1..].iter().map(move |&second| (first, second))
    };
    (0..places.len()).flat_map(with).collect()
}

/// Few combinations in which every pair is that is in any: always the best of some at random.
fn covering() -> Vec<Combination> {
    let all = all();
    let mut left: std::collections::HashSet<Pair> = all.iter().flat_map(pairs_of).collect();
    let mut random = Random::new(SEED);
    let mut covering = Vec::new();
    while !left.is_empty() {
        let new = |combination: &Combination| {
            pairs_of(combination).iter().filter(|pair| left.contains(pair)).count()
        };
        let drawn: Vec<Combination> = (0..60).map(|_| random.of(&all)).collect();
        let best = drawn.into_iter().max_by_key(new).expect("some were drawn");
        for pair in pairs_of(&best) {
            left.remove(&pair);
        }
        covering.push(best);
    }
    covering
}
