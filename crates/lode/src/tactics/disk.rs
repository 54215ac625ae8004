//! `disk`: how the files are opened.

use super::describe::named_tactic;

named_tactic! {
    /// **What it does.** Chooses whether reads and writes pass through the operating system's
    /// cache (`buffered`) or go to the device (`direct`, `O_DIRECT`).
    /// **What it buys.** `buffered`: a page that the engine dropped may still be in memory, and the
    /// system reads ahead. `direct`: the device reads what the engine asks for, memory
    /// holds each page once, and the cap of `cache` is the truth.
    /// **What it costs.** `buffered`: a copy for each page read, and memory that `cache` does not
    /// count. `direct`: each miss waits for the device, unless `readahead` brought the page.
    /// **What a crash can lose.** Nothing more under one than under the other: both sync.
    /// **Do not combine with.** `direct` with a file system that refuses it (some in memory do);
    /// the database then does not open.
    /// **Source.** The special file system of FS-INGRES: Stonebraker and others, "Performance
    /// Enhancements to a Relational Database System", 1981.
    "disk" Opening {
        /// Through the operating system's cache.
        Buffered = "buffered",
        /// Past the operating system's cache.
        Direct = "direct",
    }
}
