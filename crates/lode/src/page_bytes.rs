//! The bytes of a page.

/// Bytes of a page: what is read, cached, locked, logged and checked as one.
pub const PAGE_BYTES: usize = 4096;

/// The bytes of one page. In the buffer they are changed through a [`crate::PageMut`].
pub type PageBytes = [u8; PAGE_BYTES];
