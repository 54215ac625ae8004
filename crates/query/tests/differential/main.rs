//! The query engine against the oracle, by every combination of tactics: the papers' programs,
//! random ones, and such as split a query into parts; and that what a tactic promises is done.
//!
//! ```text
//! covering      the combinations of tactics: every pair of values, or every three
//! draw          decisions from lists of numbers, which shrink
//! schema, expression, statement, program    random programs, and what the oracle says of them
//! outcome       a database in memory, and what a statement comes to
//! ```
//!
//! `make test` runs a few of each; `make torture` many: `LODE_PROGRAMS=n`.

#![expect(clippy::unwrap_used, reason = "tests")]

mod chosen;
mod covering;
mod draw;
mod expression;
mod journal;
mod kills;
mod leaves;
mod outcome;
mod papers;
mod partition;
mod program;
mod programs;
mod random;
mod schema;
mod statement;
mod threads;
mod wisconsin;
