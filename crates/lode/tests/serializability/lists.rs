//! Lists in pages, to which threads append: in process and as clients of a page server.
//!
//! `LODE_SEED=n` draws other transactions; which thread is faster, the machine decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lode::internals::disk::Memory;
use lode::internals::error::Result;
use lode::internals::page::{self, PageKind, PageNumber};
use lode::remote::Remote;
use lode::server::{Address, Listener, Server};
use lode::{Database, LodeError, PageRead, PageWrite, Tactics};

use crate::checker::{Operation, Outcome, Transaction, check};
use crate::random::{Random, setting, show};

const KEYS: usize = 5;
const THREADS: u64 = 4;
const TRANSACTIONS: usize = 40;
const OPERATIONS_MAX: usize = 5;

/// A number that the catalog gives to no file.
const FILE: u32 = 500;

/// A page's list: how many values, and the values.
const COUNT: usize = 32;
const VALUES: usize = 40;

/// Pages beside the lists, more than the smallest cache holds.
const OTHERS: usize = 20;

/// Tactics of the database, and of its clients where it is served.
const VARIANTS: [(&str, &str); 5] = [
    ("locks=page&durability=group&cache=65536&checkpoint=65536", "cache=65536"),
    ("locks=page&durability=full&log=page-grain&checkpoint=65536", "replacement=lru"),
    ("locks=relation&durability=group&cache=65536&checkpoint=65536", "cache=65536"),
    ("locks=database&durability=group&cache=65536&replacement=lru-2", ""),
    ("locks=page&durability=none&cache=65536&replacement=random", "readahead=off"),
];

fn read(pages: &impl PageRead, page: PageNumber) -> Result<Vec<u64>> {
    pages.read(page, |view| {
        let count = view.u64(COUNT) as usize;
        (0..count).map(|place| view.u64(VALUES + 8 * place)).collect()
    })
}

fn append(pages: &mut impl PageWrite, page: PageNumber, value: u64) -> Result<()> {
    pages.write(page, |bytes| {
        let count = page::u64_at(bytes, COUNT);
        bytes.put_u64(VALUES + 8 * count as usize, value);
        bytes.put_u64(COUNT, count + 1);
    })
}

/// A database here, or at a server.
trait Place: Sync {
    fn read_only(
        &self,
        work: impl FnOnce(&dyn Fn(PageNumber) -> Result<Vec<u64>>) -> Result<()>,
    ) -> Result<()>;

    fn change(&self, script: &mut Script<'_>) -> Result<()>;
}

impl Place for Database {
    fn read_only(
        &self,
        work: impl FnOnce(&dyn Fn(PageNumber) -> Result<Vec<u64>>) -> Result<()>,
    ) -> Result<()> {
        let reading = self.reading();
        work(&|page| read(&reading, page))
    }

    fn change(&self, script: &mut Script<'_>) -> Result<()> {
        let mut writing = self.writing();
        script.run(&mut writing)?;
        if script.thinks_better { writing.rollback() } else { writing.commit() }
    }
}

impl Place for Remote {
    fn read_only(
        &self,
        work: impl FnOnce(&dyn Fn(PageNumber) -> Result<Vec<u64>>) -> Result<()>,
    ) -> Result<()> {
        let reading = self.reading();
        work(&|page| read(&reading, page))
    }

    fn change(&self, script: &mut Script<'_>) -> Result<()> {
        let mut writing = self.writing();
        script.run(&mut writing)?;
        if script.thinks_better { writing.rollback() } else { writing.commit() }
    }
}

/// The operations of one transaction, and the values it saw.
struct Script<'a> {
    lists: &'a [PageNumber],
    others: &'a [PageNumber],
    random: &'a mut Random,
    values: &'a AtomicU64,
    thinks_better: bool,
    operations: Vec<Operation>,
}

impl Script<'_> {
    fn run(&mut self, pages: &mut impl PageWrite) -> Result<()> {
        for _ in 0..=self.random.below(OPERATIONS_MAX) {
            let key = self.random.below(KEYS);
            if self.random.one_in(2) {
                let value = self.values.fetch_add(1, Ordering::Relaxed);
                self.operations.push(Operation::Append { key, value });
                append(pages, self.lists[key], value)?;
            } else {
                let values = read(pages, self.lists[key])?;
                self.operations.push(Operation::Read { key, values });
            }
            // So that pages of lists are driven out.
            read(pages, self.random.of(self.others))?;
        }
        Ok(())
    }
}

/// The state that all threads share.
struct Shared {
    lists: Vec<PageNumber>,
    others: Vec<PageNumber>,
    moments: AtomicU64,
    values: AtomicU64,
}

