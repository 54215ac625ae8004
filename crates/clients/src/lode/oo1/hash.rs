//! `access=hash`: records found by hashing. OO1 notes that extendible hashing might do as well as
//! B-trees. Parts and connections are records of two files, with a hash index on id and one on each
//! end of a connection; a reference is an id. Only build times are in a B-tree, for their ranges.

use std::ops::Range;

use loadstone_datasets::oo1::{Connection, Database, NewPart};
use lode::internals::btree::Btree;
use lode::internals::catalog::FileKind;
use lode::internals::hash::Hash;
use lode::internals::heap::{Heap, RecordId, Reference};
use lode::{PageRead, PageWrite};

use super::builds::Builds;
use super::design::Design;
use super::record::{self, TOO_SHORT};
use crate::lode::failure::{Failure, Result};
use crate::lode::loading::{self, Loading, Places};
use crate::oo1::driver::Direction;
use crate::oo1::part::{Link, Part};
use crate::oo1::visits::Visits;

const NAMES: [&str; 6] =
    ["hash.part", "hash.connection", "hash.id", "hash.from", "hash.to", "hash.build"];

const NO_RECORD: Failure = Failure::Malformed("an index entry that leads nowhere");

/// Records with hash indexes.
#[derive(Clone, Copy)]
pub struct Hashes {
    parts: Heap,
    connections: Heap,
    /// id → part.
    ids: Hash,
    /// from → connections.
    from: Hash,
    /// to → connections.
    to: Hash,
    builds: Builds,
}

/// The ids that an index returned, in memory that its next answer uses again.
#[derive(Default)]
pub struct Answer(Vec<u64>);

fn id_of(reference: Reference) -> Result<RecordId> {
    reference.id().ok_or(NO_RECORD)
}

impl Hashes {
    #[inline]
    fn reference_to(self, pages: &impl PageRead, id: u32) -> Result<Reference> {
        let word = self.ids.get_one(pages, id.into())?;
        word.map(Reference).ok_or(Failure::Missing(id))
    }

    #[inline]
    fn part_at(self, pages: &impl PageRead, part: Reference) -> Result<Part> {
        let words = self.parts.read_at(pages, part, record::see)?;
        Ok(record::part_of(words.ok_or(TOO_SHORT)?))
    }

    #[inline]
    fn part(self, pages: &impl PageRead, id: u32) -> Result<Part> {
        self.part_at(pages, self.reference_to(pages, id)?)
    }

    #[inline]
    fn connection(self, pages: &impl PageRead, word: u64) -> Result<Link> {
        let words = self.connections.read_at(pages, Reference(word), record::see)?;
        Ok(record::link_of(words.ok_or(TOO_SHORT)?))
    }

    /// The connections that an index has for a part.
    #[inline]
    fn connections(
        self,
        pages: &impl PageRead,
        (index, id): (Hash, u32),
        answer: &mut Answer,
        mut take: impl FnMut(u64, Link) -> Result<()>,
    ) -> Result<()> {
        answer.0.clear();
        index.get(pages, id.into(), |word| answer.0.push(word))?;
        answer.0.iter().try_for_each(|&word| take(word, self.connection(pages, word)?))
    }

    fn add_connection(self, pages: &mut impl PageWrite, row: &Connection) -> Result<()> {
        let connection = self.connections.insert(pages, &record::link(row), None)?;
        let word = self.connections.reference(pages, connection)?.0;
        self.from.insert(pages, row.from.into(), word)?;
        Ok(self.to.insert(pages, row.to.into(), word)?)
    }
}

/// Put all records in.
fn load_records(
    loading: &mut Loading<'_>,
    database: &Database,
    (parts, connections): (Heap, Heap),
) -> Result<(Places, Places)> {
    let mut places = (Places::default(), Places::default());
    for row in database.part_range(1..database.parts + 1) {
        let place = parts.insert(loading.pages(), &record::part(&row), None)?;
        places.0.push(row.id, parts.reference(loading.pages(), place)?);
        loading.step()?;
    }
    for (row, number) in database.connection_range(0..database.connection_count()).zip(0..) {
        let place = connections.insert(loading.pages(), &record::link(&row), None)?;
        places.1.push(number, connections.reference(loading.pages(), place)?);
        loading.step()?;
    }
    loading.commit()?;
    Ok(places)
}

impl Design for Hashes {
    const ACCESS: &'static str =
        "records; hash indexes on id and both ends of a connection, a B-tree on build";

    type Handle = u32;

    type Kept = Answer;

