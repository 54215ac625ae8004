//! OO7 on LMDB: a table for each class, in which an object lies under its id with the ids of those
//! that it refers to. Texts are values of their own, whatever their length.

mod store;

use std::ops::RangeInclusive;
use std::sync::Arc;

use loadstone_datasets::oo7::{Database, texts};

pub use self::store::Lmdb;
use self::store::{
    BASE, COMPLEX, COMPOSITE, DATE, DOCUMENT, MANUAL, MODULE, PART, TABLES, TITLE, id_of, key,
    malformed, title_key,
};
use super::raw::{ENGINE, version};
use super::tables;
use super::writer::Writer;
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::objects::toggled;
use crate::oo7::record::{self, Design, PART_WORDS, TITLE_BYTES, TO};
use crate::oo7::visits::{Letters, Visits};
use crate::oo7::{Assembly, Object, Part};

/// The words of a value from a place on.
#[inline]
fn words_at<const N: usize>(value: &[u8], at: usize) -> Option<[u64; N]> {
    let (words, _) = value.get(at..)?.as_chunks::<8>();
    let words: &[[u8; 8]; N] = words.first_chunk()?;
    Some(words.map(u64::from_le_bytes))
}

/// The atomic parts at the other ends of the connections that leave one, of its value.
#[inline]
fn ends(value: &[u8], fan_out: usize, out: &mut Vec<u32>) -> Result<(), ClientError> {
    let (words, _) = value.get(TO..).ok_or_else(malformed)?.as_chunks::<8>();
    let to = words.get(..fan_out).ok_or_else(malformed)?;
    out.extend(to.iter().map(|word| id_of(u64::from_le_bytes(*word))));
    Ok(())
}

impl Transactions for Lmdb {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.reader.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.reader.end();
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        // A snapshot held meanwhile keeps pages from being used again.
        self.reader.end();
        self.writer = Some(Writer::begin(&self.environment)?);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.writer.take().map_or(Ok(()), Writer::commit)
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.writer = None;
        Ok(())
    }
}

impl Driver for Lmdb {
    const ENGINE: &'static str = ENGINE;

