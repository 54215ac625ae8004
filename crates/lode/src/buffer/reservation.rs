//! Addresses without memory behind them, until somebody writes there.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageNumber};

/// A range of the address space. It reads as zeros and takes memory page by page, as it is written.
pub(super) struct Reservation {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is an address and a length; who may do what behind the address is said at each use.
#[expect(unsafe_code, reason = "a pointer to a mapping that any thread may use")]
unsafe impl Send for Reservation {}
// SAFETY: as above; the methods hand out atomics and raw pointers only.
#[expect(unsafe_code, reason = "a pointer to a mapping that any thread may use")]
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Addresses for `count` pages, each at its number times [`PAGE_BYTES`], which come and go
    /// singly.
    pub(super) fn pages(count: PageNumber) -> Result<Self> {
        let reservation = Self::new(u64::from(count) * PAGE_BYTES as u64)?;
        reservation.prefer_small(count);
        // Once here instead of at each eviction: locked memory (mlockall) cannot be given back.
        reservation
            .advise(0, PAGE_BYTES, Advice::LinuxDontNeed)
            .map_err(|error| LodeError::io("giving memory back", error.into()))?;
        Ok(reservation)
    }

    /// Take memory for the first `count` pages singly: a huge page would be for neighbours, too,
    /// that nobody requested. A kernel that has no huge pages does so anyway.
    pub(super) fn prefer_small(&self, count: PageNumber) {
        self.advise(0, count as usize * PAGE_BYTES, Advice::LinuxNoHugepage).ok();
    }

    /// Take memory for the first `count` pages in huge ones, where the kernel has some.
    pub(super) fn prefer_huge(&self, count: PageNumber) {
        self.advise(0, count as usize * PAGE_BYTES, Advice::LinuxHugepage).ok();
    }

    /// `count` words of zero.
    pub(super) fn words(count: PageNumber) -> Result<Self> {
        Self::new(u64::from(count) * size_of::<AtomicU64>() as u64)
    }

    #[expect(unsafe_code, reason = "a mapping is asked of the kernel")]
    fn new(bytes: u64) -> Result<Self> {
        let bytes = bytes as usize;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses the address, so no other mapping is touched.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, protection, flags) }
            .map_err(|error| LodeError::io("reserving addresses for the cache", error.into()))?;
        let start = NonNull::new(start.cast()).expect("no mapping begins at address 0");
        Ok(Self { start, bytes })
    }

    /// All of it as words.
    #[inline]
    pub(super) fn as_words(&self) -> &[AtomicU64] {
        let count = self.bytes / size_of::<AtomicU64>();
        // SAFETY: the mapping is as long, aligned to a page, lives as long as `self`, and any bytes
        // are a value; all who share it use it by these words or by raw pointers.
        #[expect(unsafe_code, reason = "zeros from the kernel are atomic words")]
        unsafe {
            std::slice::from_raw_parts(self.start.as_ptr().cast(), count)
        }
    }

    /// The place where a page begins; one beyond the reservation has an address that must not be
    /// used.
    #[inline]
    pub(super) fn page(&self, page: PageNumber) -> *mut u8 {
        self.start.as_ptr().wrapping_add(page as usize * PAGE_BYTES)
    }

    /// Prefetch what lies at an offset of a page into the processor's caches, wherever that is.
    #[inline]
    pub(super) fn prefetch(&self, page: PageNumber, at: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch has no effect but on time, whatever the address.
        #[expect(unsafe_code, reason = "an instruction of the processor's")]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.page(page).wrapping_add(at).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (page, at);
    }

    /// Give a page's memory back; it reads as zeros then.
    ///
    /// # Safety
    ///
    /// The page lies within, and nobody has a plain reference to it (others may read it through
    /// a [`crate::View`] or as words, and see zeros).
    #[expect(unsafe_code, reason = "bytes change behind plain references")]
    pub(super) unsafe fn drop_page(&self, page: PageNumber) -> rustix::io::Result<()> {
        // SAFETY: it is the same for one page.
        unsafe { self.drop_pages(page, 1) }
    }

    /// Give the memory of pages back that follow one another.
    ///
    /// # Safety
    ///
    /// As for [`Reservation::drop_page`], for each of them.
    #[expect(unsafe_code, reason = "bytes change behind plain references")]
    pub(super) unsafe fn drop_pages(
        &self,
        first: PageNumber,
        count: PageNumber,
    ) -> rustix::io::Result<()> {
        let (from, bytes) = (first as usize * PAGE_BYTES, count as usize * PAGE_BYTES);
        self.advise(from, bytes, Advice::LinuxDontNeed)
    }

    fn advise(&self, from: usize, bytes: usize, advice: Advice) -> rustix::io::Result<()> {
        assert!(from + bytes <= self.bytes, "advice is about pages of the reservation");
        let start = self.start.as_ptr().wrapping_add(from).cast::<c_void>();
        // SAFETY: the range lies within this mapping; `drop_page`'s caller answers for the loss.
        #[expect(unsafe_code, reason = "advice about our own mapping")]
        unsafe {
            madvise(start, bytes, advice)
        }
    }
}

impl Drop for Reservation {
    #[expect(unsafe_code, reason = "the mapping ends with its owner")]
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping, and every reference into it borrows
        // from `self`. It cannot fail with such arguments.
        unsafe { munmap(self.start.as_ptr().cast(), self.bytes) }.ok();
    }
}
