//! `access=links`: OO1's INDEX (section 7). Parts and connections are records of two files; a
//! connection is in two lists, that of the part which it leaves and that of the part which it leads
//! to, and each list runs by references from the part through its connections back to the part.
//! Parts are found by a B-tree on id.
//!
//! A part: its fields ([`super::record`]), then the two lists' ends. A connection: its places in
//! the two lists, then the last two of its words; which parts it joins is what the lists say.

use std::ops::Range;

use loadstone_datasets::oo1::{Connection, Database, NewPart};
use lode::internals::btree::Btree;
use lode::internals::catalog::FileKind;
use lode::internals::heap::{Heap, RecordId, Reference};
use lode::internals::links::{self as lists, LINK_BYTES as LIST_BYTES, LinkField};
use lode::{Edges, Joined, PageRead, PageWrite, View};

use super::builds::Builds;
use super::design::Design;
use super::record::{self, PART_BYTES, TOO_SHORT};
use super::stretches::{self, CHUNK_PARTS, Following, Incoming};
use crate::lode::failure::{Failure, Result};
use crate::lode::loading::{self, Loading, Places};
use crate::oo1::driver::Direction;
use crate::oo1::part::{Link, Part};
use crate::oo1::visits::Visits;

const NAMES: [&str; 4] = ["links.part", "links.connection", "links.id", "links.build"];

/// The fill of the leaves of the B-tree on id: new ids come at its end.
const FILL_PERCENT: u8 = 100;

/// The connections that leave a part.
const OUT: LinkField = LinkField::new(PART_BYTES, 0);
/// The connections that lead to a part.
const IN: LinkField = LinkField::new(PART_BYTES + LIST_BYTES, LIST_BYTES);
/// In a connection: the last two of its words.
const REST: usize = 2 * LIST_BYTES;

const PART_RECORD_BYTES: usize = PART_BYTES + 2 * LIST_BYTES;
const CONNECTION_RECORD_BYTES: usize = REST + 16;

const ASTRAY: Failure = Failure::Malformed("a list that leads astray");

/// Records in lists.
#[derive(Clone, Copy)]
pub struct Links {
    parts: Heap,
    connections: Heap,
    ids: Btree,
    builds: Builds,
}

impl Links {
    const fn list(self, field: LinkField) -> lists::Links {
        lists::Links { parents: self.parts, children: self.connections, field }
    }

    /// The way in which parts lead to each other.
    const fn joined(self, direction: Direction) -> Joined {
        let (along, across) = match direction {
            Direction::Forward => (OUT, IN),
            Direction::Reverse => (IN, OUT),
        };
        Joined { records: self.parts, joints: self.connections, along, across }
    }

    #[inline]
    fn reference_to(self, pages: &impl PageRead, id: u32) -> Result<Reference> {
        let word = self.ids.get(pages, &id.to_be_bytes(), |value| value.u64(0))?;
        word.map(Reference).ok_or(Failure::Missing(id))
    }

    #[inline(always)]
    fn part(self, pages: &impl PageRead, part: Reference) -> Result<Part> {
        let words = self.parts.read_at(pages, part, record::see)?;
        Ok(record::part_of(words.ok_or(TOO_SHORT)?))
    }

    /// The connections that leave a part: where they lead to, and the part there.
    fn connections(self, pages: &impl PageRead, id: u32) -> Result<Vec<(Link, Reference)>> {
        let part = self.reference_to(pages, id)?;
        let mut found = Vec::with_capacity(3);
        self.joined(Direction::Forward).joints(pages, part, |connection, target| {
            let rest = |view: View<'_>, at| view.words::<2>(at + REST);
            let rest = self.connections.read_at(pages, connection, rest)?.ok_or(TOO_SHORT)?;
            let (kind, length) = record::rest([0, rest[0], rest[1]]);
            let to = self.part(pages, target)?.id;
            found.push((Link { from: id, to, length, kind }, target));
            Ok::<_, Failure>(())
        })?;
        Ok(found)
    }

    fn load_records(
        self,
        loading: &mut Loading<'_>,
        database: &Database,
    ) -> Result<(Places, Places)> {
        let (mut parts, mut connections) = (Places::default(), Places::default());
        for id in 1..=database.parts {
            let empty = [0; PART_RECORD_BYTES];
            let place = self.parts.insert(loading.pages(), &empty, None)?;
            parts.push(id, self.parts.reference(loading.pages(), place)?);
            loading.step()?;
        }
        for number in 0..database.connection_count() {
            let empty = [0; CONNECTION_RECORD_BYTES];
            let place = self.connections.insert(loading.pages(), &empty, None)?;
            let place = self.connections.reference(loading.pages(), place)?;
            connections.push(number, place);
            loading.step()?;
        }
        Ok((parts, connections))
    }

