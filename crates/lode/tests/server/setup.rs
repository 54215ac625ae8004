//! A server with some accounts, and what is done with these.

use std::sync::Arc;

use lode::internals::disk::Memory;
use lode::internals::error::Result;
use lode::internals::page::{PAGE_BYTES, PageKind, PageNumber};
use lode::remote::Remote;
use lode::server::{Address, Listener, Server};
use lode::{Database, LodeError, PageRead, PageWrite, Tactics};
use tempfile::TempDir;

/// All accounts belong to this file, a number that the catalog gives to none.
pub const FILE: u32 = 500;

pub const ACCOUNTS: usize = 20;
pub const START: u64 = 1_000;

/// The last word of a page is easily forgotten.
const PLACE: usize = PAGE_BYTES - 8;

pub fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

pub fn get(pages: &impl PageRead, page: PageNumber) -> Result<u64> {
    pages.read(page, |view| view.u64(PLACE))
}

pub fn put(pages: &mut impl PageWrite, page: PageNumber, word: u64) -> Result<()> {
    pages.write(page, |bytes| bytes.put_u64(PLACE, word))
}

/// A page for each account, with the money that it begins with.
pub fn make_accounts(database: &Database) -> Vec<PageNumber> {
    let mut writing = database.writing();
    let allocate = |_| writing.allocate(FILE, PageKind::Heap).unwrap();
    let accounts: Vec<_> = (0..ACCOUNTS).map(allocate).collect();
    for &account in &accounts {
        put(&mut writing, account, START).unwrap();
    }
    writing.commit().unwrap();
    accounts
}

pub fn sum(pages: &impl PageRead, accounts: &[PageNumber]) -> Result<u64> {
    accounts.iter().map(|&account| get(pages, account)).sum()
}

/// Move some money from one account to another.
pub fn transfer(
    pages: &mut impl PageWrite,
    from: PageNumber,
    to: PageNumber,
    amount: u64,
) -> Result<()> {
    let before = get(pages, from)?;
    put(pages, from, before - amount.min(before))?;
    let after = get(pages, to)?;
    put(pages, to, after + amount.min(before))
}

/// Until it is no victim of a deadlock; how often it was.
pub fn until_done(mut run: impl FnMut() -> Result<()>) -> u64 {
    let mut deadlocks = 0;
    loop {
        match run() {
            Ok(()) => return deadlocks,
            Err(LodeError::Deadlock) => deadlocks += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A server in this process, with a database in memory.
pub struct Bank {
    pub server: Server,
    pub accounts: Vec<PageNumber>,
    pub volume: Arc<Memory>,
    pub log: Arc<Memory>,
    _folder: TempDir,
}

impl Bank {
    /// At a Unix socket.
    pub fn open(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = Address::Unix(folder.path().join("socket"));
        Self::open_at(text, &address, folder)
    }

    /// At a port of loopback.
    pub fn open_tcp(text: &str) -> Self {
        Self::open_at(text, &"127.0.0.1:0".parse().unwrap(), tempfile::tempdir().unwrap())
    }

    /// There; the folder goes with the bank.
    pub fn open_at(text: &str, address: &Address, folder: TempDir) -> Self {
        let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
        let database =
            Database::on(Arc::clone(&volume) as Arc<_>, Arc::clone(&log) as Arc<_>, &tactics(text))
                .unwrap();
        let accounts = make_accounts(&database);
        let listener = Listener::bind(address).unwrap();
        let server = Server::start(database, listener).unwrap();
        Self { server, accounts, volume, log, _folder: folder }
    }

    pub fn client(&self, text: &str) -> Remote {
        Remote::connect(self.server.address(), &tactics(text)).unwrap()
    }

    /// Stop the server, and open what it leaves.
    pub fn reopen(self) -> (Database, Vec<PageNumber>) {
        self.server.stop().unwrap();
        let database = Database::on(self.volume, self.log, &Tactics::default()).unwrap();
        assert_eq!(database.recovery(), None, "the server had closed it");
        (database, self.accounts)
    }
}
