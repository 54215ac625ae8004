//! Pages that a program may map: those that a file has in use, but for lode's own among them.
//!
//! A page's header decides: one that is not in use is of kind 0, and the lists of a region say so
//! in theirs. Only to distinguish a page that was given back from one that was zeroed, the space
//! pages are asked.

use crate::emptied;
use crate::error::{LodeError, Result};
use crate::page::{self, PageBytes, PageKind, PageNumber};
use crate::pages::PageRead;
use crate::region;
use crate::space::SPACE_PAGE;

/// Refuse a page for its number: one that the volume lacks, and those that every volume has.
pub(super) fn check_number(page: PageNumber, pages_total: PageNumber) -> Result<()> {
    if page <= SPACE_PAGE {
        return Err(own(page));
    }
    if page < pages_total { Ok(()) } else { Err(beyond(page)) }
}

/// Refuse a page for what it is in this transaction, which has read and locked it.
pub(super) fn check(pages: &impl PageRead, page: PageNumber, bytes: &PageBytes) -> Result<()> {
    match PageKind::of(bytes[page::offset::KIND]) {
        Some(PageKind::Free) => {
            emptied::check(pages, page)?;
            let what = format!(
                "page {page} is no file's, so it cannot be mapped: it was given back or never \
                 given out; map pages that a file has now (Region::pages)"
            );
            Err(LodeError::Mapping { what })
        }
        Some(PageKind::Superblock | PageKind::Catalog | PageKind::Space) => Err(own(page)),
        Some(PageKind::Region) if region::is_list(bytes) => Err(own(page)),
        Some(_) => Ok(()),
        None => Err(LodeError::corrupt_page(page, "it is of no known kind")),
    }
}

/// The error about a page that the volume lacks, where it is the program that has named it.
pub(super) fn named(page: PageNumber) -> impl Fn(LodeError) -> LodeError {
    move |error| if error.is_beyond(page) { beyond(page) } else { error }
}

#[cold]
fn own(page: PageNumber) -> LodeError {
    let what = format!(
        "page {page} is lode's own, so it cannot be mapped: map pages that a file names as its \
         content (Region::pages)"
    );
    LodeError::Mapping { what }
}

#[cold]
fn beyond(page: PageNumber) -> LodeError {
    let what = format!(
        "there is no page {page} to be mapped, the database ends before it: map pages that a file \
         has (Region::pages)"
    );
    LodeError::Mapping { what }
}
