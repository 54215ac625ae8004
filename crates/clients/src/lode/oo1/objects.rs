//! `access=objects`: OO1's OODBMS (section 7). A part is one object, of variable length because
//! of the parts that are connected to it; a connection is a reference in it, with its type and its
//! length beside it. Parts are found by a hash index on id.
//!
//! An object's bytes are `object.rs`'s.

use std::ops::{ControlFlow, Range};

use loadstone_datasets::oo1::{Database, NewPart};
use lode::internals::catalog::FileKind;
use lode::internals::hash::{Directory, Hash};
use lode::internals::objects::{self, Oid, Reference};
use lode::{CountedReferences, Edges, PageRead, PageWrite, References};

use super::builds::Builds;
use super::design::Design;
use super::object::{FROM, FROM_COUNT, FROM_STEP, TO, TO_REST, count, encode, length, set_count};
use super::record::{self, TOO_SHORT};
use super::stretches::{self, Incoming};
use crate::lode::failure::{Failure, Result};
use crate::lode::loading::{self, Loading, Places};
use crate::oo1::driver::Direction;
use crate::oo1::part::{Link, Part};
use crate::oo1::visits::Visits;

const NAMES: [&str; 3] = ["objects.part", "objects.id", "objects.build"];

const NO_OID: Failure = Failure::Malformed("a reference that leads nowhere");

/// Objects with a hash index.
#[derive(Clone, Copy)]
pub struct Objects {
    parts: objects::Objects,
    ids: Hash,
    builds: Builds,
}

/// No part.
const NO_PART: Reference = Reference(0);

fn oid_of(part: Reference) -> Result<Oid> {
    part.id().ok_or(NO_OID)
}

impl Objects {
    /// The object of a part.
    #[inline]
    fn reference_to(self, pages: &impl PageRead, id: u32) -> Result<Reference> {
        let word = self.ids.get_one(pages, u64::from(id))?;
        word.map(Reference).ok_or(Failure::Missing(id))
    }

    /// The first words of a part.
    #[inline(always)]
    fn see<const N: usize>(self, pages: &impl PageRead, part: Reference) -> Result<[u64; N]> {
        self.parts.read_at(pages, part, record::see)?.ok_or(TOO_SHORT)
    }

    #[inline]
    fn part(self, pages: &impl PageRead, part: Reference) -> Result<Part> {
        self.see(pages, part).map(record::part_of)
    }

    /// The three parts that one is connected to.
    #[inline(always)]
    fn to(self, pages: &impl PageRead, part: Reference) -> Result<[Reference; 3]> {
        let words = self.parts.read_at(pages, part, |view, at| view.words::<3>(at + TO))?;
        Ok(words.ok_or(TOO_SHORT)?.map(Reference))
    }

    /// The references that lead from a part to those that it is connected to.
    const fn forward(self) -> References<3> {
        References { objects: self.parts, at: TO }
    }

    /// Those that lead from a part to the ones that are connected to it.
    const fn reverse(self) -> CountedReferences {
        CountedReferences { objects: self.parts, count_at: FROM_COUNT, at: FROM }
    }

    /// Its three connections: where they lead to, and type and length of each as words.
    fn connections(
        self,
        pages: &impl PageRead,
        part: Reference,
    ) -> Result<[(Reference, [u64; 2]); 3]> {
        let to = self.to(pages, part)?;
        let rest = self.parts.read_at(pages, part, |view, at| view.words::<6>(at + TO_REST))?;
        let rest = rest.ok_or(TOO_SHORT)?;
        Ok([0, 1, 2].map(|place| (to[place], [rest[2 * place], rest[2 * place + 1]])))
    }

    /// Append one to the parts that are connected to another.
    fn add_from(self, pages: &mut impl PageWrite, target: Oid, from: Reference) -> Result<()> {
        let word = from.0.to_le_bytes();
        let is_put = self.parts.change(pages, target, |object| {
            let at = FROM + 8 * count(object);
            let Some(place) = object.get_mut(at..at + 8) else { return false };
            place.copy_from_slice(&word);
            set_count(object, count(object) + 1);
            true
        })?;
        if is_put {
            return Ok(());
        }
        let mut object = self.parts.get(pages, target)?;
        object.extend(word);
        object.resize(object.len() + 8 * (FROM_STEP - 1), 0);
        let count = count(&object) + 1;
        set_count(&mut object, count);
        Ok(self.parts.update(pages, target, &object)?)
    }

