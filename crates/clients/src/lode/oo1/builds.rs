//! The index on build time, which all designs have: a B-tree, since ranges are asked of it.
//!
//! Keys are the build time and the id, big-endian, so that the order of bytes is that of numbers
//! (times since 1980 are positive) and parts built in the same second have keys of their own; the
//! value is the word by which the design knows the part.

use std::ops::{Bound, Range};

use loadstone_datasets::oo1::Database;
use loadstone_datasets::oo1::database::{BUILD_FIRST_S, BUILD_SPAN_S};
use lode::internals::btree::Btree;
use lode::{PageRead, PageWrite};

use super::stretches::CHUNK_PARTS;
use crate::lode::failure::{Failure, Result};
use crate::lode::loading::Loading;

/// The fill of leaves: updates put entries between those that are there.
const FILL_PERCENT: u8 = 90;

const KEY_BYTES: usize = 12;

/// The tree.
#[derive(Clone, Copy)]
pub struct Builds(pub Btree);

fn key(build_s: i64, id: u32) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&build_s.to_be_bytes());
    key[8..].copy_from_slice(&id.to_be_bytes());
    key
}

impl Builds {
    /// Fill an empty tree with all parts; `word_of` shows by which word a part is known.
    pub fn load(
        self,
        loading: &mut Loading<'_>,
        database: &Database,
        word_of: impl Fn(u32) -> u64,
    ) -> Result<()> {
        let entries =
            sorted(database).map(|(build_s, id)| (key(build_s, id), word_of(id).to_le_bytes()));
        self.0.bulk_load(loading.pages(), entries, FILL_PERCENT)?;
        loading.commit()
    }

    pub fn add(self, pages: &mut impl PageWrite, build_s: i64, id: u32, word: u64) -> Result<()> {
        self.0.put(pages, &key(build_s, id), &word.to_le_bytes())?;
        Ok(())
    }

    pub fn remove(self, pages: &mut impl PageWrite, build_s: i64, id: u32) -> Result<()> {
        match self.0.remove(pages, &key(build_s, id))? {
            Some(_) => Ok(()),
            None => Err(Failure::Missing(id)),
        }
    }

    /// The words of the parts built in a range.
    pub fn each(
        self,
        pages: &impl PageRead,
        build_s: Range<i64>,
        mut take: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let (first, end) = (key(build_s.start, 0), key(build_s.end, 0));
        let mut cursor = self.0.forwards(pages, between(&first, &end))?;
        while let Some((_, value)) = cursor.entry()? {
            let word =
                value.try_into().map_err(|_| Failure::Malformed("a build without a part"))?;
            take(u64::from_le_bytes(word))?;
        }
        Ok(())
    }
}

/// Keys from one up to another.
pub fn between<'a>(first: &'a [u8], end: &'a [u8]) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (Bound::Included(first), Bound::Excluded(end))
}

/// Build times with ids, ascending. Sorted by stretches of the ten years, so that no more than a
/// stretch is held at a time.
fn sorted(database: &Database) -> impl Iterator<Item = (i64, u32)> {
    let stretches = i64::from(database.parts.div_ceil(CHUNK_PARTS));
    let edge = move |stretch: i64| BUILD_FIRST_S + i64::from(BUILD_SPAN_S) * stretch / stretches;
    (0..stretches).flat_map(move |stretch| {
        let within = edge(stretch)..edge(stretch + 1);
        let rows = database.part_range(1..database.parts + 1);
        let builds = rows.map(|row| (row.build_s, row.id));
        let mut builds: Vec<_> = builds.filter(|(build_s, _)| within.contains(build_s)).collect();
        builds.sort_unstable();
        builds
    })
}