    /// An index takes 16 bytes of memory for each of its entries while it is made.
    fn load(loading: &mut Loading<'_>, database: &Database) -> Result<Self> {
        let part = loading.create(NAMES[0], FileKind::Heap)?;
        let connection = loading.create(NAMES[1], FileKind::Heap)?;
        let [id, from, to] =
            [2, 3, 4].map(|place: usize| loading.create(NAMES[place], FileKind::Hash));
        let (id, from, to) = (id?, from?, to?);
        let build = loading.create(NAMES[5], FileKind::Btree)?;
        let parts = Heap::create(loading.pages(), part.file)?;
        let connections = Heap::create(loading.pages(), connection.file)?;
        let builds = Builds(Btree::create(loading.pages(), build.file)?);
        let places = load_records(loading, database, (parts, connections))?;
        let entries = (1..=database.parts).map(|id| (u64::from(id), places.0.word(id)));
        let ids = Hash::load(loading.pages(), id.file, entries)?;
        loading.commit()?;
        let entries = |end: fn(&Connection) -> u32| {
            let rows = database.connection_range(0..database.connection_count());
            let places = &places.1;
            rows.zip(0..).map(move |(row, number)| (end(&row).into(), places.word(number)))
        };
        let froms = Hash::load(loading.pages(), from.file, entries(|row| row.from))?;
        loading.commit()?;
        let tos = Hash::load(loading.pages(), to.file, entries(|row| row.to))?;
        loading.commit()?;
        builds.load(loading, database, |id| places.0.word(id))?;
        loading.publish([
            (part, parts.root()),
            (connection, connections.root()),
            (id, ids),
            (from, froms),
            (to, tos),
            (build, builds.0.root()),
        ])?;
        let [ids, from, to] = [ids, froms, tos].map(Hash::open);
        Ok(Self { parts, connections, ids, from, to, builds })
    }

    fn open(pages: &impl PageRead) -> Result<Option<Self>> {
        let files = loading::files(pages, NAMES)?;
        Ok(files.map(|[part, connection, id, from, to, build]| Self {
            parts: Heap::open(part.file, part.root),
            connections: Heap::open(connection.file, connection.root),
            ids: Hash::open(id.root),
            from: Hash::open(from.root),
            to: Hash::open(to.root),
            builds: Builds(Btree::open(build.root)),
        }))
    }

    #[inline(always)]
    fn find(&self, pages: &impl PageRead, id: u32, _: &mut Answer) -> Result<(u32, Part)> {
        Ok((id, self.part(pages, id)?))
    }

    #[inline(always)]
    fn read(&self, pages: &impl PageRead, handle: u32, _: &mut Answer) -> Result<Part> {
        self.part(pages, handle)
    }

    #[inline]
    fn links(
        &self,
        pages: &impl PageRead,
        handle: u32,
        direction: Direction,
        answer: &mut Answer,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let (index, other): (_, fn(Link) -> u32) = match direction {
            Direction::Forward => (self.from, |link| link.to),
            Direction::Reverse => (self.to, |link| link.from),
        };
        self.connections(pages, (index, handle), answer, |_, link| {
            out.push(other(link));
            Ok(())
        })
    }

    fn links_in_order(&self, pages: &impl PageRead, handle: u32, out: &mut Vec<u32>) -> Result<()> {
        let mut links = Vec::with_capacity(3);
        self.connections(pages, (self.from, handle), &mut Answer::default(), |_, link| {
            links.push((link.length, link.to));
            Ok(())
        })?;
        links.sort_unstable();
        out.extend(links.into_iter().map(|(_, to)| to));
        Ok(())
    }

    fn range(&self, pages: &impl PageRead, build_s: Range<i64>, visits: &mut Visits) -> Result<()> {
        self.builds.each(pages, build_s, |word| {
            visits.part(&self.part_at(pages, Reference(word))?);
            Ok(())
        })
    }

    fn scan(&self, pages: &impl PageRead, visits: &mut Visits) -> Result<()> {
        record::scan(self.parts, pages, visits)
    }

    fn reference(&self, pages: &impl PageRead, from: u32, to: u32) -> Result<Part> {
        let mut leads = false;
        self.connections(pages, (self.from, from), &mut Answer::default(), |_, link| {
            leads |= link.to == to;
            Ok(())
        })?;
        if leads { self.part(pages, to) } else { Err(Failure::Missing(to)) }
    }

    fn group(&self, pages: &impl PageRead, id: u32, visits: &mut Visits) -> Result<()> {
        self.connections(pages, (self.from, id), &mut Answer::default(), |_, link| {
            visits.link(&link);
            Ok(())
        })
    }

    fn insert(&self, pages: &mut impl PageWrite, new: &NewPart) -> Result<()> {
        let part = self.parts.insert(pages, &record::part(&new.part), None)?;
        let word = self.parts.reference(pages, part)?.0;
        self.ids.insert(pages, new.part.id.into(), word)?;
        self.builds.add(pages, new.part.build_s, new.part.id, word)?;
        new.to.iter().try_for_each(|row| self.add_connection(pages, row))
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
        let reference = self.reference_to(pages, id)?;
        let part = id_of(reference)?;
        let build_s =
            self.parts.read(pages, part, |view, at, _| view.u64(at + record::BUILD_AT))?;
        let mut leaving = Vec::with_capacity(3);
        self.connections(pages, (self.from, id), &mut Answer::default(), |word, link| {
            leaving.push((word, link.to));
            Ok(())
        })?;
        for (word, to) in leaving {
            self.connections.delete(pages, id_of(Reference(word))?)?;
            self.from.remove(pages, id.into(), word)?;
            self.to.remove(pages, to.into(), word)?;
        }
        self.parts.delete(pages, part)?;
        self.ids.remove(pages, id.into(), reference.0)?;
        self.builds.remove(pages, build_s.cast_signed(), id)
    }
}
