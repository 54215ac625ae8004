//! DuckDB in this process, through its C interface. No Rust crate of it: those bring an engine of
//! their own, and the one that is measured is the one that is installed.

mod api;
mod handles;
pub mod oo1;
pub mod oo7;
mod session;
pub mod statements;
