//! `SQLite`, in the program's own process: prepared statements over its C interface.

mod file;
pub mod oo1;
pub mod oo7;
mod raw;
pub mod rvm;
pub mod statements;

pub use raw::version;
