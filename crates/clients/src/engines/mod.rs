//! Engines by name, for each benchmark's program.

pub mod oo1;
pub mod oo7;
