//! The transaction of a query, which reads or writes.

use lode::internals::page::PageNumber;
use lode::internals::pages::Version;
use lode::{LodeError, PageRead, Pinned, Reading, View, Writing};

use crate::error::{QueryError, Result};

/// A transaction of lode: of a query that changes nothing, or of one that does.
pub enum Transaction {
    /// Reads what is committed.
    Reading(Reading),
    /// Reads, and changes.
    Writing(Writing),
}

impl Transaction {
    /// To change pages with.
    ///
    /// # Errors
    ///
    /// [`QueryError::Tactic`] for a transaction that only reads.
    pub fn writing(&mut self) -> Result<&mut Writing> {
        match self {
            Self::Writing(writing) => Ok(writing),
            Self::Reading(_) => Err(QueryError::Tactic {
                what: "the query changes relations, and its transaction only reads".to_owned(),
            }),
        }
    }

    /// Another handle to it, for another thread, which only reads; it is to be gone before the
    /// transaction ends.
    ///
    /// # Errors
    ///
    /// As of [`Writing::share_reading`].
    pub(super) fn share(&self) -> Result<Self> {
        Ok(Self::Reading(match self {
            Self::Reading(reading) => reading.share(),
            Self::Writing(writing) => writing.share_reading()?,
        }))
    }
}

/// The same call of whichever transaction it is.
macro_rules! of_either {
    ($self:ident, $transaction:ident => $call:expr) => {
        match $self {
            Transaction::Reading($transaction) => $call,
            Transaction::Writing($transaction) => $call,
        }
    };
}

impl PageRead for Transaction {
    #[inline]
    fn read<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<R, LodeError> {
        of_either!(self, transaction => transaction.read(page, inspect))
    }

    #[inline]
    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        of_either!(self, transaction => transaction.try_read(page, inspect))
    }

    #[inline]
    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        of_either!(self, transaction => transaction.try_read_version(page, version, inspect))
    }

    #[inline]
    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version), LodeError> {
        of_either!(self, transaction => transaction.read_with_version(page, inspect))
    }

    #[inline]
    fn pin(&self, page: PageNumber) -> Result<Pinned, LodeError> {
        of_either!(self, transaction => transaction.pin(page))
    }

    fn salt(&self) -> u64 {
        of_either!(self, transaction => transaction.salt())
    }

    fn swizzles(&self) -> bool {
        of_either!(self, transaction => transaction.swizzles())
    }

    fn prefetches(&self) -> bool {
        of_either!(self, transaction => transaction.prefetches())
    }

    #[inline]
    fn prefetch(&self, page: PageNumber, at: usize) {
        of_either!(self, transaction => transaction.prefetch(page, at));
    }

    fn read_ahead(&self, page: PageNumber) {
        of_either!(self, transaction => transaction.read_ahead(page));
    }

    fn note_prefetches(&self, count: u64) {
        of_either!(self, transaction => transaction.note_prefetches(count));
    }
}
