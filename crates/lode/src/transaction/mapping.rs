//! Pages of a transaction as plain memory: [`Writing::map`].

use std::ops::Range;

use super::lock_set::LockSource;
use super::mappable;
use super::mapped::{Mapped, MappedPage, copy_to};
use super::mapped_pages::MappedPages;
use super::places::Places;
use super::reading::ReadTransaction;
use super::writing::Writing;
use crate::error::{LodeError, Result};
use crate::lock::Mode;
use crate::mapped::Area;
use crate::page::{HEADER_BYTES, PAGE_BYTES, PageBytes, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::tactics::{Detect, Logging};
use crate::view::View;

/// Names pages that a transaction has mapped, for as long as that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    number: usize,
    transaction: u64,
}

/// Pages as memory that is only read, in a transaction that reads: a copy of each. A store there
/// ends the process as any store to read-only memory does.
pub struct MappedReading(Area);

impl std::ops::Deref for MappedReading {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl Writing {
    /// Map pages as plain memory, one after another, each 4,096 bytes as it is now in this
    /// transaction. The first 32 of each are the page's header, which is not the program's; what is
    /// changed of the others ([`Writing::memory`], [`Writing::changing`]) is part of the
    /// transaction when it commits, and not seen by its other operations before. All pages are
    /// locked to be changed.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mapping`] for a page twice, and for one that is no file's or lode's own;
    /// [`LodeError::Limit`] where the system gives no more memory mappings; as of reading the
    /// pages. One that a file has in use and that is empty is damaged.
    pub fn map(&mut self, pages: &[PageNumber]) -> Result<Mapping> {
        let places = Places::of(pages).map_err(twice_error)?;
        let is_known =
            |page: &&PageNumber| self.mapped.iter().any(|other| other.places.get(**page).is_some());
        if let Some(&page) = pages.iter().find(is_known) {
            return Err(twice_error(page));
        }
        if pages.is_empty() {
            let what = "there is no page to map: name some (Region::extend makes them)".to_owned();
            return Err(LodeError::Mapping { what });
        }
        let pages_total = self.buffer.pages_total();
        pages.iter().try_for_each(|&page| mappable::check_number(page, pages_total))?;
        let mut area = Area::new(pages.len())?;
        let mut mapped = Vec::with_capacity(pages.len());
        for (&page, into) in pages.iter().zip(area.bytes_mut().as_chunks_mut().0) {
            self.lock(page, Mode::Exclusive)?;
            copy_to(self, page, into)?;
            mappable::check(self, page, into)?;
            mapped.push(MappedPage::new(page, into));
        }
        area.watch(self.shared().tactics.detect)?;
        self.mapped.push(Mapped { area, pages: mapped, places, said: Vec::new() });
        Ok(Mapping { number: self.mapped.len() - 1, transaction: self.number() })
    }

    /// The mapped pages as memory to store to; stores are found out as `detect` says.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mapping`] under `detect=explicit`, where a program says the range
    /// ([`Writing::changing`]), and for another transaction's mapping.
    #[inline]
    pub fn memory(&mut self, mapping: Mapping) -> Result<&mut [u8]> {
        if self.shared().tactics.detect == Detect::Explicit {
            return Err(finds_none());
        }
        Ok(self.mapped_mut(mapping)?.area.bytes_mut())
    }

    /// A range of the mapped pages, to be changed. With `detect=explicit` it is what was said: with
    /// `log=set-range` it is logged as it is at the commit, however often it was said. It
    /// lies within the bytes of one page behind the header.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mapping`] for a range that does not, and for another transaction's mapping.
    pub fn changing(&mut self, mapping: Mapping, range: Range<usize>) -> Result<&mut [u8]> {
        let says = self.shared().tactics.detect == Detect::Explicit;
        let mapped = self.mapped_mut(mapping)?;
        let within = page_range(&range, mapped.area.pages())?;
        if says {
            mapped.said.push(within);
        }
        Ok(&mut mapped.area.bytes_mut()[range])
    }

    /// The mapped pages, to be read.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mapping`] for another transaction's mapping.
    pub fn memory_of(&self, mapping: Mapping) -> Result<&[u8]> {
        self.mapped(mapping).map(|mapped| mapped.area.bytes())
    }

    /// The transaction's pages, with those of a mapping as they are in memory: so access methods
    /// read what the program has stored.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mapping`] for another transaction's mapping.
    #[inline]
    pub fn pages_with(&self, mapping: Mapping) -> Result<MappedPages<'_>> {
        Ok(MappedPages::new(self, self.mapped(mapping)?))
    }

