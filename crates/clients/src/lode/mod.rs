//! lode, our own engine.

mod failure;
pub mod oo1;

/// As each benchmark's `open` knows it.
const ENGINE: &str = "lode";