impl Shared {
    fn of(database: &Database) -> Self {
        let mut writing = database.writing();
        let mut allocate = |count: usize| -> Vec<PageNumber> {
            (0..count).map(|_| writing.allocate(FILE, PageKind::Heap).unwrap()).collect()
        };
        let (lists, others) = (allocate(KEYS), allocate(OTHERS));
        writing.commit().unwrap();
        Self { lists, others, moments: AtomicU64::new(0), values: AtomicU64::new(1) }
    }

    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }

    /// One transaction.
    fn one(&self, place: &impl Place, random: &mut Random) -> Transaction {
        let mut operations = Vec::new();
        let began = self.moment();
        let thinks_better = random.one_in(8);
        let outcome = if random.one_in(3) {
            let keys: Vec<usize> = (0..=random.below(KEYS)).map(|_| random.below(KEYS)).collect();
            place.read_only(|read| self.read_lists(&keys, read, &mut operations))
        } else {
            let mut script = Script {
                lists: &self.lists,
                others: &self.others,
                random,
                values: &self.values,
                thinks_better,
                operations: Vec::new(),
            };
            let outcome = place.change(&mut script);
            operations = script.operations;
            if outcome.is_ok() && thinks_better { Err(LodeError::RolledBack) } else { outcome }
        };
        let outcome = match outcome {
            Ok(()) => Outcome::Committed,
            Err(LodeError::Deadlock | LodeError::RolledBack) => Outcome::Aborted,
            Err(error) => panic!("{error}"),
        };
        Transaction { began, ended: self.moment(), outcome, operations }
    }

    fn read_lists(
        &self,
        keys: &[usize],
        read: &dyn Fn(PageNumber) -> Result<Vec<u64>>,
        operations: &mut Vec<Operation>,
    ) -> Result<()> {
        for &key in keys {
            let values = read(self.lists[key])?;
            operations.push(Operation::Read { key, values });
        }
        Ok(())
    }

    /// All threads' transactions, each thread at its place, and then one that reads everything.
    fn history<P: Place>(&self, seed: u64, places: &[P]) -> Vec<Transaction> {
        let mut history: Vec<Transaction> = thread::scope(|scope| {
            let work = |thread: u64| {
                let place = &places[thread as usize % places.len()];
                scope.spawn(move || {
                    let mut random = Random::new(seed * THREADS + thread);
                    (0..TRANSACTIONS).map(|_| self.one(place, &mut random)).collect::<Vec<_>>()
                })
            };
            let threads: Vec<_> = (0..THREADS).map(work).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let began = self.moment();
        let mut operations = Vec::new();
        let keys: Vec<usize> = (0..KEYS).collect();
        places[0].read_only(|read| self.read_lists(&keys, read, &mut operations)).unwrap();
        let outcome = Outcome::Committed;
        history.push(Transaction { began, ended: self.moment(), outcome, operations });
        history
    }
}

fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn judge(history: &[Transaction], text: &str) {
    let committed = |one: &&Transaction| one.outcome == Outcome::Committed;
    let count = history.iter().filter(committed).count();
    show(format!("{count} of {} committed under {text}", history.len()));
    assert!(count > TRANSACTIONS, "{text}");
    if let Some(anomaly) = check(history) {
        let concerned: Vec<_> = anomaly.transactions.iter().map(|&one| &history[one]).collect();
        panic!("{:?} under {text}: {concerned:#?}", anomaly.kind);
    }
}

#[test]
fn threads_of_one_process_are_strictly_serializable() {
    let seed = setting("LODE_SEED").unwrap_or(1);
    for (text, _) in VARIANTS {
        let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
        let database = Database::on(volume, log, &tactics(text)).unwrap();
        let shared = Shared::of(&database);
        let history = shared.history(seed, std::slice::from_ref(&database));
        judge(&history, text);
    }
}

#[test]
fn clients_of_a_page_server_are_strictly_serializable() {
    let seed = setting("LODE_SEED").unwrap_or(1);
    for (text, client) in VARIANTS {
        let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
        let database = Database::on(volume, log, &tactics(text)).unwrap();
        let shared = Shared::of(&database);
        let folder = tempfile::tempdir().unwrap();
        let address = Address::Unix(folder.path().join("socket"));
        let server = Server::start(database, Listener::bind(&address).unwrap()).unwrap();
        let connect = |_| Remote::connect(server.address(), &tactics(client)).unwrap();
        let clients: Vec<Remote> = (0..2).map(connect).collect();
        let history = shared.history(seed, &clients);
        judge(&history, &format!("{text}, client {client}"));
        drop(clients);
        server.stop().unwrap();
    }
}
