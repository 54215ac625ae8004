//! The calling programs in Rust. Each benchmark of a program has a room here, in which its loops
//! are written once over a driver; each engine has a room, with what its drivers share and a
//! driver for each benchmark.
//!
//! [`engines`] finds one by name; its client runs a measure and says what it cost and what it saw.
//! What must have been seen, the benchmark's oracle says. The crate knows no plan, no record and
//! no statistics: it is the program at the seam, and the clock around it.

#![expect(
    clippy::inline_always,
    reason = "what is called once a visit passes parts and records in registers only if inlined"
)]

mod clocked;
mod duckdb;
pub mod engines;
mod error;
mod lmdb;
mod lode;
mod memory;
mod null;
pub mod oo1;
pub mod oo7;
mod outcome;
pub mod pacing;
mod postgresql;
pub mod program;
pub mod rvm;
mod sqlite;
pub mod statements;
mod tactics;
mod users;

pub use error::ClientError;
pub use outcome::{Logged, Outcome, Sent};
pub use tactics::{Address, Tactics};

/// The versions of the engines that are compiled into this crate, by name.
#[must_use]
pub fn versions_built_in() -> [(&'static str, String); 2] {
    [("sqlite", sqlite::version()), ("lmdb", lmdb::version())]
}
