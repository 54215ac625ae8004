//! The parts common to both designs: the environment, the reader and the writer, the index on
//! build, the ladder's rungs, and what it says about itself.

use std::ffi::CStr;
use std::ops::Range;
use std::sync::Arc;

use crate::error::ClientError;
use crate::lmdb::raw::{ENGINE, Environment, Table, version};
use crate::lmdb::reader::Reader;
use crate::lmdb::tables::{self, Shape};
use crate::lmdb::writer::Writer;
use crate::tactics::{Address, Tactics};

/// The tables of all designs.
const TABLES: [&CStr; 6] = [c"build", c"constant", c"object", c"part", c"to", c"from"];

/// The cursor on build among a reader's; those of the design come before.
const CURSOR_BUILD: usize = 0;

/// The cursors on a design's own tables, in the order of `Store::own`.
pub const CURSOR_OWN: usize = 1;

/// The key whose value is the ladder's constant; the one above it has none.
const CONSTANT_KEY: u32 = 1;
const EMPTY_KEY: u32 = 2;

/// An environment with a design's `N` tables.
pub struct Store<const N: usize> {
    reader: Reader,
    writer: Option<Writer>,
    environment: Arc<Environment>,
    build: Table,
    constant: Table,
    /// The design's own tables.
    pub own: [Table; N],
}

/// Native order: LMDB compares these keys as numbers.
#[inline]
pub const fn key(id: u32) -> [u8; 4] {
    id.to_ne_bytes()
}

impl<const N: usize> Store<N> {
    /// Open or create, with the design's tables.
    pub fn open(
        address: &Address,
        tactics: &mut Tactics,
        names: [(&'static CStr, Shape); N],
    ) -> Result<Self, ClientError> {
        let durable = tactics.take("durability", &[("full", true), ("none", false)])?;
        let environment = Environment::open(&address.database, durable)?;
        let [build, constant] =
            tables::open(&environment, [(c"build", Shape::Numbers), (c"constant", Shape::Single)])?;
        let own = tables::open(&environment, names)?;
        Self::attach(environment, build, constant, own)
    }

    fn attach(
        environment: Arc<Environment>,
        build: Table,
        constant: Table,
        own: [Table; N],
    ) -> Result<Self, ClientError> {
        let tables: Vec<Table> = [build].into_iter().chain(own).collect();
        let reader = Reader::new(&environment, &tables)?;
        Ok(Self { reader, writer: None, environment, build, constant, own })
    }

    /// The same environment for another thread.
    pub fn another(&self) -> Result<Self, ClientError> {
        Self::attach(Arc::clone(&self.environment), self.build, self.constant, self.own)
    }

    pub fn begin(&mut self) -> Result<(), ClientError> {
        self.reader.begin()
    }

    pub fn end(&mut self) {
        self.reader.end();
    }

    #[inline]
    pub const fn reader(&mut self) -> &mut Reader {
        &mut self.reader
    }

    pub fn begin_write(&mut self) -> Result<(), ClientError> {
        // A snapshot held meanwhile keeps pages from being used again.
        self.reader.end();
        self.writer = Some(Writer::begin(&self.environment)?);
        Ok(())
    }

    pub fn writer(&mut self) -> Result<&mut Writer, ClientError> {
        let message = "nothing was begun: begin to write first";
        self.writer.as_mut().ok_or_else(|| ClientError::engine(ENGINE, "writing", message))
    }

    pub fn commit(&mut self) -> Result<(), ClientError> {
        self.writer.take().map_or(Ok(()), Writer::commit)
    }

    pub fn rollback(&mut self) {
        self.writer = None;
    }

    /// Empty all tables, within a write transaction, and put the ladder's constant back.
    pub fn clear(&mut self) -> Result<(), ClientError> {
        let tables = [self.build, self.constant].into_iter().chain(self.own);
        let constant = self.constant;
        let writer = self.writer()?;
        for table in tables {
            writer.clear(table)?;
        }
        writer.put(constant, &key(CONSTANT_KEY), &1_i32.to_ne_bytes())
    }

    pub fn add_build(&mut self, build_s: i64, id: u32) -> Result<(), ClientError> {
        let build = self.build;
        self.writer()?.put(build, &build_key(build_s), &id.to_ne_bytes())
    }

    pub fn remove_build(&mut self, build_s: i64, id: u32) -> Result<(), ClientError> {
        let build = self.build;
        self.writer()?.remove(build, &build_key(build_s), Some(&id.to_ne_bytes()))
    }

    /// Append the ids of the parts built in a range.
    pub fn built(&mut self, build_s: &Range<i64>, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.reader.walk(CURSOR_BUILD, &build_key(build_s.start), |at, id| {
            let at_s = at.try_into().map_or(i64::MAX, i64::from_ne_bytes);
            let within = at_s < build_s.end;
            if within {
                out.extend(id.try_into().map(u32::from_ne_bytes));
            }
            Ok(within)
        })
    }

    /// A key that is not there.
    pub fn empty(&self) -> Result<(), ClientError> {
        self.reader.get(self.constant, &key(EMPTY_KEY)).map(|_| ())
    }

    /// A table's only value.
    pub fn constant(&self) -> Result<i32, ClientError> {
        let value = self.reader.get(self.constant, &key(CONSTANT_KEY))?;
        let value = value.and_then(|value| value.try_into().ok());
        let message = "it is empty; load it first";
        value
            .map(i32::from_ne_bytes)
            .ok_or_else(|| ClientError::engine(ENGINE, "reading the constant", message))
    }

    /// Of the file.
    pub fn size_bytes(&self) -> Result<u64, ClientError> {
        let path = self.environment.path();
        let length = std::fs::metadata(path).map(|it| it.len());
        length.map_err(|error| ClientError::engine(ENGINE, "measuring the file", error))
    }

    pub fn terms(&self) -> Result<Vec<(String, String)>, ClientError> {
        let syncs = self.environment.syncs()?;
        let durability = if syncs { "synchronous commit" } else { "no sync" };
        let version = version();
        let filled = tables::filled(&self.environment, TABLES)?;
        let indexes = filled
            .iter()
            .map(|(name, entries)| format!("B-tree {name} of {entries} values"))
            .collect::<Vec<_>>()
            .join(", ");
        let has = |wanted: &str| filled.iter().any(|(name, _)| name == wanted);
        let design = match (has("object"), has("to")) {
            (true, false) => Some("objects"),
            (false, true) => Some("links"),
            (true, true) => Some("objects and links, both loaded"),
            (false, false) => None,
        };
        let terms = [
            ("version", version.as_str()),
            ("durability", durability),
            ("indexes", indexes.as_str()),
            ("read transaction", "one measure: a snapshot"),
            ("empty statement", "a key that is not there"),
            ("constant", "the only value of a table"),
        ];
        let access = design.map(|design| ("access", design));
        let terms = terms.into_iter().chain(access);
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

/// Times since 1980 are positive, and so in order as unsigned numbers.
const fn build_key(build_s: i64) -> [u8; 8] {
    build_s.to_ne_bytes()
}
