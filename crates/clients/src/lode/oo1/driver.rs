//! The driver, the same for all designs.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};
use lode::internals::catalog::{self, CATALOG_PAGE};
use lode::tactics::{Detect, Prefetch};
use lode::{PageRead, PageWrite};

use super::design::Design;
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::lode::ENGINE;
use crate::lode::failure::{Failure, Result as DesignResult};
use crate::lode::place::Place;
use crate::lode::store::Store;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::part::Part;
use crate::oo1::visits::Visits;
use crate::tactics::{Address, Tactics};

/// The number of times that a transaction is run again that was chosen to end a deadlock.
const RUNS_MAX: u32 = 1_000;

const BY_KEYS: &str = "its parts lead to each other by keys, and only references are prefetched";

const UNMAPPED: &str =
    "OO1's program changes parts by calls and maps no pages, so no store is found";

/// lode in one of its designs, at one of its places.
pub struct Lode<D: Design, P: Place> {
    session: Option<Session<D, P>>,
    kept: D::Kept,
    /// Whether the read transaction has answered nothing yet, so that it may begin again.
    fresh: bool,
    design: Option<D>,
    writer: Option<P::Writer>,
    /// The changes that the write transaction has made so far, to be made again after a deadlock.
    changes: Vec<Change>,
    store: Store<P>,
}

/// A read transaction, and where things are.
struct Session<D, P: Place> {
    reader: P::Reader,
    design: D,
}

impl<D, P: Place> Session<D, P> {
    #[inline]
    fn pages(&self) -> &P::Reading {
        P::pages(&self.reader)
    }
}

/// Something that a transaction does.
#[derive(Clone)]
enum Change {
    Insert(NewPart),
    Update { id: u32, build_sum_s: i64 },
    Remove(RangeInclusive<u32>),
}

impl Change {
    fn apply<D: Design>(&self, design: D, pages: &mut impl PageWrite) -> DesignResult<()> {
        match self {
            Self::Insert(new) => design.insert(pages, new),
            Self::Update { id, build_sum_s } => design.update(pages, *id, *build_sum_s),
            // The youngest first: the others may be what it is connected to.
            Self::Remove(ids) => ids.clone().rev().try_for_each(|id| design.remove(pages, id)),
        }
    }
}

impl<D: Design, P: Place> Lode<D, P> {
    /// Open the database that is there.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let store = Store::<P>::open(address, tactics)?;
        if !D::WALKS && store.database()?.tactics().prefetch == Prefetch::On {
            return Err(Self::unsupported("prefetch=on with this access", BY_KEYS));
        }
        if store.database()?.tactics().detect != Detect::Explicit {
            return Err(Self::unsupported("detect", UNMAPPED));
        }
        let reader = P::reader(store.database()?);
        let design = D::open(P::pages(&reader));
        drop(reader);
        let design = design.map_err(|failure| failure.reported("finding its files"))?;
        Ok(Self::attach(store, design))
    }

    fn attach(store: Store<P>, design: Option<D>) -> Self {
        Self {
            session: None,
            kept: D::Kept::default(),
            fresh: false,
            design,
            writer: None,
            changes: Vec::new(),
            store,
        }
    }

    fn design(&self) -> Result<D, ClientError> {
        let message = "nothing was loaded with this access: load it first";
        self.design.ok_or_else(|| ClientError::engine(ENGINE, "finding its files", message))
    }

    /// Ask within the read transaction.
    fn ask<R>(
        &self,
        doing: &'static str,
        ask: impl FnOnce(D, &P::Reading) -> DesignResult<R>,
    ) -> Result<R, ClientError> {
        let session = self.session.as_ref().ok_or_else(not_begun)?;
        ask(session.design, session.pages()).map_err(|failure| failure.reported(doing))
    }

    /// A look-up failed: begin again, if it ended a deadlock and was the transaction's first.
    #[cold]
    #[inline(never)]
    fn begin_again(&mut self, failure: Failure) -> Result<(), ClientError> {
        if self.fresh && failure.is_deadlock() {
            return self.begin();
        }
        Err(failure.reported("looking a part up"))
    }

    fn write(&mut self, change: Change) -> Result<(), ClientError> {
        let design = self.design()?;
        let message = "nothing was begun: begin to write first";
        let writer = self.writer.as_mut();
        let writer = writer.ok_or_else(|| ClientError::engine(ENGINE, "writing", message))?;
        let outcome = change.apply(design, P::pages_mut(writer));
        self.changes.push(change);
        match outcome {
            Err(failure) if failure.is_deadlock() => self.write_again(),
            outcome => outcome.map_err(|failure| failure.reported("writing")),
        }
    }

    /// All that the transaction did, in another: this one was chosen to end a deadlock.
    #[cold]
    fn write_again(&mut self) -> Result<(), ClientError> {
        let design = self.design()?;
        for _ in 0..RUNS_MAX {
            // Its locks first: the next one would wait for them.
            self.writer = None;
            let writer = self.writer.insert(P::writer(self.store.database()?));
            let mut changes = self.changes.iter();
            let pages = P::pages_mut(writer);
            let outcome = changes.try_for_each(|change| change.apply(design, pages));
            match outcome {
                Err(failure) if failure.is_deadlock() => {}
                outcome => return outcome.map_err(|failure| failure.reported("writing again")),
            }
        }
        Err(ClientError::engine(ENGINE, "writing again", "it always ended in a deadlock"))
    }
}

