//! A transaction in Python, which is any of four kinds. It owns a share of its database.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use lode::internals::error::Result;
use lode::internals::owner::Owner;
use lode::internals::page::{FileNumber, PageBytes, PageKind, PageNumber};
use lode::internals::pages::Version;
use lode::remote::{Carried, Remote, RemoteReading, RemoteWriting};
use lode::{Database, LodeError, PageMut, PageRead, PageWrite, Pinned, Reading, View, Writing};
use pyo3::prelude::*;

use super::error::{failure, over};

const ENDED: &str = "the transaction has ended: begin another";
const AWAY: &str = "a transaction at a page server stays in the thread that began it: use it there";

/// The place where a database is.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    Here(&'a Database),
    There(&'a Remote),
}

/// A transaction of either kind, at either place.
pub enum Either {
    Reading(Reading),
    RemoteReading(Carried<RemoteReading>),
    Writing(EitherWriting),
}

/// A transaction that writes, at either place.
pub enum EitherWriting {
    Here(Writing),
    There(Carried<RemoteWriting>),
}

impl Either {
    fn is_at_home(&self) -> bool {
        match self {
            Self::Reading(_) | Self::Writing(EitherWriting::Here(_)) => true,
            Self::RemoteReading(reading) => reading.is_at_home(),
            Self::Writing(EitherWriting::There(writing)) => writing.is_at_home(),
        }
    }

    fn end(self, end: End) -> Result<()> {
        match (self, end) {
            (Self::Writing(EitherWriting::Here(writing)), End::Commit) => writing.commit(),
            (Self::Writing(EitherWriting::Here(writing)), End::Rollback) => writing.rollback(),
            (Self::Writing(EitherWriting::There(writing)), End::Commit) => writing.commit(),
            // To drop a remote one is to roll it back.
            (Self::Reading(_) | Self::RemoteReading(_) | Self::Writing(_), _) => Ok(()),
        }
    }
}

/// The way in which a transaction ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Commit,
    Rollback,
}

/// The state that a transaction in Python and the files that it opened share. One thread at a time
/// is served.
pub struct Session {
    transaction: Mutex<Option<Either>>,
    owner: Owner,
}

impl Session {
    pub fn reading(place: Place<'_>) -> Arc<Self> {
        Self::of(match place {
            Place::Here(database) => Either::Reading(database.reading()),
            Place::There(remote) => Either::RemoteReading(Carried::reading(remote)),
        })
    }

    pub fn writing(place: Place<'_>) -> Arc<Self> {
        Self::of(Either::Writing(match place {
            Place::Here(database) => EitherWriting::Here(database.writing()),
            Place::There(remote) => EitherWriting::There(Carried::writing(remote)),
        }))
    }

    fn of(transaction: Either) -> Arc<Self> {
        Arc::new(Self { transaction: Mutex::new(Some(transaction)), owner: Owner::here() })
    }

    /// Read something within the transaction, the interpreter released.
    pub fn ask<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Either) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.with(py, |transaction| ask(transaction))
    }

    /// Change something within the transaction, if it may, the interpreter released.
    pub fn change<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut EitherWriting) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.with(py, |transaction| match transaction {
            Either::Writing(writing) => change(writing),
            Either::Reading(_) | Either::RemoteReading(_) => Err(LodeError::ReadOnly),
        })
    }

    /// Do something within the transaction, whatever it may.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Either) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.check_owner()?;
        let answer = py.detach(|| {
            // After a panic in lode nothing is done any more; dropping takes the changes back.
            let mut slot = self.transaction.lock().ok()?;
            let transaction = slot.as_mut()?;
            Some(transaction.is_at_home().then(|| act(transaction)))
        });
        let answer = answer.ok_or_else(|| over(ENDED))?.ok_or_else(|| over(AWAY))?;
        answer.map_err(|error| failure(&error))
    }

    /// End the transaction; its share of the database is given back in any case.
    pub fn end(&self, py: Python<'_>, end: End) -> PyResult<()> {
        self.check_owner()?;
        let outcome = py.detach(|| {
            let transaction = self.transaction.lock().ok()?.take()?;
            Some(transaction.end(end))
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
        Ok(py.detach(|| self.transaction.lock().is_ok_and(|slot| slot.is_none())))
    }
}

/// Do `$call` with whichever it is.
macro_rules! either {
    ($either:expr, $pages:ident => $call:expr) => {
        match $either {
            Either::Reading($pages) => $call,
            Either::RemoteReading(carried) => {
                let $pages = &**carried;
                $call
            }
            Either::Writing($pages) => $call,
        }
    };
}

/// The same with one that writes.
macro_rules! writing {
    ($writing:expr, $pages:ident => $call:expr) => {
        match $writing {
            EitherWriting::Here($pages) => $call,
            EitherWriting::There($pages) => $call,
        }
    };
}

/// Hand each question on to whichever it is.
macro_rules! page_read {
    ($type:ty, $which:ident) => {
        impl PageRead for $type {
            fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
                $which!(self, pages => pages.read(page, inspect))
            }

            fn try_read<R>(
                &self,
                page: PageNumber,
                inspect: impl FnMut(View<'_>) -> R,
            ) -> Option<R> {
                $which!(self, pages => pages.try_read(page, inspect))
            }

            fn try_read_version<R>(
                &self,
                page: PageNumber,
                version: Version,
                inspect: impl FnMut(View<'_>) -> R,
            ) -> Option<R> {
                $which!(self, pages => pages.try_read_version(page, version, inspect))
            }

            fn read_with_version<R>(
                &self,
                page: PageNumber,
                inspect: impl FnMut(View<'_>) -> R,
            ) -> Result<(R, Version)> {
                $which!(self, pages => pages.read_with_version(page, inspect))
            }

            fn pin(&self, page: PageNumber) -> Result<Pinned> {
                $which!(self, pages => pages.pin(page))
            }

            fn salt(&self) -> u64 {
                $which!(self, pages => pages.salt())
            }

            fn swizzles(&self) -> bool {
                $which!(self, pages => pages.swizzles())
            }

            fn prefetches(&self) -> bool {
                $which!(self, pages => pages.prefetches())
            }

            fn prefetch(&self, page: PageNumber, at: usize) {
                $which!(self, pages => pages.prefetch(page, at));
            }

            fn read_ahead(&self, page: PageNumber) {
                $which!(self, pages => pages.read_ahead(page));
            }

            fn note_prefetches(&self, count: u64) {
                $which!(self, pages => pages.note_prefetches(count));
            }
        }
    };
}

page_read!(Either, either);
page_read!(EitherWriting, writing);

impl PageWrite for EitherWriting {
    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R> {
        writing!(self, pages => pages.write(page, change))
    }

    fn write_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>> {
        writing!(self, pages => pages.write_range(page, place, change))
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        writing!(self, pages => pages.grow(pages_total))
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        writing!(self, pages => pages.allocate(file, kind))
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        writing!(self, pages => pages.free(page))
    }
}
