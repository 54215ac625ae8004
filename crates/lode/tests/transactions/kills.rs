//! A real process on a real file, killed for real while it writes.

use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};

use lode::internals::page::PageNumber;
use lode::{Database, Tactics};

use crate::random::Random;
use crate::words::{allocate, get, put, tactics};

const FOLDER: &str = "LODE_KILL_FOLDER";
const TACTICS: &str = "LODE_KILL_TACTICS";

/// A few more than the smallest cache holds.
const PAGES: usize = 20;

/// Each kill costs the start of a process, and each commit a sync of a real disk.
const KILLS: usize = 2;

const COMMITS_MAX: usize = 12;

const VARIANTS: [&str; 6] = [
    "durability=full&log=page-diff&cache=65536&checkpoint=65536",
    "durability=full&log=page-grain&checkpoint=65536&disk=direct",
    "durability=group&log=page-grain&locks=page&cache=65536&checkpoint=262144",
    "durability=group&log=set-range&locks=page&cache=65536&checkpoint=262144",
    "durability=group&log=set-range&locks=relation&cache=65536&checkpoint=262144",
    "durability=none&log=page-diff&cache=65536&checkpoint=65536",
];

/// Under a folder beside the test program, which is on a disk that has direct I/O.
#[test]
fn a_killed_process_leaves_what_it_had_committed() {
    let program = env::current_exe().unwrap();
    let mut random = Random::new(11);
    for variant in VARIANTS {
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let path = folder.path().join("database");
        let pages = create(&path, &tactics(variant));
        let mut before = 0;
        for _ in 0..KILLS {
            let reported = run_and_kill(folder.path(), variant, random.below(COMMITS_MAX));
            let database = Database::open(&path, &tactics(variant)).unwrap();
            let found = check(&database, &pages);
            // The process may have committed once more than it could determine.
            let least = if variant.contains("none") { before } else { reported.max(before) };
            assert!(found >= least, "{variant}: {found} is there, {reported} was reported");
            before = found;
            database.close().unwrap();
        }
        assert!(before > 0, "{variant}: nothing was ever committed");
    }
}

fn create(path: &Path, tactics: &Tactics) -> Vec<PageNumber> {
    let database = Database::create(path, tactics).unwrap();
    let mut writing = database.writing();
    let pages = (0..PAGES).map(|_| allocate(&mut writing).unwrap()).collect();
    writing.commit().unwrap();
    database.close().unwrap();
    pages
}

/// The number of the last transaction, if it is there as a whole.
pub fn check(database: &Database, pages: &[PageNumber]) -> u64 {
    let reading = database.reading();
    let last = get(&reading, pages[0]).unwrap()[0];
    for &page in pages {
        assert_eq!(get(&reading, page).unwrap()[0], last, "page {page} is of another transaction");
    }
    last
}

/// Start the process, let it commit so often, and kill it: the last number that it reported.
fn run_and_kill(folder: &Path, variant: &str, commits: usize) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "kills::the_process_that_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .env(TACTICS, variant)
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
    // Commits reported until it died count, too.
    reported.for_each(drop);
    child.wait().unwrap();
    assert_eq!(enough, commits + 1, "the process ended by itself");
    last
}

/// Not a test by itself: the other one starts it.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let tactics = tactics(&env::var(TACTICS).unwrap());
    let database = Database::open(&Path::new(&folder).join("database"), &tactics).unwrap();
    let mut pages = Vec::new();
    let mut of_file = lode::internals::space::FilePages::new(database.extent_pages(), 1).unwrap();
    let reading = database.reading();
    while let Some(page) = of_file.next(&reading).unwrap() {
        pages.push(page);
    }
    let mut number = get(&reading, pages[0]).unwrap()[0];
    drop(reading);
    loop {
        number += 1;
        let mut writing = database.writing();
        for &page in &pages {
            put(&mut writing, page, 0, number).unwrap();
            put(&mut writing, page, (number % 5) as usize, number).unwrap();
        }
        writing.commit().unwrap();
        // Every other transaction is taken back.
        let mut writing = database.writing();
        for &page in &pages {
            put(&mut writing, page, 0, 0).unwrap();
        }
        writing.rollback().unwrap();
        let reported = format!("committed {number}\n");
        stdout().write_all(reported.as_bytes()).unwrap();
        stdout().flush().unwrap();
    }
}
