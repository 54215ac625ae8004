//! OO7's program on lode: what its loops ask for, answered from objects.

use std::ops::RangeInclusive;

use loadstone_datasets::oo7::Database as Data;
use lode::internals::catalog;
use lode::internals::objects::Reference;
use lode::{LodeError, PageRead};

use super::files::{self, Class};
use super::plain::Plain;
use super::{Lode, load, not_begun, not_loaded};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::lode::ENGINE;
use crate::lode::failure::Failure;
use crate::lode::place::Place;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::objects::toggled;
use crate::oo7::record;
use crate::oo7::visits::Visits;
use crate::oo7::{Assembly, Object, Part};

const ACCESS: &str =
    "objects with references both ways; a hash index on ids, B-trees on date and title";

impl<P: Place> Driver for Lode<P> {
    const ENGINE: &'static str = ENGINE;

    type Complex = Reference;
    type Base = Reference;
    type Composite = Reference;
    type Part = Reference;

    fn load(&mut self, database: &Data) -> Result<(), ClientError> {
        self.reader = None;
        self.rollback()?;
        self.forget_pages();
        let records = u64::from(database.part_count());
        self.files = Some(self.store.load(records, |loading| load::load(loading, database))?);
        Ok(())
    }

    fn another(&self) -> Result<Self, ClientError> {
        Self::attach(self.store.another()?)
    }

    fn is_conflict(error: &ClientError) -> bool {
        matches!(error, ClientError::Engine { message, .. } if is_deadlock(message))
    }

    fn design_root(&mut self, module: u32) -> Result<Reference, ClientError> {
        ask!(self, "finding a module", |files, pages| {
            files
                .by_id(pages, Class::Module, module)
                .and_then(|at| files::own(files.modules, pages, at, 0))
        })
    }

    fn subassemblies(
        &mut self,
        of: Reference,
        complex: &mut Vec<Reference>,
        bases: &mut Vec<Reference>,
    ) -> Result<(), ClientError> {
        ask!(self, "following references", |files, pages| {
            let both = files::references(files.complex, pages, of, 0, complex);
            both.and_then(|()| files::references(files.complex, pages, of, 1, bases))
        })
    }

    fn components(&mut self, of: Reference, out: &mut Vec<Reference>) -> Result<(), ClientError> {
        ask!(self, "following references", |files, pages| {
            files::references(files.bases, pages, of, 0, out)
        })
    }

    fn expect_graphs(&mut self, of: &[Reference]) -> Result<(), ClientError> {
        let Some(expected) = &mut self.expected else { return Ok(()) };
        ask!(self, "reading ahead", |files, pages| files.expect_graphs(pages, of, expected))
    }

    fn expect_parts(&mut self, parts: &[Reference]) -> Result<(), ClientError> {
        if self.expected.is_none() {
            return Ok(());
        }
        ask!(self, "reading ahead", |_files, pages| {
            for part in parts {
                pages.read_ahead(part.page());
            }
            Ok::<(), Failure>(())
        })
    }

