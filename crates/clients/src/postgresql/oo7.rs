//! OO7 on PostgreSQL: a table for each class, over one connection.

use std::io::Write;

use loadstone_datasets::oo7::Database;

use super::address::Server;
use super::row::Row;
use super::schema;
use super::session::Session;
use super::statement::{Prepared, Value as Parameter};
use super::wire::{Wire, WireError};
use super::{ENGINE, failed};
use crate::error::ClientError;
use crate::oo7::relational::{self, Columns, Reach, Relational};
use crate::oo7::rows::{self, Value};
use crate::oo7::sql::{INDEXES, Query, Stored, TABLES};
use crate::outcome::Sent;
use crate::tactics::{self, Address, Tactics};

/// The tactic `statement`: how a statement reaches the server, and how much one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Parsed once, called by name.
    Prepared,
    /// The whole text at each call.
    Text,
    /// As prepared; one takes a level of a graph as an array.
    Batch,
}

/// A connection, with the tactics `statement`, `transaction` and `place`.
pub struct PostgreSqlSession {
    session: Session,
    server: Server,
    style: Style,
    /// `transaction=measure`: one around all reads of an operation, not one around each statement.
    spans_measure: bool,
    /// By the place of their [`Query`]; empty until there is a database, or where all is text.
    statements: Vec<Prepared>,
    is_loaded: bool,
}

/// Values of the tactic `statement` that OO1's program has beside these.
pub const OTHER_STYLES: [(&str, &str); 2] = [
    ("procedure", "OO7's program has no functions in the server"),
    ("pipeline", "OO7's program requests an object after it has read the one before"),
];

/// Connect to the server of a connection string (see [`Server::parse`]).
pub fn open(
    address: &Address,
    tactics: &mut Tactics,
) -> Result<Relational<PostgreSqlSession>, ClientError> {
    let styles = [Ok(Style::Prepared), Ok(Style::Text), Ok(Style::Batch)];
    let styles = ["prepared", "text", "batch"].into_iter().zip(styles);
    let others = OTHER_STYLES.into_iter().map(|(value, reason)| (value, Err(reason)));
    let choices: Vec<_> = styles.chain(others).collect();
    let style = tactics
        .take("statement", &choices)?
        .map_err(|reason| ClientError::Unsupported { engine: ENGINE, what: "statement", reason })?;
    let reach = Reach::taken(tactics, style == Style::Batch)?;
    let spans_measure = tactics.take("transaction", &[("call", false), ("measure", true)])?;
    let server = Server::at(address, tactics)?;
    Ok(Relational::new(connected(server, style, spans_measure)?, reach))
}

fn connected(
    server: Server,
    style: Style,
    spans_measure: bool,
) -> Result<PostgreSqlSession, ClientError> {
    let session = Session::open(&server).map_err(|error| {
        ClientError::engine(
            ENGINE,
            "connecting",
            format!("{error}; the server requested is {server}"),
        )
    })?;
    let statements = Vec::new();
    let mut opened =
        PostgreSqlSession { session, server, style, spans_measure, statements, is_loaded: false };
    let doing = failed("entering its schema");
    schema::enter(&mut opened.session, &opened.server.schema).map_err(doing)?;
    opened.prepare()?;
    Ok(opened)
}

/// The SQL of a statement.
const fn sql(query: Query) -> &'static str {
    match query {
        Query::LevelIds => {
            "SELECT c.frm, c.too FROM unnest($1::int4[]) AS level(id) \
             JOIN connection c ON c.frm = level.id"
        }
        Query::LevelParts => {
            "SELECT p.id, p.type, p.builddate, p.x, p.y, p.docid \
             FROM unnest($1::int4[]) AS level(id) JOIN atomicpart p ON p.id = level.id"
        }
        Query::LevelJoined => {
            "SELECT c.frm, p.id, p.type, p.builddate, p.x, p.y, p.docid \
             FROM unnest($1::int4[]) AS level(id) JOIN connection c ON c.frm = level.id \
             JOIN atomicpart p ON p.id = c.too"
        }
        _ => query.sql(),
    }
}

