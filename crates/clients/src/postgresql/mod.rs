//! PostgreSQL, and what speaks its protocol: one connection a driver, blocking.
//!
//! The protocol is spoken here, on the message formats of `postgres-protocol`: a driver that does
//! more (a runtime, a task, a row of boxed values) costs more than the server's look-up.

mod address;
mod batch;
mod queries;
mod row;
mod schema;
mod session;
mod statement;
#[cfg(test)]
mod tests;
mod text;
mod wire;

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use self::address::{Address as Server, Place};
use self::queries::{Hop, Query, Style};
use self::row::Row;
use self::session::Session;
use self::statement::{Prepared, Value};
use self::wire::{Wire, WireError};
use crate::driver::{Direction, Driver};
use crate::error::ClientError;
use crate::habits::{self, Habits};
use crate::measure::Sent;
use crate::part::{Kind, Link, Part};
use crate::tactics::{Address, Tactics};
use crate::visits::Visits;

const ENGINE: &str = "postgresql";

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

/// A part that was reached.
#[derive(Debug, Clone, Copy)]
pub enum Handle {
    /// It came with its connection.
    Fetched(Part),
    /// Its id came alone.
    Id(u32),
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
        let place = [("address", None), ("socket", Some(true)), ("tcp", Some(false))];
        let choices = Choices {
            statement: tactics.take("statement", &statement)?,
            hop: tactics.take("hop", &[("lookup", Hop::Lookup), ("join", Hop::Join)])?,
            transaction: tactics.take("transaction", &transaction)?,
        };
        let place = tactics.take("place", &place)?;
        let server = Server::parse(&address.database)
            .map_err(|message| ClientError::engine(ENGINE, "reading its address", message))?;
        let is_socket = matches!(server.place, Place::Socket { .. });
        if place.is_some_and(|wanted| wanted != is_socket) {
            let message = format!("place= asks for another way than that to {server}");
            return Err(ClientError::engine(ENGINE, "connecting", message));
        }
        Self::connect(server, choices)
    }

    fn connect(server: Server, choices: Choices) -> Result<Self, ClientError> {
        let session = Session::open(&server).map_err(|error| {
            ClientError::engine(ENGINE, "connecting", format!("{error}; asked for {server}"))
        })?;
        let mut driver = Self { session, server, choices, statements: Vec::new() };
        let doing = failed("entering its schema");
        schema::enter(&mut driver.session, &driver.server.schema).map_err(doing)?;
        if schema::is_loaded(&mut driver.session).map_err(doing)? {
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
            let sql = query.sql(self.choices.statement, self.choices.hop);
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
            let sql = query.sql(Style::Text, self.choices.hop);
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

    fn step(
        &mut self,
        query: Query,
        handle: Handle,
        out: &mut Vec<Handle>,
    ) -> Result<(), ClientError> {
        let from = [int(match handle {
            Handle::Fetched(part) => part.id,
            Handle::Id(id) => id,
        })];
        if self.choices.hop == Hop::Lookup {
            return self.ask(query, &from, |mut row| out.push(Handle::Id(row.int() as u32)));
        }
        self.parts(query, &from, |part| out.push(Handle::Fetched(part)))
    }
}

impl PostgreSql {
    /// The tactics `statement` and `hop`, by what the server has prepared of this session and by
    /// what is sent; nothing of an empty database.
    fn found_habits(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let doing = failed("reading its terms");
        if !schema::is_loaded(&mut self.session).map_err(doing)? {
            return Ok(Vec::new());
        }
        let Some(habits) = Habits::of(self)? else { return Ok(Vec::new()) };
        let prepared = schema::prepared(&mut self.session, &format!("{:?}", Query::Find));
        let style = match prepared.map_err(doing)? {
            None => "text",
            Some(text) if text.contains("oo1_") => "procedure",
            Some(_) if habits.sends_each() => "pipeline",
            Some(_) if habits.goes_by_levels() => "batch",
            Some(_) => "prepared",
        };
        let found = [("statement", style), ("hop", habits.hop())];
        Ok(found.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
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

fn failed(doing: &'static str) -> impl Fn(WireError) -> ClientError + Copy {
    move |error| ClientError::engine(ENGINE, doing, error)
}

fn int(id: u32) -> Value<'static> {
    Value::Int(id.cast_signed())
}

impl Driver for PostgreSql {
    const ENGINE: &'static str = ENGINE;

    type Handle = Handle;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.session.execute("DEALLOCATE ALL").map_err(failed("loading"))?;
        self.statements.clear();
        schema::load(&mut self.session, &self.server.schema, database)
            .map_err(failed("loading"))?;
        self.prepare()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Self::connect(self.server.clone(), self.choices)
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        if self.choices.transaction == Span::Call {
            return Ok(());
        }
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.session.execute(begin).map_err(failed("beginning to read"))
    }

    fn end(&mut self) -> Result<(), ClientError> {
        if self.choices.transaction == Span::Call {
            return Ok(());
        }
        self.session.execute("COMMIT").map_err(failed("ending to read"))
    }

    #[inline]
    fn find(&mut self, id: u32) -> Result<(Handle, Part), ClientError> {
        let mut found = None;
        self.parts(Query::Find, &[int(id)], |part| found = Some(part))?;
        let part = found.ok_or_else(|| Self::missing(id))?;
        Ok((Handle::Fetched(part), part))
    }

    #[inline]
    fn read(&mut self, handle: Handle) -> Result<Part, ClientError> {
        match handle {
            Handle::Fetched(part) => Ok(part),
            Handle::Id(id) => Ok(self.find(id)?.1),
        }
    }

    fn links(
        &mut self,
        handle: Handle,
        direction: Direction,
        out: &mut Vec<Handle>,
    ) -> Result<(), ClientError> {
        self.step(Query::step(direction), handle, out)
    }

    fn links_in_order(&mut self, handle: Handle, out: &mut Vec<Handle>) -> Result<(), ClientError> {
        self.step(Query::Ordered, handle, out)
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        let bounds = [Value::Time(build_s.start), Value::Time(build_s.end)];
        self.parts(Query::Range, &bounds, |part| visits.part(&part))
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.ask(Query::Scan, &[], |mut row| visits.point(row.int() as i32, row.int() as i32))
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        let mut found = None;
        self.parts(Query::Reference, &[int(from), int(to)], |part| found = Some(part))?;
        found.ok_or_else(|| Self::missing(to))
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        let mut malformed = Ok(());
        self.ask(Query::Group, &[int(id)], |mut row| {
            let (to, length) = (row.int() as u32, row.int() as i32);
            match Kind::read(ENGINE, row.text()) {
                Ok(kind) => visits.link(&Link { from: id, to, length, kind }),
                Err(error) => malformed = Err(error),
            }
        })?;
        malformed
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.session.execute("BEGIN").map_err(failed("beginning to write"))
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        let part = &new.part;
        let kind = Kind::of(part.kind);
        let (x, y) = (Value::Int(part.x), Value::Int(part.y));
        let row = [int(part.id), Value::Text(kind.text()), x, y, Value::Time(part.build_s)];
        let kinds = new.to.each_ref().map(|connection| Kind::of(connection.kind));
        let mut links = [int(part.id); 10];
        for (at, connection) in new.to.iter().enumerate() {
            let kind = Value::Text(kinds[at].text());
            let link = [int(connection.to), kind, Value::Int(connection.length)];
            links[1 + 3 * at..][..3].copy_from_slice(&link);
        }
        if self.choices.statement == Style::Pipeline {
            self.queue(Query::Insert, &row)?;
        } else {
            self.ask(Query::Insert, &row, |_| {})?;
        }
        self.ask(Query::Connect, &links, |_| {})
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        self.ask(Query::Update, &[int(id), Value::Time(build_sum_s)], |_| {})
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        let ids = [int(*ids.start()), int(*ids.end())];
        self.ask(Query::Disconnect, &ids, |_| {})?;
        self.ask(Query::Remove, &ids, |_| {})
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.session.execute("COMMIT").map_err(failed("committing"))
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.session.execute("ROLLBACK").map_err(failed("rolling back"))
    }

    fn find_batch(&mut self, ids: &[u32], visits: &mut Visits) -> Result<(), ClientError> {
        self.find_many(ids, visits)
    }

    fn traverse_batch(
        &mut self,
        start: u32,
        depth: u32,
        direction: Direction,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        self.traverse(start, depth, direction, visits)
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    fn empty(&mut self) -> Result<(), ClientError> {
        self.ask(Query::Empty, &[], |_| {})
    }

    fn constant(&mut self) -> Result<i32, ClientError> {
        let mut value = 0;
        self.ask(Query::Constant, &[], |mut row| value = row.int() as i32)?;
        Ok(value)
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        schema::size_bytes(&mut self.session).map_err(failed("measuring its size"))
    }

    fn sent(&self) -> Option<Sent> {
        let Wire { statements, sends, .. } = self.session.wire;
        Some(Sent { statements, round_trips: Some(sends) })
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = schema::terms(&mut self.session).map_err(failed("reading its terms"))?;
        self.begin()?;
        let within = self.session.in_transaction;
        self.end()?;
        terms.push(("transaction".to_owned(), habits::transaction(within).to_owned()));
        terms.extend(self.found_habits()?);
        Ok(terms)
    }
}
