//! OO1's database in its file: tables, load, indexes.

use loadstone_datasets::oo1::Database;

use crate::duckdb::handles::{Connection, Value};
use crate::duckdb::session::{made, settle};
use crate::error::ClientError;
use crate::oo1::part::Kind;

const TABLES: &str = "
    CREATE TABLE part (
        id INTEGER NOT NULL, type VARCHAR NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL,
        build TIMESTAMP NOT NULL
    );
    CREATE TABLE connection (
        frm INTEGER NOT NULL, too INTEGER NOT NULL, type VARCHAR NOT NULL, length INTEGER NOT NULL
    );
";

/// Adaptive radix trees. None on build: a range of it is found by the blocks' minima and maxima,
/// and an index there would make each update a deletion and an insertion.
const INDEXES: &str = "
    CREATE UNIQUE INDEX part_id ON part (id);
    CREATE INDEX connection_frm ON connection (frm);
    CREATE INDEX connection_too ON connection (too);
";

/// The tables of OO1.
pub const NAMES: [&str; 2] = ["part", "connection"];

/// Make the tables in place of what OO1 had there, durable at return.
pub fn load(connection: &Connection, database: &Database) -> Result<(), ClientError> {
    made(connection, |connection| append(connection, database))?;
    connection.run(INDEXES)?;
    settle(connection)
}

fn append(connection: &Connection, database: &Database) -> Result<(), ClientError> {
    connection.run(TABLES)?;
    let mut appender = connection.append("part")?;
    for part in database.part_range(1..database.parts + 1) {
        let kind = Kind::of(part.kind);
        let (id, x, y) = (part.id.cast_signed(), Value::Int(part.x), Value::Int(part.y));
        let row = [Value::Int(id), Value::Text(kind.text()), x, y, Value::Time(part.build_s)];
        appender.row(&row)?;
    }
    appender.finish()?;
    let mut appender = connection.append("connection")?;
    for link in database.connection_range(0..database.connection_count()) {
        let kind = Kind::of(link.kind);
        let ends = [link.from, link.to].map(|id| Value::Int(id.cast_signed()));
        let [from, to] = ends;
        appender.row(&[from, to, Value::Text(kind.text()), Value::Int(link.length)])?;
    }
    appender.finish()
}
