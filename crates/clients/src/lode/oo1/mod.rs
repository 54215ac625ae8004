//! OO1 on lode: its designs over the access methods.
//!
//! ```text
//! Lode<D, P>     the driver: transactions, the ladder, what it says about itself
//!   Design       objects, links, btree, hash: where parts and connections lie
//!   Place        embedded, served: in the program's process, or in one of its own
//!   Store        the database, and the tactics it is opened with (store.rs)
//! ```

mod btree;
mod builds;
mod design;
mod driver;
mod hash;
mod links;
mod object;
mod objects;
mod record;
mod stretches;

use loadstone_datasets::oo1::Database as Data;
use lode::Database;
use lode::remote::Remote;

use super::place::Place;
use crate::error::ClientError;
use crate::oo1::{Client, Program};
use crate::tactics::{Address, Tactics};
use design::Design;
use driver::Lode;

pub use btree::Btrees;
pub use hash::Hashes;
pub use links::Links;
pub use objects::Objects;

/// A program with a database in one of the designs: with its files, which are created where there
/// are none, or at a server.
pub fn open<D: Design>(
    address: &Address,
    mut tactics: Tactics,
    data: Data,
) -> Result<Box<dyn Client>, ClientError> {
    let places = [Database::NAME, Remote::NAME].map(|name| (name, name));
    if tactics.take("place", &places)? == Remote::NAME {
        return program(Lode::<D, Remote>::open(address, &mut tactics)?, tactics, data);
    }
    program(Lode::<D, Database>::open(address, &mut tactics)?, tactics, data)
}

fn program<D: Design, P: Place>(
    driver: Lode<D, P>,
    tactics: Tactics,
    data: Data,
) -> Result<Box<dyn Client>, ClientError> {
    tactics.finish()?;
    Ok(Box::new(Program::new(driver, data)))
}
