//! LMDB, B-trees in the program's own process: reading is a walk in mapped memory.

mod links;
mod objects;
mod raw;
mod reader;
mod store;
mod tables;
mod writer;

pub use links::Links;
pub use objects::Objects;
