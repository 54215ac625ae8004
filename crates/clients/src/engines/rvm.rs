//! Engines by name, for the program of RVM's benchmark.

use loadstone_datasets::rvm::Database;

use super::{opened, unknown};
use crate::error::ClientError;
use crate::lmdb::rvm as lmdb;
use crate::lode::rvm as lode;
use crate::memory::rvm as memory;
use crate::null::rvm as null;
use crate::rvm::driver::Driver;
use crate::rvm::{Client, Program};
use crate::sqlite::rvm as sqlite;
use crate::tactics::{Address, OtherValue, Tactics};

/// The names that [`open`] knows.
pub const ENGINES: [&str; 5] = ["memory", "null", "sqlite", "lmdb", "lode"];

/// Values of tactics that other benchmarks' programs have and this one does not, with the reason.
const OTHERS: [OtherValue; 10] = [
    ("lmdb", "access", "links", "it has records under their numbers"),
    ("lode", "access", "links", NO_DESIGN),
    ("lode", "access", "btree", NO_DESIGN),
    ("lode", "access", "hash", NO_DESIGN),
    ("lode", "place", "server", "a client of a page server maps no pages"),
    ("lode", "swizzle", "on", "its records have no references"),
    ("lode", "prefetch", "on", "its records have no references"),
    ("memory", "prefetch", "on", "it takes one record at a time"),
    ("sqlite", "access", "clustered", "it has tables with row ids"),
    ("sqlite", "access", "objects", "it has tables with row ids"),
];

const NO_DESIGN: &str = "it has a region of records";

/// Values of tactics that this program lacks: engine, tactic, value, reason. Opening an engine with
/// one of them is refused for that reason; so a plan can know it before.
pub fn lacks() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    OTHERS.to_vec()
}

/// Open an engine by name at an address: the database that is there already, or a place to load
/// `database` to. A tactic that the engine does not know is an error.
pub fn open(
    engine: &str,
    address: &Address,
    tactics: Tactics,
    database: Database,
) -> Result<Box<dyn Client>, ClientError> {
    match engine {
        "memory" => {
            program(memory::Memory::open, address, tactics, database, &[("prefetch", "off")])
        }
        "null" => program(null::Null::open, address, tactics, database, &[]),
        "sqlite" => {
            program(sqlite::Relational::open, address, tactics, database, &[("access", "rowid")])
        }
        "lmdb" => program(lmdb::Lmdb::open, address, tactics, database, &[("access", "objects")]),
        "lode" => {
            let own = [
                ("access", "objects"),
                ("place", "embedded"),
                ("swizzle", "off"),
                ("prefetch", "off"),
            ];
            program(lode::Lode::open, address, tactics, database, &own)
        }
        _ => Err(unknown("engine with a program for RVM's benchmark", engine, &ENGINES)),
    }
}

fn program<C: Driver + 'static>(
    open: impl FnOnce(&Address, &mut Tactics) -> Result<C, ClientError>,
    address: &Address,
    mut tactics: Tactics,
    database: Database,
    own: &[(&'static str, &'static str)],
) -> Result<Box<dyn Client>, ClientError> {
    for &one in own {
        tactics.take_only(C::ENGINE, one, &OTHERS)?;
    }
    Ok(Box::new(Program::new(opened(open, address, tactics)?, database)))
}
