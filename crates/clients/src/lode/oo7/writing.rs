//! OO7's objects in lode's files: changing them. What a composite part owns is made together, so
//! that it lies together.

use std::ops::Range;

use loadstone_datasets::oo7::{Database, texts};
use lode::PageWrite;
use lode::internals::objects::{Objects, Oid, Reference};

use super::files::{Class, Files, TOO_SHORT, date_key, oid_of, title_key};
use crate::lode::failure::{Failure, Result};
use crate::oo7::record::{self, Design, Leaving, PIECE_BYTES};
use crate::oo7::{Kind, Object, Part};

/// The atomic parts that a composite part owns.
pub fn own_parts(database: &Database, composite: u32) -> Range<u32> {
    let root = database.root_part(composite);
    root..root + database.parts_per_composite
}

/// The connections that leave atomic parts of a composite part: (from, to, kind, length).
fn connections(
    database: &Database,
    parts: &Range<u32>,
) -> impl Iterator<Item = loadstone_datasets::oo7::database::Connection> {
    let fan_out = database.fan_out;
    let (mut draws, database) = (database.draws(), *database);
    let numbers = (parts.start - 1) * fan_out..(parts.end - 1) * fan_out;
    numbers.map(move |number| database.connection(&mut draws, number))
}

impl Files {
    /// A text: its pieces, then its head.
    pub fn add_text(
        &self,
        pages: &mut impl PageWrite,
        title: &str,
        id: u32,
        text: &[u8],
    ) -> Result<Reference> {
        let pieces = self.add_pieces(pages, text)?;
        let head = record::head(title, id, text.len(), &pieces);
        let oid = self.texts.insert(pages, &head, None)?;
        Ok(self.texts.reference(pages, oid)?)
    }

    fn add_pieces(&self, pages: &mut impl PageWrite, text: &[u8]) -> Result<Vec<u64>> {
        let piece = |piece: &[u8]| {
            let oid = self.texts.insert(pages, piece, None)?;
            Ok(self.texts.reference(pages, oid)?.0)
        };
        text.chunks(PIECE_BYTES).map(piece).collect()
    }

    /// Give a text other words: pieces that it has are used again.
    pub fn rewrite(&self, pages: &mut impl PageWrite, head: Reference, text: &[u8]) -> Result<()> {
        let head = oid_of(head)?;
        let bytes = self.texts.get(pages, head)?;
        let (title, id, before) = record::head_of(&bytes).ok_or(TOO_SHORT)?;
        let title = std::str::from_utf8(title).map_err(|_| Failure::Malformed("a title"))?;
        let mut after = Vec::with_capacity(before.len());
        let mut chunks = text.chunks(PIECE_BYTES);
        for piece in before {
            match chunks.next() {
                Some(chunk) => {
                    self.texts.update(pages, oid_of(Reference(piece))?, chunk)?;
                    after.push(piece);
                }
                None => self.texts.delete(pages, oid_of(Reference(piece))?)?,
            }
        }
        for chunk in chunks {
            after.extend(self.add_pieces(pages, chunk)?);
        }
        Ok(self.texts.update(pages, head, &record::head(title, id, text.len(), &after))?)
    }

    /// Records of the right lengths for a composite part's atomic parts; the references to them.
    pub fn place_parts(
        &self,
        pages: &mut impl PageWrite,
        database: &Database,
        composite: u32,
    ) -> Result<Vec<Reference>> {
        let parts = own_parts(database, composite);
        let mut incoming = vec![0; parts.len()];
        for connection in connections(database, &parts) {
            incoming[(connection.to - parts.start) as usize] += 1;
        }
        let place = |count: usize| {
            let empty = vec![0; record::part_length(self.fan_out, count)];
            let oid = self.parts.insert(pages, &empty, None)?;
            Ok(self.parts.reference(pages, oid)?)
        };
        incoming.into_iter().map(place).collect()
    }

    /// Fill these records: every reference is known now.
    pub fn fill_parts(
        &self,
        pages: &mut impl PageWrite,
        database: &Database,
        composite: (u32, Reference),
        places: &[Reference],
    ) -> Result<()> {
        let parts = own_parts(database, composite.0);
        let at = |id: u32| (id - parts.start) as usize;
        let mut incoming = vec![Vec::new(); parts.len()];
        let mut leaving: Vec<Vec<Leaving>> = parts.clone().map(|_| Vec::new()).collect();
        for made in connections(database, &parts) {
            incoming[at(made.to)].push(places[at(made.from)].0);
            let to = places[at(made.to)].0;
            let connection = Leaving { to, kind: Kind::of(made.kind), length: made.length };
            leaving[at(made.from)].push(connection);
        }
        let mut draws = database.draws();
        for id in parts.clone() {
            let part = Part::generated(database, &mut draws, id);
            let word = composite.1.0;
            let bytes = record::part(&part, word, &leaving[at(id)], &incoming[at(id)]);
            let oid = oid_of(places[at(id)])?;
            self.parts.change(pages, oid, |record| record.copy_from_slice(&bytes))?;
        }
        Ok(())
    }

