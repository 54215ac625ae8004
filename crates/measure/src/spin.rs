//! The speed of the processor now: the time of work that needs nothing but its clock.

use std::hint::black_box;

use crate::clock;

/// Time in ns of `iterations` iterations of a generator (xorshift64, Marsaglia 2003) in which each
/// of six operations waits for the one before: no cache, memory or second execution unit shortens
/// it.
///
/// It follows the frequency and what a hypervisor takes away, so two calls apart
/// in time describe drift. A thread that was preempted meanwhile shows too.
pub fn spin_ns(iterations: u64) -> u64 {
    let start_ns = clock::now_ns();
    // Both ends hidden from the optimiser, which could compute or drop the chain otherwise.
    let mut state = black_box(88_172_645_463_325_252_u64);
    for _ in 0..black_box(iterations) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
    clock::now_ns() - start_ns
}