    fn load_parts(
        self,
        loading: &mut Loading<'_>,
        database: &Database,
        (parts, connections): &(Places, Places),
    ) -> Result<()> {
        for ids in stretches::chunks(database) {
            let incoming = Incoming::of(database, &ids);
            for row in database.part_range(ids) {
                let into = incoming.to(row.id);
                let out = 3 * (row.id - 1);
                let place = |number: Option<&u32>| number.map_or(0, |&it| connections.word(it));
                let ends = [
                    connections.word(out),
                    connections.word(out + 2),
                    place(into.first()),
                    place(into.last()),
                ];
                self.parts.change(loading.pages(), parts.id(row.id), |bytes| {
                    bytes[..PART_BYTES].copy_from_slice(&record::part(&row));
                    put_words(bytes, PART_BYTES, &ends);
                })?;
                loading.step()?;
            }
        }
        Ok(())
    }

    fn load_connections(
        self,
        loading: &mut Loading<'_>,
        database: &Database,
        (parts, connections): &(Places, Places),
    ) -> Result<()> {
        let count = database.connection_count();
        for first in (0..count).step_by(3 * CHUNK_PARTS as usize) {
            let numbers = first..count.min(first + 3 * CHUNK_PARTS);
            let following = Following::of(database, &numbers);
            for (number, row) in numbers.clone().zip(database.connection_range(numbers)) {
                let (from, to) = (parts.word(row.from), parts.word(row.to));
                let place = |number: u32| connections.word(number);
                let next_out = if number % 3 == 2 { from } else { place(number + 1) };
                let next_in = following.next(number).map_or(to, place);
                self.connections.change(loading.pages(), connections.id(number), |bytes| {
                    put_words(bytes, 0, &[from, next_out, to, next_in]);
                    bytes[REST..].copy_from_slice(&record::link(&row)[8..]);
                })?;
                loading.step()?;
            }
        }
        Ok(())
    }

    fn add_connection(
        self,
        pages: &mut impl PageWrite,
        from: RecordId,
        row: &Connection,
    ) -> Result<()> {
        let to = id_of(self.reference_to(pages, row.to)?)?;
        let mut bytes = [0; CONNECTION_RECORD_BYTES];
        bytes[REST..].copy_from_slice(&record::link(row)[8..]);
        let connection = self.connections.insert(pages, &bytes, None)?;
        self.list(OUT).append(pages, from, connection)?;
        self.list(IN).append(pages, to, connection)?;
        Ok(())
    }
}

fn id_of(reference: Reference) -> Result<RecordId> {
    reference.id().ok_or(ASTRAY)
}

