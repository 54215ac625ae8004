//! `access=btree`: OO1's INDEX with B-trees in place of links (Table VII). Everything is in
//! B-trees: parts under their ids, connections under the part that they leave, a second time under
//! the part that they lead to, and build times. A reference is an id.
//!
//! Keys are big-endian. The second tree of connections has the part that each leaves, once more, as
//! a value, so that it can be read without putting a key together.

use std::ops::Range;

use loadstone_datasets::oo1::{Connection, Database, NewPart, Part as Row};
use lode::internals::btree::{Btree, Bytes};
use lode::internals::catalog::FileKind;
use lode::{PageRead, PageWrite};

use super::builds::{Builds, between};
use super::design::Design;
use super::record::{self, BUILD_AT, TOO_SHORT, WORDS};
use super::stretches::{self, Incoming, placed};
use crate::lode::failure::{Failure, Result};
use crate::lode::loading::{self, Loading};
use crate::oo1::driver::Direction;
use crate::oo1::part::{Link, Part};
use crate::oo1::visits::Visits;

const NAMES: [&str; 4] = ["btree.part", "btree.to", "btree.from", "btree.build"];

/// The fill of leaves where new keys come at the end, and where they come anywhere.
const FILL_PERCENT: u8 = 100;
const FILL_BETWEEN_PERCENT: u8 = 90;

/// Behind the last place of a connection.
const PLACES_END: u8 = PLACES as u8;
const PLACES: usize = 3;

/// B-trees only.
#[derive(Clone, Copy)]
pub struct Btrees {
    /// id → part.
    parts: Btree,
    /// from, place → connection.
    to: Btree,
    /// to, from, place → from.
    from: Btree,
    builds: Builds,
}

fn to_key(from: u32, place: u8) -> [u8; 5] {
    let [a, b, c, d] = from.to_be_bytes();
    [a, b, c, d, place]
}

fn from_key(to: u32, from: u32, place: u8) -> [u8; 9] {
    let mut key = [0; 9];
    key[..4].copy_from_slice(&to.to_be_bytes());
    key[4..8].copy_from_slice(&from.to_be_bytes());
    key[8] = place;
    key
}

#[inline]
fn words(value: Bytes<'_>) -> [u64; WORDS] {
    [value.u64(0), value.u64(8), value.u64(16)]
}

fn copy(value: Bytes<'_>) -> Vec<u8> {
    value.to_vec()
}

impl Btrees {
    #[inline]
    fn part(self, pages: &impl PageRead, id: u32) -> Result<Part> {
        let found = self.parts.get(pages, &id.to_be_bytes(), words)?;
        found.map(record::part_of).ok_or(Failure::Missing(id))
    }

    /// The connections that leave a part.
    fn connections(
        self,
        pages: &impl PageRead,
        id: u32,
        mut take: impl FnMut(Link) -> Result<()>,
    ) -> Result<()> {
        let (first, end) = (to_key(id, 0), to_key(id, PLACES_END));
        let seen = self.to.read_between(pages, &first, &end, |values| {
            let mut found = [[0; WORDS]; PLACES];
            let count = found.iter_mut().zip(values).map(|(into, value)| *into = words(value));
            (count.count(), found)
        })?;
        if let Some((count, found)) = seen {
            return found[..count].iter().try_for_each(|&words| take(record::link_of(words)));
        }
        let mut cursor = self.to.forwards(pages, between(&first, &end))?;
        while let Some((_, value)) = cursor.entry()? {
            take(record::link_of(record::words_of(value)?))?;
        }
        Ok(())
    }

    fn add_part(self, pages: &mut impl PageWrite, row: &Row) -> Result<()> {
        self.parts.put(pages, &row.id.to_be_bytes(), &record::part(row))?;
        self.builds.add(pages, row.build_s, row.id, row.id.into())
    }

    fn add_connection(self, pages: &mut impl PageWrite, place: u8, row: &Connection) -> Result<()> {
        self.to.put(pages, &to_key(row.from, place), &record::link(row))?;
        self.from.put(pages, &from_key(row.to, row.from, place), &row.from.to_le_bytes())?;
        Ok(())
    }
}

impl Design for Btrees {
    const ACCESS: &'static str = "B-trees on id, both ends of a connection, and build";

    type Handle = u32;

    type Kept = ();

    fn load(loading: &mut Loading<'_>, database: &Database) -> Result<Self> {
        let mut create = |name| -> Result<_> {
            let entry = loading.create(name, FileKind::Btree)?;
            let tree = Btree::create(loading.pages(), entry.file)?;
            Ok((entry, tree))
        };
        let [part, to, from, build] = NAMES;
        let (part, to, from, build) = (create(part)?, create(to)?, create(from)?, create(build)?);
        let trees = Self { parts: part.1, to: to.1, from: from.1, builds: Builds(build.1) };
        let rows = database.part_range(1..database.parts + 1);
        let rows = rows.map(|row| (row.id.to_be_bytes(), record::part(&row)));
        trees.parts.bulk_load(loading.pages(), rows, FILL_PERCENT)?;
        loading.commit()?;
        let rows = database.connection_range(0..database.connection_count()).zip(0_u32..);
        let key = |number: u32| to_key(number / 3 + 1, (number % 3) as u8);
        let rows = rows.map(|(row, number)| (key(number), record::link(&row)));
        trees.to.bulk_load(loading.pages(), rows, FILL_PERCENT)?;
        loading.commit()?;
        let rows = stretches::chunks(database).flat_map(|ids| {
            let incoming = Incoming::of(database, &ids);
            ids.flat_map(move |to| {
                let entry = |number: &u32| {
                    let from = number / 3 + 1;
                    (from_key(to, from, (number % 3) as u8), from.to_le_bytes())
                };
                incoming.to(to).iter().map(entry).collect::<Vec<_>>()
            })
        });
        trees.from.bulk_load(loading.pages(), rows, FILL_BETWEEN_PERCENT)?;
        loading.commit()?;
        trees.builds.load(loading, database, u64::from)?;
        let files = [part, to, from, build];
        loading.publish(files.map(|(entry, tree)| (entry, tree.root())))?;
        Ok(trees)
    }