/// SQLSTATE of a transaction that the server chose to end for another's sake: serialization
/// failure, deadlock (the manual's appendix A).
const CONFLICTS: [&str; 2] = ["SQLSTATE 40001", "SQLSTATE 40P01"];

const ASKING: &str = "answering a statement";
const LOADING: &str = "loading";

impl<'a> Columns<'a> for Row<'a> {
    #[inline]
    fn int(&mut self) -> i32 {
        Row::int(self) as i32
    }

    #[inline]
    fn text(&mut self) -> &'a [u8] {
        Row::text(self)
    }
}

fn parameter(value: Value<'_>) -> Parameter<'_> {
    match value {
        Value::Id(id) => Parameter::Int(id.cast_signed()),
        Value::Number(number) => Parameter::Int(number),
        Value::Text(text) => Parameter::Text(text),
        Value::Ids(ids) => Parameter::Ints(ids),
    }
}

impl PostgreSqlSession {
    /// Nothing where there is no database, and no statement where each is sent as text.
    fn prepare(&mut self) -> Result<(), ClientError> {
        self.statements.clear();
        let tables = TABLES.map(|(_, table, _)| table);
        self.is_loaded = schema::has(&mut self.session, &tables).map_err(failed("preparing"))?;
        if !self.is_loaded || self.style == Style::Text {
            return Ok(());
        }
        for query in Query::ALL.into_iter().chain(Query::LEVELS) {
            let prepared = self.session.prepare(&format!("{query:?}"), sql(query));
            self.statements.push(prepared.map_err(failed("preparing"))?);
        }
        Ok(())
    }

    fn copy(&mut self, database: &Database) -> Result<(), WireError> {
        let own = &self.server.schema;
        schema::made(&mut self.session, own, |session| {
            let mut draws = database.draws();
            for (stored, table, columns) in TABLES {
                session.execute(&schema::within(
                    own,
                    &format!("CREATE TABLE @.{table} ({columns})"),
                ))?;
                let mut owners = 1..=rows::owners(database, stored);
                // The table is of this transaction: frozen rows spare the first reader a second
                // writing.
                let copy = schema::within(own, &format!("COPY @.{table} FROM STDIN (FREEZE)"));
                session.copy(&copy, |lines| {
                    let Some(owner) = owners.next() else { return false };
                    rows::of(database, &mut draws, (stored, owner), &mut |row| {
                        push(lines, row);
                        Ok(())
                    })
                    .is_ok()
                })?;
            }
            Ok(())
        })?;
        for (name, columns) in INDEXES {
            let statement = format!("CREATE INDEX {name} ON @.{columns}");
            self.session.execute(&schema::within(own, &statement))?;
        }
        for (_, table, _) in TABLES {
            let statement = format!("VACUUM (ANALYZE) @.{table}");
            self.session.execute(&schema::within(own, &statement))?;
        }
        // The statements from here on define nothing, so no event trigger changes the path again.
        schema::enter(&mut self.session, own)?;
        schema::checkpoint(&mut self.session)
    }
}

/// A row as a line of COPY.
fn push(lines: &mut Vec<u8>, row: &[Value<'_>]) {
    for (at, value) in row.iter().enumerate() {
        if at > 0 {
            lines.push(b'\t');
        }
        match *value {
            Value::Id(id) => write!(lines, "{id}").expect("memory takes what is written"),
            Value::Number(number) => {
                write!(lines, "{number}").expect("memory takes what is written");
            }
            Value::Text(text) => {
                for &letter in text.as_bytes() {
                    match letter {
                        b'\n' => lines.extend_from_slice(b"\\n"),
                        b'\r' => lines.extend_from_slice(b"\\r"),
                        b'\t' => lines.extend_from_slice(b"\\t"),
                        b'\\' => lines.extend_from_slice(b"\\\\"),
                        _ => lines.push(letter),
                    }
                }
            }
            Value::Ids(_) => unreachable!("no relation has an array"),
        }
    }
    lines.push(b'\n');
}

impl relational::Session for PostgreSqlSession {
    const ENGINE: &'static str = ENGINE;

    type Row<'a> = Row<'a>;

    fn another(&self) -> Result<Self, ClientError> {
        connected(self.server.clone(), self.style, self.spans_measure)
    }

    /// A transaction that writes is at `read committed`: each of its statements sees what others
    /// have committed meanwhile.
    fn isolates(&self) -> bool {
        false
    }

    fn is_conflict(message: &str) -> bool {
        CONFLICTS.iter().any(|code| message.contains(code))
    }

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.session.execute("DEALLOCATE ALL").map_err(failed(LOADING))?;
        self.copy(database).map_err(failed(LOADING))?;
        self.prepare()
    }

    fn is_loaded(&mut self) -> Result<bool, ClientError> {
        Ok(self.is_loaded)
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        if !self.spans_measure {
            return Ok(());
        }
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.session.execute(begin).map_err(failed("beginning to read"))
    }

    fn end(&mut self) -> Result<(), ClientError> {
        if !self.spans_measure {
            return Ok(());
        }
        self.session.execute("COMMIT").map_err(failed("ending to read"))
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.session.execute("BEGIN").map_err(failed("beginning to write"))
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.session.execute("COMMIT").map_err(failed("committing"))
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.session.execute("ROLLBACK").map_err(failed("rolling back"))
    }

    #[inline]
    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(&mut Row<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        // Every row is read, or the next answer would begin with those that are left.
        let mut refused = Ok(());
        let visit = |mut row: Row<'_>| {
            if refused.is_ok() {
                refused = visit(&mut row);
            }
        };
        if let [Value::Id(id)] = *parameters
            && let Some(statement) = self.statements.get(query as usize)
        {
            self.session.queue(statement, id.cast_signed());
            self.session.finish(visit).map_err(failed(ASKING))?;
            return refused;
        }
        let parameters: Vec<_> = parameters.iter().map(|&value| parameter(value)).collect();
        match self.statements.get(query as usize) {
            Some(statement) => {
                self.session.queue_with(statement, &parameters).map_err(failed(ASKING))?;
                self.session.finish(visit).map_err(failed(ASKING))?;
            }
            None if self.is_loaded => {
                self.session.ask(sql(query), &parameters, visit).map_err(failed(ASKING))?;
            }
            None => {
                let message = "there is no OO7 database in its schema: load one";
                return Err(ClientError::engine(ENGINE, "looking for its tables", message));
            }
        }
        refused
    }

    fn stored(
        &mut self,
        _stored: Stored,
        sql: &str,
        mut visit: impl FnMut(&mut Row<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let mut refused = Ok(());
        self.session
            .query(sql, |mut row| {
                if refused.is_ok() {
                    refused = visit(&mut row);
                }
            })
            .map_err(failed(ASKING))?;
        refused
    }

    fn sent(&self) -> Sent {
        let Wire { statements, sends, .. } = self.session.wire;
        Sent { statements, round_trips: Some(sends) }
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        schema::size_bytes(&mut self.session).map_err(failed("measuring its size"))
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let doing = failed("reading its terms");
        let mut terms = schema::terms(&mut self.session).map_err(doing)?;
        self.begin()?;
        let within = self.session.in_transaction;
        self.end()?;
        terms.push(("transaction".to_owned(), tactics::transaction(within).to_owned()));
        if self.is_loaded {
            let name = format!("{:?}", Query::Part);
            if schema::prepared(&mut self.session, &name).map_err(doing)?.is_none() {
                terms.push(("statement".to_owned(), "text".to_owned()));
            }
        }
        Ok(terms)
    }
}
