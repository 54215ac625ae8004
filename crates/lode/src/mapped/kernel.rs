//! `detect=kernel`: the kernel notes and opens a page at the first store to it.
//!
//! `userfaultfd` protects the pages (`UFFDIO_WRITEPROTECT`); with `UFFD_FEATURE_WP_ASYNC`, of Linux
//! 6.7, a store is let through by the kernel itself, without a word to anybody, and the page's mark
//! goes; `PAGEMAP_SCAN` shows which pages have lost it. Numbers and structures are those of
//! `linux/userfaultfd.h` and `linux/fs.h`.

#![expect(unsafe_code, reason = "calls of the kernel that no crate has")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use super::found::Found;
use crate::error::{LodeError, Result};
use crate::page::PAGE_BYTES;

/// `_UFFDIO_API` and so on: direction, size of the argument, 0xAA, number.
const UFFDIO_API: libc::c_ulong = 0xC018_AA3F;
const UFFDIO_REGISTER: libc::c_ulong = 0xC020_AA00;
const UFFDIO_UNREGISTER: libc::c_ulong = 0x8010_AA01;
const UFFDIO_WRITEPROTECT: libc::c_ulong = 0xC018_AA06;
const PAGEMAP_SCAN: libc::c_ulong = 0xC060_6610;

const UFFD_API: u64 = 0xAA;
const UFFD_USER_MODE_ONLY: libc::c_int = 1;
const UFFD_FEATURE_PAGEFAULT_FLAG_WP: u64 = 1 << 0;
const UFFD_FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
const UFFD_FEATURE_WP_ASYNC: u64 = 1 << 15;
const UFFDIO_REGISTER_MODE_WP: u64 = 1 << 1;
const UFFDIO_WRITEPROTECT_MODE_WP: u64 = 1 << 0;
const PAGE_IS_WRITTEN: u64 = 1 << 1;

/// `struct uffdio_api`.
#[repr(C)]
struct Api {
    version: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_range`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    len: u64,
}

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    range: Range,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_writeprotect`.
#[repr(C)]
struct WriteProtect {
    range: Range,
    mode: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

const _: () = assert!(size_of::<Api>() == 24 && size_of::<Register>() == 32);
const _: () = assert!(size_of::<WriteProtect>() == 24 && size_of::<Scan>() == 96);

/// Regions that one call shows.
const REGIONS_MAX: usize = 512;

/// The descriptors by which the kernel is asked.
struct Kernel {
    faults: OwnedFd,
    pages: File,
}

/// It belongs to the process's memory: a child made by `fork` maps nothing more
/// ([`crate::owner`]).
fn kernel() -> Result<&'static Kernel> {
    static KERNEL: OnceLock<Result<Kernel, String>> = OnceLock::new();
    let opened = KERNEL.get_or_init(|| Kernel::open().map_err(|error| error.to_string()));
    opened.as_ref().map_err(|how| LodeError::Tactic {
        what: format!(
            "detect=kernel is not available here ({how}): it needs Linux 6.7, with userfaultfd \
             permitted (a container's seccomp profile may forbid it); choose detect=sigsegv"
        ),
    })
}

/// Find out whether it is permitted, and known to this kernel.
pub(super) fn prepare() -> Result<()> {
    kernel().map(drop)
}

impl Kernel {
    fn open() -> io::Result<Self> {
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | UFFD_USER_MODE_ONLY;
        // SAFETY: a call with one number, which answers a descriptor of our own or an error.
        let faults = unsafe {
            let fd = libc::syscall(libc::SYS_userfaultfd, flags);
            if fd < 0 {
                return Err(reported("userfaultfd"));
            }
            OwnedFd::from_raw_fd(fd as i32)
        };
        let features =
            UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_WP_ASYNC;
        let mut api = Api { version: UFFD_API, features, ioctls: 0 };
        let kernel = Self { faults, pages: File::open("/proc/self/pagemap")? };
        // SAFETY: the structure that this call fills.
        unsafe { kernel.ask(UFFDIO_API, (&raw mut api).cast(), "asynchronous write protection") }?;
        Ok(kernel)
    }

    /// # Safety
    ///
    /// `argument` is what this call takes.
    unsafe fn ask(
        &self,
        call: libc::c_ulong,
        argument: *mut libc::c_void,
        what: &str,
    ) -> io::Result<()> {
        // SAFETY: the caller's promise.
        match unsafe { libc::ioctl(self.faults.as_raw_fd(), call as _, argument) } {
            0 => Ok(()),
            _ => Err(reported(what)),
        }
    }
}

/// The system's last error, with what it is about.
fn reported(what: &str) -> io::Error {
    let error = io::Error::last_os_error();
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Pages that the kernel watches, until this is dropped.
pub(super) struct Scanned {
    range: Range,
}

impl Scanned {
    /// Watch so many pages from there.
    pub(super) fn new(first: *mut u8, pages: usize) -> Result<Self> {
        let range = Range { start: first as u64, len: (pages * PAGE_BYTES) as u64 };
        let kernel = kernel()?;
        let mut register = Register { range, mode: UFFDIO_REGISTER_MODE_WP, ioctls: 0 };
        let mut protect = WriteProtect { range, mode: UFFDIO_WRITEPROTECT_MODE_WP };
        // SAFETY: the structures of these calls, about pages of one area.
        unsafe { kernel.ask(UFFDIO_REGISTER, (&raw mut register).cast(), "registering pages") }
            .map_err(failed)?;
        let scanned = Self { range };
        // SAFETY: as above.
        unsafe { kernel.ask(UFFDIO_WRITEPROTECT, (&raw mut protect).cast(), "protecting pages") }
            .map_err(failed)?;
        Ok(scanned)
    }

    /// The pages that were stored to.
    pub(super) fn found(&self) -> Result<Vec<Found>> {
        let kernel = kernel()?;
        let (first, end) = (self.range.start, self.range.start + self.range.len);
        let mut regions = [Region::default(); REGIONS_MAX];
        let (mut found, mut start) = (Vec::new(), first);
        while start < end {
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                start,
                end,
                vec: regions.as_mut_ptr() as u64,
                vec_len: REGIONS_MAX as u64,
                category_mask: PAGE_IS_WRITTEN,
                return_mask: PAGE_IS_WRITTEN,
                ..Scan::default()
            };
            // SAFETY: the structure of this call, which fills as many regions as it is reported.
            let written_regions =
                unsafe { libc::ioctl(kernel.pages.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut scan) };
            if written_regions < 0 {
                return Err(failed(reported("asking which pages were written")));
            }
            for region in &regions[..written_regions as usize] {
                let pages = (region.start..region.end).step_by(PAGE_BYTES);
                let at = |address: u64| ((address - first) / PAGE_BYTES as u64) as usize;
                found.extend(pages.map(|address| Found { at: at(address), is_sure: true }));
            }
            start = scan.walk_end.max(start + PAGE_BYTES as u64);
        }
        Ok(found)
    }
}

impl Drop for Scanned {
    fn drop(&mut self) {
        let Ok(kernel) = kernel() else { return };
        let mut range = self.range;
        // SAFETY: the structure of this call, about pages that were registered. Should it fail,
        // the mapping's end lets go of them.
        unsafe { kernel.ask(UFFDIO_UNREGISTER, (&raw mut range).cast(), "letting go") }.ok();
    }
}

fn failed(error: io::Error) -> LodeError {
    LodeError::io("watching mapped pages (detect=kernel)", error)
}