    fn open(pages: &impl PageRead) -> Result<Option<Self>> {
        let files = loading::files(pages, NAMES)?;
        Ok(files.map(|[part, to, from, build]| Self {
            parts: Btree::open(part.root),
            to: Btree::open(to.root),
            from: Btree::open(from.root),
            builds: Builds(Btree::open(build.root)),
        }))
    }

    #[inline(always)]
    fn find(&self, pages: &impl PageRead, id: u32, (): &mut ()) -> Result<(u32, Part)> {
        Ok((id, self.part(pages, id)?))
    }

    #[inline(always)]
    fn read(&self, pages: &impl PageRead, handle: u32, (): &mut ()) -> Result<Part> {
        self.part(pages, handle)
    }

    #[inline]
    fn links(
        &self,
        pages: &impl PageRead,
        handle: u32,
        direction: Direction,
        (): &mut (),
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if direction == Direction::Forward {
            return self.connections(pages, handle, |link| {
                out.push(link.to);
                Ok(())
            });
        }
        let (first, end) = (from_key(handle, 0, 0), from_key(handle, u32::MAX, PLACES_END));
        let start = out.len();
        let seen = self.from.read_between(pages, &first, &end, |values| {
            out.truncate(start);
            out.extend(values.map(|value| value.u64(0) as u32));
        })?;
        if seen.is_some() {
            return Ok(());
        }
        let mut cursor = self.from.forwards(pages, between(&first, &end))?;
        while let Some((_, value)) = cursor.entry()? {
            let from = value.try_into().map_err(|_| TOO_SHORT)?;
            out.push(u32::from_le_bytes(from));
        }
        Ok(())
    }

    fn links_in_order(&self, pages: &impl PageRead, handle: u32, out: &mut Vec<u32>) -> Result<()> {
        let mut links = Vec::with_capacity(3);
        self.connections(pages, handle, |link| {
            links.push((link.length, link.to));
            Ok(())
        })?;
        links.sort_unstable();
        out.extend(links.into_iter().map(|(_, to)| to));
        Ok(())
    }

    fn range(&self, pages: &impl PageRead, build_s: Range<i64>, visits: &mut Visits) -> Result<()> {
        self.builds.each(pages, build_s, |word| {
            visits.part(&self.part(pages, word as u32)?);
            Ok(())
        })
    }

    fn scan(&self, pages: &impl PageRead, visits: &mut Visits) -> Result<()> {
        let mut cursor = self.parts.forwards(pages, ..)?;
        while let Some((_, value)) = cursor.entry()? {
            let part = record::part_of(record::words_of(value)?);
            visits.point(part.x, part.y);
        }
        Ok(())
    }

    fn reference(&self, pages: &impl PageRead, from: u32, to: u32) -> Result<Part> {
        let mut leads = false;
        self.connections(pages, from, |link| {
            leads |= link.to == to;
            Ok(())
        })?;
        if leads { self.part(pages, to) } else { Err(Failure::Missing(to)) }
    }

    fn group(&self, pages: &impl PageRead, id: u32, visits: &mut Visits) -> Result<()> {
        self.connections(pages, id, |link| {
            visits.link(&link);
            Ok(())
        })
    }

    fn insert(&self, pages: &mut impl PageWrite, new: &NewPart) -> Result<()> {
        self.add_part(pages, &new.part)?;
        placed(new).try_for_each(|(place, row)| self.add_connection(pages, place, row))
    }

    fn update(&self, pages: &mut impl PageWrite, id: u32, build_sum_s: i64) -> Result<()> {
        let key = id.to_be_bytes();
        let found = self.parts.get(pages, &key, copy)?;
        let mut bytes = found.ok_or(Failure::Missing(id))?;
        let (before_s, after_s) = record::complement(&mut bytes, build_sum_s)?;
        self.parts.put(pages, &key, &bytes)?;
        self.builds.remove(pages, before_s, id)?;
        self.builds.add(pages, after_s, id, id.into())
    }

    fn remove(&self, pages: &mut impl PageWrite, id: u32) -> Result<()> {
        for place in 0..PLACES_END {
            let value = self.to.remove(pages, &to_key(id, place))?.ok_or(Failure::Missing(id))?;
            let link = record::link_of(record::words_of(&value)?);
            self.from.remove(pages, &from_key(link.to, id, place))?;
        }
        let removed = self.parts.remove(pages, &id.to_be_bytes())?.ok_or(Failure::Missing(id))?;
        let [.., build_s]: [u64; BUILD_AT / 8 + 1] = record::words_of(&removed)?;
        self.builds.remove(pages, build_s.cast_signed(), id)
    }
}
