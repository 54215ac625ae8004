//! Engines by name, for OO1's program.

use loadstone_datasets::oo1::Database;

use super::{opened, unknown};
use crate::duckdb::oo1 as duckdb;
use crate::error::ClientError;
use crate::lmdb::oo1 as lmdb;
use crate::lode::oo1 as lode;
use crate::memory::oo1 as memory;
use crate::null::oo1 as null;
use crate::oo1::driver::Driver;
use crate::oo1::{Client, Program};
use crate::postgresql::oo1 as postgresql;
use crate::sqlite::oo1 as sqlite;
use crate::tactics::{Address, Tactics};

/// The names that [`open`] knows.
pub const ENGINES: [&str; 7] = ["memory", "null", "sqlite", "lmdb", "duckdb", "postgresql", "lode"];

/// The way in which parts and connections lie, where an engine has designs to choose from.
#[derive(Debug, Clone, Copy)]
enum Access {
    Rowid,
    Clustered,
    Objects,
    Links,
    Btree,
    Hash,
}

const SQLITE_ACCESS: [(&str, Access); 3] =
    [("rowid", Access::Rowid), ("clustered", Access::Clustered), ("objects", Access::Objects)];

const LMDB_ACCESS: [(&str, Access); 2] = [("objects", Access::Objects), ("links", Access::Links)];

const LODE_ACCESS: [(&str, Access); 4] = [
    ("objects", Access::Objects),
    ("links", Access::Links),
    ("btree", Access::Btree),
    ("hash", Access::Hash),
];

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
            if tactics.take("prefetch", &memory::PREFETCH)? {
                program(memory::Memory::<true>::open, address, tactics, database)
            } else {
                program(memory::Memory::<false>::open, address, tactics, database)
            }
        }
        "null" => program(null::Null::open, address, tactics, database),
        "sqlite" => match tactics.take("access", &SQLITE_ACCESS)? {
            Access::Rowid => program(sqlite::Relational::open_rowid, address, tactics, database),
            Access::Clustered => {
                program(sqlite::Relational::open_clustered, address, tactics, database)
            }
            _ => program(sqlite::Objects::open, address, tactics, database),
        },
        "lmdb" => match tactics.take("access", &LMDB_ACCESS)? {
            Access::Links => program(lmdb::Links::open, address, tactics, database),
            _ => program(lmdb::Objects::open, address, tactics, database),
        },
        "duckdb" => program(duckdb::DuckDb::open, address, tactics, database),
        "lode" => match tactics.take("access", &LODE_ACCESS)? {
            Access::Links => lode::open::<lode::Links>(address, tactics, database),
            Access::Btree => lode::open::<lode::Btrees>(address, tactics, database),
            Access::Hash => lode::open::<lode::Hashes>(address, tactics, database),
            _ => lode::open::<lode::Objects>(address, tactics, database),
        },
        "postgresql" => program(postgresql::PostgreSql::open, address, tactics, database),
        _ => Err(unknown("engine", engine, &ENGINES)),
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
