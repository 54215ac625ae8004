//! The database in its file: tables, load, indexes; and what the engine says of it.

use std::io::ErrorKind;

use loadstone_datasets::oo1::Database;

use crate::duckdb::api::ENGINE;
use crate::duckdb::handles::{Column, Connection, Value};
use crate::error::ClientError;
use crate::oo1::part::Kind;

const TABLES: &str = "
    DROP TABLE IF EXISTS connection;
    DROP TABLE IF EXISTS part;
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

/// What a term is called, and the query that reads it back as one text.
const TERMS: [(&str, &str); 7] = [
    ("version", "SELECT version()"),
    ("durability", "SELECT 'fsync_mode ' || current_setting('fsync_mode')::VARCHAR"),
    ("parallelism", "SELECT 'threads ' || current_setting('threads')::VARCHAR"),
    ("cache", "SELECT 'memory_limit ' || current_setting('memory_limit')"),
    (
        "checkpoint",
        "SELECT 'when the log has ' || current_setting('checkpoint_threshold')::VARCHAR",
    ),
    ("isolation", "SELECT 'snapshot'"),
    (
        "indexes",
        "SELECT coalesce(string_agg(index_name || ' ' || expressions, ', ' ORDER BY index_name), \
         'none') FROM duckdb_indexes() WHERE table_name IN ('part', 'connection')",
    ),
];

/// Whether both tables are there.
pub fn is_loaded(connection: &Connection) -> Result<bool, ClientError> {
    let found = "SELECT count(*)::INTEGER FROM duckdb_tables() \
                 WHERE schema_name = 'main' AND table_name IN ('part', 'connection')";
    let mut rows = connection.prepare(found, &[Column::Int])?.execute(&[])?;
    Ok(rows.fetch().is_some_and(|chunk| chunk.ints(0) == [2]))
}

/// Make the tables in place of what OO1 had there, durable at return.
pub fn load(connection: &Connection, database: &Database) -> Result<(), ClientError> {
    connection.run("BEGIN TRANSACTION")?;
    if let Err(error) = append(connection, database) {
        // The first error is the one to tell of.
        _ = connection.run("ROLLBACK");
        return Err(error);
    }
    connection.run("COMMIT")?;
    connection.run(INDEXES)?;
    connection.run("ANALYZE")?;
    connection.run("CHECKPOINT")
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

/// Bytes of the file and of its log.
pub fn size_bytes(path: &str) -> Result<u64, ClientError> {
    let mut bytes = 0;
    for name in [path.to_owned(), format!("{path}.wal")] {
        match std::fs::metadata(&name) {
            Ok(metadata) => bytes += metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(ClientError::engine(ENGINE, "measuring its size", error)),
        }
    }
    Ok(bytes)
}

/// Whether a transaction is open: without one, each statement has a number of its own.
pub fn in_transaction(connection: &Connection) -> Result<bool, ClientError> {
    let number = || {
        let query = "SELECT txid_current()::VARCHAR";
        let mut rows = connection.prepare(query, &[Column::Text])?.execute(&[])?;
        Ok(rows.fetch().map(|chunk| chunk.texts(0).row(0).to_vec()))
    };
    Ok(number()? == number()?)
}

/// What the engine says about itself.
pub fn terms(connection: &Connection) -> Result<Vec<(String, String)>, ClientError> {
    let mut terms = Vec::with_capacity(TERMS.len());
    for (name, query) in TERMS {
        let mut rows = connection.prepare(query, &[Column::Text])?.execute(&[])?;
        let value = rows.fetch().map(|chunk| chunk.texts(0).row(0).to_vec()).unwrap_or_default();
        terms.push((name.to_owned(), String::from_utf8_lossy(&value).into_owned()));
    }
    Ok(terms)
}