    /// Change a range of an atomic part, and say so to the engine.
    pub fn change<R>(
        &self,
        pages: &mut impl PageWrite,
        at: Reference,
        range: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        Ok(self.parts.change_range(pages, oid_of(at)?, range, change)?)
    }

    /// A part's date became another: give it another place in the index.
    pub fn redate(
        &self,
        pages: &mut impl PageWrite,
        dates: Option<(i32, i32)>,
        id: u32,
        at: Reference,
    ) -> Result<()> {
        let (before, after) = dates.ok_or(TOO_SHORT)?;
        self.remove_date(pages, before, id)?;
        self.dates.put(pages, &date_key(after, id), &at.0.to_le_bytes())?;
        Ok(())
    }

    fn remove_date(&self, pages: &mut impl PageWrite, date: i32, id: u32) -> Result<()> {
        let removed = self.dates.remove(pages, &date_key(date, id))?;
        removed.map(|_| ()).ok_or(Failure::Missing(id))
    }

    /// A composite part with all that is its own, a private component of one base assembly.
    pub fn insert(
        &self,
        pages: &mut impl PageWrite,
        database: &Database,
        id: u32,
        receiver: u32,
    ) -> Result<()> {
        let base = self.by_id(pages, Class::Base, receiver)?;
        let title = texts::document_title(id);
        let mut text = Vec::new();
        texts::push_document(&mut text, id, database.document_length());
        let document = self.add_text(pages, &title, id, &text)?;
        let places = self.place_parts(pages, database, id)?;
        let object = Object::of(&database.composite(&mut database.draws(), id));
        let own = [places[0].0, document.0];
        let bytes = record::design(&object, 0, own, [&[base.0], &[]]);
        let oid = self.composites.insert(pages, &bytes, None)?;
        let composite = self.composites.reference(pages, oid)?;
        self.fill_parts(pages, database, (id, composite), &places)?;
        self.ids.insert(pages, Class::Composite.key(id), composite.0)?;
        self.ids.insert(pages, Class::Document.key(id), document.0)?;
        self.titles.put(pages, &title_key(&title), &composite.0.to_le_bytes())?;
        for (part, at) in own_parts(database, id).zip(&places) {
            self.ids.insert(pages, Class::Part.key(part), at.0)?;
            let date = self.part(pages, *at)?.object.build_date;
            self.dates.put(pages, &date_key(date, part), &at.0.to_le_bytes())?;
        }
        self.change_base(pages, base, |it| it.references[0].push(composite.0))
    }

    fn change_base(
        &self,
        pages: &mut impl PageWrite,
        base: Reference,
        change: impl FnOnce(&mut Design),
    ) -> Result<()> {
        let oid = oid_of(base)?;
        let mut it = Design::of(&self.bases.get(pages, oid)?).ok_or(TOO_SHORT)?;
        change(&mut it);
        Ok(self.bases.update(pages, oid, &it.bytes())?)
    }

    /// Delete a composite part with all that is its own.
    pub fn delete(&self, pages: &mut impl PageWrite, database: &Database, id: u32) -> Result<()> {
        let composite = self.by_id(pages, Class::Composite, id)?;
        let it = Design::of(&self.composites.get(pages, oid_of(composite)?)?).ok_or(TOO_SHORT)?;
        for &base in it.references.iter().flatten() {
            self.change_base(pages, Reference(base), |base| {
                base.forget(|word| Reference(word).is_to_same(composite));
            })?;
        }
        let document = Reference(it.own[1]);
        let head = self.texts.get(pages, oid_of(document)?)?;
        let (title, _, pieces) = record::head_of(&head).ok_or(TOO_SHORT)?;
        let title = std::str::from_utf8(title).map_err(|_| Failure::Malformed("a title"))?;
        self.titles.remove(pages, &title_key(title))?;
        for gone in pieces.into_iter().map(Reference).chain([document]) {
            self.texts.delete(pages, oid_of(gone)?)?;
        }
        for part in own_parts(database, id) {
            let at = self.by_id(pages, Class::Part, part)?;
            let date = self.part(pages, at)?.object.build_date;
            self.remove_date(pages, date, part)?;
            self.ids.remove(pages, Class::Part.key(part), at.0)?;
            self.parts.delete(pages, oid_of(at)?)?;
        }
        self.ids.remove(pages, Class::Document.key(id), document.0)?;
        self.ids.remove(pages, Class::Composite.key(id), composite.0)?;
        Ok(self.composites.delete(pages, oid_of(composite)?)?)
    }
}

/// An empty record of that length, and the reference to it.
pub fn placed(objects: Objects, pages: &mut impl PageWrite, length: usize) -> Result<Reference> {
    let oid = objects.insert(pages, &vec![0; length], None)?;
    Ok(objects.reference(pages, oid)?)
}

/// Put bytes into a record of their length.
pub fn fill(
    objects: Objects,
    pages: &mut impl PageWrite,
    at: Reference,
    bytes: &[u8],
) -> Result<()> {
    let oid: Oid = oid_of(at)?;
    Ok(objects.change(pages, oid, |record| record.copy_from_slice(bytes))?)
}
