//! The number of a page: below pages and errors, which both speak of it.

/// A page's place in the volume: it begins at this number times [`crate::page::PAGE_BYTES`]. Pages
/// 0 and 1 are the superblock's, so that 0 can stand for "none" in links between pages.
pub type PageNumber = u32;

/// The link to no page.
pub const NO_PAGE: PageNumber = 0;
