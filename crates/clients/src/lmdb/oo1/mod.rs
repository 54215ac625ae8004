//! OO1 on LMDB: parts as objects, or parts and connections under numbers.

mod links;
mod objects;
mod store;

pub use links::Links;
pub use objects::Objects;
