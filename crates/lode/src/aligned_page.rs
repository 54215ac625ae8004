//! A page outside the buffer.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::page_bytes::{PAGE_BYTES, PageBytes};
use crate::page_mut::PageMut;

/// A page outside the buffer, aligned as those inside are. In a cell, because atomic words, which
/// views load, are read through pointers that could also store; none does.
#[repr(align(4096))]
pub struct AlignedPage(UnsafeCell<PageBytes>);

// SAFETY: a shared one is only read.
#[expect(unsafe_code, reason = "the cell is there for the pointer, not for stores")]
unsafe impl Sync for AlignedPage {}

impl AlignedPage {
    /// With these bytes.
    pub const fn new(bytes: PageBytes) -> Self {
        Self(UnsafeCell::new(bytes))
    }

    /// Zeros.
    pub const fn zeros() -> Self {
        Self::new([0; PAGE_BYTES])
    }

    /// To be changed as pages in the buffer are.
    pub const fn page_mut(&mut self) -> PageMut<'_> {
        // SAFETY: the page is this one's alone for as long as it is borrowed, and aligned.
        #[expect(unsafe_code, reason = "a page that is borrowed alone may be stored to")]
        unsafe {
            PageMut::at(self.start())
        }
    }

    /// The place where it begins.
    pub(crate) const fn start(&self) -> *mut u8 {
        self.0.get().cast()
    }

    /// The same, as all of its bytes.
    pub(crate) fn start_of_bytes(&self) -> NonNull<PageBytes> {
        NonNull::new(self.0.get()).expect("nothing lies at address 0")
    }
}

impl Clone for AlignedPage {
    fn clone(&self) -> Self {
        Self::new(**self)
    }
}

impl Deref for AlignedPage {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: it is changed by `&mut self` only, which this borrow keeps away.
        #[expect(unsafe_code, reason = "a page that nobody changes is a plain array")]
        unsafe {
            &*self.0.get()
        }
    }
}

impl DerefMut for AlignedPage {
    fn deref_mut(&mut self) -> &mut PageBytes {
        self.0.get_mut()
    }
}
