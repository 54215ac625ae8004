//! A connection to a database file with all that is prepared on it, whatever the benchmark; and
//! what the engine says about itself.

use std::fmt::Write;
use std::io::ErrorKind;

use super::api::ENGINE;
use super::handles::{Chunk, Column, Connection, Statement, Value};
use crate::error::ClientError;
use crate::outcome::Sent;
use crate::tactics::{self, Address, Tactics};

/// As much as the other engines keep in memory, so that caches are equal.
const CACHE: &str = "256MiB";

/// Values of the tactic `parallelism`: the engine's threads, in all.
const PARALLELISM: [(&str, &str); 12] = [
    ("1", "1"),
    ("2", "2"),
    ("3", "3"),
    ("4", "4"),
    ("6", "6"),
    ("8", "8"),
    ("12", "12"),
    ("16", "16"),
    ("24", "24"),
    ("32", "32"),
    ("64", "64"),
    ("128", "128"),
];

/// The tables of all benchmarks, of which two have one name: a load leaves no other's.
const OURS: [&str; 11] = [
    "part",
    "connection",
    "module",
    "manual",
    "complexassembly",
    "baseassembly",
    "componentpriv",
    "componentshar",
    "compositepart",
    "document",
    "atomicpart",
];

/// Each term's name, and the query that reads it back as one text.
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
         'none') FROM duckdb_indexes()",
    ),
];

/// A connection, and all that is prepared on it, with the tactics `parallelism` and `transaction`.
pub struct Session {
    /// Those of a benchmark, each in its place; empty until there is a database.
    statements: Vec<Statement>,
    begin: Statement,
    commit: Statement,
    rollback: Statement,
    pub connection: Connection,
    path: String,
    /// `transaction=measure`: one around all reads of a measure, not one around each call.
    spans_measure: bool,
    /// Statements executed so far.
    executed: u64,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: any one thread at a time may use a connection and its statements. They are all in here,
// and no method hands one of them out; of the connection, only loads make use, which leave nothing
// of it behind.
unsafe impl Send for Session {}

impl Session {
    /// Open or create a database file with the library of `address`.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let threads = tactics.take("parallelism", &PARALLELISM)?;
        let spans_measure = tactics.take("transaction", &[("measure", true), ("call", false)])?;
        let library = address.library.as_deref().ok_or_else(|| {
            let message = "its path is not given: it is the file of Python's module `_duckdb`";
            ClientError::engine(ENGINE, "looking for its library", message)
        })?;
        let settings = [("threads", threads), ("memory_limit", CACHE)];
        let connection = Connection::open(library, &address.database, &settings)?;
        Self::on(connection, address.database.clone(), spans_measure)
    }

    /// Whether one transaction is around all reads of a measure.
    pub const fn spans_measure(&self) -> bool {
        self.spans_measure
    }

    /// Another connection to the same database, on which nothing is prepared yet.
    pub fn another(&self) -> Result<Self, ClientError> {
        Self::on(self.connection.another()?, self.path.clone(), self.spans_measure)
    }

    fn on(connection: Connection, path: String, spans_measure: bool) -> Result<Self, ClientError> {
        Ok(Self {
            statements: Vec::new(),
            begin: connection.prepare("BEGIN TRANSACTION", &[])?,
            commit: connection.prepare("COMMIT", &[])?,
            rollback: connection.prepare("ROLLBACK", &[])?,
            connection,
            path,
            spans_measure,
            executed: 0,
        })
    }

    /// Whether these tables are there.
    pub fn has(&self, tables: &[&str]) -> Result<bool, ClientError> {
        let found = format!(
            "SELECT count(*)::INTEGER FROM duckdb_tables() \
             WHERE schema_name = 'main' AND table_name IN ('{}')",
            tables.join("', '")
        );
        let mut rows = self.connection.prepare(&found, &[Column::Int])?.execute(&[])?;
        Ok(rows.fetch().is_some_and(|chunk| chunk.ints(0) == [tables.len() as i32]))
    }

    /// Nothing is prepared any more: for a load.
    pub fn clear(&mut self) {
        self.statements.clear();
    }

