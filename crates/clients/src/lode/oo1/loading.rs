//! Loading: transactions of bounded size, and what must be known of the whole database meanwhile,
//! by stretches of it, so that memory does not grow with it.
//!
//! Nothing is durable on the way: the database is opened with `durability=none` and closed at the
//! end, which is the one durable point (see `store`).

use std::ops::Range;

use loadstone_datasets::oo1::{Connection, Database as Data, NewPart};
use lode::internals::catalog::{self, Entry, FileKind};
use lode::internals::heap::{RecordId, Reference};
use lode::internals::page::PageNumber;
use lode::{Database, LodeError, PageRead, Writing};

use crate::lode::failure::{Failure, Result};

/// Records that are written in one transaction.
const RECORDS_PER_COMMIT: u32 = 1_000;

/// Parts of which references are held in memory at a time: some 4 MB.
pub const CHUNK_PARTS: u32 = 1 << 18;

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
            start.page == id.page && u32::from(start.slot) + (number - first) == id.slot.into()
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

/// The ids of all parts, by stretches.
pub fn chunks(database: &Data) -> impl Iterator<Item = Range<u32>> {
    let end = database.parts + 1;
    (1..end).step_by(CHUNK_PARTS as usize).map(move |first| first..end.min(first + CHUNK_PARTS))
}

/// The numbers of the connections that leave parts.
pub const fn numbers(ids: &Range<u32>) -> Range<u32> {
    3 * (ids.start - 1)..3 * (ids.end - 1)
}

/// Three connections, as the generator gives them.
pub fn three(connections: &mut impl Iterator<Item = Connection>) -> [Connection; 3] {
    [(); 3].map(|()| connections.next().expect("three connections leave each part"))
}

/// The connections that lead to the parts of a stretch, by their numbers.
pub struct Incoming {
    first: u32,
    ends: Vec<u32>,
    numbers: Vec<u32>,
}

impl Incoming {
    /// Of these parts.
    pub fn of(database: &Data, ids: &Range<u32>) -> Self {
        let all = || database.connection_range(0..database.connection_count()).zip(0_u32..);
        let place = |to: u32| ids.contains(&to).then(|| (to - ids.start) as usize);
        // Counts, shifted by two: sums of them are where each part's begin, and these move to where
        // they end while the numbers are filled in.
        let mut ends = vec![0; ids.len() + 2];
        for (connection, _) in all() {
            if let Some(place) = place(connection.to) {
                ends[place + 2] += 1;
            }
        }
        for place in 1..ends.len() {
            ends[place] += ends[place - 1];
        }
        let mut numbers = vec![0; ends.last().map_or(0, |&total: &u32| total as usize)];
        for (connection, number) in all() {
            if let Some(place) = place(connection.to) {
                numbers[ends[place + 1] as usize] = number;
                ends[place + 1] += 1;
            }
        }
        Self { first: ids.start, ends, numbers }
    }

    /// Of one of them, in the order of their numbers.
    pub fn to(&self, id: u32) -> &[u32] {
        let place = (id - self.first) as usize;
        &self.numbers[self.ends[place] as usize..self.ends[place + 1] as usize]
    }
}

/// For the connections of a stretch, the next connection with the same target.
pub struct Following {
    first: u32,
    next: Vec<u32>,
}

/// No connection has this number.
const NONE: u32 = u32::MAX;

impl Following {
    /// Of these connections.
    pub fn of(database: &Data, numbers: &Range<u32>) -> Self {
        let mut next = vec![NONE; numbers.len()];
        let mut latest = vec![NONE; database.parts as usize + 1];
        let behind = numbers.start..database.connection_count();
        for (connection, number) in database.connection_range(behind.clone()).zip(behind) {
            let latest = &mut latest[connection.to as usize];
            if *latest != NONE {
                next[(*latest - numbers.start) as usize] = number;
            }
            *latest = if numbers.contains(&number) { number } else { NONE };
        }
        Self { first: numbers.start, next }
    }

    /// Of one of them; `None` for the last.
    pub fn next(&self, number: u32) -> Option<u32> {
        Some(self.next[(number - self.first) as usize]).filter(|&next| next != NONE)
    }
}

/// Three connections of a new part, with their places.
pub fn placed(new: &NewPart) -> impl Iterator<Item = (u8, &Connection)> {
    (0..).zip(&new.to)
}
