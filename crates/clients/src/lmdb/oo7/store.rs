//! The environment with OO7's tables, and what is put into them.

use std::ffi::CStr;
use std::sync::Arc;

use loadstone_datasets::oo7::{Database, texts, tree};

use crate::error::ClientError;
use crate::lmdb::raw::{ENGINE, Environment, Table};
use crate::lmdb::reader::Reader;
use crate::lmdb::tables::{self, Shape};
use crate::lmdb::writer::Writer;
use crate::oo7::driver::Driver;
use crate::oo7::record::{self, Design, Leaving, TITLE_BYTES};
use crate::oo7::{Kind, Object, Part};
use crate::tactics::{Address, Tactics};

/// The tables, in the order of [`Lmdb::tables`] and of the reader's cursors.
pub const TABLES: [(&CStr, Shape); 9] = [
    (c"oo7.module", Shape::Single),
    (c"oo7.complex", Shape::Single),
    (c"oo7.base", Shape::Single),
    (c"oo7.composite", Shape::Single),
    (c"oo7.part", Shape::Single),
    (c"oo7.document", Shape::Single),
    (c"oo7.manual", Shape::Single),
    (c"oo7.date", Shape::Numbers),
    (c"oo7.title", Shape::Named),
];

pub const MODULE: usize = 0;
pub const COMPLEX: usize = 1;
pub const BASE: usize = 2;
pub const COMPOSITE: usize = 3;
pub const PART: usize = 4;
pub const DOCUMENT: usize = 5;
pub const MANUAL: usize = 6;
pub const DATE: usize = 7;
pub const TITLE: usize = 8;

/// An environment with its tables.
pub struct Lmdb {
    pub reader: Reader,
    pub writer: Option<Writer>,
    pub environment: Arc<Environment>,
    pub tables: [Table; TABLES.len()],
    /// Connections that leave each atomic part; as every module says.
    pub fan_out: usize,
}

/// Native order: LMDB compares these keys as numbers.
pub const fn key(id: u32) -> [u8; 4] {
    id.to_ne_bytes()
}

pub fn malformed() -> ClientError {
    let what = "an object that is too short for its fields".to_owned();
    ClientError::Malformed { engine: ENGINE, what }
}

pub fn title_key(title: &str) -> [u8; TITLE_BYTES] {
    let mut key = [b' '; TITLE_BYTES];
    key[..title.len()].copy_from_slice(title.as_bytes());
    key
}

/// The id that a reference is here.
pub const fn id_of(word: u64) -> u32 {
    word as u32
}

fn words(ids: &[u32]) -> Vec<u64> {
    ids.iter().map(|&id| id.into()).collect()
}

