//! OO7 on `SQLite`: a table for each class, prepared statements, an index for each way in which a
//! reference is followed.

use std::ffi::c_int;

use loadstone_datasets::oo7::Database;

use super::file::{File, not_loaded};
use super::raw::{Connection, ENGINE, Statement};
use crate::error::ClientError;
use crate::oo7::relational::{Columns, Reach, Relational, Session};
use crate::oo7::rows::{self, Value};
use crate::oo7::sql::{INDEXES, Query, Stored, TABLES};
use crate::outcome::Sent;
use crate::tactics::{Address, Tactics};

/// The statements stand before the file, so that they go first.
pub struct SqliteSession {
    /// By the place of their [`Query`]; empty until there is a database.
    statements: Vec<Statement>,
    file: File,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: the connection and all that was prepared on it are in here, and no method hands one of
// them out: they move together.
unsafe impl Send for SqliteSession {}

/// Open or create.
pub fn open(
    address: &Address,
    tactics: &mut Tactics,
) -> Result<Relational<SqliteSession>, ClientError> {
    Ok(Relational::new(attached(File::open(address, tactics)?)?, Reach::LOOKUP))
}

fn attached(file: File) -> Result<SqliteSession, ClientError> {
    let mut session = SqliteSession { statements: Vec::new(), file };
    if session.is_loaded()? {
        session.statements = prepare(session.file.connection())?;
    }
    Ok(session)
}

fn prepare(connection: &Connection) -> Result<Vec<Statement>, ClientError> {
    Query::ALL.into_iter().map(|query| connection.prepare(query.sql())).collect()
}

/// A statement at a row, and the next column.
pub struct Cursor<'a> {
    statement: &'a Statement,
    next: c_int,
}

impl<'a> Cursor<'a> {
    #[inline]
    const fn at(statement: &'a Statement) -> Self {
        Self { statement, next: 0 }
    }

    #[inline]
    const fn step(&mut self) -> c_int {
        self.next += 1;
        self.next - 1
    }
}

impl<'a> Columns<'a> for Cursor<'a> {
    #[inline]
    fn int(&mut self) -> i32 {
        let column = self.step();
        self.statement.short(column)
    }

    #[inline]
    fn text(&mut self) -> &'a [u8] {
        let column = self.step();
        self.statement.bytes(column)
    }
}

#[inline]
fn bind(statement: &mut Statement, values: &[Value<'_>]) -> Result<(), ClientError> {
    for (place, value) in (1 as c_int..).zip(values) {
        match *value {
            Value::Id(id) => statement.bind(place, id.into())?,
            Value::Number(number) => statement.bind(place, number.into())?,
            Value::Text(text) => statement.bind_text(place, text)?,
            Value::Ids(_) => unreachable!("no statement of this engine takes an array"),
        }
    }
    Ok(())
}

impl SqliteSession {
    #[inline]
    fn statement(&mut self, query: Query) -> Result<&mut Statement, ClientError> {
        self.statements.get_mut(query as usize).ok_or_else(not_loaded)
    }

    /// All rows, then all indexes: a B-tree that is made of all its rows is full and in order.
    fn fill(&self, database: &Database) -> Result<(), ClientError> {
        let mut draws = database.draws();
        for (stored, table, columns) in TABLES {
            let places = vec!["?"; columns.split(", ").count()].join(", ");
            let insert = format!("insert into {table} values ({places})");
            let mut insert = self.file.connection().prepare(&insert)?;
            for owner in 1..=rows::owners(database, stored) {
                rows::of(database, &mut draws, (stored, owner), &mut |row| {
                    bind(&mut insert, row)?;
                    insert.finish()
                })?;
            }
        }
        for (name, columns) in INDEXES {
            self.file.connection().run(&format!("create index {name} on {columns}"))?;
        }
        Ok(())
    }
}

impl Session for SqliteSession {
    const ENGINE: &'static str = ENGINE;

    type Row<'a> = Cursor<'a>;

    fn another(&self) -> Result<Self, ClientError> {
        attached(self.file.another()?)
    }

    fn isolates(&self) -> bool {
        self.file.spans_measure()
    }

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.statements.clear();
        self.file.replace()?;
        for (_, table, columns) in TABLES {
            self.file.connection().run(&format!("create table {table}({columns})"))?;
        }
        self.file.begin_write()?;
        self.fill(database)?;
        self.file.commit()?;
        self.statements = prepare(self.file.connection())?;
        self.file.checkpoint()
    }

    fn is_loaded(&mut self) -> Result<bool, ClientError> {
        let loaded = "select name from sqlite_schema where name = 'atomicpart'";
        Ok(!self.file.connection().value(loaded)?.is_empty())
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        self.file.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.file.end()
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.file.begin_write()
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.file.commit()
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.file.rollback()
    }

    #[inline]
    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(&mut Cursor<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let statement = self.statement(query)?;
        bind(statement, parameters)?;
        while statement.step()? {
            if let Err(error) = visit(&mut Cursor::at(statement)) {
                statement.reset();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Without the step that finds no second row.
    #[inline]
    fn one(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut take: impl FnMut(&mut Cursor<'_>) -> Result<(), ClientError>,
    ) -> Result<bool, ClientError> {
        let statement = self.statement(query)?;
        bind(statement, parameters)?;
        let found = statement.step()?;
        let taken = if found { take(&mut Cursor::at(statement)) } else { Ok(()) };
        statement.reset();
        taken.map(|()| found)
    }

    fn stored(
        &mut self,
        _stored: Stored,
        sql: &str,
        mut visit: impl FnMut(&mut Cursor<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let mut statement = self.file.connection().prepare(sql)?;
        while statement.step()? {
            visit(&mut Cursor::at(&statement))?;
        }
        Ok(())
    }

    fn sent(&self) -> Sent {
        self.file.sent()
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(self.file.size_bytes())
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.file.terms()
    }
}

#[cfg(test)]
mod tests;
