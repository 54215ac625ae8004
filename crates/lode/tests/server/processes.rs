//! Clients that are processes of their own: this program, started again.

use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Child, Command, Stdio};

use lode::remote::Remote;
use lode::server::Address;

use crate::clients::next;
use crate::setup::{ACCOUNTS, Bank, START, sum, tactics, transfer, until_done};

/// The process's role.
pub const ROLE: &str = "LODE_SERVER_ROLE";
/// The place where the server is.
pub const ADDRESS: &str = "LODE_SERVER_ADDRESS";
/// The pages that it uses.
const PAGES: &str = "LODE_SERVER_PAGES";

const PROCESSES: usize = 2;
const TRANSFERS: usize = 40;

/// Start this program to do one test's part. It is killed when this is dropped.
pub struct Process(pub Child);

impl Process {
    pub fn start(test: &str, settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).envs(settings.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Wait until it says that.
    pub fn wait_for(&mut self, wanted: &str) {
        let mut lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let said = lines.any(|line| line.unwrap().ends_with(wanted));
        assert!(said, "the process ended without saying `{wanted}`");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// For who waits in [`Process::wait_for`]; a line of its own, whatever was printed before.
pub fn say(word: &str) {
    stdout().write_all(format!("\n{word}\n").as_bytes()).unwrap();
    stdout().flush().unwrap();
}

pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

pub fn connect() -> Remote {
    let address: Address = env::var(ADDRESS).unwrap().parse().unwrap();
    Remote::connect(&address, &tactics("cache=65536")).unwrap()
}

pub fn pages_text(pages: &[u32]) -> String {
    pages.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

pub fn pages() -> Vec<u32> {
    env::var(PAGES).unwrap().split(',').map(|page| page.parse().unwrap()).collect()
}

pub fn settings<'a>(role: &'a str, address: &'a str, pages: &'a str) -> [(&'a str, &'a str); 3] {
    [(ROLE, role), (ADDRESS, address), (PAGES, pages)]
}

#[test]
fn processes_and_threads_share_a_database() {
    for bank in [
        Bank::open("locks=database"),
        Bank::open("locks=relation&durability=group"),
        Bank::open_tcp("locks=page&durability=group"),
    ] {
        let (address, pages) = (bank.server.address().to_string(), pages_text(&bank.accounts));
        let start = |seed: usize| {
            let role = format!("transfers {seed}");
            Process::start(
                "processes::a_process_that_transfers",
                &settings(&role, &address, &pages),
            )
        };
        let mut processes: Vec<Process> = (0..PROCESSES).map(start).collect();
        let remote = bank.client("");
        let mut state = 99;
        for _ in 0..TRANSFERS {
            until_done(|| move_money(&remote, &bank.accounts, &mut state));
            until_done(|| {
                let found = sum(&remote.reading(), &bank.accounts)?;
                assert_eq!(found, ACCOUNTS as u64 * START);
                Ok(())
            });
        }
        for process in &mut processes {
            assert!(process.0.wait().unwrap().success());
        }
        drop(remote);
        let (database, accounts) = bank.reopen();
        assert_eq!(sum(&database.reading(), &accounts).unwrap(), ACCOUNTS as u64 * START);
    }
}

fn move_money(
    remote: &Remote,
    accounts: &[u32],
    state: &mut u64,
) -> lode::internals::error::Result<()> {
    let (from, to) = (next(state, accounts.len()), next(state, accounts.len()));
    let mut writing = remote.writing();
    transfer(&mut writing, accounts[from], accounts[to], next(state, 10) as u64)?;
    writing.commit()
}

/// Not a test by itself: the other one starts it.
#[test]
fn a_process_that_transfers() {
    let Some(seed) = role().and_then(|role| role.strip_prefix("transfers ")?.parse().ok()) else {
        return;
    };
    let (remote, accounts, mut state) = (connect(), pages(), seed);
    for _ in 0..TRANSFERS {
        until_done(|| move_money(&remote, &accounts, &mut state));
    }
}
