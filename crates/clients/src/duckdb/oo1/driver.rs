//! OO1's calls as statements of DuckDB.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use super::{DuckDb, int, schema};
use crate::clocked::Transactions;
use crate::duckdb::api::ENGINE;
use crate::duckdb::handles::Value;
use crate::duckdb::session::list;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::habits::Habits;
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::sql::{Handle, Query};
use crate::oo1::visits::Visits;
use crate::outcome::Sent;

impl Transactions for DuckDb {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.session.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.session.end()
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.session.begin_write()
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.session.commit()
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.session.rollback()
    }

    fn sent(&self) -> Option<Sent> {
        Some(self.session.sent())
    }
}

impl Driver for DuckDb {
    const ENGINE: &'static str = ENGINE;

    type Handle = Handle;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.session.clear();
        schema::load(&self.session.connection, database)?;
        self.prepare()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Self::on(self.session.another()?, self.choices)
    }

    fn find(&mut self, id: u32) -> Result<(Handle, Part), ClientError> {
        let mut found = None;
        self.parts(Query::Find, &[int(id)], |part| found = Some(part))?;
        let part = found.ok_or_else(|| Self::missing(id))?;
        Ok((Handle::Fetched(part), part))
    }

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
        self.ask(Query::Scan, &[], |chunk| {
            chunk.ints(0).iter().zip(chunk.ints(1)).for_each(|(&x, &y)| visits.point(x, y));
        })
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        let mut found = None;
        self.parts(Query::Reference, &[int(from), int(to)], |part| found = Some(part))?;
        found.ok_or_else(|| Self::missing(to))
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        let mut malformed = Ok(());
        self.ask(Query::Group, &[int(id)], |chunk| {
            let kinds = chunk.texts(2);
            for (row, (to, &length)) in chunk.ints(0).iter().zip(chunk.ints(1)).enumerate() {
                match Kind::read(ENGINE, kinds.row(row)) {
                    Ok(kind) => {
                        visits.link(&Link { from: id, to: to.cast_unsigned(), length, kind });
                    }
                    Err(error) => malformed = Err(error),
                }
            }
        })?;
        malformed
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        let part = &new.part;
        let kind = Kind::of(part.kind);
        let (x, y) = (Value::Int(part.x), Value::Int(part.y));
        let row = [int(part.id), Value::Text(kind.text()), x, y, Value::Time(part.build_s)];
        self.execute(Query::Insert, &row)?;
        let kinds = new.to.each_ref().map(|connection| Kind::of(connection.kind));
        let mut links = [int(part.id); 10];
        for (at, connection) in new.to.iter().enumerate() {
            let kind = Value::Text(kinds[at].text());
            let link = [int(connection.to), kind, Value::Int(connection.length)];
            links[1 + 3 * at..][..3].copy_from_slice(&link);
        }
        self.execute(Query::Connect, &links)
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        self.execute(Query::Update, &[int(id), Value::Time(build_sum_s)])
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        let ids = [int(*ids.start()), int(*ids.end())];
        self.execute(Query::Disconnect, &ids)?;
        self.execute(Query::Remove, &ids)
    }

    fn find_batch(&mut self, ids: &[u32], visits: &mut Visits) -> Result<(), ClientError> {
        let before = visits.count;
        let wanted = list(ids);
        let wanted = [Value::Text(&wanted)];
        self.parts(Query::FindBatch, &wanted, |part| visits.part(&part))?;
        let found = visits.count - before;
        if found == ids.len() as u64 {
            return Ok(());
        }
        let what = format!("{found} parts for {} ids", ids.len());
        Err(ClientError::Malformed { engine: ENGINE, what })
    }

    fn traverse_batch(
        &mut self,
        start: u32,
        depth: u32,
        direction: Direction,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        if !self.choices.levels {
            let bounds = [int(start), int(depth)];
            let query = Query::traversal(direction);
            return self.parts(query, &bounds, |part| visits.part(&part));
        }
        let (_, part) = self.find(start)?;
        visits.part(&part);
        let mut level = vec![start];
        for _ in 0..depth {
            let from = list(&level);
            level.clear();
            self.parts(Query::level(direction), &[Value::Text(&from)], |part| {
                visits.part(&part);
                level.push(part.id);
            })?;
        }
        Ok(())
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    fn empty(&mut self) -> Result<(), ClientError> {
        self.execute(Query::Empty, &[])
    }

    fn constant(&mut self) -> Result<i32, ClientError> {
        let mut value = 0;
        self.ask(Query::Constant, &[], |chunk| {
            if let Some(&first) = chunk.ints(0).first() {
                value = first;
            }
        })?;
        Ok(value)
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.session.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = self.session.terms()?;
        if self.session.has(&schema::NAMES)?
            && let Some(habits) = Habits::of(self)?
        {
            let style = if habits.goes_by_levels() { "batch" } else { "prepared" };
            terms.push(("statement".to_owned(), style.to_owned()));
            terms.push(("hop".to_owned(), habits.hop().to_owned()));
        }
        Ok(terms)
    }
}
