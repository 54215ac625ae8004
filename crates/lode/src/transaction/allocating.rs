//! Giving pages out within a transaction: where the search begins, and what is locked for it.

use crate::error::Result;
use crate::page::{FileNumber, NO_PAGE, PageKind, PageNumber};
use crate::pages::PageWrite;
use crate::space;

/// A transaction that gives pages out, here or at a page server.
pub(crate) trait Allocating: PageWrite {
    /// Pages of an extent.
    fn extent_pages(&self) -> u32;

    /// The page that a file was given last, as far as it is known. Only a hint: the
    /// transaction that was given it may have rolled back.
    fn allocation_hint(&self, file: FileNumber) -> Option<PageNumber>;

    /// A file was given this page.
    fn set_allocation_hint(&self, file: FileNumber, page: PageNumber);

    /// Lock a page, or what it belongs to, so that nobody else reads or changes it.
    fn lock_exclusively(&self, page: PageNumber) -> Result<()>;
}

/// Take a free page for a file, close to its last one.
pub(crate) fn allocate(
    pages: &mut impl Allocating,
    file: FileNumber,
    kind: PageKind,
) -> Result<PageNumber> {
    let extent_pages = pages.extent_pages();
    let hint = match pages.allocation_hint(file) {
        Some(hint) => hint,
        None => space::last_page(pages, extent_pages, file)?,
    };
    pages.lock_exclusively(space::space_page_of(extent_pages, hint)?)?;
    // The transaction that was given it may have rolled back, and the volume's growth with it.
    let is_there = hint < space::pages_total(pages, extent_pages)?;
    let hint = if is_there { hint } else { NO_PAGE };
    let page = space::allocate(pages, extent_pages, file, hint, kind)?;
    pages.set_allocation_hint(file, page);
    Ok(page)
}

/// Give a page back.
pub(crate) fn free(pages: &mut impl Allocating, page: PageNumber) -> Result<()> {
    let extent_pages = pages.extent_pages();
    pages.lock_exclusively(space::space_page_of(extent_pages, page)?)?;
    space::free(pages, extent_pages, page)
}