    /// Take one of the references from one part to another away.
    fn remove_from(self, pages: &mut impl PageWrite, target: Oid, from: Reference) -> Result<()> {
        let leads_there = |word: &[u8; 8]| Reference(u64::from_le_bytes(*word)).is_to_same(from);
        let is_gone = self.parts.change(pages, target, |object| {
            let count = count(object);
            let (all, _) = object.get_mut(FROM..FROM + 8 * count)?.as_chunks_mut::<8>();
            let place = all.iter().position(leads_there)?;
            all[place] = *all.last()?;
            set_count(object, count - 1);
            Some(())
        })?;
        is_gone.ok_or(Failure::Malformed("a connection in one direction only"))
    }
}

impl Design for Objects {
    const WALKS: bool = true;

    const ACCESS: &'static str =
        "objects with references both ways; a hash index on id, a B-tree on build";

    type Handle = Reference;

    /// The index's directory.
    type Kept = Directory;

    /// First every object is given its place, then every reference is known.
    fn load(loading: &mut Loading<'_>, database: &Database) -> Result<Self> {
        let part = loading.create(NAMES[0], FileKind::Objects)?;
        let id = loading.create(NAMES[1], FileKind::Hash)?;
        let build = loading.create(NAMES[2], FileKind::Btree)?;
        let parts = objects::Objects::create(loading.pages(), part.file)?;
        let mut places = Places::default();
        for ids in stretches::chunks(database) {
            let incoming = Incoming::of(database, &ids);
            for id in ids {
                let empty = vec![0; length(incoming.to(id).len())];
                let oid = parts.insert(loading.pages(), &empty, None)?;
                // It keeps its place while its length stays.
                places.push(id, parts.reference(loading.pages(), oid)?);
                loading.step()?;
            }
        }
        let word_of = |id: u32| places.word(id);
        for ids in stretches::chunks(database) {
            let incoming = Incoming::of(database, &ids);
            let mut outgoing = database.connection_range(stretches::numbers(&ids));
            for row in database.part_range(ids) {
                let to = stretches::three(&mut outgoing);
                let from = incoming.to(row.id).iter().map(|number| word_of(number / 3 + 1));
                let object = encode(&row, &to, from, word_of);
                let oid = places.id(row.id);
                parts.change(loading.pages(), oid, |bytes| bytes.copy_from_slice(&object))?;
                loading.step()?;
            }
        }
        loading.commit()?;
        let all = 1..=database.parts;
        let entries = all.map(|id| (u64::from(id), word_of(id)));
        let ids = Hash::open(Hash::load(loading.pages(), id.file, entries)?);
        loading.commit()?;
        let builds = Builds(lode::internals::btree::Btree::create(loading.pages(), build.file)?);
        builds.load(loading, database, word_of)?;
        let roots = [(part, parts.root()), (id, ids.root()), (build, builds.0.root())];
        loading.publish(roots)?;
        Ok(Self { parts, ids, builds })
    }

    fn begin(&self, pages: &impl PageRead, directory: &mut Directory) -> Result<()> {
        Ok(self.ids.refresh(pages, directory)?)
    }

    fn open(pages: &impl PageRead) -> Result<Option<Self>> {
        let files = loading::files(pages, NAMES)?;
        Ok(files.map(|[part, id, build]| Self {
            parts: objects::Objects::open(part.file, part.root),
            ids: Hash::open(id.root),
            builds: Builds(lode::internals::btree::Btree::open(build.root)),
        }))
    }

    #[inline(always)]
    fn find(
        &self,
        pages: &impl PageRead,
        id: u32,
        directory: &mut Directory,
    ) -> Result<(Reference, Part)> {
        let word = self.ids.get_by(pages, directory, u64::from(id))?;
        let part = Reference(word.ok_or(Failure::Missing(id))?);
        Ok((part, record::part_of(self.see(pages, part)?)))
    }

    #[inline(always)]
    fn read(&self, pages: &impl PageRead, part: Reference, _: &mut Directory) -> Result<Part> {
        Ok(record::part_of(self.see(pages, part)?))
    }

    #[inline(always)]
    fn links(
        &self,
        pages: &impl PageRead,
        part: Reference,
        direction: Direction,
        _: &mut Directory,
        out: &mut Vec<Reference>,
    ) -> Result<()> {
        Ok(match direction {
            Direction::Forward => self.forward().ends(pages, part, out),
            Direction::Reverse => self.reverse().ends(pages, part, out),
        }?)
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
        Some(match direction {
            Direction::Forward => record::walk(self.forward(), pages, from, depth, visits),
            Direction::Reverse => record::walk(self.reverse(), pages, from, depth, visits),
        })
    }