    type Complex = u32;
    type Base = u32;
    type Composite = u32;
    type Part = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.begin_write()?;
        for table in self.tables {
            self.writing()?.clear(table)?;
        }
        let users = self.add_tree(database)?;
        for (id, [private, shared]) in (1..).zip(&users) {
            self.add_composite(database, id, [private, shared])?;
        }
        self.fan_out = database.fan_out as usize;
        self.commit()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Self::attach(Arc::clone(&self.environment), self.tables, self.fan_out)
    }

    fn design_root(&mut self, module: u32) -> Result<u32, ClientError> {
        Ok(id_of(self.design(MODULE, module)?.own[0]))
    }

    fn subassemblies(
        &mut self,
        of: u32,
        complex: &mut Vec<u32>,
        bases: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        let [first, second] = self.design(COMPLEX, of)?.references;
        complex.extend(first.into_iter().map(id_of));
        bases.extend(second.into_iter().map(id_of));
        Ok(())
    }

    fn components(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let [private, _] = self.design(BASE, of)?.references;
        out.extend(private.into_iter().map(id_of));
        Ok(())
    }

    fn shared_components(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let [_, shared] = self.design(BASE, of)?.references;
        out.extend(shared.into_iter().map(id_of));
        Ok(())
    }

    fn root_part(&mut self, of: u32) -> Result<u32, ClientError> {
        let value = self.get(COMPOSITE, of)?;
        let [root] = words_at(value, record::OWN).ok_or_else(malformed)?;
        Ok(id_of(root))
    }

    #[inline]
    fn identity(&self, part: u32) -> u64 {
        part.into()
    }

    #[inline]
    fn read(&mut self, part: u32) -> Result<Part, ClientError> {
        let words = words_at::<PART_WORDS>(self.get(PART, part)?, 0);
        words.map(record::part_of).ok_or_else(malformed)
    }

    #[inline]
    fn connected(&mut self, part: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        ends(self.get(PART, part)?, self.fan_out, out)
    }

    #[inline]
    fn follow(&mut self, part: u32, out: &mut Vec<u32>) -> Result<Part, ClientError> {
        let fan_out = self.fan_out;
        let value = self.part_near(part)?;
        ends(value, fan_out, out)?;
        words_at::<PART_WORDS>(value, 0).map(record::part_of).ok_or_else(malformed)
    }

    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    fn dated(
        &mut self,
        dates: RangeInclusive<i32>,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        let mut found = Vec::new();
        self.reader.walk(DATE, &key(dates.start().cast_unsigned()), |at, id| {
            let date = at.try_into().map(u32::from_ne_bytes).map_err(|_| malformed())?;
            let is_within = date <= dates.end().cast_unsigned();
            if is_within {
                found.push(id.try_into().map(u32::from_ne_bytes).map_err(|_| malformed())?);
            }
            Ok(is_within)
        })?;
        found.into_iter().try_for_each(|id| self.read(id).map(|part| visits.part(&part)))
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.each(PART, |_, value| record::part_in(value).map(|part| visits.part(&part)))
    }

    fn composite_of(&mut self, part: u32) -> Result<u32, ClientError> {
        let place = record::composite_at(self.fan_out);
        let [composite] = words_at(self.get(PART, part)?, place).ok_or_else(malformed)?;
        Ok(id_of(composite))
    }

    fn composite(&mut self, composite: u32) -> Result<Object, ClientError> {
        let words = words_at(self.get(COMPOSITE, composite)?, 0);
        words.map(record::object_of).ok_or_else(malformed)
    }

    fn users(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let [private, _] = self.design(COMPOSITE, of)?.references;
        out.extend(private.into_iter().map(id_of));
        Ok(())
    }

    fn base(&mut self, base: u32) -> Result<(Assembly, u32), ClientError> {
        let it = self.design(BASE, base)?;
        Ok((Assembly { object: it.object, is_base: true }, id_of(it.own[0])))
    }

    fn complex(&mut self, complex: u32) -> Result<(Assembly, Option<u32>), ClientError> {
        let it = self.design(COMPLEX, complex)?;
        let parent = Some(id_of(it.own[0])).filter(|&id| id != 0);
        Ok((Assembly { object: it.object, is_base: false }, parent))
    }

    fn bases(&mut self, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.each(BASE, |id, _| {
            out.push(id);
            Some(())
        })
    }

    fn titled(&mut self, title: &str) -> Result<u32, ClientError> {
        let found = self.reader.get(self.tables[TITLE], &title_key(title))?;
        let id = found.and_then(|id| id.try_into().ok()).map(u32::from_ne_bytes);
        id.ok_or_else(|| Self::missing(0))
    }

    fn document(&mut self, of: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        see(self.text(DOCUMENT, of)?);
        Ok(())
    }

    fn manual(&mut self, module: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        see(self.text(MANUAL, module)?);
        Ok(())
    }

    fn documents_of_parts(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        let mut named = Vec::new();
        self.each(PART, |id, value| {
            record::part_in(value).map(|part| named.push((id, part.document)))
        })?;
        for (id, document) in named {
            let title = self.get(DOCUMENT, document)?.get(..TITLE_BYTES).ok_or_else(malformed)?;
            visits.pair(id, title.trim_ascii_end());
        }
        Ok(())
    }

    fn swap(&mut self, part: u32) -> Result<(), ClientError> {
        self.change(part, |bytes| bytes.get_mut(record::XY).map(record::swap))
    }

    fn toggle_date(&mut self, part: u32) -> Result<(), ClientError> {
        let (before, after) = self.change(part, |bytes| {
            bytes.get_mut(record::DATE).and_then(|date| record::date(date, toggled))
        })?;
        self.remove_date(before, part)?;
        self.add_date(after, part)
    }

    fn rewrite(&mut self, of: u32, text: &[u8]) -> Result<(), ClientError> {
        let title = self.get(DOCUMENT, of)?.get(..TITLE_BYTES).ok_or_else(malformed)?;
        let value = [title, text].concat();
        self.put(DOCUMENT, of, &value)
    }

    fn insert(
        &mut self,
        database: &Database,
        composite: u32,
        receiver: u32,
    ) -> Result<(), ClientError> {
        self.add_composite(database, composite, [&[receiver.into()], &[]])?;
        let mut base = self.design(BASE, receiver)?;
        base.references[0].push(composite.into());
        self.put(BASE, receiver, &base.bytes())
    }

    fn delete(&mut self, database: &Database, composite: u32) -> Result<(), ClientError> {
        let it = self.design(COMPOSITE, composite)?;
        for &base in it.references.iter().flatten() {
            let mut used = self.design(BASE, id_of(base))?;
            used.forget(|word| id_of(word) == composite);
            self.put(BASE, id_of(base), &used.bytes())?;
        }
        let root = id_of(it.own[0]);
        for part in root..root + database.parts_per_composite {
            let date = self.read(part)?.object.build_date;
            self.remove_date(date, part)?;
            self.remove(PART, part)?;
        }
        let titles = self.tables[TITLE];
        let title = title_key(&texts::document_title(composite));
        self.writing()?.remove(titles, &title, None)?;
        self.remove(DOCUMENT, composite)?;
        self.remove(COMPOSITE, composite)
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        let letters = |value: &[u8]| Letters::default().and(&value[TITLE_BYTES..]);
        self.each(MODULE, |_, value| {
            let it = Design::of(value)?;
            contents.module(&it.object, id_of(it.own[0]));
            Some(())
        })?;
        self.each(MANUAL, |id, value| {
            let title = value.get(..TITLE_BYTES)?.trim_ascii_end();
            contents.manual(id, title, letters(value));
            Some(())
        })?;
        for (table, is_base) in [(COMPLEX, false), (BASE, true)] {
            self.each(table, |id, value| {
                let it = Design::of(value)?;
                let assembly = Assembly { object: it.object, is_base };
                contents.assembly(&assembly, id_of(it.own[0]), it.module);
                if is_base {
                    for (used, is_private) in it.references.iter().zip([true, false]) {
                        for one in used {
                            contents.component(id, id_of(*one), is_private);
                        }
                    }
                }
                Some(())
            })?;
        }
        self.each(COMPOSITE, |_, value| {
            let it = Design::of(value)?;
            contents.composite(&it.object, id_of(it.own[0]));
            Some(())
        })?;
        self.each(DOCUMENT, |id, value| {
            let title = value.get(..TITLE_BYTES)?.trim_ascii_end();
            contents.document(id, title, letters(value));
            Some(())
        })?;
        let fan_out = self.fan_out;
        self.each(PART, |id, value| {
            let [composite] = words_at(value, record::composite_at(fan_out))?;
            contents.part(&record::part_in(value)?, id_of(composite));
            for it in record::leaving(value, fan_out)? {
                contents.connection(id, id_of(it.to), it.kind, it.length);
            }
            Some(())
        })
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        let length = std::fs::metadata(self.environment.path()).map(|it| it.len());
        length.map_err(|error| ClientError::engine(ENGINE, "measuring the file", error))
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let syncs = self.environment.syncs()?;
        let durability = if syncs { "synchronous commit" } else { "no sync" };
        let filled = tables::filled(&self.environment, TABLES.map(|(name, _)| name))?;
        let has_parts = filled.iter().any(|(name, _)| name == "oo7.part");
        let each = |(name, entries): &(String, usize)| format!("B-tree {name} of {entries} values");
        let indexes = filled.iter().map(each).collect::<Vec<_>>().join(", ");
        let version = version();
        let terms = [
            ("version", version.as_str()),
            ("durability", durability),
            ("indexes", indexes.as_str()),
            ("read transaction", "one measure: a snapshot"),
        ];
        let access = has_parts.then_some(("access", "objects"));
        let terms = terms.into_iter().chain(access);
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}
