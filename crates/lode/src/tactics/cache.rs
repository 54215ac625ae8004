//! `cache`: how much memory pages may take.

use super::describe::{bytes_of, number_tactic};

/// The default: holds the small databases of every paper.
const BYTES_DEFAULT: u64 = 64 << 20;

/// 16 pages: a B+tree's path and its split fit.
const BYTES_MIN: u64 = 64 << 10;

/// The number of extents that the cache must hold for read-ahead, so that what is brought in does
/// not drive out what is in use.
pub(super) const READ_AHEADS_MIN: u64 = 4;

number_tactic! {
    /// **What it does.** Sets how many bytes of pages are in memory at most. When all are taken,
    /// a page is dropped for each that comes, after it was written if it had been changed; also
    /// pages of transactions that still run.
    /// **What it buys.** A page in the cache costs a few nanoseconds, one outside a system call
    /// or a read of the device.
    /// **What it costs.** Its memory. Not counted with `shadows=beside`: the shadows of
    /// `log=page-diff`, at most one for each changed page in the cache.
    /// **What a crash can lose.** Nothing: what is only in memory is in the log.
    /// **Do not combine with.** `readahead=on` where the cache holds less than four extents.
    /// **Source.** Every paper states its own; the cliff beyond it is OO1's "huge" database
    /// (Cattell and Skeen 1992). Mechanism: Leis and others, "Virtual-Memory Assisted Buffer
    /// Management", SIGMOD 2023.
    "cache" CacheBytes(u64) {
        default: BYTES_DEFAULT,
        values: "bytes from 65536": "a number, or one with KiB, MiB or GiB: 67108864 is 64MiB",
        parse: |text| bytes_of(text).filter(|&bytes| bytes >= BYTES_MIN),
    }
}