    fn links_in_order(
        &self,
        pages: &impl PageRead,
        part: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<()> {
        let mut keys = [(0, 0, part); 3];
        for (key, (to, [kind, rest])) in keys.iter_mut().zip(self.connections(pages, part)?) {
            let (_, length) = record::rest([0, kind, rest]);
            *key = (length, self.part(pages, to)?.id, to);
        }
        keys.sort_unstable_by_key(|&(length, id, _)| (length, id));
        out.extend(keys.map(|(_, _, to)| to));
        Ok(())
    }

    fn range(&self, pages: &impl PageRead, build_s: Range<i64>, visits: &mut Visits) -> Result<()> {
        self.builds.each(pages, build_s, |word| {
            visits.part(&self.part(pages, Reference(word))?);
            Ok(())
        })
    }

    fn scan(&self, pages: &impl PageRead, visits: &mut Visits) -> Result<()> {
        let mut short = false;
        let _: ControlFlow<()> = self.parts.scan(pages, |_, object| {
            match record::words_of(object) {
                Ok(words) => {
                    let part = record::part_of(words);
                    visits.point(part.x, part.y);
                }
                Err(_) => short = true,
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if short { Err(TOO_SHORT) } else { Ok(()) }
    }

    fn reference(&self, pages: &impl PageRead, from: u32, to: u32) -> Result<Part> {
        let from = self.reference_to(pages, from)?;
        for target in self.to(pages, from)? {
            let part = self.part(pages, target)?;
            if part.id == to {
                return Ok(part);
            }
        }
        Err(Failure::Missing(to))
    }

    fn group(&self, pages: &impl PageRead, id: u32, visits: &mut Visits) -> Result<()> {
        let part = self.reference_to(pages, id)?;
        for (to, [kind, rest]) in self.connections(pages, part)? {
            let (kind, length) = record::rest([0, kind, rest]);
            visits.link(&Link { from: id, to: self.part(pages, to)?.id, length, kind });
        }
        Ok(())
    }

    fn insert(&self, pages: &mut impl PageWrite, new: &NewPart) -> Result<()> {
        let row = new.part;
        let mut targets = [(0, None); 3];
        for (target, connection) in targets.iter_mut().zip(&new.to) {
            // A connection may lead to the part itself.
            let is_other = connection.to != row.id;
            let part = is_other.then(|| self.reference_to(pages, connection.to)).transpose()?;
            *target = (connection.to, part);
        }
        let part_of = |id: u32, own: Reference| {
            let known = targets.iter().find(|(target, _)| *target == id);
            known.and_then(|(_, part)| *part).unwrap_or(own)
        };
        let object = encode(&row, &new.to, [].into_iter(), |id| part_of(id, NO_PART).0);
        let oid = self.parts.insert(pages, &object, None)?;
        let own = self.parts.reference(pages, oid)?;
        if targets.iter().any(|(_, target)| target.is_none()) {
            let whole = encode(&row, &new.to, [].into_iter(), |id| part_of(id, own).0);
            self.parts.change(pages, oid, |object| object.copy_from_slice(&whole))?;
        }
        for connection in &new.to {
            self.add_from(pages, oid_of(part_of(connection.to, own))?, own)?;
        }
        self.ids.insert(pages, row.id.into(), own.0)?;
        self.builds.add(pages, row.build_s, row.id, own.0)
    }

    fn update(&self, pages: &mut impl PageWrite, id: u32, build_sum_s: i64) -> Result<()> {
        let part = self.reference_to(pages, id)?;
        let turned = self
            .parts
            .change(pages, oid_of(part)?, |object| record::complement(object, build_sum_s))?;
        let (before_s, after_s) = turned?;
        self.builds.remove(pages, before_s, id)?;
        self.builds.add(pages, after_s, id, part.0)
    }

    fn remove(&self, pages: &mut impl PageWrite, id: u32) -> Result<()> {
        let part = self.reference_to(pages, id)?;
        let build_s =
            self.parts.read_at(pages, part, |view, at| view.u64(at + record::BUILD_AT))?;
        for target in self.to(pages, part)? {
            self.remove_from(pages, oid_of(target)?, part)?;
        }
        self.parts.delete(pages, oid_of(part)?)?;
        self.ids.remove(pages, id.into(), part.0)?;
        self.builds.remove(pages, build_s.cast_signed(), id)
    }
}
