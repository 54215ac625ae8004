//! OO7's objects in lode's files: finding them, and reading.

use std::ops::{Bound, ControlFlow, RangeInclusive};

use lode::internals::btree::Btree;
use lode::internals::hash::Hash;
use lode::internals::objects::{Objects, Oid, Reference};
use lode::{PageRead, View};

use crate::lode::failure::{Failure, Result};
use crate::lode::loading;
use crate::oo7::contents::Contents;
use crate::oo7::record::{self, Design, PART_WORDS, REFERENCES, TITLE_BYTES, TO};
use crate::oo7::visits::{Letters, Visits};
use crate::oo7::{Assembly, Object, Part};

/// The error for a record that is too short for its fields.
pub const TOO_SHORT: Failure = Failure::Malformed("a record that is too short for its fields");

const NOWHERE: Failure = Failure::Malformed("a reference that leads nowhere");

/// Connections that leave an atomic part in most databases: so many are read at once.
const AT_ONCE: usize = 3;

/// In the catalog.
pub const NAMES: [&str; 9] = [
    "objects.module",
    "objects.complex",
    "objects.base",
    "objects.composit",
    "objects.part",
    "objects.text",
    "objects.id",
    "objects.date",
    "objects.title",
];

/// Classes with an index on ids; they share one, in which the class stands before the id.
#[derive(Debug, Clone, Copy)]
pub enum Class {
    Module = 1,
    Base,
    Composite,
    Document,
    Part,
}

impl Class {
    pub const fn key(self, id: u32) -> u64 {
        (self as u64) << 32 | id as u64
    }
}

/// The files.
#[derive(Clone, Copy)]
pub struct Files {
    pub modules: Objects,
    pub complex: Objects,
    pub bases: Objects,
    pub composites: Objects,
    pub parts: Objects,
    pub texts: Objects,
    pub ids: Hash,
    /// By date and id.
    pub dates: Btree,
    /// By title.
    pub titles: Btree,
    /// Connections that leave each atomic part.
    pub fan_out: usize,
}

/// A key of the index on dates: the order of bytes is that of numbers.
pub fn date_key(date: i32, id: u32) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&date.cast_unsigned().to_be_bytes());
    key[4..].copy_from_slice(&id.to_be_bytes());
    key
}

/// A key of the index on titles.
pub fn title_key(title: &str) -> [u8; TITLE_BYTES] {
    let mut key = [b' '; TITLE_BYTES];
    key[..title.len()].copy_from_slice(title.as_bytes());
    key
}

pub fn oid_of(reference: Reference) -> Result<Oid> {
    reference.id().ok_or(NOWHERE)
}

fn word_of(value: &[u8]) -> Result<Reference> {
    let word = value.try_into().map_err(|_| Failure::Malformed("an index entry of no object"))?;
    Ok(Reference(u64::from_le_bytes(word)))
}

/// The objects in front of records.
pub fn object(objects: Objects, pages: &impl PageRead, at: Reference) -> Result<Object> {
    let words = objects.read_at(pages, at, see::<3>)?;
    Ok(record::object_of(words.ok_or(TOO_SHORT)?))
}

/// One of the two references of a class's own.
#[inline]
pub fn own(
    objects: Objects,
    pages: &impl PageRead,
    at: Reference,
    which: usize,
) -> Result<Reference> {
    let word = objects.read_at(pages, at, |view, at| view.u64(at + record::OWN + 8 * which))?;
    Ok(Reference(word))
}

/// The references of one of the two kinds to `out`.
pub fn references(
    objects: Objects,
    pages: &impl PageRead,
    at: Reference,
    which: usize,
    out: &mut Vec<Reference>,
) -> Result<()> {
    let first = out.len();
    Ok(objects.read_at(pages, at, |view, at| {
        // It may be looked at again.
        out.truncate(first);
        let counts = record::counts(view.u64(at + 16));
        let from = if which == 0 { 0 } else { counts[0] };
        let place = |number: usize| view.u64(at + REFERENCES + 8 * (from + number));
        out.extend((0..counts[which]).map(|number| Reference(place(number))));
    })?)
}

/// References to all records of a file.
pub fn all(objects: Objects, pages: &impl PageRead) -> Result<Vec<Reference>> {
    let mut oids = Vec::new();
    let _: ControlFlow<()> = objects.scan(pages, |oid, _| {
        oids.push(oid);
        Ok(ControlFlow::Continue(()))
    })?;
    oids.into_iter().map(|oid| Ok(objects.reference(pages, oid)?)).collect()
}

/// The first words of a record in its page.
#[inline]
fn see<const N: usize>(view: View<'_>, at: usize) -> Option<[u64; N]> {
    view.words(at)
}

