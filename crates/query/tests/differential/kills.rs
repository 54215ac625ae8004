//! A real process on real files, killed for real while it runs statements: what is found afterwards
//! is what the committed ones left, indexes included.

use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};

use lode_query::database::Database;
use lode_query::relation::check_all;
use lode_query::tactics::Tactics;

use crate::journal::{Expected, all_of, ask, numbers, run, setup, statement};
use crate::programs::are_many;
use crate::random::Random;

const FOLDER: &str = "LODE_QUERY_KILL_FOLDER";
const TACTICS: &str = "LODE_QUERY_KILL_TACTICS";

/// Each costs the start of a process, and each commit a sync of a real disk.
const KILLS: u64 = 2;

const COMMITS_MAX: usize = 10;

const VARIANTS: [(&str, &str); 4] = [
    ("durability=full&log=page-diff&cache=1MiB&checkpoint=65536", "indexed"),
    ("durability=group&log=page-grain&locks=relation&cache=1MiB&execution=interpreted", "hash"),
    ("durability=full&log=page-grain&cache=1MiB&checkpoint=65536&execution=closures", "heap"),
    ("durability=group&cache=1MiB&checkpoint=65536&layout=columns", "indexed"),
];

/// Under a folder beside the test program, which is on a disk and not in memory.
#[test]
fn a_killed_process_leaves_the_statements_that_it_had_committed() {
    let program = env::current_exe().unwrap();
    let kills = if are_many() { 20 * KILLS } else { KILLS };
    let mut random = Random::new(11);
    for (text, structure) in VARIANTS {
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let path = folder.path().join("database");
        let (tactics, setup) = (text.parse::<Tactics>().unwrap(), setup(structure));
        let database = Database::create(&path, &tactics).unwrap();
        run(&database, &setup);
        database.close().unwrap();
        let expected = Expected::after(&setup);
        let mut before = 0;
        for _ in 0..kills {
            let reported = run_and_kill(folder.path(), text, random.below(COMMITS_MAX));
            let database = Database::open(&path, &tactics).unwrap();
            check_all(&database.storage().reading()).unwrap();
            let found = numbers(&database);
            // The process may have committed once more than it could determine.
            let count = found.len() as u64;
            assert!(
                count >= reported.max(before),
                "{text}: {count} are there, {reported} were reported"
            );
            assert!(found.iter().copied().eq(1..=count), "{text}: {found:?}");
            let accounts = expected.answer(&found, &all_of("accounts"));
            assert_eq!(ask(&database, &all_of("accounts")), accounts, "{text}: after {count}");
            before = count;
            database.close().unwrap();
        }
        assert!(before > 0, "{text}: nothing was ever committed");
    }
}

/// Start the process, let it commit so often, and kill it: the last number that it reported.
fn run_and_kill(folder: &Path, tactics: &str, commits: usize) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "kills::the_process_that_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .env(TACTICS, tactics)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reported = lines.map_while(Result::ok).filter_map(|line| {
        line.strip_prefix("committed ").map(|number| number.parse::<u64>().unwrap())
    });
    let mut last = 0;
    let mut reported = reported.inspect(|&number| last = number);
    let enough = reported.by_ref().take(commits + 1).count();
    child.kill().unwrap();
    // Statements reported until it died count, too.
    reported.for_each(drop);
    child.wait().unwrap();
    assert_eq!(enough, commits + 1, "the process ended by itself");
    last
}

/// Not a test by itself: the other one starts it.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let tactics: Tactics = env::var(TACTICS).unwrap().parse().unwrap();
    let database = Database::open(&Path::new(&folder).join("database"), &tactics).unwrap();
    let mut number = numbers(&database).len() as u64;
    loop {
        number += 1;
        run(&database, &statement(number));
        let reported = format!("committed {number}\n");
        stdout().write_all(reported.as_bytes()).unwrap();
        stdout().flush().unwrap();
    }
}