    #[inline]
    fn mapped(&self, mapping: Mapping) -> Result<&Mapped> {
        self.lock_set.source().check_owner()?;
        let is_own = mapping.transaction == self.number();
        self.mapped.get(mapping.number).filter(|_| is_own).ok_or_else(not_mine)
    }

    #[inline]
    fn mapped_mut(&mut self, mapping: Mapping) -> Result<&mut Mapped> {
        self.lock_set.source().check_owner()?;
        let is_own = mapping.transaction == self.number();
        self.mapped.get_mut(mapping.number).filter(|_| is_own).ok_or_else(not_mine)
    }

    /// Stores to mapped pages become the transaction's changes.
    pub(super) fn take_stores(&mut self) -> Result<()> {
        let is_said = self.shared().tactics.detect == Detect::Explicit;
        let log = self.shared().tactics.log;
        let by_range = is_said && log == Logging::SetRange;
        // Page-diff logs nothing of a page that is as it was, so it is neither copied nor kept;
        // page-grain logs a page that was stored to, whatever was stored.
        let compares = log == Logging::PageDiff;
        for mapped in std::mem::take(&mut self.mapped) {
            let changed = mapped.changed(is_said)?;
            if by_range {
                for (at, is_sure) in changed {
                    mapped.check(at, is_sure)?;
                }
                for (at, range) in &mapped.said {
                    let bytes = &mapped.area.page(*at)[range.clone()];
                    let place = |_: &PageBytes| Ok(range.clone());
                    let put = |into: &mut [u8]| into.copy_from_slice(bytes);
                    self.write_range(mapped.pages[*at].page, place, put)??;
                }
                continue;
            }
            for (at, is_sure) in changed {
                if !mapped.check(at, is_sure)? {
                    continue;
                }
                let (page, bytes) = (mapped.pages[at].page, mapped.area.page(at));
                let may_be_same = compares || !is_sure;
                let is_same = may_be_same && self.read(page, |view| is_as(view, bytes))?;
                if !is_same {
                    let own = HEADER_BYTES..PAGE_BYTES;
                    self.write(page, |into| into.put(own.start, &bytes[own]))?;
                }
            }
        }
        Ok(())
    }
}

impl<S: LockSource> ReadTransaction<S> {
    /// Map pages as memory to be read: a copy of each, one after another.
    ///
    /// # Errors
    ///
    /// [`LodeError::Mapping`] for a page that is no file's or lode's own, [`LodeError::Limit`]
    /// where the system gives no more memory mappings; as of reading the pages. One that a file has
    /// in use and that is empty is damaged.
    pub fn map(&self, pages: &[PageNumber]) -> Result<MappedReading> {
        let mut area = Area::new(pages.len())?;
        for (&page, into) in pages.iter().zip(area.bytes_mut().as_chunks_mut().0) {
            // Of a page server's volume it is not known here where it ends.
            mappable::check_number(page, PageNumber::MAX)?;
            copy_to(self, page, into).map_err(mappable::named(page))?;
            mappable::check(self, page, into)?;
        }
        area.close()?;
        Ok(MappedReading(area))
    }
}

fn is_as(view: View<'_>, bytes: &PageBytes) -> bool {
    view.is_equal(HEADER_BYTES, &bytes[HEADER_BYTES..])
}

/// Page and range in it, if the range keeps to the bytes of one page behind its header.
fn page_range(range: &Range<usize>, pages: usize) -> Result<(usize, Range<usize>)> {
    let (at, start) = (range.start / PAGE_BYTES, range.start % PAGE_BYTES);
    let is_within = range.start <= range.end
        && range.end <= pages.saturating_mul(PAGE_BYTES)
        && start >= HEADER_BYTES
        && range.end - range.start <= PAGE_BYTES - start;
    if is_within {
        return Ok((at, start..start + (range.end - range.start)));
    }
    let what = format!(
        "bytes {} to {} of {pages} mapped pages are not of one page behind its header of \
         {HEADER_BYTES}: say one range for each page",
        range.start, range.end
    );
    Err(LodeError::Mapping { what })
}

fn twice_error(page: PageNumber) -> LodeError {
    let what = format!("page {page} is mapped already in this transaction: use that mapping");
    LodeError::Mapping { what }
}

#[cold]
fn finds_none() -> LodeError {
    let what = "detect=explicit finds no stores: say the range that changes \
                (Writing::changing), or open the database with detect=sigsegv or kernel";
    LodeError::Mapping { what: what.to_owned() }
}

#[cold]
fn not_mine() -> LodeError {
    let what = "the mapping is another transaction's: map the pages in this one";
    LodeError::Mapping { what: what.to_owned() }
}
