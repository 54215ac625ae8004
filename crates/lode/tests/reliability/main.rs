//! The engine as a whole, under whatever may happen to it: all access methods together, within
//! transactions, on disks that fail, crash, fill up and lie.
//!
//! The promises of single parts are tested beside them, and transactions over plain pages in
//! `tests/transactions`. The environment makes the runs of both longer:
//!
//! | variable | does |
//! |---|---|
//! | `LODE_SEED=n` | plays one run of a model, the garbage or the threads again |
//! | `LODE_RUNS=n` | plays so many runs of each model, and so many of the garbage |
//! | `LODE_CRASH_IMAGES=n` | looks at so many crashes at least |
//! | `LODE_CRASH_SEED=n` | begins these behind that seed, so that a long test can be run in parts |
//!
//! `make torture` sets them, flips every byte and tries every combination of tactics.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of View is not general enough in its lifetime"
)]

mod contents;
mod crashes;
#[path = "../transactions/drawn.rs"]
mod drawn;
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
mod zeroed;
