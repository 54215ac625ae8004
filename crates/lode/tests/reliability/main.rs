//! The engine as a whole, under whatever may happen to it: all access methods together, within
//! transactions, on disks that fail, crash, fill up and lie.
//!
//! What single parts promise is tested beside them, and transactions over plain pages in
//! `tests/transactions`. Environment of longer runs:
//!
//! | variable | does |
//! |---|---|
//! | `LODE_SEED=n` | plays one run of the model, the garbage or the threads again |
//! | `LODE_RUNS=n` | plays so many runs of the model, and so many of the garbage |
//! | `LODE_CRASH_IMAGES=n` | looks at so many crashes at least |
//!
//! `cargo test -p lode --release --test reliability -- --ignored` flips every byte and tries every
//! combination of tactics.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of View is not general enough in its lifetime"
)]

mod contents;
mod crashes;
mod flips;
mod garbage;
mod model;
mod operations;
#[path = "../transactions/random.rs"]
mod random;
mod reading;
mod refusals;
mod switches;
mod threads;
mod workloads;
