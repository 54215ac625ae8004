//! OO1 on DuckDB: part and connection as tables.

mod driver;
mod queries;
mod schema;

use crate::duckdb::api::ENGINE;
use crate::duckdb::handles::{Chunk, Value};
use crate::duckdb::session::Session;
use crate::error::ClientError;
use crate::oo1::part::{Kind, Part};
use crate::oo1::sql::{Handle, Hop, Query};
use crate::tactics::{Address, Tactics};

/// A driver of one database file, with the tactics `parallelism`, `statement`, `hop` and
/// `transaction`.
pub struct DuckDb {
    session: Session,
    choices: Choices,
}

#[derive(Debug, Clone, Copy)]
struct Choices {
    /// `statement=batch`: a batch traversal is one statement a level, not one recursive query.
    levels: bool,
    hop: Hop,
}

impl DuckDb {
    /// Open or create a database file with the library of `address`.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let session = Session::open(address, tactics)?;
        let choices = Choices {
            levels: tactics.take("statement", &[("prepared", false), ("batch", true)])?,
            hop: tactics.take("hop", &[("lookup", Hop::Lookup), ("join", Hop::Join)])?,
        };
        Self::on(session, choices)
    }

    fn on(session: Session, choices: Choices) -> Result<Self, ClientError> {
        let mut driver = Self { session, choices };
        if driver.session.has(&schema::NAMES)? {
            driver.prepare()?;
        }
        Ok(driver)
    }

    fn prepare(&mut self) -> Result<(), ClientError> {
        let hop = self.choices.hop;
        self.session.prepare(Query::ALL.map(|query| queries::statement(query, hop)))
    }

    /// One statement, whose rows go to `visit` by the chunk.
    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(&Chunk<'_>),
    ) -> Result<(), ClientError> {
        self.session.ask(query as usize, parameters, |chunk| {
            visit(chunk);
            Ok(())
        })
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
