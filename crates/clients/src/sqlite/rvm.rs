//! RVM's benchmark on `SQLite`, its log in WAL mode: a table for each class, a record as a blob
//! under its number, prepared statements.

use loadstone_datasets::rvm::{Database, HISTORY_WORDS, Place};

use super::file::{File, not_loaded};
use super::raw::{Connection, ENGINE, Statement};
use crate::error::ClientError;
use crate::outcome::Sent;
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::{self, HISTORY_BYTES, History, RECORD_BYTES};
use crate::tactics::{Address, Tactics};

const TABLES: [&str; 4] = ["branch", "teller", "account", "history"];

/// The design of the tables that are there; nothing of an empty file.
const ACCESS: &str = "select case when sql like '%without rowid%' then 'clustered' \
     else 'rowid' end from sqlite_schema where type = 'table' and name = 'account'";

/// The statements stand before the file, so that they go first.
pub struct Relational {
    /// For each table; empty until there is a database.
    tables: Vec<OfTable>,
    file: File,
}

/// The statements of a table.
struct OfTable {
    read: Statement,
    write: Statement,
    insert: Statement,
    scan: Statement,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: the connection and all that was prepared on it are in here, and no method hands one of
// them out: they move together.
unsafe impl Send for Relational {}

fn malformed() -> ClientError {
    let what = "a record of another length than it was stored with".to_owned();
    ClientError::Malformed { engine: ENGINE, what }
}

impl OfTable {
    fn prepare(connection: &Connection, table: &str) -> Result<Self, ClientError> {
        Ok(Self {
            read: connection.prepare(&format!("select record from {table} where number = ?"))?,
            write: connection
                .prepare(&format!("update {table} set record = ? where number = ?"))?,
            insert: connection.prepare(&format!("insert into {table} values (?, ?)"))?,
            scan: connection.prepare(&format!("select number, record from {table}"))?,
        })
    }
}

fn prepare(connection: &Connection) -> Result<Vec<OfTable>, ClientError> {
    TABLES.iter().map(|table| OfTable::prepare(connection, table)).collect()
}

/// The table's place, and the number in it.
const fn at(place: Place) -> (usize, u32) {
    match place {
        Place::Branch => (0, 0),
        Place::Teller(number) => (1, number),
        Place::Account(number) => (2, number),
    }
}

impl Relational {
    /// Open or create.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let file = File::open(address, tactics)?;
        let is_loaded = !file.connection().value(ACCESS)?.is_empty();
        let tables = if is_loaded { prepare(file.connection())? } else { Vec::new() };
        Ok(Self { tables, file })
    }

    fn insert(&mut self, table: usize, number: u32, bytes: &[u8]) -> Result<(), ClientError> {
        let insert = &mut self.tables.get_mut(table).ok_or_else(not_loaded)?.insert;
        insert.bind(1, number.into())?;
        insert.bind_blob(2, bytes)?;
        insert.finish()
    }

    fn each<const N: usize>(
        &mut self,
        table: usize,
        mut take: impl FnMut(u32, &[u64; N]),
    ) -> Result<(), ClientError> {
        let scan = &mut self.tables.get_mut(table).ok_or_else(not_loaded)?.scan;
        while scan.step()? {
            take(scan.id(0), &rvm::words(scan.bytes(1)).ok_or_else(malformed)?);
        }
        Ok(())
    }

    fn read_all(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        self.each(0, |_, words| contents.record(Place::Branch, words))?;
        self.each(1, |number, words| contents.record(Place::Teller(number), words))?;
        self.each(2, |number, words| contents.record(Place::Account(number), words))?;
        self.each::<HISTORY_WORDS>(3, |slot, words| contents.history(slot, words))
    }
}

impl Driver for Relational {
    const ENGINE: &'static str = ENGINE;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.tables.clear();
        self.file.replace()?;
        for table in TABLES {
            let columns = "number integer primary key, record blob not null";
            self.file.connection().run(&format!("create table {table} ({columns})"))?;
        }
        self.tables = prepare(self.file.connection())?;
        self.file.begin_write()?;
        let mut bytes = [0; RECORD_BYTES];
        for place in database.places() {
            rvm::put(&database.record(place), &mut bytes);
            let (table, number) = at(place);
            self.insert(table, number, &bytes)?;
        }
        for slot in 0..database.history_count() {
            self.insert(3, slot, &[0; HISTORY_BYTES])?;
        }
        self.file.commit()?;
        self.file.checkpoint()
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        self.file.begin_write()
    }

    fn change(&mut self, place: Place, by: u64) -> Result<u64, ClientError> {
        let (table, number) = at(place);
        let OfTable { read, write, .. } = self.tables.get_mut(table).ok_or_else(not_loaded)?;
        read.bind(1, number.into())?;
        if !read.step()? {
            return Err(ClientError::Missing { engine: ENGINE, id: number });
        }
        let bytes: Option<[u8; RECORD_BYTES]> = read.bytes(0).try_into().ok();
        read.reset();
        let mut bytes = bytes.ok_or_else(malformed)?;
        let first = rvm::add(&mut bytes, by);
        write.bind_blob(1, &bytes)?;
        write.bind(2, number.into())?;
        write.finish()?;
        Ok(first)
    }

    fn put(&mut self, slot: u32, record: &History) -> Result<(), ClientError> {
        let write = &mut self.tables.get_mut(3).ok_or_else(not_loaded)?.write;
        let mut bytes = [0; HISTORY_BYTES];
        rvm::put(record, &mut bytes);
        write.bind_blob(1, &bytes)?;
        write.bind(2, slot.into())?;
        write.finish()
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.file.commit()
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.file.rollback()
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        self.file.begin()?;
        let read = self.read_all(contents);
        self.file.end()?;
        read
    }

    fn sent(&self) -> Option<Sent> {
        Some(self.file.sent())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(self.file.size_bytes())
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = self.file.terms()?;
        let access = self.file.connection().value(ACCESS)?;
        if !access.is_empty() && terms.iter().all(|(name, _)| name != "access") {
            terms.push(("access".to_owned(), access));
        }
        Ok(terms)
    }
}
