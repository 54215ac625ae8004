//! Engines by name, for OO7's program.

use loadstone_datasets::oo7::Database;

use super::{opened, unknown};
use crate::duckdb::oo7 as duckdb;
use crate::error::ClientError;
use crate::lmdb::oo7 as lmdb;
use crate::lode::oo7 as lode;
use crate::memory::oo7 as memory;
use crate::null::oo7 as null;
use crate::oo7::driver::Driver;
use crate::oo7::{Client, Program};
use crate::postgresql::oo7 as postgresql;
use crate::sqlite::oo7 as sqlite;
use crate::tactics::{Address, OtherValue, Tactics};

/// The names that [`open`] knows.
pub const ENGINES: [&str; 7] = ["memory", "null", "sqlite", "duckdb", "postgresql", "lmdb", "lode"];

/// Values of tactics that OO1's program has and this one does not, each with its reason.
const OTHERS: [OtherValue; 8] = [
    ("duckdb", "statement", "batch", "a statement for a level takes it as long as ten look-ups"),
    ("lmdb", "access", "links", "OO7's program has objects under their ids"),
    ("lode", "access", "links", NO_DESIGN),
    ("lode", "access", "btree", NO_DESIGN),
    ("lode", "access", "hash", NO_DESIGN),
    ("memory", "prefetch", "on", "its structures of OO7 lie in vectors, which are not prefetched"),
    ("sqlite", "access", "clustered", "OO7's program has tables with row ids"),
    ("sqlite", "access", "objects", "OO7's program has tables with row ids"),
];

const NO_DESIGN: &str = "OO7's program has objects with references";

/// Values of tactics that this program lacks: engine, tactic, value, reason. Opening an engine with
/// one of them is refused for that reason; so a plan can know it before.
pub fn lacks() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let styles = postgresql::OTHER_STYLES.iter();
    let styles = styles.map(|&(value, reason)| ("postgresql", "statement", value, reason));
    OTHERS.into_iter().chain(styles).collect()
}

/// Open an engine by name at an address: the database that is there already, or a place to load
/// `database` to. A tactic that the engine does not know is an error.
pub fn open(
    engine: &str,
    address: &Address,
    mut tactics: Tactics,
    database: Database,
) -> Result<Box<dyn Client>, ClientError> {
    match engine {
        "memory" => {
            tactics.take_only("memory", ("prefetch", "off"), &OTHERS)?;
            program(memory::Memory::open, address, tactics, database)
        }
        "null" => program(null::Null::open, address, tactics, database),
        "sqlite" => {
            tactics.take_only("sqlite", ("access", "rowid"), &OTHERS)?;
            program(sqlite::open, address, tactics, database)
        }
        "duckdb" => {
            tactics.take_only("duckdb", ("statement", "prepared"), &OTHERS)?;
            program(duckdb::open, address, tactics, database)
        }
        "postgresql" => program(postgresql::open, address, tactics, database),
        "lmdb" => {
            tactics.take_only("lmdb", ("access", "objects"), &OTHERS)?;
            program(lmdb::Lmdb::open, address, tactics, database)
        }
        "lode" => {
            tactics.take_only("lode", ("access", "objects"), &OTHERS)?;
            lode::open(address, tactics, database)
        }
        _ => Err(unknown("engine with a program for OO7", engine, &ENGINES)),
    }
}

fn program<C: Driver + 'static>(
    open: impl FnOnce(&Address, &mut Tactics) -> Result<C, ClientError>,
    address: &Address,
    tactics: Tactics,
    database: Database,
) -> Result<Box<dyn Client>, ClientError> {
    Ok(Box::new(Program::new(opened(open, address, tactics)?, database)))
}
