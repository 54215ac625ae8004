//! The content of a database in all its files, as maps.

use std::collections::BTreeMap;

use lode::internals::btree::Btree;
use lode::internals::catalog::{self, FileKind};
use lode::internals::error::Result;
use lode::internals::hash::Hash;
use lode::internals::heap::{Heap, RecordId};
use lode::internals::links::{LINK_BYTES, LinkField, Links};
use lode::internals::objects::Objects;
use lode::internals::page::FileNumber;
use lode::{Database, LodeError, PageRead, PageWrite, Tactics};

/// Records, objects and nodes begin with a number of their own, so that they are known again
/// wherever they lie.
pub type Serial = u64;

/// The place where the links of a node lie: a node can be a parent and a child.
const FIELD: LinkField = LinkField::new(0, LINK_BYTES);

/// The place where a node's own bytes begin.
pub const NODE_AT: usize = 2 * LINK_BYTES;

/// One file of each kind, and one more heap, whose records are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Files {
    pub records: Heap,
    pub objects: Objects,
    pub nodes: Heap,
    pub entries: (FileNumber, Btree),
    pub values: (FileNumber, Hash),
}

/// The names of the files.
pub const NAMES: [&str; 5] = ["records", "objects", "nodes", "entries", "values"];

/// A record or an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub id: RecordId,
    pub bytes: Vec<u8>,
}

/// A record of linked ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub id: RecordId,
    /// Its bytes behind the links.
    pub bytes: Vec<u8>,
    pub children: Vec<Serial>,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    pub files: Files,
    pub records: BTreeMap<Serial, Record>,
    pub objects: BTreeMap<Serial, Record>,
    pub nodes: BTreeMap<Serial, Node>,
    pub entries: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The values of each key that has any, in order.
    pub values: BTreeMap<u64, Vec<u64>>,
}

/// The same without places: what must not depend on tactics.
pub type Plain = (
    Vec<Vec<u8>>,
    Vec<Vec<u8>>,
    Vec<(Vec<u8>, Vec<Serial>)>,
    BTreeMap<Vec<u8>, Vec<u8>>,
    BTreeMap<u64, Vec<u64>>,
);

/// One difference between two states.
#[derive(Debug, Clone)]
pub enum Change {
    Record(Serial, Option<Record>),
    Object(Serial, Option<Record>),
    Node(Serial, Option<Node>),
    Entry(Vec<u8>, Option<Vec<u8>>),
    Values(u64, Vec<u64>),
    /// Files were made anew, with what they had.
    Files(Files),
}

pub fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

impl Files {
    /// Make them all, empty.
    pub fn create(pages: &mut impl PageWrite) -> Result<Self> {
        let kinds =
            [FileKind::Heap, FileKind::Objects, FileKind::Heap, FileKind::Btree, FileKind::Hash];
        let mut numbers = [0; NAMES.len()];
        for ((name, kind), number) in NAMES.into_iter().zip(kinds).zip(&mut numbers) {
            *number = catalog::create(pages, name, kind)?.file;
        }
        let [records, objects, nodes, entries, values] = numbers;
        let files = Self {
            records: Heap::create(pages, records)?,
            objects: Objects::create(pages, objects)?,
            nodes: Heap::create(pages, nodes)?,
            entries: (entries, Btree::create(pages, entries)?),
            values: (values, Hash::open(Hash::create(pages, values)?)),
        };
        files.name(pages)?;
        Ok(files)
    }

    /// Let the catalog say where the files begin.
    pub fn name(&self, pages: &mut impl PageWrite) -> Result<()> {
        for (name, root) in NAMES.into_iter().zip(self.roots()) {
            let entry = catalog::find(pages, name)?;
            catalog::put(pages, &catalog::Entry { root, ..entry })?;
        }
        Ok(())
    }

    /// The files as the catalog has them, `None` if it has none.
    pub fn find(pages: &impl PageRead) -> Result<Option<Self>> {
        let mut found = Vec::new();
        for name in NAMES {
            match catalog::find(pages, name) {
                Ok(entry) => found.push((entry.file, entry.root)),
                Err(LodeError::Missing { .. }) if found.is_empty() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let [records, objects, nodes, entries, values] = found[..] else {
            unreachable!("each name was found")
        };
        Ok(Some(Self {
            records: Heap::open(records.0, records.1),
            objects: Objects::open(objects.0, objects.1),
            nodes: Heap::open(nodes.0, nodes.1),
            entries: (entries.0, Btree::open(entries.1)),
            values: (values.0, Hash::open(values.1)),
        }))
    }

    /// Root pages, in the order of the names.
    pub fn roots(&self) -> [u32; NAMES.len()] {
        [
            self.records.root(),
            self.objects.root(),
            self.nodes.root(),
            self.entries.1.root(),
            self.values.1.root(),
        ]
    }

    pub const fn links(&self) -> Links {
        Links { parents: self.nodes, children: self.nodes, field: FIELD }
    }
}

impl Contents {
    /// Of files that are empty.
    pub const fn empty(files: Files) -> Self {
        Self {
            files,
            records: BTreeMap::new(),
            objects: BTreeMap::new(),
            nodes: BTreeMap::new(),
            entries: BTreeMap::new(),
            values: BTreeMap::new(),
        }
    }

    /// Make the files in a new database.
    pub fn create(database: &Database) -> Result<Self> {
        let mut writing = database.writing();
        let files = Files::create(&mut writing)?;
        writing.commit()?;
        Ok(Self::empty(files))
    }

    pub fn apply(&mut self, change: Change) {
        fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
            match value {
                Some(value) => drop(map.insert(key, value)),
                None => drop(map.remove(&key)),
            }
        }
        match change {
            Change::Record(serial, record) => put(&mut self.records, serial, record),
            Change::Object(serial, object) => put(&mut self.objects, serial, object),
            Change::Node(serial, node) => put(&mut self.nodes, serial, node),
            Change::Entry(key, value) => put(&mut self.entries, key, value),
            Change::Values(key, values) => {
                put(&mut self.values, key, Some(values).filter(|values| !values.is_empty()));
            }
            Change::Files(files) => self.files = files,
        }
    }

    /// The node that a node is a child of.
    pub fn parent_of(&self, child: Serial) -> Option<Serial> {
        let is_its = |(_, node): &(&Serial, &Node)| node.children.contains(&child);
        self.nodes.iter().find(is_its).map(|(&parent, _)| parent)
    }

    /// Without places.
    pub fn plain(&self) -> Plain {
        let bytes = |records: &BTreeMap<Serial, Record>| {
            records.values().map(|record| record.bytes.clone()).collect()
        };
        let node = |node: &Node| (node.bytes.clone(), node.children.clone());
        (
            bytes(&self.records),
            bytes(&self.objects),
            self.nodes.values().map(node).collect(),
            self.entries.clone(),
            self.values.clone(),
        )
    }
}
