//! A real process on real files, killed while it fills a copy and commits at the same time.
//!
//! `LODE_MIRROR_KILLS=n` kills so many; `make torture` 30.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use lode::internals::mirror::take_alone;
use lode::internals::page::PageNumber;
use lode::{Database, Tactics};

use crate::kills::check;
use crate::random::{Random, setting, show};
use crate::words::{allocate, put, state_of, tactics};

const FOLDER: &str = "LODE_MIRROR_KILL_FOLDER";
const TACTICS: &str = "LODE_MIRROR_KILL_TACTICS";

/// Those that every transaction changes, and those that make filling a copy take a while.
const PAGES: usize = 20;
const PAGES_BESIDE: usize = 2_000;

const KILLS: u64 = 3;

/// A kill comes after so many lines at most, of which commits are most.
const LINES_MAX: usize = 40;

const VARIANTS: [&str; 3] = [
    "mirror=idle&durability=full&log=page-diff&cache=65536&checkpoint=65536",
    "mirror=nearer&durability=group&log=page-grain&disk=direct&checkpoint=262144",
    "mirror=first&durability=none&log=page-diff&cache=65536&checkpoint=65536",
];

/// Under a folder beside the test program, which is on a disk that has direct I/O.
#[test]
fn killed_while_a_copy_is_filled_both_copies_have_what_was_committed() {
    let program = env::current_exe().unwrap();
    let kills = setting("LODE_MIRROR_KILLS").unwrap_or(KILLS);
    let (mut random, mut alone) = (Random::new(16), 0);
    for kill in 0..kills {
        let variant = VARIANTS[kill as usize % VARIANTS.len()];
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let path = folder.path().join("database");
        let pages = create(&path, &tactics(variant));
        let reported = run_and_kill(folder.path(), variant, random.below(LINES_MAX));
        let database = Database::open(&path, &tactics(variant)).unwrap();
        let found = check(&database, &pages);
        let least = if variant.contains("none") { 0 } else { reported };
        assert!(found >= least, "{variant}: {found} is there, {reported} was reported");
        alone += u64::from(database.remirror().unwrap().is_some());
        let state = state_of(&database).unwrap();
        database.close().unwrap();
        each_is_whole(&path, &tactics(variant), &state);
    }
    show(format!("{kills} kills, {alone} of them while a copy was behind"));
    assert!(alone > 0, "no kill came while a copy was filled");
}

/// With the files of one copy away, the other has everything.
fn each_is_whole(path: &Path, tactics: &Tactics, state: &crate::words::State) {
    let second = path.with_file_name("database-mirror");
    let hidden = path.with_file_name("hidden");
    fs::rename(&second, &hidden).unwrap();
    assert!(Database::open(path, tactics).is_err(), "nobody can know that it is not behind");
    take_alone(path, 0).unwrap();
    let database = Database::open(path, tactics).unwrap();
    assert_eq!(&state_of(&database).unwrap(), state);
    database.close().unwrap();
    for file in ["database", "database-log", "database-state"] {
        fs::remove_file(path.with_file_name(file)).unwrap();
    }
    fs::rename(&hidden, &second).unwrap();
    take_alone(path, 1).unwrap();
    let database = Database::open(path, tactics).unwrap();
    assert_eq!(&state_of(&database).unwrap(), state);
    database.remirror().unwrap().unwrap();
    database.close().unwrap();
    let plain = Tactics { mirror: lode::tactics::Mirroring::Off, ..*tactics };
    let database = Database::open(path, &plain).unwrap();
    assert_eq!(&state_of(&database).unwrap(), state);
    database.close().unwrap();
}

fn create(path: &Path, tactics: &Tactics) -> Vec<PageNumber> {
    let database = Database::create(path, tactics).unwrap();
    let mut writing = database.writing();
    let pages = (0..PAGES).map(|_| allocate(&mut writing).unwrap()).collect();
    for _ in 0..PAGES_BESIDE {
        let page = allocate(&mut writing).unwrap();
        put(&mut writing, page, 1, 1).unwrap();
    }
    writing.commit().unwrap();
    database.close().unwrap();
    pages
}

/// Start the process, and kill it some lines after it began to fill a copy: the last number that
/// it reported.
fn run_and_kill(folder: &Path, variant: &str, lines: usize) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "mirror::kills::the_process_that_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .env(TACTICS, variant)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reported = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut last = 0;
    let mut note = |line: &str| {
        if let Some(number) = line.strip_prefix("committed ") {
            last = number.parse().unwrap();
        }
    };
    for line in reported.by_ref() {
        note(&line);
        if line == "filling" {
            break;
        }
    }
    reported.by_ref().take(lines).for_each(|line| note(&line));
    child.kill().unwrap();
    // Commits reported until it died count, too.
    reported.for_each(|line| note(&line));
    child.wait().unwrap();
    last
}

/// Not a test by itself: the other one starts it.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let tactics = tactics(&env::var(TACTICS).unwrap());
    let database = Database::open(&Path::new(&folder).join("database"), &tactics).unwrap();
    let database = Arc::new(database);
    let pages: Vec<PageNumber> = state_of(&database).unwrap().into_keys().take(PAGES).collect();
    let committing = Arc::clone(&database);
    let committer = thread::spawn(move || {
        for number in 1_u64.. {
            let mut writing = committing.writing();
            for &page in &pages {
                put(&mut writing, page, 0, number).unwrap();
                put(&mut writing, page, (number % 5) as usize, number).unwrap();
            }
            writing.commit().unwrap();
            report(&format!("committed {number}\n"));
        }
    });
    for side in [1, 0, 1, 0].into_iter().cycle() {
        database.take_down(side).unwrap();
        report("filling\n");
        database.remirror().unwrap().unwrap();
        report("filled\n");
        if committer.is_finished() {
            break;
        }
    }
    committer.join().unwrap();
}

fn report(text: &str) {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}
