//! `detect`: how lode learns which mapped pages a program has changed.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** A transaction can map pages of a file as plain memory (`Writing::map`).
    /// With `explicit`, the program says which range it will change before it does, and gets that
    /// range. With `sigsegv`, the pages are protected against writing: the first store to a page
    /// raises a signal, whose handler notes the page and opens it; further stores cost nothing.
    /// With `kernel`, they are protected by `userfaultfd`: the kernel itself notes and opens a page
    /// at the first store, and is asked at the commit which pages were written (`PAGEMAP_SCAN`).
    /// The changes that are found are logged as `log` says. Everything that is not mapped is
    /// changed through calls and is `explicit` whatever this says.
    /// **What it buys.** `sigsegv`, `kernel`: programs store to memory as they do anywhere, and no
    /// call can be forgotten. `kernel`: a fault that never leaves the kernel, and no signal handler
    /// in the process.
    /// **What it costs.** A mapped page is a copy, beside `cache`, until the transaction ends; one
    /// that was found changed is copied back at the commit. `explicit`: a call for each range.
    /// `sigsegv`: a fault, a signal and a system call for the first store to each page, and two of
    /// the mappings that the system allows a process (`vm.max_map_count`); where a quarter of these
    /// is used up, or the system refuses, an area is opened as a whole and compared at the commit.
    /// `kernel`: a fault for each page, a scan of the area at the commit. A system call that
    /// writes into a mapped page fails with EFAULT under `sigsegv` while the page is
    /// protected.
    /// **What a crash can lose.** Nothing: what was stored and not committed was never in the
    /// database.
    /// **Do not combine with.** `sigsegv` and `kernel` with `log=set-range`, which is refused: no
    /// page fault says a range. `sigsegv` needs an x86-64 processor, and its handler to be the
    /// process's last: one that is installed later (Python's `faulthandler.enable()`) makes the
    /// next mapping fail with a message, one that is installed before gets all other faults.
    /// `kernel` needs Linux 6.7 and the permission for `userfaultfd`, which opening tries. Mapped
    /// pages are never huge: `hugepages` concerns the cache alone.
    /// **Source.** Saito and Bershad, USENIX 1998, where signals and `mprotect` are the Digital
    /// UNIX version and the kernel's own handler the one in SPIN; Appel and Li, "Virtual Memory
    /// Primitives for User Programs", ASPLOS 1991.
    "detect" Detect {
        /// The program says it.
        Explicit = "explicit",
        /// A signal at the first store to each page.
        Sigsegv = "sigsegv",
        /// The kernel notes it.
        Kernel = "kernel",
    }
}
