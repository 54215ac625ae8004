//! Transactions of many threads, in process and through the page server, held against strict
//! serializability: there is an order of all of them, in which each one that had ended comes before
//! each that began later, and in which everyone sees what they saw.
//!
//! `lists` runs them, `checker` judges what they saw, `anomalies` judges the checker.

#![expect(clippy::unwrap_used, reason = "tests")]

mod anomalies;
mod checker;
mod lists;
#[path = "../transactions/random.rs"]
mod random;
