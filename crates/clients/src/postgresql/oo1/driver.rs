//! The calls of the loops, each as one statement or as the tactics have it.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use super::queries::Style;
use super::{ENGINE, PostgreSql, Span, failed, int, schema};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::habits::Habits;
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::sql::{Handle, Hop, Query};
use crate::oo1::visits::Visits;
use crate::outcome::Sent;
use crate::postgresql::schema as shared;
use crate::postgresql::statement::Value;
use crate::postgresql::wire::Wire;
use crate::tactics;

impl PostgreSql {
    /// The tactics `statement` and `hop`, by what the server has prepared of this session and by
    /// what is sent; nothing of an empty database.
    fn found_habits(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let doing = failed("reading its terms");
        if !shared::has(&mut self.session, &schema::NAMES).map_err(doing)? {
            return Ok(Vec::new());
        }
        let Some(habits) = Habits::of(self)? else { return Ok(Vec::new()) };
        let prepared = shared::prepared(&mut self.session, &format!("{:?}", Query::Find));
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

    fn step(
        &mut self,
        query: Query,
        handle: Handle,
        out: &mut Vec<Handle>,
    ) -> Result<(), ClientError> {
        let from = [int(handle.id())];
        if self.choices.hop == Hop::Lookup {
            return self.ask(query, &from, |mut row| out.push(Handle::Id(row.int() as u32)));
        }
        self.parts(query, &from, |part| out.push(Handle::Fetched(part)))
    }
}

impl Transactions for PostgreSql {
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

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.session.execute("BEGIN").map_err(failed("beginning to write"))
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.session.execute("COMMIT").map_err(failed("committing"))
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.session.execute("ROLLBACK").map_err(failed("rolling back"))
    }

    fn sent(&self) -> Option<Sent> {
        let Wire { statements, sends, .. } = self.session.wire;
        Some(Sent { statements, round_trips: Some(sends) })
    }
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
        shared::size_bytes(&mut self.session).map_err(failed("measuring its size"))
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = shared::terms(&mut self.session).map_err(failed("reading its terms"))?;
        self.begin()?;
        let within = self.session.in_transaction;
        self.end()?;
        terms.push(("transaction".to_owned(), tactics::transaction(within).to_owned()));
        terms.extend(self.found_habits()?);
        Ok(terms)
    }
}
