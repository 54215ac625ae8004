//! lode, our own engine.
//!
//! ```text
//! a benchmark's driver   transactions, its objects, what it says about itself
//!   Place                embedded, served: in the program's process, or in one of its own
//!   Store                the database, and the tactics it is opened with
//! ```

mod embedded;
mod failure;
mod loading;
pub mod oo1;
pub mod oo7;
mod place;
pub mod rvm;
mod served;
pub mod statements;
mod store;

/// As each benchmark's `open` knows it.
const ENGINE: &str = "lode";
