//! The parts common to all drivers that speak SQL to an engine.

mod query;

use crate::oo1::part::Part;

pub use query::{Hop, Query};

/// A part that was reached.
#[derive(Debug, Clone, Copy)]
pub enum Handle {
    /// It came with its connection.
    Fetched(Part),
    /// Its id came alone.
    Id(u32),
}

impl Handle {
    /// The part's id.
    pub const fn id(self) -> u32 {
        match self {
            Self::Fetched(part) => part.id,
            Self::Id(id) => id,
        }
    }
}
