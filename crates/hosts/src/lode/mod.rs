//! lode, our own engine, in the program's process: OO1's designs over its access methods.
//!
//! ```text
//! Lode<D>        the client: transactions, the ladder, what it says about itself
//!   Design       objects, links, btree, hash: where parts and connections lie
//!   Session      one read transaction with its database (session.rs)
//!   Store        the files, and the tactics they are opened with (store.rs)
//! ```

mod btree;
mod builds;
mod client;
mod design;
mod failure;
mod hash;
mod links;
mod loading;
mod objects;
mod record;
mod session;
mod store;

use crate::error::HostError;
use crate::tactics::{Address, Tactics};

pub use btree::Btrees;
pub use client::Lode;
pub use hash::Hashes;
pub use links::Links;
pub use objects::Objects;

/// As [`crate::open`] knows it.
const ENGINE: &str = "lode";

/// Open or create a database in one of the designs.
pub fn open<D: design::Design>(
    address: &Address,
    tactics: &mut Tactics,
) -> Result<Lode<D>, HostError> {
    Lode::open(address, tactics)
}
