//! RVM's benchmark on LMDB: a table for the records that are updated and one for the ring, each
//! record under its number.

use std::ffi::CStr;
use std::sync::Arc;

use loadstone_datasets::rvm::{Database, HISTORY_WORDS, Place, TELLERS};

use super::raw::{ENGINE, Environment, Table, version};
use super::reader::Reader;
use super::tables::{self, Shape};
use super::writer::Writer;
use crate::error::ClientError;
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::{self, HISTORY_BYTES, History, RECORD_BYTES};
use crate::tactics::{Address, Tactics};

/// In the order of [`Lmdb::tables`] and of the reader's cursors.
const TABLES: [(&CStr, Shape); 2] =
    [(c"rvm.record", Shape::Single), (c"rvm.history", Shape::Single)];
const RECORD: usize = 0;
const HISTORY: usize = 1;

/// An environment with its tables.
pub struct Lmdb {
    reader: Reader,
    writer: Option<Writer>,
    environment: Arc<Environment>,
    tables: [Table; TABLES.len()],
}

/// Native order: LMDB compares these keys as numbers. The branch, the tellers, the accounts.
const fn key(place: Place) -> [u8; 4] {
    match place {
        Place::Branch => 0_u32,
        Place::Teller(number) => 1 + number,
        Place::Account(number) => 1 + TELLERS + number,
    }
    .to_ne_bytes()
}

const fn place_of(number: u32) -> Place {
    match number {
        0 => Place::Branch,
        1..=TELLERS => Place::Teller(number - 1),
        _ => Place::Account(number - 1 - TELLERS),
    }
}

fn malformed() -> ClientError {
    let what = "a record of another length than it was stored with".to_owned();
    ClientError::Malformed { engine: ENGINE, what }
}

impl Lmdb {
    /// Open or create.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let durable = tactics.take("durability", &[("full", true), ("none", false)])?;
        let environment = Environment::open(&address.database, durable)?;
        let tables = tables::open(&environment, TABLES)?;
        let reader = Reader::new(&environment, &tables)?;
        Ok(Self { reader, writer: None, environment, tables })
    }

    fn writing(&mut self) -> Result<&mut Writer, ClientError> {
        let message = "nothing was begun: begin to write first";
        self.writer.as_mut().ok_or_else(|| ClientError::engine(ENGINE, "writing", message))
    }

    /// Every value of a table, with its number.
    fn each<const N: usize>(
        &mut self,
        table: usize,
        mut take: impl FnMut(u32, &[u64; N]),
    ) -> Result<(), ClientError> {
        self.reader.walk(table, &0_u32.to_ne_bytes(), |at, value| {
            let number = at.try_into().map(u32::from_ne_bytes).map_err(|_| malformed())?;
            take(number, &rvm::words(value).ok_or_else(malformed)?);
            Ok(true)
        })
    }
}

impl Driver for Lmdb {
    const ENGINE: &'static str = ENGINE;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.begin()?;
        let tables = self.tables;
        let writer = self.writing()?;
        for table in tables {
            writer.clear(table)?;
        }
        let mut bytes = [0; RECORD_BYTES];
        for place in database.places() {
            rvm::put(&database.record(place), &mut bytes);
            writer.put(tables[RECORD], &key(place), &bytes)?;
        }
        for slot in 0..database.history_count() {
            writer.put(tables[HISTORY], &slot.to_ne_bytes(), &[0; HISTORY_BYTES])?;
        }
        self.commit()
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        // A snapshot held meanwhile keeps pages from being used again.
        self.reader.end();
        self.writer = Some(Writer::begin(&self.environment)?);
        Ok(())
    }

    fn change(&mut self, place: Place, by: u64) -> Result<u64, ClientError> {
        let (table, key) = (self.tables[RECORD], key(place));
        let writer = self.writing()?;
        let found = writer.get(table, &key)?;
        let bytes: Option<[u8; RECORD_BYTES]> = found.and_then(|found| found.try_into().ok());
        let mut bytes = bytes.ok_or_else(malformed)?;
        let first = rvm::add(&mut bytes, by);
        writer.put(table, &key, &bytes)?;
        Ok(first)
    }

    fn put(&mut self, slot: u32, record: &History) -> Result<(), ClientError> {
        let table = self.tables[HISTORY];
        let mut bytes = [0; HISTORY_BYTES];
        rvm::put(record, &mut bytes);
        self.writing()?.put(table, &slot.to_ne_bytes(), &bytes)
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.writer.take().map_or(Ok(()), Writer::commit)
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.writer = None;
        Ok(())
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        self.reader.begin()?;
        let read = self
            .each(RECORD, |number, words| contents.record(place_of(number), words))
            .and_then(|()| {
                self.each::<HISTORY_WORDS>(HISTORY, |slot, words| contents.history(slot, words))
            });
        self.reader.end();
        read
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        let file = std::fs::metadata(self.environment.path());
        let file =
            file.map_err(|error| ClientError::engine(ENGINE, "measuring the file", error))?;
        Ok(file.len())
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let syncs = self.environment.syncs()?;
        let durability = if syncs { "synchronous commit" } else { "no sync" };
        let filled = tables::filled(&self.environment, TABLES.map(|(name, _)| name))?;
        let is_loaded = !filled.is_empty();
        let each = |(name, entries): &(String, usize)| format!("B-tree {name} of {entries} values");
        let indexes = filled.iter().map(each).collect::<Vec<_>>().join(", ");
        let version = version();
        let terms = [
            ("version", version.as_str()),
            ("durability", durability),
            ("indexes", indexes.as_str()),
        ];
        let access = is_loaded.then_some(("access", "objects"));
        let terms = terms.into_iter().chain(access);
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}
