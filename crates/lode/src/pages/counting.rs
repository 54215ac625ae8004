//! Pages in memory that count what is asked of them.

use std::cell::Cell;
use std::ops::Range;

use crate::error::Result;
use crate::page::{FileNumber, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::memory::MemoryPages;
use crate::pages::{PageRead, PageWrite, Pinned, Version};
use crate::view::View;

/// [`MemoryPages`] and how often they were used.
pub(crate) struct CountingPages {
    pub(crate) pages: MemoryPages,
    counts: Cell<Counts>,
}

/// The number of pages that were used how, since these were taken last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// Read, and waited for.
    pub(crate) reads: u64,
    /// Read if that could be had at once.
    pub(crate) try_reads: u64,
    /// Changed.
    pub(crate) writes: u64,
    /// Prefetched.
    pub(crate) prefetches: u64,
    /// Said by walks to have been prefetched.
    pub(crate) prefetches_noted: u64,
}

impl CountingPages {
    pub(crate) fn new(pages: MemoryPages) -> Self {
        Self { pages, counts: Cell::default() }
    }

    pub(crate) fn take_counts(&self) -> Counts {
        self.counts.take()
    }

    fn count(&self, reads: u64, try_reads: u64, writes: u64) {
        let before = self.counts.get();
        self.counts.set(Counts {
            reads: before.reads + reads,
            try_reads: before.try_reads + try_reads,
            writes: before.writes + writes,
            ..before
        });
    }
}

impl PageRead for CountingPages {
    fn read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        self.count(1, 0, 0);
        self.pages.read(page, inspect)
    }

    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        self.pages.try_read_version(page, version, inspect)
    }

    fn read_with_version<R>(
        &self,
        page: PageNumber,
        inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        self.count(1, 0, 0);
        self.pages.read_with_version(page, inspect)
    }

    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        self.count(0, 1, 0);
        self.pages.try_read(page, inspect)
    }

    fn pin(&self, page: PageNumber) -> Result<Pinned> {
        self.count(1, 0, 0);
        self.pages.pin(page)
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
        let before = self.counts.get();
        self.counts.set(Counts { prefetches: before.prefetches + 1, ..before });
        self.pages.prefetch(page, at);
    }

    fn read_ahead(&self, page: PageNumber) {
        self.pages.read_ahead(page);
    }

    fn note_prefetches(&self, count: u64) {
        let before = self.counts.get();
        let prefetches_noted = before.prefetches_noted + count;
        self.counts.set(Counts { prefetches_noted, ..before });
    }
}

impl PageWrite for CountingPages {
    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R> {
        self.count(0, 0, 1);
        self.pages.write(page, change)
    }

    fn write_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>> {
        self.count(0, 0, 1);
        self.pages.write_range(page, place, change)
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        self.pages.grow(pages_total)
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        self.pages.allocate(file, kind)
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        self.pages.free(page)
    }
}