/// The id at its front.
#[inline]
fn see_id(view: View<'_>, at: usize) -> u32 {
    view.u32(at)
}

impl Files {
    /// Find them; `None` where nothing was loaded.
    pub fn open(pages: &impl PageRead) -> Result<Option<Self>> {
        let Some(files) = loading::files(pages, NAMES)? else { return Ok(None) };
        let [module, complex, base, composite, part, text, id, date, title] = files;
        let mut found = Self {
            modules: Objects::open(module.file, module.root),
            complex: Objects::open(complex.file, complex.root),
            bases: Objects::open(base.file, base.root),
            composites: Objects::open(composite.file, composite.root),
            parts: Objects::open(part.file, part.root),
            texts: Objects::open(text.file, text.root),
            ids: Hash::open(id.root),
            dates: Btree::open(date.root),
            titles: Btree::open(title.root),
            fan_out: 0,
        };
        let first = found.by_id(pages, Class::Module, 1)?;
        let fan_out =
            found.modules.read_at(pages, first, |view, at| view.u32(at + record::MODULE))?;
        found.fan_out = fan_out as usize;
        Ok(Some(found))
    }

    /// An object by its id.
    pub fn by_id(&self, pages: &impl PageRead, class: Class, id: u32) -> Result<Reference> {
        let word = self.ids.get_one(pages, class.key(id))?;
        word.map(Reference).ok_or(Failure::Missing(id))
    }

    /// The composite part of the document with that title.
    pub fn titled(&self, pages: &impl PageRead, title: &str) -> Result<Reference> {
        let key = title_key(title);
        let found = self.titles.get(pages, &key, |value| value.u64(0))?;
        found.map(Reference).ok_or(Failure::Missing(0))
    }

    /// An atomic part.
    #[inline(always)]
    pub fn part(&self, pages: &impl PageRead, at: Reference) -> Result<Part> {
        let words = self.parts.read_at(pages, at, see::<PART_WORDS>)?;
        Ok(record::part_of(words.ok_or(TOO_SHORT)?))
    }

