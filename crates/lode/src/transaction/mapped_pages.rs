//! A transaction's pages with those that it has mapped as they are in memory.
//!
//! An access method that reads through this finds records by their slots and references as it does
//! in the cache, and sees what the program has stored since. It changes nothing: a program stores.

use std::sync::Arc;

use super::mapped::Mapped;
use super::writing::Writing;
use crate::error::Result;
use crate::page::{PAGE_BYTES, PageNumber};
use crate::pages::{PageRead, Pinned, Version};
use crate::view::View;

/// The result of [`Writing::pages_with`].
#[derive(Clone, Copy)]
pub struct MappedPages<'a> {
    writing: &'a Writing,
    mapped: &'a Mapped,
}

impl<'a> MappedPages<'a> {
    #[inline]
    pub(super) const fn new(writing: &'a Writing, mapped: &'a Mapped) -> Self {
        Self { writing, mapped }
    }

    /// The place where a byte of a page that is shown lies in [`Writing::memory`]: so a program
    /// stores to what an access method found. `None` where the page is none of the mapping's.
    #[inline]
    pub fn memory_at(self, view: View<'_>, at: usize) -> Option<usize> {
        let from = view.address().checked_sub(self.mapped.area.start().addr())?;
        (from < self.mapped.area.pages() * PAGE_BYTES).then_some(from + at)
    }

    /// The page in memory, if it is mapped.
    #[inline]
    fn view(self, page: PageNumber) -> Option<View<'a>> {
        let place = self.mapped.places.get(page)?;
        Some(self.mapped.area.view(place))
    }
}

impl PageRead for MappedPages<'_> {
    #[inline]
    fn read<R>(&self, page: PageNumber, mut inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        match self.view(page) {
            Some(view) => Ok(inspect(view)),
            None => self.writing.read(page, inspect),
        }
    }

    #[inline]
    fn try_read<R>(&self, page: PageNumber, mut inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        match self.view(page) {
            Some(view) => Some(inspect(view)),
            None => self.writing.try_read(page, inspect),
        }
    }

    /// A mapped page has no version.
    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        match self.view(page) {
            Some(_) => None,
            None => self.writing.try_read_version(page, version, inspect),
        }
    }

    fn read_with_version<R>(
        &self,
        page: PageNumber,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        match self.view(page) {
            Some(view) => Ok((inspect(view), Version::default())),
            None => self.writing.read_with_version(page, inspect),
        }
    }

    fn pin(&self, page: PageNumber) -> Result<Pinned> {
        match self.view(page) {
            Some(view) => Ok(Pinned::copy(page, Arc::new(view.aligned_copy()))),
            None => self.writing.pin(page),
        }
    }

    #[inline]
    fn salt(&self) -> u64 {
        self.writing.salt()
    }

    #[inline]
    fn swizzles(&self) -> bool {
        self.writing.swizzles()
    }

    #[inline]
    fn prefetches(&self) -> bool {
        self.writing.prefetches()
    }

    fn prefetch(&self, page: PageNumber, at: usize) {
        if self.view(page).is_none() {
            self.writing.prefetch(page, at);
        }
    }

    fn read_ahead(&self, page: PageNumber) {
        if self.view(page).is_none() {
            self.writing.read_ahead(page);
        }
    }

    fn note_prefetches(&self, count: u64) {
        self.writing.note_prefetches(count);
    }
}
