//! The catalog kept from transaction to transaction, for as long as it says the same.
//!
//! It is known by the pages that it was read from: a page of the same version has the same bytes,
//! and one that was changed meanwhile has another version. So what a transaction sees is what it
//! would read itself: its own changes, and those of other threads and clients from their commit on;
//! nothing of what was rolled back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lode::internals::catalog::CATALOG_PAGE;
use lode::internals::page::PageNumber;
use lode::internals::pages::Version;
use lode::{LodeError, PageRead, Pinned, View};

use super::Catalog;
use crate::error::Result;

/// The catalog of an open database as it was read last.
#[derive(Debug, Default)]
pub(crate) struct CatalogCache {
    known: Mutex<Option<Arc<Known>>>,
    /// The number of times that all of it was read.
    #[cfg(test)]
    pub(crate) reads: std::sync::atomic::AtomicUsize,
}

/// A catalog, and the pages that it was read from.
#[derive(Debug)]
struct Known {
    pages: Vec<(PageNumber, Version)>,
    catalog: Arc<Catalog>,
}

impl CatalogCache {
    /// The catalog as a transaction sees it: the same `Arc` as before if it is the same.
    ///
    /// # Errors
    ///
    /// As of [`Catalog::read`].
    pub(crate) fn read(&self, pages: &impl PageRead) -> Result<Arc<Catalog>> {
        // Before the mutex: in a child of the process nobody may be there to release it.
        pages.read(CATALOG_PAGE, |_| ())?;
        // Nor is the mutex held while a page's lock is waited for.
        let known = self.known().clone();
        if let Some(known) = &known
            && known.is_seen_by(pages)
        {
            return Ok(Arc::clone(&known.catalog));
        }
        #[cfg(test)]
        self.reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let noting = Noting { pages, seen: RefCell::default() };
        let mut read = Catalog::read(&noting)?;
        // A page may have come back from disk, or hold other things that changed.
        let catalog = match known {
            Some(known) if read.take_over(&known.catalog) => Arc::clone(&known.catalog),
            _ => Arc::new(read),
        };
        let pages = noting.seen.into_inner().into_iter().collect();
        *self.known() = Some(Arc::new(Known { pages, catalog: Arc::clone(&catalog) }));
        Ok(catalog)
    }

    fn known(&self) -> MutexGuard<'_, Option<Arc<Known>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Whether its pages are as they were, for a transaction that locks them by looking.
    fn is_seen_by(&self, pages: &impl PageRead) -> bool {
        let is_same =
            |&(page, version): &_| pages.try_read_version(page, version, |_| ()).is_some();
        self.pages.iter().all(is_same)
    }
}

/// The pages of a transaction, and which versions of them were read.
struct Noting<'a, P> {
    pages: &'a P,
    seen: RefCell<BTreeMap<PageNumber, Version>>,
}

impl<P: PageRead> PageRead for Noting<'_, P> {
    fn read<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<R, LodeError> {
        Ok(self.read_with_version(page, inspect)?.0)
    }

    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        self.read(page, inspect).ok()
    }

    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        let seen = self.pages.try_read_version(page, version, inspect)?;
        self.seen.borrow_mut().insert(page, version);
        Some(seen)
    }

    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version), LodeError> {
        let (seen, version) = self.pages.read_with_version(page, inspect)?;
        self.seen.borrow_mut().insert(page, version);
        Ok((seen, version))
    }

    fn pin(&self, page: PageNumber) -> Result<Pinned, LodeError> {
        let pinned = self.pages.pin(page)?;
        self.read_with_version(page, |_| ())?;
        Ok(pinned)
    }

    fn salt(&self) -> u64 {
        self.pages.salt()
    }

    fn swizzles(&self) -> bool {
        self.pages.swizzles()
    }

    fn prefetches(&self) -> bool {
        self.pages.prefetches()
    }

    fn prefetch(&self, page: PageNumber, at: usize) {
        self.pages.prefetch(page, at);
    }

    fn read_ahead(&self, page: PageNumber) {
        self.pages.read_ahead(page);
    }

    fn note_prefetches(&self, count: u64) {
        self.pages.note_prefetches(count);
    }
}
