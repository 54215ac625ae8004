//! `SQLite`, in the program's own process: prepared statements over its C interface.

mod file;
mod objects;
mod raw;
mod relational;
#[cfg(test)]
mod tests;

pub use objects::Objects;
pub use relational::Relational;
