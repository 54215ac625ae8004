//! Pages that are empty and should not be.
//!
//! A page that was never written is zeros, and so is one that something overwrote with zeros: the
//! bytes do not distinguish them, and zeros need no checksum. The space pages do: a page that a
//! file has in use was given its kind when it was allocated, so that it is never of kind 0. A
//! reader that comes to a page of kind 0 asks here, and no other: it costs reading the space page.

use crate::catalog;
use crate::error::{LodeError, Result};
use crate::page::{PageKind, PageNumber};
use crate::pages::PageRead;
use crate::space;

/// That the page is damaged, if it is empty and in use.
///
/// # Errors
///
/// [`LodeError::Corrupt`] then, with the file; what `pages` says.
#[cold]
pub(crate) fn check(pages: &impl PageRead, page: PageNumber) -> Result<()> {
    if !pages.read(page, |view| view.kind() == PageKind::Free as u8)? {
        return Ok(());
    }
    let Some(file) = space::owner(pages, page)? else { return Ok(()) };
    let files = catalog::all(pages).unwrap_or_default();
    let how = match files.iter().find(|entry| entry.file == file) {
        Some(entry) => format!("it is empty, and in use by file {file}, `{}`", entry.name),
        None => format!("it is empty, and in use by file {file}"),
    };
    Err(LodeError::corrupt_page(page, how))
}

/// The better reason, where something is amiss with a page: that it is empty.
#[cold]
pub(crate) fn or(pages: &impl PageRead, page: PageNumber, amiss: LodeError) -> LodeError {
    match check(pages, page) {
        Err(error) if !error.is_beyond(space::SPACE_PAGE) => error,
        // Bare pages, as tests have them, are nobody's.
        _ => amiss,
    }
}
