//! The Wisconsin benchmark: one file an edition.

pub mod edition_1983;
pub mod edition_1993;
mod skew;