fn put_words(bytes: &mut [u8], at: usize, words: &[u64]) {
    for (place, word) in bytes[at..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

impl Design for Links {
    const WALKS: bool = true;

    const ACCESS: &'static str =
        "records in parent-child lists by record id; B-trees on id and build";

    type Handle = Reference;

    type Kept = ();

    /// First every record is given its place, then every list is known.
    fn load(loading: &mut Loading<'_>, database: &Database) -> Result<Self> {
        let part = loading.create(NAMES[0], FileKind::Heap)?;
        let connection = loading.create(NAMES[1], FileKind::Heap)?;
        let id = loading.create(NAMES[2], FileKind::Btree)?;
        let build = loading.create(NAMES[3], FileKind::Btree)?;
        let links = Self {
            parts: Heap::create(loading.pages(), part.file)?,
            connections: Heap::create(loading.pages(), connection.file)?,
            ids: Btree::create(loading.pages(), id.file)?,
            builds: Builds(Btree::create(loading.pages(), build.file)?),
        };
        let places = links.load_records(loading, database)?;
        links.load_parts(loading, database, &places)?;
        links.load_connections(loading, database, &places)?;
        loading.commit()?;
        let word = |id: u32| places.0.word(id);
        let all = (1..=database.parts).map(|id| (id.to_be_bytes(), word(id).to_le_bytes()));
        links.ids.bulk_load(loading.pages(), all, FILL_PERCENT)?;
        loading.commit()?;
        links.builds.load(loading, database, word)?;
        loading.publish([
            (part, links.parts.root()),
            (connection, links.connections.root()),
            (id, links.ids.root()),
            (build, links.builds.0.root()),
        ])?;
        Ok(links)
    }

    fn open(pages: &impl PageRead) -> Result<Option<Self>> {
        let files = loading::files(pages, NAMES)?;
        Ok(files.map(|[part, connection, id, build]| Self {
            parts: Heap::open(part.file, part.root),
            connections: Heap::open(connection.file, connection.root),
            ids: Btree::open(id.root),
            builds: Builds(Btree::open(build.root)),
        }))
    }

    #[inline(always)]
    fn find(&self, pages: &impl PageRead, id: u32, (): &mut ()) -> Result<(Reference, Part)> {
        let part = self.reference_to(pages, id)?;
        Ok((part, self.part(pages, part)?))
    }

    #[inline(always)]
    fn read(&self, pages: &impl PageRead, handle: Reference, (): &mut ()) -> Result<Part> {
        self.part(pages, handle)
    }

    #[inline(always)]
    fn links(
        &self,
        pages: &impl PageRead,
        handle: Reference,
        direction: Direction,
        (): &mut (),
        out: &mut Vec<Reference>,
    ) -> Result<()> {
        Ok(self.joined(direction).ends(pages, handle, out)?)
    }

    #[inline(always)]
    fn walk(
        &self,
        pages: &impl PageRead,
        from: Reference,
        depth: u32,
        direction: Direction,
        visits: &mut Visits,
    ) -> Option<Result<()>> {
        Some(record::walk(self.joined(direction), pages, from, depth, visits))
    }

    fn links_in_order(
        &self,
        pages: &impl PageRead,
        handle: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<()> {
        let id = self.part(pages, handle)?.id;
        let mut connections = self.connections(pages, id)?;
        connections.sort_unstable_by_key(|(link, _)| (link.length, link.to));
        out.extend(connections.into_iter().map(|(_, to)| to));
        Ok(())
    }

    fn range(&self, pages: &impl PageRead, build_s: Range<i64>, visits: &mut Visits) -> Result<()> {
        self.builds.each(pages, build_s, |word| {
            visits.part(&self.part(pages, Reference(word))?);
            Ok(())
        })
    }

    fn scan(&self, pages: &impl PageRead, visits: &mut Visits) -> Result<()> {
        record::scan(self.parts, pages, visits)
    }

    fn reference(&self, pages: &impl PageRead, from: u32, to: u32) -> Result<Part> {
        let part = self.reference_to(pages, from)?;
        let mut found = None;
        self.joined(Direction::Forward).joints(pages, part, |_, target| {
            if found.is_none() {
                let part = self.part(pages, target)?;
                found = (part.id == to).then_some(part);
            }
            Ok::<_, Failure>(())
        })?;
        found.ok_or(Failure::Missing(to))
    }

    fn group(&self, pages: &impl PageRead, id: u32, visits: &mut Visits) -> Result<()> {
        self.connections(pages, id)?.iter().for_each(|(link, _)| visits.link(link));
        Ok(())
    }

    fn insert(&self, pages: &mut impl PageWrite, new: &NewPart) -> Result<()> {
        let mut bytes = [0; PART_RECORD_BYTES];
        bytes[..PART_BYTES].copy_from_slice(&record::part(&new.part));
        let part = self.parts.insert(pages, &bytes, None)?;
        let (id, word) = (new.part.id, self.parts.reference(pages, part)?.0);
        self.ids.put(pages, &id.to_be_bytes(), &word.to_le_bytes())?;
        self.builds.add(pages, new.part.build_s, id, word)?;
        new.to.iter().try_for_each(|row| self.add_connection(pages, part, row))
    }

    fn update(&self, pages: &mut impl PageWrite, id: u32, build_sum_s: i64) -> Result<()> {
        let part = self.reference_to(pages, id)?;
        let turned = self
            .parts
            .change(pages, id_of(part)?, |bytes| record::complement(bytes, build_sum_s))?;
        let (before_s, after_s) = turned?;
        self.builds.remove(pages, before_s, id)?;
        self.builds.add(pages, after_s, id, part.0)
    }

    fn remove(&self, pages: &mut impl PageWrite, id: u32) -> Result<()> {
        let part = id_of(self.reference_to(pages, id)?)?;
        let build_s =
            self.parts.read(pages, part, |view, at, _| view.u64(at + record::BUILD_AT))?;
        while let Some(children) = self.list(OUT).children_of(pages, part)? {
            self.list(OUT).unlink(pages, children.first)?;
            self.list(IN).unlink(pages, children.first)?;
            self.connections.delete(pages, children.first)?;
        }
        self.parts.delete(pages, part)?;
        self.ids.remove(pages, &id.to_be_bytes())?;
        self.builds.remove(pages, build_s.cast_signed(), id)
    }
}
