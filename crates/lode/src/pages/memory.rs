//! An array of pages, on which the access methods' tests run.

use std::ops::Range;
use std::sync::Arc;

use crate::aligned_page::AlignedPage;
use crate::error::{LodeError, Result};
use crate::page::{self, FileNumber, PageBytes, PageKind, PageNumber};
use crate::page_mut::PageMut;
use crate::pages::{PageRead, PageWrite, Pinned, Version};
use crate::view::View;

/// Any would do that no test writes anywhere else.
const TAG_KEY: u64 = 0x51de_b0a7_c0ff_ee11;

/// Pages in memory: no cache, no log, no locks; pages are given out one after another from 4, and
/// those given back first.
#[derive(Default)]
pub(crate) struct MemoryPages {
    pages: Vec<(AlignedPage, Version)>,
    free: Vec<PageNumber>,
    swizzle: bool,
    prefetch: bool,
    refuses: bool,
}

impl MemoryPages {
    /// No page allocated yet.
    pub(crate) fn new() -> Self {
        let mut pages = Self::default();
        pages.grow(4).expect("memory grows");
        pages
    }

    /// The same, believing references.
    pub(crate) fn swizzling() -> Self {
        Self { swizzle: true, ..Self::new() }
    }

    /// The same, as the tactics `swizzle` and `prefetch` say.
    pub(crate) fn following(swizzle: bool, prefetch: bool) -> Self {
        Self { swizzle, prefetch, ..Self::new() }
    }

    /// Refuse new pages, as a transaction that was cancelled, or grant them again.
    pub(crate) fn refuse(&mut self, refuses: bool) {
        self.refuses = refuses;
    }

    /// Pages that are allocated now.
    pub(crate) fn allocated(&self) -> usize {
        self.pages.len() - 4 - self.free.len()
    }

    fn slot(&self, page: PageNumber) -> Result<&(AlignedPage, Version)> {
        self.pages
            .get(page as usize)
            .ok_or_else(|| LodeError::corrupt_page(page, "it lies beyond the volume"))
    }
}

impl PageRead for MemoryPages {
    fn read<R>(&self, page: PageNumber, mut inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        Ok(inspect(View::of(&self.slot(page)?.0)))
    }

    fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        let (bytes, now) = self.slot(page).ok()?;
        (*now == version).then(|| inspect(View::of(bytes)))
    }

    fn read_with_version<R>(
        &self,
        page: PageNumber,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        let (bytes, version) = self.slot(page)?;
        Ok((inspect(View::of(bytes)), *version))
    }

    fn try_read<R>(&self, page: PageNumber, inspect: impl FnMut(View<'_>) -> R) -> Option<R> {
        self.read(page, inspect).ok()
    }

    fn pin(&self, page: PageNumber) -> Result<Pinned> {
        Ok(Pinned::copy(page, Arc::new(self.slot(page)?.0.clone())))
    }

    fn salt(&self) -> u64 {
        TAG_KEY
    }

    fn swizzles(&self) -> bool {
        self.swizzle
    }

    fn prefetches(&self) -> bool {
        self.prefetch
    }

    fn prefetch(&self, _page: PageNumber, _at: usize) {}

    fn read_ahead(&self, _page: PageNumber) {}

    fn note_prefetches(&self, _count: u64) {}
}

impl PageWrite for MemoryPages {
    fn write<R>(
        &mut self,
        page: PageNumber,
        change: impl FnOnce(&mut PageMut<'_>) -> R,
    ) -> Result<R> {
        self.slot(page)?;
        let (bytes, version) = &mut self.pages[page as usize];
        version.0 += 1;
        Ok(change(&mut bytes.page_mut()))
    }

    fn write_range<R>(
        &mut self,
        page: PageNumber,
        place: impl FnOnce(&PageBytes) -> Result<Range<usize>>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<Result<R>> {
        self.write(page, |bytes| place(bytes).map(|range| bytes.change(range, change)))
    }

    fn grow(&mut self, pages_total: PageNumber) -> Result<()> {
        let empty = (AlignedPage::zeros(), Version(1));
        self.pages.resize(self.pages.len().max(pages_total as usize), empty);
        Ok(())
    }

    fn allocate(&mut self, file: FileNumber, kind: PageKind) -> Result<PageNumber> {
        if self.refuses {
            return Err(LodeError::Interrupted);
        }
        let page = self.free.pop().unwrap_or(self.pages.len() as PageNumber);
        self.grow(page + 1)?;
        self.write(page, |bytes| page::format(bytes, kind, file))?;
        Ok(page)
    }

    fn free(&mut self, page: PageNumber) -> Result<()> {
        self.write(page, |bytes| page::format(bytes, PageKind::Free, 0))?;
        self.free.push(page);
        Ok(())
    }
}
