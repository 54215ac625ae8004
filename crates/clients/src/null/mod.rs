//! No engine at all: the harness overhead in Rust.

pub mod oo1;
pub mod oo7;
pub mod rvm;
