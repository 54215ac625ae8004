//! A transaction that owns a share of its database, so that neither can outlive what it needs.

use std::sync::{Arc, Mutex};

use lode::error::Result;
use lode::owner::Owner;
use lode::page::{FileNumber, PageBytes, PageKind, PageNumber};
use lode::pages::{Pages, Version};
use lode::remote::{Remote, RemoteReading, RemoteWriting};
use lode::server::Carried;
use lode::{Database, Reading, View, Writing};
use pyo3::prelude::*;
use self_cell::self_cell;

use super::error::{failure, over};

const ENDED: &str = "the transaction has ended: begin another";
const AWAY: &str = "a transaction at a page server stays in the thread that began it: use it there";

/// Where a database is.
#[derive(Clone)]
pub enum Place {
    Here(Arc<Database>),
    There(Arc<Remote>),
}

/// A transaction of either kind, at either place.
pub enum Either<'a> {
    Reading(Reading<'a>),
    Writing(Writing<'a>),
    RemoteReading(Carried<RemoteReading<'a>>),
    RemoteWriting(Carried<RemoteWriting<'a>>),
}

impl Either<'_> {
    fn is_at_home(&self) -> bool {
        match self {
            Self::Reading(_) | Self::Writing(_) => true,
            Self::RemoteReading(reading) => reading.is_at_home(),
            Self::RemoteWriting(writing) => writing.is_at_home(),
        }
    }
}

/// Empty from the moment on in which the transaction is being ended.
type Slot<'a> = Option<Either<'a>>;

self_cell!(
    struct Owned {
        owner: Place,
        #[covariant]
        dependent: Slot,
    }
);

/// How a transaction ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Commit,
    Rollback,
}

/// What a transaction in Python and the files that it opened share. One thread at a time is served.
pub struct Session {
    owned: Mutex<Option<Owned>>,
    writes: bool,
    owner: Owner,
}

impl Session {
    pub fn reading(place: Place) -> Arc<Self> {
        let owned = Owned::new(place, |place| match place {
            Place::Here(database) => Some(Either::Reading(database.reading())),
            Place::There(remote) => Some(Either::RemoteReading(Carried::reading(remote))),
        });
        Arc::new(Self { owned: Mutex::new(Some(owned)), writes: false, owner: Owner::here() })
    }

    pub fn writing(place: Place) -> Arc<Self> {
        let owned = Owned::new(place, |place| match place {
            Place::Here(database) => Some(Either::Writing(database.writing())),
            Place::There(remote) => Some(Either::RemoteWriting(Carried::writing(remote))),
        });
        Arc::new(Self { owned: Mutex::new(Some(owned)), writes: true, owner: Owner::here() })
    }

    /// Whether it may change something.
    pub const fn writes(&self) -> bool {
        self.writes
    }

    /// Do something within the transaction, the interpreter released.
    pub fn ask<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut Either<'_>) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.check_owner()?;
        let answer = py.detach(|| {
            // After a panic in lode nothing is done any more; dropping takes the changes back.
            let mut owned = self.owned.lock().ok()?;
            owned.as_mut()?.with_dependent_mut(|_, slot| {
                slot.as_mut().map(|either| either.is_at_home().then(|| ask(either)))
            })
        });
        let answer = answer.ok_or_else(|| over(ENDED))?.ok_or_else(|| over(AWAY))?;
        answer.map_err(|error| failure(&error))
    }

    /// End the transaction; the share of the database is given back in any case.
    pub fn end(&self, py: Python<'_>, end: End) -> PyResult<()> {
        self.check_owner()?;
        let outcome = py.detach(|| {
            let mut owned = self.owned.lock().ok()?.take()?;
            let either = owned.with_dependent_mut(|_, slot| match (slot.take()?, end) {
                (Either::Reading(_) | Either::RemoteReading(_), _) => Some(Ok(())),
                (Either::Writing(writing), End::Commit) => Some(writing.commit()),
                (Either::Writing(writing), End::Rollback) => Some(writing.rollback()),
                (Either::RemoteWriting(writing), End::Commit) => Some(writing.commit()),
                (Either::RemoteWriting(writing), End::Rollback) => {
                    drop(writing);
                    Some(Ok(()))
                }
            });
            drop(owned);
            either
        });
        outcome.ok_or_else(|| over(ENDED))?.map_err(|error| failure(&error))
    }

    /// Before the lock: in a child of the process nobody may be there to release it.
    pub fn check_owner(&self) -> PyResult<()> {
        self.owner.check("the transaction").map_err(|error| failure(&error))
    }

    /// Whether it has ended.
    pub fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        self.check_owner()?;
        Ok(py.detach(|| self.owned.lock().is_ok_and(|owned| owned.is_none())))
    }
}

/// Do `$call` with whichever it is.
macro_rules! either {
    ($either:expr, $pages:ident => $call:expr) => {
        match $either {
            Either::Reading($pages) => $call,
            Either::Writing($pages) => $call,
            Either::RemoteReading($pages) => $call,
            Either::RemoteWriting($pages) => $call,
        }
    };
}

impl Pages for Either<'_> {
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        either!(self, pages => pages.read(page, inspect))
    }

    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        either!(self, pages => pages.try_read_version(page, version, inspect))
    }

    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        either!(self, pages => pages.read_with_version(page, inspect))
    }

    fn tag_key(&self) -> u64 {
        either!(self, pages => pages.tag_key())
    }

    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageBytes) -> R,
    ) -> Result<R> {
        either!(self, pages => pages.write(page, change))
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        either!(self, pages => pages.grow(pages_total))
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        either!(self, pages => pages.allocate(file, kind))
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        either!(self, pages => pages.free(page))
    }
}