#[cold]
fn not_begun() -> ClientError {
    ClientError::engine(ENGINE, "reading", "nothing was begun: begin to read first")
}

impl<D: Design, P: Place> Transactions for Lode<D, P> {
    fn begin(&mut self) -> Result<(), ClientError> {
        let design = self.design()?;
        // Its locks first: a writer may wait for them, and the next one for that writer.
        self.session = None;
        self.fresh = true;
        let session = Session { reader: P::reader(self.store.database()?), design };
        let begun = design.begin(session.pages(), &mut self.kept);
        self.session = Some(session);
        begun.map_err(|failure| failure.reported("beginning to read"))
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.session = None;
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        // A read transaction of one's own would keep the write transaction from its locks.
        self.session = None;
        self.rollback()?;
        self.writer = Some(P::writer(self.store.database()?));
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.changes.clear();
        let committed = self.writer.take().map_or(Ok(()), P::commit);
        committed.map_err(|error| ClientError::engine(ENGINE, "committing", error))
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.changes.clear();
        self.writer = None;
        Ok(())
    }
}

impl<D: Design, P: Place> Driver for Lode<D, P> {
    const ENGINE: &'static str = ENGINE;

    type Handle = D::Handle;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.session = None;
        self.rollback()?;
        self.design =
            Some(self.store.load(u64::from(database.parts), |loading| D::load(loading, database))?);
        Ok(())
    }

    fn another(&self) -> Result<Self, ClientError> {
        Ok(Self::attach(self.store.another()?, self.design))
    }

    #[inline(always)]
    fn find(&mut self, id: u32) -> Result<(D::Handle, Part), ClientError> {
        loop {
            let Some(session) = &self.session else { return Err(not_begun()) };
            match session.design.find(session.pages(), id, &mut self.kept) {
                Ok(found) => {
                    self.fresh = false;
                    return Ok(found);
                }
                Err(failure) => self.begin_again(failure)?,
            }
        }
    }

    #[inline(always)]
    fn read(&mut self, handle: D::Handle) -> Result<Part, ClientError> {
        let Some(session) = &self.session else { return Err(not_begun()) };
        let read = session.design.read(session.pages(), handle, &mut self.kept);
        read.map_err(|failure| failure.reported("reading a part"))
    }

    #[inline(always)]
    fn links(
        &mut self,
        handle: D::Handle,
        direction: Direction,
        out: &mut Vec<D::Handle>,
    ) -> Result<(), ClientError> {
        let Some(session) = &self.session else { return Err(not_begun()) };
        let links = session.design.links(session.pages(), handle, direction, &mut self.kept, out);
        links.map_err(|failure| failure.reported("following links"))
    }

    #[inline(always)]
    fn walk(
        &mut self,
        from: D::Handle,
        depth: u32,
        direction: Direction,
        visits: &mut Visits,
    ) -> Option<Result<u64, ClientError>> {
        let Some(session) = &self.session else { return Some(Err(not_begun())) };
        let before = visits.count;
        let walked = session.design.walk(session.pages(), from, depth, direction, visits)?;
        let given = walked.map(|()| visits.count - before);
        Some(given.map_err(|failure| failure.reported("walking along links")))
    }

    fn links_in_order(
        &mut self,
        handle: D::Handle,
        out: &mut Vec<D::Handle>,
    ) -> Result<(), ClientError> {
        self.ask("following links", |design, pages| design.links_in_order(pages, handle, out))
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        self.ask("looking a range up", |design, pages| design.range(pages, build_s, visits))
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.ask("scanning", |design, pages| design.scan(pages, visits))
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        self.ask("following a link", |design, pages| design.reference(pages, from, to))
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        self.ask("looking links up", |design, pages| design.group(pages, id, visits))
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        self.write(Change::Insert(*new))
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        self.write(Change::Update { id, build_sum_s })
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        self.write(Change::Remove(ids))
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    fn empty(&mut self) -> Result<(), ClientError> {
        self.ask("looking at a page", |_, pages| Ok(pages.read(CATALOG_PAGE, |_| ())?))
    }

    fn constant(&mut self) -> Result<i32, ClientError> {
        self.ask("looking at a page", |_, pages| {
            Ok(pages.read(CATALOG_PAGE, |view| i32::from(view.count().cast_signed()))?)
        })
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.store.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = self.store.terms(D::ACCESS)?;
        let reader = P::reader(self.store.database()?);
        let files = catalog::all(P::pages(&reader));
        drop(reader);
        let files =
            files.map_err(|error| ClientError::engine(ENGINE, "reading its catalog", error))?;
        let named = |entry: &catalog::Entry| format!("{} ({:?})", entry.name, entry.kind);
        let list: Vec<String> = files.iter().map(named).collect();
        terms.push(("indexes".to_owned(), list.join(", ")));
        let mut designs: Vec<_> = files
            .iter()
            .filter_map(|entry| entry.name.split_once('.'))
            .map(|(one, _)| one)
            .collect();
        designs.dedup();
        if !designs.is_empty() {
            terms.push(("access".to_owned(), designs.join(" and ")));
        }
        Ok(terms)
    }
}
