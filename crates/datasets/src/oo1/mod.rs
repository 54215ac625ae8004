//! OO1 (Cattell & Skeen 1992): parts, the connections between them, and what the measures request.
//!
//! Every number is a place on one cycle of [`random`]; [`database`] and [`inputs`] say which.

pub mod database;
pub mod edition_1992;
pub mod inputs;
pub mod random;

pub use database::{Connection, Database, Part};
pub use inputs::NewPart;
