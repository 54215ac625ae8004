//! The calling programs in Rust: OO1's loops, written once, and one file per engine spoken to.
//!
//! [`open`] finds an engine by name; a [`Client`] runs a [`Measure`] and says what it cost and what
//! it saw; [`users`] are concurrent ones. What must have been seen, [`oracle`] says. The crate
//! knows no plan, no record and no statistics: it is the program at the seam, and the clock around
//! it.

#![expect(
    clippy::inline_always,
    reason = "what is called once a visit passes parts and records in registers only if inlined"
)]

mod client;
mod driver;
mod duckdb;
mod engines;
mod error;
mod habits;
mod lmdb;
mod lode;
mod loops;
mod measure;
mod memory;
mod null;
mod object;
pub mod oracle;
mod part;
mod postgresql;
mod sql;
mod sqlite;
mod tactics;
pub mod users;
mod visits;

pub use client::Client;
pub use engines::{ENGINES, open};
pub use error::ClientError;
pub use loadstone_datasets::oo1::Database;
pub use measure::{Measure, Outcome, Sent};
pub use part::{Kind, Link, Part};
pub use tactics::{Address, Tactics};
pub use visits::Visits;
