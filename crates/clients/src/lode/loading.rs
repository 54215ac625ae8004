//! Loading: transactions of bounded size, and the references to records that were inserted.
//!
//! Nothing is durable on the way: the database is opened with `durability=none` and closed at the
//! end, which is the one durable point (see `store`).

use lode::internals::catalog::{self, Entry, FileKind};
use lode::internals::heap::{RecordId, Reference};
use lode::internals::page::PageNumber;
use lode::{Database, LodeError, PageRead, Writing};

use crate::lode::failure::{Failure, Result};

/// Records that are written in one transaction.
const RECORDS_PER_COMMIT: u32 = 1_000;

/// A database that is being filled.
pub struct Loading<'a> {
    database: &'a Database,
    writing: Option<Writing>,
    records: u32,
}

impl<'a> Loading<'a> {
    /// In an empty database.
    pub const fn new(database: &'a Database) -> Self {
        Self { database, writing: None, records: 0 }
    }

    /// The transaction in which to write.
    pub fn pages(&mut self) -> &mut Writing {
        self.writing.get_or_insert_with(|| self.database.writing())
    }

    /// A record was written: commit if there have been enough.
    pub fn step(&mut self) -> Result<()> {
        self.records += 1;
        if self.records < RECORDS_PER_COMMIT { Ok(()) } else { self.commit() }
    }

    /// End the transaction.
    pub fn commit(&mut self) -> Result<()> {
        self.records = 0;
        Ok(self.writing.take().map_or(Ok(()), Writing::commit)?)
    }

    /// A name in the catalog, without a root as long as the file is not whole.
    pub fn create(&mut self, name: &str, kind: FileKind) -> Result<Entry> {
        Ok(catalog::create(self.pages(), name, kind)?)
    }

    /// Files are whole: let them be found.
    pub fn publish<const N: usize>(&mut self, files: [(Entry, PageNumber); N]) -> Result<()> {
        for (entry, root) in files {
            catalog::put(self.pages(), &Entry { root, ..entry })?;
        }
        self.commit()
    }
}

/// The entries of these names; `None` where one is not there, or not whole.
pub fn files<const N: usize>(
    pages: &impl PageRead,
    names: [&str; N],
) -> Result<Option<[Entry; N]>> {
    let mut found = Vec::with_capacity(N);
    for name in names {
        match catalog::find(pages, name) {
            Ok(entry) if entry.root != 0 => found.push(entry),
            Ok(_) | Err(LodeError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(Failure::Engine(error)),
        }
    }
    Ok(found.try_into().ok())
}

/// References to records that were inserted one after another: ids as a run for each page, and
/// where their tags begin in two bytes for each.
#[derive(Default)]
pub struct Places {
    runs: Vec<(u32, RecordId)>,
    first: u32,
    tags_at: Vec<u16>,
}

impl Places {
    /// The record with the next number (they may begin anywhere) lies there.
    pub fn push(&mut self, number: u32, reference: Reference) {
        let id = reference.id().expect("records that were inserted have references");
        if self.runs.is_empty() {
            self.first = number;
        }
        self.tags_at.push(reference.tag_at());
        let goes_on = self.runs.last().is_some_and(|&(first, start)| {
            start.page == id.page && u32::from(start.slot) + (number - first) == u32::from(id.slot)
        });
        if !goes_on {
            self.runs.push((number, id));
        }
    }

    /// The record of that number.
    pub fn id(&self, number: u32) -> RecordId {
        let end = self.runs.partition_point(|&(first, _)| first <= number);
        let (first, start) = self.runs[end.saturating_sub(1)];
        RecordId { page: start.page, slot: start.slot + (number - first) as u16 }
    }

    /// The word that refers to it.
    pub fn word(&self, number: u32) -> u64 {
        Reference::new(self.id(number), self.tags_at[(number - self.first) as usize]).0
    }
}
