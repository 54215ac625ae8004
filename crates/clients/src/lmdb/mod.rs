//! LMDB, B-trees in the program's own process: reading is a walk in mapped memory.

pub mod oo1;
pub mod oo7;
mod raw;
mod reader;
pub mod rvm;

pub use raw::version;
mod tables;
mod writer;

#[cfg(test)]
mod tests;
