//! Pages that a transaction has mapped, and what is checked before their stores count.

use std::collections::BTreeSet;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::places::Places;
use crate::error::{LodeError, Result};
use crate::mapped::Area;
use crate::page::{HEADER_BYTES, PageBytes, PageNumber};
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

pub(super) struct MappedPage {
    pub(super) page: PageNumber,
    header: [u8; HEADER_BYTES],
    /// Once a call has changed the page beside the area: a checksum of what was mapped.
    called: Option<u64>,
}

impl MappedPage {
    /// That page, of which these bytes are mapped.
    pub(super) fn new(page: PageNumber, bytes: &PageBytes) -> Self {
        let header = *bytes.first_chunk().expect("a page begins with its header");
        Self { page, header, called: None }
    }
}

/// A call is about to change a page, which is now as it is here: if it is mapped, the area goes
/// without that change, and what is stored there may no longer take the page's place.
pub(super) fn note_call(mapped: &mut [Mapped], page: PageNumber, before: &PageBytes) {
    for one in mapped {
        if let Some(at) = one.places.get(page) {
            one.pages[at].called.get_or_insert_with(|| sum_of(before));
        }
    }
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

    /// Whether a page that was stored to, or perhaps, is to become what the area has. Refused is
    /// what would lose or damage something: a store to the page's header, and to a page that a call
    /// has changed, too.
    pub(super) fn check(&self, at: usize, is_sure: bool) -> Result<bool> {
        let MappedPage { page, header, called } = &self.pages[at];
        let bytes = self.area.page(at);
        if bytes[..HEADER_BYTES] != *header {
            let what = format!(
                "a store changed the header of page {page}, its first {HEADER_BYTES} bytes, which \
                 is lode's: keep to the bytes behind it"
            );
            return Err(LodeError::Mapping { what });
        }
        let Some(before) = *called else { return Ok(true) };
        if !is_sure && sum_of(bytes) == before {
            return Ok(false);
        }
        let what = format!(
            "page {page} was changed through a call after it was mapped, and by a store: do only \
             one of these in a transaction"
        );
        Err(LodeError::Mapping { what })
    }
}

/// A page as the transaction sees it.
pub(super) fn copy_to(pages: &impl PageRead, page: PageNumber, into: &mut PageBytes) -> Result<()> {
    pages.read(page, |view| view.copy_to(into))
}

/// A checksum of what a program may change of a page.
fn sum_of(bytes: &PageBytes) -> u64 {
    xxh3_64(&bytes[HEADER_BYTES..])
}
