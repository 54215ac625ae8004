//! The memory of one mapping.

#![expect(unsafe_code, reason = "memory that is the program's to store to")]

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::Mutex;

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};

use super::faults::Watched;
use super::found::Found;
use super::kernel::Scanned;
use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageBytes};
use crate::tactics::Detect;
use crate::view::View;

/// Areas that have ended and whose addresses nobody gets for now: a store through a pointer that
/// was kept too long faults there instead of reaching other memory. They are addresses without
/// memory.
const RETIRED_MAX: usize = 64;

static RETIRED: Mutex<VecDeque<Addresses>> = Mutex::new(VecDeque::new());

/// Pages of plain memory, one after another, between two pages that nobody may touch.
pub(crate) struct Area {
    addresses: Addresses,
    watch: Watch,
}

/// The way in which stores are found.
enum Watch {
    /// They are not.
    Nothing,
    /// By a handler.
    Faults(Watched),
    /// By the kernel.
    Kernel(Scanned),
}

/// The place where an area lies.
#[derive(Debug, Clone, Copy)]
struct Addresses {
    /// The guard page in front.
    start: NonNull<u8>,
    pages: usize,
}

// SAFETY: an address and a length; each use says who may do what there.
unsafe impl Send for Addresses {}

impl Area {
    /// Pages of zeros, which may be written.
    pub(crate) fn new(pages: usize) -> Result<Self> {
        let bytes = pages
            .checked_add(2)
            .and_then(|pages| pages.checked_mul(PAGE_BYTES))
            .ok_or_else(|| refused(rustix::io::Errno::NOMEM))?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses the address, so no other mapping is touched.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::empty(), flags) };
        let start = NonNull::new(start.map_err(refused)?.cast()).expect("no mapping begins at 0");
        let area = Self { addresses: Addresses { start, pages }, watch: Watch::Nothing };
        // SAFETY: pages of this mapping, which nobody else knows yet. Protections of single pages
        // would split huge ones; a kernel without those refuses the advice, and needs none.
        unsafe {
            let first = area.addresses.first().cast::<c_void>();
            madvise(first, pages * PAGE_BYTES, Advice::LinuxNoHugepage).ok();
            mprotect(first, pages * PAGE_BYTES, MprotectFlags::READ | MprotectFlags::WRITE)
                .map_err(refused)?;
            // All are about to be filled: one call instead of a fault each. A kernel before 5.14
            // refuses the advice, and faults.
            madvise(first, pages * PAGE_BYTES, Advice::LinuxPopulateWrite).ok();
        }
        Ok(area)
    }

    /// Let nobody write, for the rest of its life.
    pub(crate) fn close(&self) -> Result<()> {
        let first = self.addresses.first().cast::<c_void>();
        // SAFETY: pages of this mapping.
        unsafe { mprotect(first, self.pages() * PAGE_BYTES, MprotectFlags::READ) }.map_err(refused)
    }

    /// From now on stores are found.
    pub(crate) fn watch(&mut self, detect: Detect) -> Result<()> {
        let (first, pages) = (self.addresses.first(), self.pages());
        self.watch = match detect {
            Detect::Explicit => Watch::Nothing,
            Detect::Sigsegv => {
                let watched = Watched::new(first, pages)?;
                self.close()?;
                Watch::Faults(watched)
            }
            Detect::Kernel => Watch::Kernel(Scanned::new(first, pages)?),
        };
        Ok(())
    }

    /// The number of pages that it has.
    pub(crate) const fn pages(&self) -> usize {
        self.addresses.pages
    }

    /// The place where its first page begins.
    pub(crate) const fn start(&self) -> *mut u8 {
        self.addresses.first()
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are this area's, mapped to be read as long as it lives, and `&self`
        // keeps safe stores away.
        unsafe { slice::from_raw_parts(self.start(), self.pages() * PAGE_BYTES) }
    }

    /// All of it, to be stored to.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; where a page is protected, a store waits for who opens it.
        unsafe { slice::from_raw_parts_mut(self.start(), self.pages() * PAGE_BYTES) }
    }

    /// One page.
    pub(crate) fn page(&self, at: usize) -> &PageBytes {
        let pages = self.bytes().as_chunks::<PAGE_BYTES>().0;
        &pages[at]
    }

    /// The same as a view. The program's stores, which are plain, cannot meet its loads: who stores
    /// has borrowed the transaction mutably, and with it every view.
    pub(crate) fn view(&self, at: usize) -> View<'_> {
        assert!(at < self.pages(), "the page is one of the area's");
        // SAFETY: the page is this area's, mapped as long as it lives, at a multiple of the page
        // size, and `&self` keeps safe stores away. Where it is protected, only loads come here.
        unsafe { View::at(self.start().add(at * PAGE_BYTES)) }
    }

    /// The pages that were stored to, in ascending order. None where nothing is watched.
    pub(crate) fn found(&self) -> Result<Vec<Found>> {
        match &self.watch {
            Watch::Nothing => Ok(Vec::new()),
            Watch::Faults(watched) => Ok(watched.found()),
            Watch::Kernel(scanned) => scanned.found(),
        }
    }
}

impl Addresses {
    const fn first(self) -> *mut u8 {
        self.start.as_ptr().wrapping_add(PAGE_BYTES)
    }

    const fn bytes(self) -> usize {
        (self.pages + 2) * PAGE_BYTES
    }

    /// Give the memory back and keep the addresses for a while.
    fn retire(self) {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        let start = self.start.as_ptr().cast::<c_void>();
        // SAFETY: exactly this mapping is replaced by an empty one. Nobody has a reference into it:
        // they all borrow from the area, which ends.
        let emptied = unsafe { mmap_anonymous(start, self.bytes(), ProtFlags::empty(), flags) };
        let mut retired = RETIRED.lock().expect("nothing panics under this lock");
        retired.push_back(self);
        let oldest = if retired.len() > RETIRED_MAX { retired.pop_front() } else { None };
        drop(retired);
        debug_assert!(emptied.is_ok(), "addresses that were mapped can be mapped again");
        if let Some(oldest) = oldest {
            // SAFETY: addresses that were an area's alone, and that nobody has any more.
            unsafe { munmap(oldest.start.as_ptr().cast(), oldest.bytes()) }.ok();
        }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // Before the memory goes: nobody is to open pages of it any more.
        self.watch = Watch::Nothing;
        self.addresses.retire();
    }
}

/// The system has no addresses or mappings left for this process.
fn refused(error: rustix::io::Errno) -> LodeError {
    if error != rustix::io::Errno::NOMEM {
        return LodeError::io("mapping pages as memory", error.into());
    }
    let what = "the system gives this process no more memory mappings: map fewer pages at a time, \
                or raise vm.max_map_count (`sysctl vm.max_map_count`) or the limit of its memory \
                (`ulimit -v`)";
    LodeError::Limit { what: what.to_owned() }
}
