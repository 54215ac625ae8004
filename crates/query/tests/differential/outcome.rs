//! The outcome of a statement, in the terms of the oracle, and a database that is asked.

use std::sync::Arc;

use loadstone_quel::answer::RowEncoder;
use loadstone_quel::{Answer, QuelError};
use lode::internals::disk::{Disk, Memory};
use lode_query::QueryError;
use lode_query::database::{Database, Outcome, Rows, Statement};
use lode_query::relation::check_all;
use lode_query::tactics::Tactics;
use lode_query::tuple::{Value, read, trimmed};

/// Kinds of errors that a program may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No QUEL.
    Syntax,
    /// Of names and types.
    Meaning,
    /// A value that cannot be computed or stored.
    Evaluation,
    /// A second tuple with the values of a unique index.
    Duplicate,
    /// The budget of memory does not do, whatever is spilled.
    Memory,
}

impl Kind {
    /// The oracle's.
    pub fn of_oracle(error: &QuelError) -> Self {
        match error {
            QuelError::Syntax(_) | QuelError::Tree(_) => Self::Syntax,
            QuelError::Meaning(_) => Self::Meaning,
            QuelError::Evaluation(_) => Self::Evaluation,
        }
    }

    /// lode's; an error of no such kind is one that no program has.
    pub fn of_lode(error: &QueryError) -> Result<Self, String> {
        match error {
            QueryError::Quel(error) => Ok(Self::of_oracle(error)),
            QueryError::Duplicate { .. } => Ok(Self::Duplicate),
            QueryError::Memory { .. } => Ok(Self::Memory),
            other => Err(format!("an error that no program has: {other}")),
        }
    }
}

/// A database in memory, whose bytes outlive it.
pub struct Engine {
    pub database: Database,
    volume: Arc<Memory>,
    log: Arc<Memory>,
}

impl Engine {
    /// An empty one.
    pub fn new(tactics: &Tactics) -> Self {
        Self::on(Arc::default(), Arc::default(), tactics)
    }

    /// One in which a text has run with all the memory that it wants, and its relations are stored
    /// as the tactics say, opened under tactics.
    pub fn after(setup: &str, tactics: &Tactics) -> Result<Self, QueryError> {
        let Tactics { storage, layout, .. } = *tactics;
        let engine = Self::new(&Tactics { storage, layout, ..Tactics::default() });
        engine.run(setup)?;
        Ok(engine.reopened(tactics))
    }

    fn on(volume: Arc<Memory>, log: Arc<Memory>, tactics: &Tactics) -> Self {
        let disks = (Arc::clone(&volume), Arc::clone(&log));
        let storage = lode::Database::on(disks.0, disks.1, &tactics.storage);
        let storage = storage.unwrap_or_else(|error| panic!("{tactics}: {error}"));
        Self { database: Database::over(storage, tactics), volume, log }
    }

    /// Closed, and opened again under other tactics.
    pub fn reopened(self, tactics: &Tactics) -> Self {
        let Self { database, volume, log } = self;
        database.close().unwrap_or_else(|error| panic!("{tactics}: {error}"));
        Self::on(volume, log, tactics)
    }

    /// Its bytes, closed.
    pub fn closed(self) -> Closed {
        let Self { database, volume, log } = self;
        database.close().unwrap();
        Closed { volume: bytes_of(&volume), log: bytes_of(&log) }
    }

    /// Run a text: its rows, or how many tuples it changed; None for a text that only defines.
    pub fn run(&self, text: &str) -> Result<Option<Answer>, QueryError> {
        match self.database.run(&Statement::new(text)?, &[])? {
            Outcome::Rows(rows) => answer_of(rows).map(Some),
            Outcome::Changed(count) => Ok(count.map(|rows| Answer { rows, checksum: 0 })),
        }
    }

    /// All tuples of a relation.
    pub fn contents(&self, relation: &str) -> Result<Answer, QueryError> {
        let text = format!("range of t is {relation} retrieve (t.all)");
        self.run(&text).map(Option::unwrap_or_default)
    }

    /// Hold tuples, indexes and catalog against each other.
    pub fn check(&self) -> Result<(), QueryError> {
        check_all(&self.database.storage().reading()).map(drop)
    }
}

/// The bytes of a database that is closed. Any number of it can be opened, each its own.
pub struct Closed {
    volume: Vec<u8>,
    log: Vec<u8>,
}

impl Closed {
    pub fn opened(&self, tactics: &Tactics) -> Engine {
        Engine::on(disk_of(&self.volume), disk_of(&self.log), tactics)
    }
}

fn bytes_of(disk: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; disk.len_bytes().unwrap() as usize];
    disk.read(0, &mut bytes).unwrap();
    bytes
}

fn disk_of(bytes: &[u8]) -> Arc<Memory> {
    let disk = Memory::new();
    disk.set_len(bytes.len() as u64).unwrap();
    disk.write(0, bytes).unwrap();
    Arc::new(disk)
}

/// Rows as the oracle counts and sums them.
pub fn answer_of(mut rows: Rows) -> Result<Answer, QueryError> {
    let layout = rows.layout().clone();
    let (mut answer, mut encoder) = (Answer::default(), RowEncoder::default());
    while let Some(tuples) = rows.next_tuples()? {
        for tuple in tuples.chunks_exact(layout.bytes) {
            for field in &layout.fields {
                match read(tuple, field) {
                    Value::Null => encoder.null(),
                    Value::Integer(value) => encoder.integer(value),
                    Value::Real(value) => encoder.real(value),
                    Value::Text(text) => encoder.text(trimmed(text)),
                }
            }
            answer.add(encoder.finish_row());
        }
    }
    Ok(answer)
}
