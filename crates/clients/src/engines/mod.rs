//! Engines by name, for each benchmark's program; and those whose statements users send.

pub mod oo1;
pub mod oo7;
pub mod rvm;
pub mod statements;
