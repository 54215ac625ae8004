//! A page that a transaction has pinned, to be read as a plain slice.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::aligned_page::AlignedPage;
use crate::page::{PageBytes, PageNumber};
use crate::view::View;

/// A page as its transaction saw it when it was pinned, for as long as this lives.
///
/// It lies where it lay, in the buffer; nobody evicts or changes it. What it costs are a few atomic
/// instructions, and one frame of the cache until it is dropped: at most half of the cache may be
/// pinned. A page that the transaction itself has changed is copied instead, and so are pages of
/// a page server's client.
///
/// It keeps the locks of its transaction, also when that has ended: who wants to change what the
/// transaction has read waits until this is dropped, too.
pub struct Pinned {
    bytes: NonNull<PageBytes>,
    page: PageNumber,
    /// One of the two keeps the bytes.
    _frame: Option<Frame>,
    _copy: Option<Arc<AlignedPage>>,
}

/// The buffer that a page is pinned in, and the locks that protect it.
pub(crate) trait Keeper: Send + Sync {
    /// Let go of a page that was pinned.
    fn unpin(&self, page: PageNumber);
}

/// A page that is pinned where it lies.
struct Frame {
    keeper: Arc<dyn Keeper>,
    page: PageNumber,
}

// SAFETY: the bytes are read and never written through this, and what keeps them (a `Keeper` or an
// `Arc`) is `Send` and `Sync` itself.
#[expect(unsafe_code, reason = "a pointer to bytes that stay as they are")]
unsafe impl Send for Pinned {}

// SAFETY: as above.
#[expect(unsafe_code, reason = "a pointer to bytes that stay as they are")]
unsafe impl Sync for Pinned {}

const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<Arc<dyn Keeper>>();
    may_be_shared::<Arc<AlignedPage>>();
};

impl Pinned {
    /// Take over a page that the caller has pinned.
    ///
    /// # Safety
    ///
    /// The page lies at `at`, at a multiple of the page size, and nobody writes to it or gives its
    /// memory back until [`Keeper::unpin`] was called for it once, or `keeper` is gone.
    #[expect(unsafe_code, reason = "a pointer to bytes that stay as they are")]
    #[inline]
    pub(crate) unsafe fn frame(
        keeper: Arc<dyn Keeper>,
        page: PageNumber,
        at: NonNull<PageBytes>,
    ) -> Self {
        Self { bytes: at, page, _frame: Some(Frame { keeper, page }), _copy: None }
    }

    /// A copy of a page.
    pub(crate) fn copy(page: PageNumber, copy: Arc<AlignedPage>) -> Self {
        Self { bytes: copy.start_of_bytes(), page, _frame: None, _copy: Some(copy) }
    }

    /// Its number.
    #[inline]
    pub const fn page(&self) -> PageNumber {
        self.page
    }

    /// Its bytes.
    #[inline]
    pub const fn bytes(&self) -> &PageBytes {
        // SAFETY: a copy is this value's own and never lent out mutably. Of a page that lies
        // elsewhere, who called `frame` promised that it stays as it is until `Frame` is dropped.
        #[expect(unsafe_code, reason = "a pinned page is a plain array")]
        unsafe {
            self.bytes.as_ref()
        }
    }
}

impl Pinned {
    /// The same as a view.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        // SAFETY: the page is there as long as `self`, whole, at a multiple of the page size: in
        // the buffer, or as an `AlignedPage`; both gave a pointer that one could store through.
        #[expect(unsafe_code, reason = "a pinned page is a page that nobody changes")]
        unsafe {
            View::at(self.bytes.as_ptr().cast())
        }
    }
}

impl Deref for Pinned {
    type Target = PageBytes;

    #[inline]
    fn deref(&self) -> &PageBytes {
        self.bytes()
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "pinned page {}", self.page)
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        self.keeper.unpin(self.page);
    }
}
