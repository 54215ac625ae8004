//! Transactions, from outside: against a model, through every crash, killed, and by many threads.
//!
//! Access methods have tests of their own; here a database is pages with a few words in each.

#![expect(clippy::unwrap_used, reason = "tests")]

mod crashes;
mod drawn;
mod kills;
mod mirror;
mod model;
mod random;
mod threads;
mod words;
