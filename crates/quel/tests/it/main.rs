//! Everything that the crate promises to its callers, by topic.

mod errors;
mod papers;
mod properties;
mod semantics;
mod wisconsin;