    /// An atomic part, and append where the connections that leave it lead to: both lie side by
    /// side, and are read at once where there are so many as most databases have.
    #[inline(always)]
    pub fn part_and_ends(
        &self,
        pages: &impl PageRead,
        at: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<Part> {
        if self.fan_out != AT_ONCE {
            return self.part_and_all_ends(pages, at, out);
        }
        let words = self.parts.read_at(pages, at, see::<{ PART_WORDS + AT_ONCE }>)?;
        let [named, xy, kind, tail, to @ ..] = words.ok_or(TOO_SHORT)?;
        out.extend_from_slice(&to.map(Reference));
        Ok(record::part_of([named, xy, kind, tail]))
    }

    /// The same of any number of connections.
    fn part_and_all_ends(
        &self,
        pages: &impl PageRead,
        at: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<Part> {
        let (first, fan_out) = (out.len(), self.fan_out);
        let words = self.parts.read_at(pages, at, |view, at| {
            out.truncate(first);
            out.extend((0..fan_out).map(|place| Reference(view.u64(at + TO + 8 * place))));
            see::<PART_WORDS>(view, at)
        })?;
        words.map(record::part_of).ok_or(TOO_SHORT)
    }

    /// Have the roots of the private components of base assemblies read ahead; `composites` is
    /// memory for their references.
    pub fn expect_graphs(
        &self,
        pages: &impl PageRead,
        bases: &[Reference],
        composites: &mut Vec<Reference>,
    ) -> Result<()> {
        composites.clear();
        for &base in bases {
            references(self.bases, pages, base, 0, composites)?;
        }
        for &composite in composites.iter() {
            pages.read_ahead(own(self.composites, pages, composite, 0)?.page());
        }
        Ok(())
    }

    /// The id of an atomic part.
    #[inline(always)]
    pub fn part_id(&self, pages: &impl PageRead, at: Reference) -> Result<u32> {
        Ok(self.parts.read_at(pages, at, see_id)?)
    }

    /// The place where the connections that leave an atomic part lead to.
    pub fn connected(
        &self,
        pages: &impl PageRead,
        at: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<()> {
        self.part_and_ends(pages, at, out).map(drop)
    }

    /// The composite part of an atomic part.
    pub fn composite_of(&self, pages: &impl PageRead, at: Reference) -> Result<Reference> {
        let place = record::composite_at(self.fan_out);
        Ok(Reference(self.parts.read_at(pages, at, |view, at| view.u64(at + place))?))
    }

    /// The atomic parts with such dates.
    pub fn dated(
        &self,
        pages: &impl PageRead,
        dates: &RangeInclusive<i32>,
        visits: &mut Visits,
    ) -> Result<()> {
        let (first, end) = (date_key(*dates.start(), 0), date_key(dates.end() + 1, 0));
        let range = (Bound::Included(&first[..]), Bound::Excluded(&end[..]));
        let mut cursor = self.dates.forwards(pages, range)?;
        while let Some((_, value)) = cursor.entry()? {
            visits.part(&self.part(pages, word_of(value)?)?);
        }
        Ok(())
    }

    /// All atomic parts.
    pub fn scan(&self, pages: &impl PageRead, mut each: impl FnMut(&Part)) -> Result<()> {
        let mut short = false;
        let _: ControlFlow<()> = self.parts.scan(pages, |_, bytes| {
            match record::part_in(bytes) {
                Some(part) => each(&part),
                None => short = true,
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if short { Err(TOO_SHORT) } else { Ok(()) }
    }

    /// The pieces of a text, one after another.
    pub fn text(
        &self,
        pages: &impl PageRead,
        head: Reference,
        mut see: impl FnMut(&[u8]),
    ) -> Result<()> {
        let bytes = self.texts.get(pages, oid_of(head)?)?;
        let (_, _, pieces) = record::head_of(&bytes).ok_or(TOO_SHORT)?;
        for piece in pieces {
            see(&self.texts.get(pages, oid_of(Reference(piece))?)?);
        }
        Ok(())
    }

    /// Each atomic part with the title of the document that it names.
    pub fn documents_of_parts(&self, pages: &impl PageRead, visits: &mut Visits) -> Result<()> {
        let mut named = Vec::new();
        self.scan(pages, |part| named.push((part.object.id, part.document)))?;
        for (id, document) in named {
            let head = self.by_id(pages, Class::Document, document)?;
            let bytes = self.texts.get(pages, oid_of(head)?)?;
            visits.pair(id, record::head_of(&bytes).ok_or(TOO_SHORT)?.0);
        }
        Ok(())
    }

    /// Everything that is stored.
    pub fn contents(&self, pages: &impl PageRead, contents: &mut Contents) -> Result<()> {
        self.tree_contents(pages, contents)?;
        for at in all(self.composites, pages)? {
            let it = Design::of(&self.composites.get(pages, oid_of(at)?)?).ok_or(TOO_SHORT)?;
            let root = self.part_id(pages, Reference(it.own[0]))?;
            contents.composite(&it.object, root);
            self.text_contents(pages, Reference(it.own[1]), |title, text| {
                contents.document(it.object.id, title, text);
            })?;
        }
        for at in all(self.parts, pages)? {
            let bytes = self.parts.get(pages, oid_of(at)?)?;
            let part = record::part_in(&bytes).ok_or(TOO_SHORT)?;
            let composite = self.composite_of(pages, at)?;
            contents.part(&part, object(self.composites, pages, composite)?.id);
            for it in record::leaving(&bytes, self.fan_out).ok_or(TOO_SHORT)? {
                let to = self.part_id(pages, Reference(it.to))?;
                contents.connection(part.object.id, to, it.kind, it.length);
            }
        }
        Ok(())
    }

    /// Modules, manuals, assemblies and components.
    fn tree_contents(&self, pages: &impl PageRead, contents: &mut Contents) -> Result<()> {
        for at in all(self.modules, pages)? {
            let it = Design::of(&self.modules.get(pages, oid_of(at)?)?).ok_or(TOO_SHORT)?;
            let root = object(self.complex, pages, Reference(it.own[0]))?.id;
            contents.module(&it.object, root);
            self.text_contents(pages, Reference(it.own[1]), |title, text| {
                contents.manual(it.object.id, title, text);
            })?;
        }
        for (file, is_base) in [(self.complex, false), (self.bases, true)] {
            for at in all(file, pages)? {
                let it = Design::of(&file.get(pages, oid_of(at)?)?).ok_or(TOO_SHORT)?;
                let parent = Reference(it.own[0]);
                let parent = match parent.id() {
                    Some(_) => object(self.complex, pages, parent)?.id,
                    None => 0,
                };
                contents.assembly(&Assembly { object: it.object, is_base }, parent, it.module);
                if is_base {
                    for (used, is_private) in it.references.iter().zip([true, false]) {
                        for &word in used {
                            let one = object(self.composites, pages, Reference(word))?;
                            contents.component(it.object.id, one.id, is_private);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn text_contents(
        &self,
        pages: &impl PageRead,
        head: Reference,
        add: impl FnOnce(&[u8], Letters),
    ) -> Result<()> {
        let mut text = Letters::default();
        self.text(pages, head, |piece| text = text.and(piece))?;
        let bytes = self.texts.get(pages, oid_of(head)?)?;
        add(record::head_of(&bytes).ok_or(TOO_SHORT)?.0, text);
        Ok(())
    }
}
