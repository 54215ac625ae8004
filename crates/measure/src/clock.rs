//! The one clock of the project: `CLOCK_MONOTONIC`, read through the vDSO.
//!
//! Not `CLOCK_MONOTONIC_RAW`: that one is not comparable with the time stamps of other tools and
//! costs a system call on some machines. NTP slews by less than 0.05 %, and all variants alike.

use rustix::time::{ClockId, Timespec, clock_gettime};

const READS: u32 = 65_536;

/// Monotonic time in ns, comparable between processes of this boot.
pub fn now_ns() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec.cast_unsigned() * 1_000_000_000 + tv_nsec.cast_unsigned()
}

/// Smallest non-zero difference in ns seen between neighbouring reads.
pub fn resolution_ns() -> u64 {
    let mut smallest = u64::MAX;
    let mut before = now_ns();
    let mut reads = 0;
    // A clock so coarse that it has not moved by then is read on until it does.
    while reads < READS || smallest == u64::MAX {
        let after = now_ns();
        if after > before {
            smallest = smallest.min(after - before);
        }
        before = after;
        reads = reads.saturating_add(1);
    }
    smallest
}

/// Mean cost in ns of one read.
pub fn cost_ns() -> f64 {
    let start = now_ns();
    for _ in 0..READS {
        std::hint::black_box(now_ns());
    }
    (now_ns() - start) as f64 / f64::from(READS)
}