    fn shared_components(
        &mut self,
        of: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<(), ClientError> {
        ask!(self, "following references", |files, pages| {
            files::references(files.bases, pages, of, 1, out)
        })
    }

    #[inline]
    fn root_part(&mut self, of: Reference) -> Result<Reference, ClientError> {
        ask!(self, "following references", |files, pages| {
            files::own(files.composites, pages, of, 0)
        })
    }

    #[inline(always)]
    fn identity(&self, part: Reference) -> u64 {
        // Where it lies in its page is a hint, which two references to one object may have two of.
        part.number()
    }

    fn read(&mut self, part: Reference) -> Result<Part, ClientError> {
        ask!(self, "reading an atomic part", |files, pages| files.part(pages, part))
    }

    fn connected(&mut self, part: Reference, out: &mut Vec<Reference>) -> Result<(), ClientError> {
        ask!(self, "following connections", |files, pages| files.connected(pages, part, out))
    }

    /// Compiled for who only reads; for the others it is a call.
    #[inline(always)]
    fn follow(&mut self, part: Reference, out: &mut Vec<Reference>) -> Result<Part, ClientError> {
        match (&self.reader, &self.files) {
            (Some(reader), Some(files)) => files
                .part_and_ends(P::pages(reader), part, out)
                .map_err(|failure| failure.reported("following connections")),
            _ => self.follow_slow(part, out),
        }
    }

    fn find(&mut self, id: u32) -> Result<(Reference, Part), ClientError> {
        ask!(self, "looking an atomic part up", |files, pages| {
            let found = files.by_id(pages, Class::Part, id);
            found.and_then(|at| files.part(pages, at).map(|part| (at, part)))
        })
    }

    fn dated(
        &mut self,
        dates: RangeInclusive<i32>,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        ask!(self, "looking dates up", |files, pages| files.dated(pages, &dates, visits))
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        ask!(self, "scanning", |files, pages| files.scan(pages, |part| visits.part(part)))
    }

    fn composite_of(&mut self, part: Reference) -> Result<Reference, ClientError> {
        ask!(self, "following a reference", |files, pages| files.composite_of(pages, part))
    }

    fn composite(&mut self, composite: Reference) -> Result<Object, ClientError> {
        ask!(self, "reading a composite part", |files, pages| {
            files::object(files.composites, pages, composite)
        })
    }

    fn users(&mut self, of: Reference, out: &mut Vec<Reference>) -> Result<(), ClientError> {
        ask!(self, "following references", |files, pages| {
            files::references(files.composites, pages, of, 0, out)
        })
    }

    fn base(&mut self, base: Reference) -> Result<(Assembly, Reference), ClientError> {
        ask!(self, "reading an assembly", |files, pages| {
            let object = files::object(files.bases, pages, base);
            object.and_then(|object| {
                let parent = files::own(files.bases, pages, base, 0)?;
                Ok((Assembly { object, is_base: true }, parent))
            })
        })
    }

    fn complex(
        &mut self,
        complex: Reference,
    ) -> Result<(Assembly, Option<Reference>), ClientError> {
        ask!(self, "reading an assembly", |files, pages| {
            let object = files::object(files.complex, pages, complex);
            object.and_then(|object| {
                let parent = files::own(files.complex, pages, complex, 0)?;
                let parent = parent.id().map(|_| parent);
                Ok((Assembly { object, is_base: false }, parent))
            })
        })
    }

    fn bases(&mut self, out: &mut Vec<Reference>) -> Result<(), ClientError> {
        let all = ask!(self, "scanning", |files, pages| files::all(files.bases, pages))?;
        out.extend(all);
        Ok(())
    }

    fn titled(&mut self, title: &str) -> Result<Reference, ClientError> {
        ask!(self, "looking a title up", |files, pages| files.titled(pages, title))
    }

    fn document(&mut self, of: Reference, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        ask!(self, "reading a document", |files, pages| {
            let head = files::own(files.composites, pages, of, 1);
            head.and_then(|head| files.text(pages, head, &mut see))
        })
    }

    fn manual(&mut self, module: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        ask!(self, "reading a manual", |files, pages| {
            let module = files.by_id(pages, Class::Module, module);
            let head = module.and_then(|at| files::own(files.modules, pages, at, 1));
            head.and_then(|head| files.text(pages, head, &mut see))
        })
    }

    fn documents_of_parts(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        ask!(self, "looking documents up", |files, pages| {
            files.documents_of_parts(pages, visits)
        })
    }

    #[inline]
    fn swap(&mut self, part: Reference) -> Result<(), ClientError> {
        if self.plain.is_some() {
            return self.store_to(part, record::XY, record::swap);
        }
        change!(self, "changing an atomic part", |files, pages| {
            files.change(pages, part, record::XY, record::swap)
        })
    }

    fn toggle_date(&mut self, part: Reference) -> Result<(), ClientError> {
        let id = ask!(self, "reading an atomic part", |files, pages| files.part_id(pages, part))?;
        let toggle = |date: &mut [u8]| record::date(date, toggled);
        let dates = if self.plain.is_some() {
            self.store_to(part, record::DATE, toggle)?
        } else {
            change!(self, "changing a date", |files, pages| {
                files.change(pages, part, record::DATE, toggle)
            })?
        };
        change!(self, "changing a date's place in the index", |files, pages| {
            files.redate(pages, dates, id, part)
        })
    }

    fn rewrite(&mut self, of: Reference, text: &[u8]) -> Result<(), ClientError> {
        change!(self, "changing a document", |files, pages| {
            let head = files::own(files.composites, pages, of, 1);
            head.and_then(|head| files.rewrite(pages, head, text))
        })
    }

    fn insert(
        &mut self,
        database: &Data,
        composite: u32,
        receiver: u32,
    ) -> Result<(), ClientError> {
        self.forget_pages();
        change!(self, "inserting a composite part", |files, pages| {
            files.insert(pages, database, composite, receiver)
        })
    }

    fn delete(&mut self, database: &Data, composite: u32) -> Result<(), ClientError> {
        self.forget_pages();
        change!(self, "deleting a composite part", |files, pages| {
            files.delete(pages, database, composite)
        })
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        ask!(self, "reading everything", |files, pages| files.contents(pages, contents))
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.store.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = self.store.terms(ACCESS)?;
        let reader = P::reader(self.store.database()?);
        let files = catalog::all(P::pages(&reader));
        drop(reader);
        let files =
            files.map_err(|error| ClientError::engine(ENGINE, "reading its catalog", error))?;
        let named = |entry: &catalog::Entry| format!("{} ({:?})", entry.name, entry.kind);
        let list: Vec<String> = files.iter().map(named).collect();
        terms.push(("indexes".to_owned(), list.join(", ")));
        let designs = files.iter().filter_map(|entry| entry.name.split_once('.'));
        let mut designs: Vec<_> = designs.map(|(one, _)| one).collect();
        designs.dedup();
        if !designs.is_empty() {
            terms.push(("access".to_owned(), designs.join(" and ")));
        }
        Ok(terms)
    }
}

impl<P: Place> Lode<P> {
    /// An atomic part, and append where the connections that leave it lead to.
    #[inline(never)]
    fn follow_slow(
        &mut self,
        part: Reference,
        out: &mut Vec<Reference>,
    ) -> Result<Part, ClientError> {
        ask!(self, "following connections", |files, pages| files.part_and_ends(pages, part, out))
    }
}

fn is_deadlock(message: &str) -> bool {
    message == LodeError::Deadlock.to_string()
}
