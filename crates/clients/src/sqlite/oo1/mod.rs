//! OO1 on `SQLite`: relations, or a row for each object.

mod objects;
mod relational;
#[cfg(test)]
mod tests;

pub use objects::Objects;
pub use relational::Relational;
