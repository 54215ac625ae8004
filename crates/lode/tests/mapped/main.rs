//! Programs that store to mapped pages: what is committed, rolled back, lost in a crash; and what
//! becomes of a store that should not be.

#![expect(clippy::unwrap_used, reason = "tests")]

mod calls;
mod crashes;
mod faults;
#[path = "../transactions/random.rs"]
mod random;
mod refusals;
mod setup;
mod stores;