    /// Prepare a benchmark's statements, in place of those that are there.
    pub fn prepare<'a>(
        &mut self,
        statements: impl IntoIterator<Item = (&'a str, &'static [Column])>,
    ) -> Result<(), ClientError> {
        self.clear();
        for (sql, columns) in statements {
            self.statements.push(self.connection.prepare(sql, columns)?);
        }
        Ok(())
    }

    /// The statement at that place, whose rows go to `visit` by the chunk.
    pub fn ask(
        &mut self,
        place: usize,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(&Chunk<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let statement = self.statements.get_mut(place).ok_or_else(|| {
            let message = "there is no database of this benchmark in its file: load one";
            ClientError::engine(ENGINE, "looking for its statements", message)
        })?;
        self.executed += 1;
        let mut rows = statement.execute(parameters)?;
        while let Some(chunk) = rows.fetch() {
            visit(&chunk)?;
        }
        Ok(())
    }

    /// Begin or end a transaction, by one of the statements for it.
    fn execute(&mut self, which: fn(&mut Self) -> &mut Statement) -> Result<(), ClientError> {
        self.executed += 1;
        which(self).execute(&[]).map(|_| ())
    }

    pub fn begin(&mut self) -> Result<(), ClientError> {
        if self.spans_measure { self.begin_write() } else { Ok(()) }
    }

    pub fn end(&mut self) -> Result<(), ClientError> {
        if self.spans_measure { self.commit() } else { Ok(()) }
    }

    pub fn begin_write(&mut self) -> Result<(), ClientError> {
        self.execute(|session| &mut session.begin)
    }

    pub fn commit(&mut self) -> Result<(), ClientError> {
        self.execute(|session| &mut session.commit)
    }

    pub fn rollback(&mut self) -> Result<(), ClientError> {
        match self.execute(|session| &mut session.rollback) {
            // Nothing was begun, or a commit that failed has given it up already.
            Err(ClientError::Engine { message, .. }) if message.contains("no transaction") => {
                Ok(())
            }
            done => done,
        }
    }

    pub const fn sent(&self) -> Sent {
        Sent { statements: self.executed, round_trips: None }
    }

    /// Bytes of the file and of its log.
    pub fn size_bytes(&self) -> Result<u64, ClientError> {
        let mut bytes = 0;
        for name in [self.path.clone(), format!("{}.wal", self.path)] {
            match std::fs::metadata(&name) {
                Ok(metadata) => bytes += metadata.len(),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(ClientError::engine(ENGINE, "measuring its size", error));
                }
            }
        }
        Ok(bytes)
    }

    /// The engine's terms, and the tactic `transaction`.
    pub fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = Vec::with_capacity(TERMS.len() + 1);
        for (name, query) in TERMS {
            let mut rows = self.connection.prepare(query, &[Column::Text])?.execute(&[])?;
            let value = rows.fetch().map(|chunk| chunk.texts(0).row(0).to_vec());
            let value = String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
            terms.push((name.to_owned(), value));
        }
        self.begin()?;
        let within = self.in_transaction();
        self.end()?;
        terms.push(("transaction".to_owned(), tactics::transaction(within?).to_owned()));
        Ok(terms)
    }

    /// Whether a transaction is open: without one, each statement has a number of its own.
    fn in_transaction(&self) -> Result<bool, ClientError> {
        let number = || {
            let query = "SELECT txid_current()::VARCHAR";
            let mut rows = self.connection.prepare(query, &[Column::Text])?.execute(&[])?;
            Ok(rows.fetch().map(|chunk| chunk.texts(0).row(0).to_vec()))
        };
        Ok(number()? == number()?)
    }
}

/// All that `make` makes in place of what was there, in one transaction.
pub fn made(
    connection: &Connection,
    make: impl FnOnce(&Connection) -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    connection.run("BEGIN TRANSACTION")?;
    let dropped = OURS
        .into_iter()
        .try_for_each(|table| connection.run(&format!("DROP TABLE IF EXISTS {table}")));
    if let Err(error) = dropped.and_then(|()| make(connection)) {
        // The first error is the one to report.
        _ = connection.run("ROLLBACK");
        return Err(error);
    }
    connection.run("COMMIT")
}

/// The statistics of what was loaded, and all of it in its place.
pub fn settle(connection: &Connection) -> Result<(), ClientError> {
    connection.run("ANALYZE")?;
    connection.run("CHECKPOINT")
}

/// A list as the engine reads it from text: its C interface binds no arrays of integers.
pub fn list(ids: &[u32]) -> String {
    let mut text = String::with_capacity(2 + 8 * ids.len());
    text.push('[');
    for (at, id) in ids.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{id}").expect("a string takes all that is written");
    }
    text.push(']');
    text
}
