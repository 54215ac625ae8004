//! OO1 on DuckDB: part and connection as tables.

mod driver;
mod queries;
mod schema;

use std::fmt::Write;

use crate::duckdb::api::ENGINE;
use crate::duckdb::handles::{Chunk, Connection, Statement, Value};
use crate::error::ClientError;
use crate::oo1::part::{Kind, Part};
use crate::oo1::sql::{Handle, Hop, Query};
use crate::tactics::{Address, Tactics};

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

/// A driver of one database file, with the tactics `parallelism`, `statement`, `hop` and
/// `transaction`.
pub struct DuckDb {
    session: Session,
    path: String,
    choices: Choices,
    /// Statements executed so far.
    executed: u64,
}

/// A connection, and all that is prepared on it.
struct Session {
    /// By the place of their [`Query`]; empty until there is a database.
    statements: Vec<Statement>,
    begin: Statement,
    commit: Statement,
    rollback: Statement,
    connection: Connection,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: any one thread at a time may use a connection and its statements. They are all in here,
// and no method hands one of them out: every use of the connection is a use of this value.
unsafe impl Send for Session {}

#[derive(Debug, Clone, Copy)]
struct Choices {
    /// `statement=batch`: a batch traversal is one statement a level, not one recursive query.
    levels: bool,
    hop: Hop,
    /// `transaction=measure`: one around all reads of a measure, not one around each call.
    spans_measure: bool,
}

impl DuckDb {
    /// Open or create a database file with the library of `address`.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let threads = tactics.take("parallelism", &PARALLELISM)?;
        let choices = Choices {
            levels: tactics.take("statement", &[("prepared", false), ("batch", true)])?,
            hop: tactics.take("hop", &[("lookup", Hop::Lookup), ("join", Hop::Join)])?,
            spans_measure: tactics.take("transaction", &[("measure", true), ("call", false)])?,
        };
        let library = address.library.as_deref().ok_or_else(|| {
            let message = "its path is not given: it is the file of Python's module `_duckdb`";
            ClientError::engine(ENGINE, "looking for its library", message)
        })?;
        let settings = [("threads", threads), ("memory_limit", CACHE)];
        let connection = Connection::open(library, &address.database, &settings)?;
        Self::on(connection, address.database.clone(), choices)
    }

    fn on(connection: Connection, path: String, choices: Choices) -> Result<Self, ClientError> {
        let session = Session {
            statements: Vec::new(),
            begin: connection.prepare("BEGIN TRANSACTION", &[])?,
            commit: connection.prepare("COMMIT", &[])?,
            rollback: connection.prepare("ROLLBACK", &[])?,
            connection,
        };
        let mut driver = Self { session, path, choices, executed: 0 };
        if schema::is_loaded(&driver.session.connection)? {
            driver.prepare()?;
        }
        Ok(driver)
    }

    fn prepare(&mut self) -> Result<(), ClientError> {
        let Session { statements, connection, .. } = &mut self.session;
        statements.clear();
        for query in Query::ALL {
            let (sql, columns) = queries::statement(query, self.choices.hop);
            statements.push(connection.prepare(sql, columns)?);
        }
        Ok(())
    }

    /// One statement, whose rows go to `visit` by the chunk.
    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(&Chunk<'_>),
    ) -> Result<(), ClientError> {
        let statement = self.session.statements.get_mut(query as usize).ok_or_else(|| {
            let message = "there is no OO1 database in its file: load one";
            ClientError::engine(ENGINE, "looking for its statements", message)
        })?;
        self.executed += 1;
        let mut rows = statement.execute(parameters)?;
        while let Some(chunk) = rows.fetch() {
            visit(&chunk);
        }
        Ok(())
    }

    /// One statement whose rows are nobody's.
    fn execute(&mut self, query: Query, parameters: &[Value<'_>]) -> Result<(), ClientError> {
        self.ask(query, parameters, |_| {})
    }

    /// One statement whose rows are parts.
    fn parts(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(Part),
    ) -> Result<(), ClientError> {
        let mut malformed = Ok(());
        self.ask(query, parameters, |chunk| {
            let (ids, kinds) = (chunk.ints(0), chunk.texts(3));
            let places = chunk.ints(1).iter().zip(chunk.ints(2));
            for (row, (id, (&x, &y))) in ids.iter().zip(places).enumerate() {
                match Kind::read(ENGINE, kinds.row(row)) {
                    Ok(kind) => visit(Part { id: id.cast_unsigned(), x, y, kind }),
                    Err(error) => malformed = Err(error),
                }
            }
        })?;
        malformed
    }

    /// Begin or end a transaction, by one of the session's statements for it.
    fn turn(&mut self, which: fn(&mut Session) -> &mut Statement) -> Result<(), ClientError> {
        self.executed += 1;
        which(&mut self.session).execute(&[]).map(|_| ())
    }

    fn step(
        &mut self,
        query: Query,
        handle: Handle,
        out: &mut Vec<Handle>,
    ) -> Result<(), ClientError> {
        let from = [int(handle.id())];
        if self.choices.hop == Hop::Lookup {
            return self.ask(query, &from, |chunk| {
                out.extend(chunk.ints(0).iter().map(|id| Handle::Id(id.cast_unsigned())));
            });
        }
        self.parts(query, &from, |part| out.push(Handle::Fetched(part)))
    }
}

fn int(id: u32) -> Value<'static> {
    Value::Int(id.cast_signed())
}

/// A list as the engine reads it from text: its C interface binds no arrays of integers.
fn list(ids: &[u32]) -> String {
    let mut text = String::with_capacity(2 + 8 * ids.len());
    text.push('[');
    for (at, id) in ids.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{id}").expect("a string takes all that is written");
    }
    text.push(']');
    text
}