impl Lmdb {
    /// Open or create.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let durable = tactics.take("durability", &[("full", true), ("none", false)])?;
        let environment = Environment::open(&address.database, durable)?;
        let tables = tables::open(&environment, TABLES)?;
        let mut opened = Self::attach(environment, tables, 0)?;
        opened.reader.begin()?;
        let module = opened.reader.get(tables[MODULE], &key(1))?.and_then(Design::of);
        opened.fan_out = module.map_or(0, |module| module.module as usize);
        opened.reader.end();
        Ok(opened)
    }

    /// The environment and its tables, which are open, for one thread.
    pub fn attach(
        environment: Arc<Environment>,
        tables: [Table; TABLES.len()],
        fan_out: usize,
    ) -> Result<Self, ClientError> {
        let reader = Reader::new(&environment, &tables)?;
        Ok(Self { reader, writer: None, environment, tables, fan_out })
    }

    /// An object by its id, within the transaction that reads or the one that writes.
    #[inline]
    pub fn get(&self, table: usize, id: u32) -> Result<&[u8], ClientError> {
        let found = match &self.writer {
            None => self.reader.get(self.tables[table], &key(id))?,
            Some(writer) => writer.get(self.tables[table], &key(id))?,
        };
        found.ok_or_else(|| Self::missing(id))
    }

    /// An atomic part by its id. Those of a composite part lie side by side: where nothing is
    /// written, the cursor that found the last one looks in its leaf first.
    #[inline]
    pub fn part_near(&mut self, id: u32) -> Result<&[u8], ClientError> {
        if self.writer.is_some() {
            return self.get(PART, id);
        }
        self.reader.get_near(PART, &key(id))?.ok_or_else(|| Self::missing(id))
    }

    pub fn design(&self, table: usize, id: u32) -> Result<Design, ClientError> {
        Design::of(self.get(table, id)?).ok_or_else(malformed)
    }

    pub fn put(&mut self, table: usize, id: u32, value: &[u8]) -> Result<(), ClientError> {
        let table = self.tables[table];
        self.writing()?.put(table, &key(id), value)
    }

    pub fn remove(&mut self, table: usize, id: u32) -> Result<(), ClientError> {
        let table = self.tables[table];
        self.writing()?.remove(table, &key(id), None)
    }

    pub fn writing(&mut self) -> Result<&mut Writer, ClientError> {
        let message = "nothing was begun: begin to write first";
        self.writer.as_mut().ok_or_else(|| ClientError::engine(ENGINE, "writing", message))
    }

    /// Change the bytes of an atomic part.
    pub fn change<R>(
        &mut self,
        id: u32,
        change: impl FnOnce(&mut [u8]) -> Option<R>,
    ) -> Result<R, ClientError> {
        let mut bytes = self.get(PART, id)?.to_vec();
        let changed = change(&mut bytes).ok_or_else(malformed)?;
        self.put(PART, id, &bytes)?;
        Ok(changed)
    }

    pub fn add_date(&mut self, date: i32, id: u32) -> Result<(), ClientError> {
        let table = self.tables[DATE];
        self.writing()?.put(table, &key(date.cast_unsigned()), &key(id))
    }

    pub fn remove_date(&mut self, date: i32, id: u32) -> Result<(), ClientError> {
        let table = self.tables[DATE];
        self.writing()?.remove(table, &key(date.cast_unsigned()), Some(&key(id)))
    }

    pub fn add_text(
        &mut self,
        table: usize,
        id: u32,
        title: &str,
        text: &[u8],
    ) -> Result<(), ClientError> {
        let value = [&title_key(title)[..], text].concat();
        self.put(table, id, &value)
    }

    /// A text without its title.
    pub fn text(&self, table: usize, id: u32) -> Result<&[u8], ClientError> {
        self.get(table, id)?.get(TITLE_BYTES..).ok_or_else(malformed)
    }

    /// A composite part with all that is its own, and those who use it.
    pub fn add_composite(
        &mut self,
        database: &Database,
        id: u32,
        users: [&[u64]; 2],
    ) -> Result<(), ClientError> {
        let mut draws = database.draws();
        let root = database.root_part(id);
        let object = Object::of(&database.composite(&mut draws, id));
        let own = [u64::from(root), u64::from(id)];
        self.put(COMPOSITE, id, &record::design(&object, 0, own, users))?;
        let title = texts::document_title(id);
        let mut text = Vec::new();
        texts::push_document(&mut text, id, database.document_length());
        self.add_text(DOCUMENT, id, &title, &text)?;
        let titles = self.tables[TITLE];
        self.writing()?.put(titles, &title_key(&title), &key(id))?;
        let parts = root..root + database.parts_per_composite;
        let at = |part: u32| (part - root) as usize;
        let mut incoming = vec![Vec::new(); parts.len()];
        let mut leaving: Vec<Vec<Leaving>> = parts.clone().map(|_| Vec::new()).collect();
        let fan_out = database.fan_out;
        for number in (parts.start - 1) * fan_out..(parts.end - 1) * fan_out {
            let made = database.connection(&mut draws, number);
            incoming[at(made.to)].push(u64::from(made.from));
            let (to, kind) = (made.to.into(), Kind::of(made.kind));
            leaving[at(made.from)].push(Leaving { to, kind, length: made.length });
        }
        for part in parts {
            let made = Part::generated(database, &mut draws, part);
            let bytes = record::part(&made, id.into(), &leaving[at(part)], &incoming[at(part)]);
            self.put(PART, part, &bytes)?;
            self.add_date(made.object.build_date, part)?;
        }
        Ok(())
    }

    /// Modules and assemblies; answers who uses each composite part, privately and shared.
    pub fn add_tree(&mut self, database: &Database) -> Result<Vec<[Vec<u64>; 2]>, ClientError> {
        let mut draws = database.draws();
        let complex_count = database.modules * tree::COMPLEX;
        let mut below = vec![[Vec::new(), Vec::new()]; complex_count as usize];
        let mut users = vec![[Vec::new(), Vec::new()]; database.composite_count() as usize];
        for id in 1..=database.modules {
            let object = Object::of(&database.module(&mut draws, id));
            let own = [u64::from((id - 1) * tree::COMPLEX + 1), u64::from(id)];
            self.put(MODULE, id, &record::design(&object, database.fan_out, own, [&[], &[]]))?;
            let mut text = Vec::new();
            texts::push_manual(&mut text, id, database.manual_length());
            self.add_text(MANUAL, id, &texts::manual_title(id), &text)?;
        }
        for id in 1..=database.modules * tree::BASE {
            let made = database.base_assembly(&mut draws, id);
            let parent = made.parent.expect("it belongs to a complex one");
            below[parent as usize - 1][1].push(u64::from(id));
            let used = database.components(&mut draws, id);
            for (which, ids) in used.iter().enumerate() {
                for one in ids {
                    users[*one as usize - 1][which].push(u64::from(id));
                }
            }
            let [private, shared] = used.map(|ids| words(&ids));
            let own = [parent.into(), 0];
            let object = Object::of(&made.object);
            let bytes = record::design(&object, made.module, own, [&private, &shared]);
            self.put(BASE, id, &bytes)?;
        }
        for id in 1..=complex_count {
            if let Some(parent) = database.complex_assembly(&mut draws, id).parent {
                below[parent as usize - 1][0].push(u64::from(id));
            }
        }
        for (id, [complex, bases]) in (1..).zip(&below) {
            let made = database.complex_assembly(&mut draws, id);
            let own = [made.parent.unwrap_or(0).into(), 0];
            let object = Object::of(&made.object);
            self.put(COMPLEX, id, &record::design(&object, made.module, own, [complex, bases]))?;
        }
        Ok(users)
    }

    /// Every value of a table, with its id.
    pub fn each(
        &mut self,
        table: usize,
        mut take: impl FnMut(u32, &[u8]) -> Option<()>,
    ) -> Result<(), ClientError> {
        self.reader.walk(table, &key(0), |at, value| {
            let id = at.try_into().map(u32::from_ne_bytes).map_err(|_| malformed())?;
            take(id, value).ok_or_else(malformed)?;
            Ok(true)
        })
    }
}
