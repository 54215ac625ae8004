//! Real processes, killed for real.

use std::env;
use std::io::{Read, stdin};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use lode::internals::error::Result;
use lode::remote::Remote;
use lode::server::{Address, Listener, serve};
use lode::{Database, LodeError};

use crate::processes::{Process, connect, pages, pages_text, role, say, settings};
use crate::setup::{ACCOUNTS, Bank, START, get, make_accounts, put, sum, tactics};

const FOLDER: &str = "LODE_SERVER_FOLDER";
const TACTICS: &str = "LODE_SERVER_TACTICS";

#[test]
fn a_killed_client_leaves_its_locks_and_nothing_else() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let bank = Bank::open(text);
        let (address, pages) = (bank.server.address().to_string(), pages_text(&bank.accounts));
        let mut process = Process::start(
            "kills::a_process_that_holds_locks",
            &settings("holds", &address, &pages),
        );
        process.wait_for("holding");
        let remote = bank.client("");
        let (send, done) = mpsc::channel();
        thread::scope(|scope| {
            let (remote, page) = (&remote, bank.accounts[0]);
            scope.spawn(move || {
                let mut writing = remote.writing();
                let found = get(&writing, page).unwrap();
                put(&mut writing, page, found).unwrap();
                writing.commit().unwrap();
                send.send(found).unwrap();
            });
            assert_eq!(done.try_recv(), Err(mpsc::TryRecvError::Empty), "{text}: it is locked");
            process.0.kill().unwrap();
            assert_eq!(done.recv().unwrap(), START, "{text}");
        });
        let reading = remote.reading();
        assert_eq!(sum(&reading, &bank.accounts).unwrap(), ACCOUNTS as u64 * START, "{text}");
    }
}

/// Not a test by itself: the other one starts it.
#[test]
fn a_process_that_holds_locks() {
    if role().as_deref() != Some("holds") {
        return;
    }
    let (remote, accounts) = (connect(), pages());
    let mut writing = remote.writing();
    for &account in &accounts[..3] {
        put(&mut writing, account, 0).unwrap();
    }
    say("holding");
    // For ever: the test that started this kills it.
    let _ = stdin().read(&mut [0]);
}

/// A client's knowledge of its own commits.
struct Reported {
    answered: u64,
    tried: u64,
    error: LodeError,
}

/// Commit higher and higher numbers into two pages, until the server is gone.
fn count_up(remote: &Remote, pair: [u32; 2], answers: &mpsc::Sender<()>) -> Reported {
    let (mut answered, mut tried) = (0, 0);
    loop {
        tried += 1;
        let run = || -> Result<()> {
            let mut writing = remote.writing();
            for page in pair {
                put(&mut writing, page, tried)?;
            }
            writing.commit()
        };
        match run() {
            Ok(()) => answered = tried,
            Err(LodeError::Deadlock) => continue,
            Err(error) => return Reported { answered, tried, error },
        }
        // Nobody listens any more when enough was heard.
        let _ = answers.send(());
    }
}

#[test]
fn a_killed_server_loses_nothing_that_it_answered() {
    for (text, commits) in [
        ("locks=database&durability=full&checkpoint=65536", 25),
        ("locks=page&durability=group&log=page-grain&checkpoint=65536", 40),
        ("locks=relation&durability=group&log=page-diff&checkpoint=65536", 40),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("database");
        let database = Database::create(&path, &tactics(text)).unwrap();
        let accounts = make_accounts(&database);
        database.close().unwrap();
        let mut before = vec![0; accounts.len() / 2];
        for _ in 0..2 {
            let reported = serve_and_kill(folder.path(), text, &accounts, commits);
            let database = Database::open(&path, &tactics(text)).unwrap();
            let reading = database.reading();
            let pairs = accounts.chunks_exact(2).zip(&mut before);
            for (reported, (pair, before)) in reported.iter().zip(pairs) {
                let found = get(&reading, pair[0]).unwrap();
                assert_eq!(get(&reading, pair[1]).unwrap(), found, "{text}: half a transaction");
                // A client that others kept waiting may have committed nothing this time.
                let retained = reported.answered == 0 && found == *before;
                let counted = (reported.answered.max(1)..=reported.tried).contains(&found);
                assert!(
                    retained || counted,
                    "{text}: {found} after {before}, {}",
                    reported.answered
                );
                *before = found;
                let error = reported.error.to_string();
                match reported.error {
                    LodeError::Server { .. } => assert!(error.contains("start it"), "{error}"),
                    LodeError::Uncertain { .. } => assert!(error.contains("opened"), "{error}"),
                    _ => panic!("{error}"),
                }
            }
        }
    }
}

fn serve_and_kill(folder: &Path, text: &str, accounts: &[u32], commits: usize) -> Vec<Reported> {
    let socket = folder.join("socket");
    let (folder, socket_text) = (folder.to_str().unwrap(), socket.to_str().unwrap());
    let [role, address, _] = settings("serves", socket_text, "");
    let mut process = Process::start(
        "kills::a_process_that_serves",
        &[role, address, (FOLDER, folder), (TACTICS, text)],
    );
    process.wait_for("serving");
    let address = Address::Unix(socket);
    let remotes = [0, 1, 2].map(|_| Remote::connect(&address, &tactics("")).unwrap());
    let (send, answers) = mpsc::channel();
    let reported = thread::scope(|scope| {
        let threads: Vec<_> = remotes
            .iter()
            .zip(accounts.chunks_exact(2))
            .map(|(remote, pair)| {
                let send = send.clone();
                scope.spawn(move || count_up(remote, [pair[0], pair[1]], &send))
            })
            .collect();
        assert_eq!(answers.iter().take(commits).count(), commits);
        process.0.kill().unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // A client does not come back to life with another server.
    let outcome = get(&remotes[0].reading(), accounts[0]);
    assert!(matches!(outcome, Err(LodeError::Server { .. })), "{outcome:?}");
    reported
}

/// Not a test by itself: the other one starts it.
#[test]
fn a_process_that_serves() {
    if role().as_deref() != Some("serves") {
        return;
    }
    let path = Path::new(&env::var_os(FOLDER).unwrap()).join("database");
    let database = Database::open(&path, &tactics(&env::var(TACTICS).unwrap())).unwrap();
    let address: Address = env::var(crate::processes::ADDRESS).unwrap().parse().unwrap();
    let listener = Listener::bind(&address).unwrap();
    say("serving");
    serve(database, listener).unwrap();
}
