//! Random operations on all files, done to pages and reported as changes of a model.

mod indexes;

use std::collections::BTreeMap;

use lode::internals::error::Result;
use lode::internals::hash::Hash;
use lode::internals::heap::RecordId;
use lode::internals::{page::PageNumber, space};
use lode::{Database, LodeError, PageWrite};

use crate::contents::{Change, Contents, NODE_AT, Node, Record, Serial};
use crate::random::Random;

pub use indexes::{remove_range, take_many};

/// Draws operations, and numbers what they make.
pub struct Operator {
    pub random: Random,
    serial: Serial,
}

/// The changes of the model by an operation.
pub type Changes = Vec<Change>;

impl Operator {
    pub const fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), serial: seed << 32 }
    }

    /// A number that nothing else has.
    pub const fn number(&mut self) -> Serial {
        self.serial += 1;
        self.serial
    }

    /// Bytes that begin with a number.
    pub fn bytes(&mut self, serial: Serial, len: usize) -> Vec<u8> {
        let mut bytes = serial.to_le_bytes().to_vec();
        let fill = self.random.next() as u8;
        bytes.extend((8..len.max(8)).map(|at| fill.wrapping_add(at as u8)));
        bytes
    }

    /// Short as a rule, now and then as long as can be.
    fn len(&mut self) -> usize {
        match self.random.below(12) {
            0 => 900 + self.random.below(3_000),
            1 | 2 => 100 + self.random.below(800),
            _ => 8 + self.random.below(80),
        }
    }

    /// One operation within a transaction that sees the contents.
    pub fn operate(
        &mut self,
        pages: &mut impl PageWrite,
        now: &Contents,
        extent: u32,
    ) -> Result<Changes> {
        match self.random.below(30) {
            0..=6 => self.record(pages, now),
            7..=13 => self.object(pages, now),
            14..=18 => self.node(pages, now),
            19..=23 => self.entry(pages, now),
            24..=28 => self.value(pages, now),
            _ => self.rebuild(pages, now, extent),
        }
    }

    fn one<'a, V>(&mut self, of: &'a BTreeMap<Serial, V>) -> Option<(Serial, &'a V)> {
        if of.is_empty() {
            return None;
        }
        let at = self.random.below(of.len());
        of.iter().nth(at).map(|(&serial, value)| (serial, value))
    }

    pub fn record(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let heap = now.files.records;
        let chosen = self.one(&now.records);
        let step = self.random.below(10);
        let (Some((serial, record)), 4..) = (chosen, step) else {
            if step == 1 {
                return self.append_records(pages, now, 12);
            }
            let near = chosen.filter(|_| step == 0).map(|(_, record)| record.id.page);
            let len = self.len();
            return self.new_record(pages, now, len, near);
        };
        let id = record.id;
        assert_eq!(heap.get(pages, id)?, record.bytes, "{id}");
        match step {
            4 | 5 => {
                heap.delete(pages, id)?;
                assert!(matches!(heap.get(pages, id), Err(LodeError::Missing { .. })));
                Ok(vec![Change::Record(serial, None)])
            }
            6 => {
                let mut bytes = record.bytes.clone();
                let (last, word) = (bytes.len() - 1, self.random.next() as u8);
                if last >= 8 {
                    bytes[last] = word;
                    heap.change_range(pages, id, last..last + 1, |bytes| bytes[0] = word)?;
                }
                Ok(vec![Change::Record(serial, Some(Record { id, bytes }))])
            }
            7 => Ok(Changes::new()),
            _ => {
                let len = self.len();
                let bytes = self.bytes(serial, len);
                heap.update(pages, id, &bytes)?;
                Ok(vec![Change::Record(serial, Some(Record { id, bytes }))])
            }
        }
    }

    /// Append fewer than so many.
    pub fn append_records(
        &mut self,
        pages: &mut impl PageWrite,
        now: &Contents,
        end: usize,
    ) -> Result<Changes> {
        let mut appender = now.files.records.appender();
        let mut changes = Changes::new();
        for _ in 0..self.random.below(end) {
            let (serial, len) = (self.number(), self.len());
            let bytes = self.bytes(serial, len);
            let id = appender.append(pages, &bytes)?;
            assert!(now.records.values().all(|other| other.id != id), "{id} is taken");
            changes.push(Change::Record(serial, Some(Record { id, bytes })));
        }
        appender.finish(pages)?;
        Ok(changes)
    }

    pub fn new_record(
        &mut self,
        pages: &mut impl PageWrite,
        now: &Contents,
        len: usize,
        near: Option<PageNumber>,
    ) -> Result<Changes> {
        let serial = self.number();
        let bytes = self.bytes(serial, len);
        let id = now.files.records.insert(pages, &bytes, near)?;
        assert!(now.records.values().all(|other| other.id != id), "{id} is taken");
        Ok(vec![Change::Record(serial, Some(Record { id, bytes }))])
    }

    pub fn object(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let objects = now.files.objects;
        let step = self.random.below(10);
        let (Some((serial, object)), 4..) = (self.one(&now.objects), step) else {
            let (serial, len) = (self.number(), self.len());
            let bytes = self.bytes(serial, len);
            let id = objects.insert(pages, &bytes, None)?;
            assert!(now.objects.values().all(|other| other.id != id), "{id} is taken");
            return Ok(vec![Change::Object(serial, Some(Record { id, bytes }))]);
        };
        let id = object.id;
        assert_eq!(
            objects.read_at(pages, objects.reference(pages, id)?, |view, at| view.u64(at))?,
            serial,
            "{id}"
        );
        match step {
            4 | 5 => {
                objects.delete(pages, id)?;
                Ok(vec![Change::Object(serial, None)])
            }
            6 => {
                let mut bytes = object.bytes.clone();
                bytes[8..].reverse();
                objects.change_range(pages, id, 8..bytes.len(), <[u8]>::reverse)?;
                Ok(vec![Change::Object(serial, Some(Record { id, bytes }))])
            }
            7 => Ok(Changes::new()),
            _ => {
                let len = self.len();
                let bytes = self.bytes(serial, len);
                objects.update(pages, id, &bytes)?;
                Ok(vec![Change::Object(serial, Some(Record { id, bytes }))])
            }
        }
    }

    pub fn node(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let step = self.random.below(10);
        let (Some((serial, node)), 3..) = (self.one(&now.nodes), step) else {
            return self.new_node(pages, now);
        };
        let id = node.id;
        match step {
            3..=5 => {
                let (child, its) = self.one(&now.nodes).expect("there is one");
                self.link(pages, now, (serial, node), (child, its))
            }
            6 => unlink(pages, now, serial),
            7 => {
                let mut changes = unlink(pages, now, serial)?;
                if node.children.is_empty() {
                    now.files.nodes.delete(pages, id)?;
                    changes.push(Change::Node(serial, None));
                }
                Ok(changes)
            }
            _ => {
                let len = self.len().min(2_000);
                let bytes = self.bytes(serial, len);
                let mut record = now.files.nodes.get(pages, id)?;
                assert_eq!(record[NODE_AT..], node.bytes, "{id}");
                record.truncate(NODE_AT);
                record.extend_from_slice(&bytes);
                now.files.nodes.update(pages, id, &record)?;
                Ok(vec![Change::Node(serial, Some(Node { bytes, ..node.clone() }))])
            }
        }
    }

    pub fn new_node(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let (serial, len) = (self.number(), self.len().min(2_000));
        let bytes = self.bytes(serial, len);
        let id = now.files.nodes.insert(pages, &[&[0; NODE_AT], &bytes[..]].concat(), None)?;
        Ok(vec![Change::Node(serial, Some(Node { id, bytes, children: Vec::new() }))])
    }

    /// Link a node as the last child of another, unless it has a parent already.
    #[expect(clippy::unused_self, reason = "an operation like the others")]
    pub fn link(
        &mut self,
        pages: &mut impl PageWrite,
        now: &Contents,
        (parent, node): (Serial, &Node),
        (child, its): (Serial, &Node),
    ) -> Result<Changes> {
        let linked = now.files.links().append(pages, node.id, its.id)?;
        assert_eq!(linked, parent != child && now.parent_of(child).is_none());
        if !linked {
            return Ok(Changes::new());
        }
        let mut node = node.clone();
        node.children.push(child);
        Ok(vec![Change::Node(parent, Some(node))])
    }

    /// The tree or the index given back and loaded again, at another place.
    pub fn rebuild(
        &mut self,
        pages: &mut impl PageWrite,
        now: &Contents,
        extent: u32,
    ) -> Result<Changes> {
        let mut files = now.files;
        if self.random.one_in(2) {
            let (file, _) = files.entries;
            space::free_file(pages, extent, file)?;
            files.entries.1 = lode::internals::btree::Btree::create(pages, file)?;
            files.entries.1.bulk_load(pages, &now.entries, 60 + self.random.below(41) as u8)?;
        } else {
            let (file, index) = files.values;
            index.destroy(pages)?;
            let all = now.values.iter();
            let all = all.flat_map(|(&key, values)| values.iter().map(move |&value| (key, value)));
            files.values.1 = Hash::open(Hash::load(pages, file, all)?);
        }
        files.name(pages)?;
        Ok(vec![Change::Files(files)])
    }
}

/// Take a node out of the list that it is in.
pub fn unlink(pages: &mut impl PageWrite, now: &Contents, child: Serial) -> Result<Changes> {
    let parent = now.parent_of(child);
    let id: RecordId = now.nodes[&child].id;
    assert_eq!(now.files.links().unlink(pages, id)?, parent.is_some());
    let Some(parent) = parent else { return Ok(Changes::new()) };
    let mut node = now.nodes[&parent].clone();
    node.children.retain(|&other| other != child);
    Ok(vec![Change::Node(parent, Some(node))])
}

/// One transaction of so many operations, committed: for who wants something in a database.
pub fn commit_some(
    operator: &mut Operator,
    database: &Database,
    contents: &mut Contents,
    count: usize,
) -> Result<()> {
    let mut writing = database.writing();
    for _ in 0..count {
        let changes = operator.operate(&mut writing, contents, database.extent_pages())?;
        for change in changes {
            contents.apply(change);
        }
    }
    writing.commit()
}
