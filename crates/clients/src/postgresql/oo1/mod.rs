//! OO1 on PostgreSQL: part and connection as tables.

mod batch;
mod driver;
mod queries;
mod schema;
#[cfg(test)]
mod tests;

use self::queries::Style;
use crate::error::ClientError;
use crate::oo1::part::{Kind, Part};
use crate::oo1::sql::{Hop, Query};
use crate::postgresql::address::Server;
use crate::postgresql::row::Row;
use crate::postgresql::schema as shared;
use crate::postgresql::session::Session;
use crate::postgresql::statement::{Prepared, Value};
use crate::tactics::{Address, Tactics};

use super::{ENGINE, failed};

/// A driver of one server, with the tactics `statement`, `hop`, `transaction` and `place`.
#[derive(Debug)]
pub struct PostgreSql {
    session: Session,
    server: Server,
    choices: Choices,
    /// By the place of their [`Query`]; empty until there is a database.
    statements: Vec<Prepared>,
}

#[derive(Debug, Clone, Copy)]
struct Choices {
    statement: Style,
    hop: Hop,
    transaction: Span,
}

/// The tactic `transaction`: what a read transaction spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// A call: what is asked without a transaction has one of its own.
    Call,
    /// A measure: one snapshot for all its reads, for two more round trips.
    Measure,
}

impl PostgreSql {
    /// Connect to the server of a connection string (see [`Server::parse`]).
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let statement = [
            ("prepared", Style::Prepared),
            ("text", Style::Text),
            ("procedure", Style::Procedure),
            ("pipeline", Style::Pipeline),
            ("batch", Style::Batch),
        ];
        let transaction = [("call", Span::Call), ("measure", Span::Measure)];
        let choices = Choices {
            statement: tactics.take("statement", &statement)?,
            hop: tactics.take("hop", &[("lookup", Hop::Lookup), ("join", Hop::Join)])?,
            transaction: tactics.take("transaction", &transaction)?,
        };
        let server = Server::at(address, tactics)?;
        Self::connect(server, choices)
    }

    fn connect(server: Server, choices: Choices) -> Result<Self, ClientError> {
        let session = Session::open(&server).map_err(|error| {
            ClientError::engine(
                ENGINE,
                "connecting",
                format!("{error}; the server requested is {server}"),
            )
        })?;
        let mut driver = Self { session, server, choices, statements: Vec::new() };
        let doing = failed("entering its schema");
        shared::enter(&mut driver.session, &driver.server.schema).map_err(doing)?;
        if shared::has(&mut driver.session, &schema::NAMES).map_err(doing)? {
            driver.prepare()?;
        }
        Ok(driver)
    }

    /// Nothing where each statement is sent as text.
    fn prepare(&mut self) -> Result<(), ClientError> {
        self.statements.clear();
        if self.choices.statement == Style::Text {
            return Ok(());
        }
        for query in Query::ALL {
            let sql = queries::statement(query, self.choices.statement, self.choices.hop);
            let name = format!("{query:?}");
            let prepared = self.session.prepare(&name, sql).map_err(failed("preparing"))?;
            self.statements.push(prepared);
        }
        Ok(())
    }

    fn statement(&self, query: Query) -> Result<&Prepared, ClientError> {
        self.statements.get(query as usize).ok_or_else(|| {
            let message = "there is no OO1 database in its schema: load one";
            ClientError::engine(ENGINE, "looking for its statements", message)
        })
    }

    /// One statement, whose rows go to `visit`.
    #[inline]
    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        visit: impl FnMut(Row<'_>),
    ) -> Result<(), ClientError> {
        if self.choices.statement == Style::Text {
            let sql = queries::statement(query, Style::Text, self.choices.hop);
            return self.session.ask(sql, parameters, visit).map_err(failed(ASKING));
        }
        self.queue(query, parameters)?;
        self.session.finish(visit).map_err(failed(ASKING))
    }

    /// One statement of a pipeline; the session's `finish` sends it.
    #[inline]
    fn queue(&mut self, query: Query, parameters: &[Value<'_>]) -> Result<(), ClientError> {
        self.statement(query)?;
        let statement = &self.statements[query as usize];
        self.session.queue_with(statement, parameters).map_err(failed(ASKING))
    }

    /// One statement whose rows are parts.
    #[inline]
    fn parts(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        visit: impl FnMut(Part),
    ) -> Result<(), ClientError> {
        let mut reader = Reader::new(visit);
        self.ask(query, parameters, |row| reader.part(row))?;
        reader.done()
    }
}

const ASKING: &str = "answering a statement";

/// Rows become parts; the first that is none is remembered.
struct Reader<F> {
    visit: F,
    malformed: Result<(), ClientError>,
}

impl<F: FnMut(Part)> Reader<F> {
    fn new(visit: F) -> Self {
        Self { visit, malformed: Ok(()) }
    }

    #[inline]
    fn part(&mut self, mut row: Row<'_>) {
        let (id, x, y) = (row.int() as u32, row.int() as i32, row.int() as i32);
        match Kind::read(ENGINE, row.text()) {
            Ok(kind) => (self.visit)(Part { id, x, y, kind }),
            Err(error) => self.malformed = Err(error),
        }
    }

    fn done(self) -> Result<(), ClientError> {
        self.malformed
    }
}

fn int(id: u32) -> Value<'static> {
    Value::Int(id.cast_signed())
}
