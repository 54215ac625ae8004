//! OO7, the object benchmark of 1993: a module's tree of assemblies over composite parts, each
//! with a document and a graph of atomic parts.
//!
//! One stream of random numbers makes all objects, in the order of the original program;
//! [`database`] says at which draw each begins.

mod classes;
pub mod database;
pub mod edition_1993;
pub mod inputs;
pub mod texts;
pub mod tree;

pub use database::Database;
