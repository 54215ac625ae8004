//! Random operations on all files, done to pages and told as changes of a model.

use std::collections::BTreeMap;
use std::ops::Bound;

use lode::error::Result;
use lode::hash::Hash;
use lode::heap::RecordId;
use lode::{Database, LodeError, PageNumber, Pages, space};

use crate::contents::{Change, Contents, NODE_AT, Node, Record, Serial};
use crate::random::Random;

/// Beyond so many entries or values they are taken out many at once.
const MANY: usize = 260;

/// Draws operations, and numbers what they make.
pub struct Operator {
    pub random: Random,
    serial: Serial,
}

/// What an operation did to the model.
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
        pages: &mut impl Pages,
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

    pub fn record(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
        let heap = now.files.records;
        let chosen = self.one(&now.records);
        let step = self.random.below(10);
        let (Some((serial, record)), 4..) = (chosen, step) else {
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
                    heap.change(pages, id, |bytes| bytes[last] = word)?;
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

    pub fn new_record(
        &mut self,
        pages: &mut impl Pages,
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

    pub fn object(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
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
        assert_eq!(objects.look(pages, id, |view, at| view.u64(at))?, serial, "{id}");
        match step {
            4 | 5 => {
                objects.delete(pages, id)?;
                Ok(vec![Change::Object(serial, None)])
            }
            6 => {
                let mut bytes = object.bytes.clone();
                bytes[8..].reverse();
                objects.change(pages, id, |bytes| bytes[8..].reverse())?;
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

    pub fn node(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
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

    pub fn new_node(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
        let (serial, len) = (self.number(), self.len().min(2_000));
        let bytes = self.bytes(serial, len);
        let id = now.files.nodes.insert(pages, &[&[0; NODE_AT], &bytes[..]].concat(), None)?;
        Ok(vec![Change::Node(serial, Some(Node { id, bytes, children: Vec::new() }))])
    }

    /// Link a node as the last child of another, unless it has a parent already.
    #[expect(clippy::unused_self, reason = "an operation like the others")]
    pub fn link(
        &mut self,
        pages: &mut impl Pages,
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

    fn key(&mut self) -> Vec<u8> {
        let number = self.random.below(300) as u32;
        let mut key = match self.random.below(8) {
            0 => vec![b'x'; 40],
            1 => b"a longer beginning, which is common to some".to_vec(),
            _ => Vec::new(),
        };
        key.extend(number.to_be_bytes());
        if number.is_multiple_of(32) {
            key.resize(512, b'.');
        }
        key
    }

    pub fn entry(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
        let (_, tree) = now.files.entries;
        let key = self.key();
        let before = now.entries.get(&key);
        let len =
            if self.random.one_in(10) { self.random.below(1_025) } else { self.random.below(60) };
        let value = vec![self.random.next() as u8; len];
        match self.random.below(10) {
            _ if now.entries.len() > MANY => remove_range(pages, now, &key),
            0..=3 => {
                assert_eq!(tree.put(pages, &key, &value)?.as_ref(), before);
                Ok(vec![Change::Entry(key, Some(value))])
            }
            4 => {
                let inserted = tree.insert(pages, &key, &value)?;
                assert_eq!(inserted, before.is_none());
                Ok(if inserted { vec![Change::Entry(key, Some(value))] } else { Changes::new() })
            }
            5 => self.put_many(pages, now),
            6 | 7 => {
                assert_eq!(tree.remove(pages, &key)?.as_ref(), before);
                Ok(vec![Change::Entry(key, None)])
            }
            8 => {
                let mut cursor =
                    tree.forwards(pages, (Bound::Included(&key[..]), Bound::Unbounded))?;
                for (key, value) in now.entries.range(key.clone()..).take(20) {
                    assert_eq!(cursor.entry()?, Some((&key[..], &value[..])));
                }
                Ok(Changes::new())
            }
            _ => {
                let mut cursor =
                    tree.backwards(pages, (Bound::Unbounded, Bound::Included(&key[..])))?;
                for (key, value) in now.entries.range(..=key.clone()).rev().take(20) {
                    assert_eq!(cursor.entry()?, Some((&key[..], &value[..])));
                }
                Ok(Changes::new())
            }
        }
    }

    /// Ascending keys, so that pages are cut.
    pub fn put_many(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
        let start = self.random.below(300) as u32;
        let value = vec![self.random.next() as u8; self.random.below(200)];
        let mut changes = Changes::new();
        for number in start..start + 30 {
            let key = number.to_be_bytes().to_vec();
            now.files.entries.1.put(pages, &key, &value)?;
            changes.push(Change::Entry(key, Some(value.clone())));
        }
        Ok(changes)
    }

    pub fn value(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
        let (_, index) = now.files.values;
        let key = self.random.below(400) as u64;
        let mut values = now.values.get(&key).cloned().unwrap_or_default();
        let mut got = Vec::new();
        index.get(pages, key, |value| got.push(value))?;
        got.sort_unstable();
        assert_eq!(got, values, "key {key}");
        match self.random.below(10) {
            _ if now.values.len() > MANY => take_many(pages, now, self.random.next()),
            0..=3 => {
                let value = self.random.below(5) as u64;
                index.insert(pages, key, value)?;
                values.insert(values.partition_point(|&other| other < value), value);
                Ok(vec![Change::Values(key, values)])
            }
            4 => self.insert_many(pages, now),
            5 => {
                // More than a page of one key's.
                let (key, count) = (1_000, 20 + self.random.below(80) as u64);
                let mut values = now.values.get(&key).cloned().unwrap_or_default();
                (0..count).try_for_each(|value| index.insert(pages, key, value))?;
                values.extend(0..count);
                values.sort_unstable();
                Ok(vec![Change::Values(key, values)])
            }
            6..=8 => {
                let value = self.random.below(5) as u64;
                let place = values.binary_search(&value);
                assert_eq!(index.remove(pages, key, value)?, place.is_ok(), "key {key}");
                if let Ok(place) = place {
                    values.remove(place);
                }
                Ok(vec![Change::Values(key, values)])
            }
            _ => take_many(pages, now, self.random.next()),
        }
    }

    /// So many that buckets are divided.
    pub fn insert_many(&mut self, pages: &mut impl Pages, now: &Contents) -> Result<Changes> {
        let start = self.random.below(400) as u64;
        let mut changes = Changes::new();
        for key in start..start + 60 {
            now.files.values.1.insert(pages, key, 7)?;
            let mut values = now.values.get(&key).cloned().unwrap_or_default();
            values.insert(values.partition_point(|&other| other < 7), 7);
            changes.push(Change::Values(key, values));
        }
        Ok(changes)
    }

    /// The tree or the index given back and loaded again, at another place.
    pub fn rebuild(
        &mut self,
        pages: &mut impl Pages,
        now: &Contents,
        extent: u32,
    ) -> Result<Changes> {
        let mut files = now.files;
        if self.random.one_in(2) {
            let (file, _) = files.entries;
            space::free_file(pages, extent, file)?;
            files.entries.1 = lode::btree::Btree::create(pages, file)?;
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
pub fn unlink(pages: &mut impl Pages, now: &Contents, child: Serial) -> Result<Changes> {
    let parent = now.parent_of(child);
    let id: RecordId = now.nodes[&child].id;
    assert_eq!(now.files.links().unlink(pages, id)?, parent.is_some());
    let Some(parent) = parent else { return Ok(Changes::new()) };
    let mut node = now.nodes[&parent].clone();
    node.children.retain(|&other| other != child);
    Ok(vec![Change::Node(parent, Some(node))])
}

/// Remove half of the keys, from one on.
pub fn remove_range(pages: &mut impl Pages, now: &Contents, from: &[u8]) -> Result<Changes> {
    let above = now.entries.range(from.to_vec()..).chain(&now.entries);
    let mut changes = Changes::new();
    for (key, value) in above.take(now.entries.len() / 2) {
        assert_eq!(now.files.entries.1.remove(pages, key)?.as_ref(), Some(value));
        changes.push(Change::Entry(key.clone(), None));
    }
    Ok(changes)
}

/// Remove all values of most keys.
pub fn take_many(pages: &mut impl Pages, now: &Contents, seed: u64) -> Result<Changes> {
    let mut changes = Changes::new();
    let mut random = Random::new(seed);
    for (&key, values) in now.values.iter().filter(|_| !random.one_in(4)).take(120) {
        for &value in values {
            assert!(now.files.values.1.remove(pages, key, value)?, "key {key}");
        }
        changes.push(Change::Values(key, Vec::new()));
    }
    Ok(changes)
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
