//! Pages that a transaction has mapped, and what is checked before their stores count.

use std::collections::BTreeSet;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::places::Places;
use crate::error::{LodeError, Result};
use crate::mapped::Area;
use crate::page::{self, HEADER_BYTES, PageBytes, PageNumber};
use crate::pages::PageRead;

/// The pages that a transaction that writes has mapped.
pub(super) struct Mapped {
    pub(super) area: Area,
    pub(super) pages: Vec<MappedPage>,
    /// The place where each page lies in the area, for who knows it by its number.
    pub(super) places: Places,
    /// Under `detect=explicit`: what the program has said it will change, in that order.
    pub(super) said: Vec<(usize, Range<usize>)>,
}

#[derive(Clone, Copy)]
pub(super) struct MappedPage {
    pub(super) page: PageNumber,
    /// Of a page that the transaction had changed before: what it was then.
    pub(super) sum: Option<u64>,
}

impl Mapped {
    /// The pages that have changed, each once, and whether that is sure.
    pub(super) fn changed(&self, is_said: bool) -> Result<Vec<(usize, bool)>> {
        if is_said {
            let pages: BTreeSet<usize> = self.said.iter().map(|(at, _)| *at).collect();
            return Ok(pages.into_iter().map(|at| (at, true)).collect());
        }
        let found = self.area.found()?;
        Ok(found.into_iter().map(|found| (found.at, found.is_sure)).collect())
    }

    /// Refuse what would lose or damage something: a store to the page's header, and a page that
    /// was changed by a call, too.
    pub(super) fn check(&self, pages: &impl PageRead, at: usize) -> Result<()> {
        let MappedPage { page, sum } = self.pages[at];
        let is_beside = match sum {
            Some(sum) => sum_of(&*copy(pages, page)?) != sum,
            None => false,
        };
        // Lsn and checksum of a page are the engine's, and may have moved.
        let own = page::offset::KIND..HEADER_BYTES;
        if is_beside {
            let what = format!(
                "page {page} was changed through a call after it was mapped, and by a store: do \
                 only one of these in a transaction"
            );
            return Err(LodeError::Mapping { what });
        }
        let stored = &self.area.page(at)[own.clone()];
        if !pages.read(page, |view| view.is_equal(own.start, stored))? {
            let what = format!(
                "a store changed the header of page {page}, its first {HEADER_BYTES} bytes, which \
                 is lode's: keep to the bytes behind it"
            );
            return Err(LodeError::Mapping { what });
        }
        Ok(())
    }
}

/// A page as the transaction sees it.
pub(super) fn copy_to(pages: &impl PageRead, page: PageNumber, into: &mut PageBytes) -> Result<()> {
    pages.read(page, |view| view.copy_to(into))
}

fn copy(pages: &impl PageRead, page: PageNumber) -> Result<Box<PageBytes>> {
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method serves one lifetime of a view, the closure serves every"
    )]
    pages.read(page, |view| view.copy())
}

/// A checksum of all of a page that a call may change.
pub(super) fn sum_of(bytes: &PageBytes) -> u64 {
    xxh3_64(&bytes[page::offset::KIND..])
}
