//! The query engine over lode: QUEL and IDL text, executed with every strategy as a tactic.
//!
//! A text becomes a tree and a checked tree (both `loadstone_quel`'s, shared with the oracle, of
//! which nothing else is used here), then a [`plan`] of pipelines, which one of the executors runs
//! over relations that lode stores. How it is built is on a page in `docs/reference/lode-query.md`.

pub mod aggregate;
pub mod catalog;
pub mod counters;
pub mod database;
pub mod error;
pub mod execution;
pub mod expression;
pub mod memory;
pub mod phases;
pub mod place;
pub mod plan;
pub mod relation;
pub mod sort;
pub mod spill;
pub mod table;
pub mod tactics;
pub mod temporary;
pub mod tuple;

pub use error::QueryError;
