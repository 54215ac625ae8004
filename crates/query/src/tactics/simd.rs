//! `simd`: whether the innermost loops use vector instructions.

use lode::tactics::describe::named_tactic;

named_tactic! {
    /// **What it does.** Decides how the innermost loops of `execution=vectorised` and of the
    /// accelerator are made: the selection of integers between two constants, the hashes of
    /// integer keys, and min, max and sum of integers without a by-list. `on`: with the widest
    /// vector instructions that the processor has, found when a statement begins: AVX-512, AVX2, or
    /// what every processor of its kind has; counters say which ran. `off`: one value at a time.
    /// **What it buys.** Eight or sixteen values for one instruction, where they are in a cache.
    /// **What it costs.** Nothing; a loop that waits for memory is no faster by it.
    /// **What a crash can lose.** Nothing.
    /// **Do not combine with.** Nothing; the other values of `execution` go row by row, where
    /// `accelerator=off` leaves it without effect.
    /// **Source.** Zhou and Ross, "Implementing Database Operations Using SIMD Instructions",
    /// SIGMOD 2002; Polychroniou, Raghavan and Ross, "Rethinking SIMD Vectorization for In-Memory
    /// Databases", SIGMOD 2015.
    "simd" Simd {
        /// Vectors as wide as the processor's.
        On = "on",
        /// One value at a time.
        Off = "off",
    }
}
