//! OO7 on DuckDB: a table for each class.

use loadstone_datasets::oo7::Database;

use super::api::ENGINE;
use super::handles::{Chunk, Column, Texts, Value as Parameter};
use super::session::{self, Session};
use crate::error::ClientError;
use crate::oo7::relational::{self, Columns, Reach, Relational};
use crate::oo7::rows::{self, Value};
use crate::oo7::sql::{Query, Stored, TABLES};
use crate::outcome::Sent;
use crate::tactics::{Address, Tactics};

/// Adaptive radix trees beside those of the primary keys: each on one column, since one on several
/// helps only who knows them all. None on dates: a range of them is found by the blocks' minima and
/// maxima, and an index there would make each update a deletion and an insertion.
const INDEXES: [(&str, &str); 9] = [
    ("document_title", "document(title)"),
    ("document_composite", "document(composite)"),
    ("baseassembly_super", "baseassembly(super)"),
    ("complexassembly_super", "complexassembly(super)"),
    ("componentpriv_assembly", "componentpriv(assembly)"),
    ("componentpriv_composite", "componentpriv(composite)"),
    ("componentshar_assembly", "componentshar(assembly)"),
    ("atomicpart_composite", "atomicpart(composite)"),
    ("connection_frm", "connection(frm)"),
];

/// Open or create, with the tactic `hop` beside the session's.
pub fn open(
    address: &Address,
    tactics: &mut Tactics,
) -> Result<Relational<DuckDbSession>, ClientError> {
    let session = Session::open(address, tactics)?;
    let reach = Reach::taken(tactics, false)?;
    let mut opened = DuckDbSession { session };
    opened.prepare()?;
    Ok(Relational::new(opened, reach))
}

/// A connection with OO7's statements.
pub struct DuckDbSession {
    session: Session,
}

const PART: &[Column] =
    &[Column::Int, Column::Text, Column::Int, Column::Int, Column::Int, Column::Int];
const OBJECT: &[Column] = &[Column::Int, Column::Text, Column::Int];
const OBJECT_AND_ID: &[Column] = &[Column::Int, Column::Text, Column::Int, Column::Int];

const fn columns(query: Query) -> &'static [Column] {
    match query {
        Query::Part | Query::ConnectedParts | Query::Dated | Query::Scan => PART,
        Query::Composite | Query::Older => OBJECT,
        Query::Base | Query::Complex => OBJECT_AND_ID,
        Query::Document | Query::Manual => &[Column::Text],
        Query::DocumentsOfParts => &[Column::Int, Column::Text],
        Query::Root
        | Query::ComplexBelow
        | Query::BasesBelow
        | Query::Components
        | Query::SharedComponents
        | Query::RootPart
        | Query::Connected
        | Query::CompositeOf
        | Query::Users
        | Query::Bases
        | Query::Titled => &[Column::Int],
        _ => &[],
    }
}

const fn columns_stored(stored: Stored) -> &'static [Column] {
    match stored {
        Stored::Module | Stored::Composite => OBJECT_AND_ID,
        Stored::Manual | Stored::Document => &[Column::Int, Column::Text, Column::Text],
        Stored::Complex | Stored::Base => {
            &[Column::Int, Column::Text, Column::Int, Column::Int, Column::Int]
        }
        Stored::Private | Stored::Shared => &[Column::Int, Column::Int],
        Stored::Part => &[
            Column::Int,
            Column::Text,
            Column::Int,
            Column::Int,
            Column::Int,
            Column::Int,
            Column::Int,
        ],
        Stored::Connection => &[Column::Int, Column::Int, Column::Text, Column::Int],
    }
}

/// A column of a chunk.
#[derive(Clone, Copy)]
enum Cells<'a> {
    Ints(&'a [i32]),
    Texts(Texts<'a>),
}

/// A row of a chunk, and the next column.
pub struct Row<'a> {
    columns: &'a [Cells<'a>],
    place: usize,
    next: usize,
}

impl<'a> Row<'a> {
    #[inline]
    fn step(&mut self) -> Option<Cells<'a>> {
        self.next += 1;
        self.columns.get(self.next - 1).copied()
    }
}

/// A missing column reads as empty or 0: the columns are those that were prepared, and an answer
/// that lacks one fails its check.
impl<'a> Columns<'a> for Row<'a> {
    #[inline]
    fn int(&mut self) -> i32 {
        match self.step() {
            Some(Cells::Ints(numbers)) => numbers.get(self.place).copied().unwrap_or_default(),
            _ => 0,
        }
    }

    #[inline]
    fn text(&mut self) -> &'a [u8] {
        match self.step() {
            Some(Cells::Texts(texts)) => texts.row(self.place),
            _ => &[],
        }
    }
}

/// Each row of a chunk: its columns are requested once.
fn each(
    chunk: &Chunk<'_>,
    columns: &[Column],
    visit: &mut impl FnMut(&mut Row<'_>) -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    let cells: Vec<_> = (0..)
        .zip(columns)
        .map(|(place, column)| match column {
            Column::Int => Cells::Ints(chunk.ints(place)),
            Column::Text => Cells::Texts(chunk.texts(place)),
        })
        .collect();
    (0..chunk.count()).try_for_each(|place| visit(&mut Row { columns: &cells, place, next: 0 }))
}

impl DuckDbSession {
    fn prepare(&mut self) -> Result<(), ClientError> {
        if !relational::Session::is_loaded(self)? {
            return Ok(());
        }
        self.session.prepare(Query::ALL.map(|query| (query.sql(), columns(query))))
    }
}

impl relational::Session for DuckDbSession {
    const ENGINE: &'static str = ENGINE;

    type Row<'a> = Row<'a>;

    fn another(&self) -> Result<Self, ClientError> {
        let mut opened = Self { session: self.session.another()? };
        opened.prepare()?;
        Ok(opened)
    }

    fn isolates(&self) -> bool {
        self.session.spans_measure()
    }

    /// Of two that change a row, the later one is refused.
    fn is_conflict(message: &str) -> bool {
        message.contains("onflict")
    }

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.session.clear();
        let connection = &self.session.connection;
        session::made(connection, |connection| {
            let mut draws = database.draws();
            for (stored, table, columns) in TABLES {
                connection.run(&format!("CREATE TABLE {table} ({columns})"))?;
                let mut appender = connection.append(table)?;
                for owner in 1..=rows::owners(database, stored) {
                    rows::of(database, &mut draws, (stored, owner), &mut |row| {
                        with_parameters(row, |row| appender.row(row))
                    })?;
                }
                appender.finish()?;
            }
            Ok(())
        })?;
        for (name, columns) in INDEXES {
            connection.run(&format!("CREATE INDEX {name} ON {columns}"))?;
        }
        session::settle(connection)?;
        self.prepare()
    }

    fn is_loaded(&mut self) -> Result<bool, ClientError> {
        self.session.has(&TABLES.map(|(_, table, _)| table))
    }

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

    fn ask(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        mut visit: impl FnMut(&mut Row<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let columns = columns(query);
        with_parameters(parameters, |parameters| {
            self.session.ask(query as usize, parameters, |chunk| each(chunk, columns, &mut visit))
        })
    }

    fn stored(
        &mut self,
        stored: Stored,
        sql: &str,
        mut visit: impl FnMut(&mut Row<'_>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let columns = columns_stored(stored);
        let mut rows = self.session.connection.prepare(sql, columns)?.execute(&[])?;
        while let Some(chunk) = rows.fetch() {
            each(&chunk, columns, &mut visit)?;
        }
        Ok(())
    }

    fn sent(&self) -> Sent {
        self.session.sent()
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.session.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.session.terms()
    }
}

/// The most columns of a relation, or parameters of a statement.
const VALUES_MAX: usize = 7;

/// Values as the interface binds and appends them.
fn with_parameters<T>(values: &[Value<'_>], take: impl FnOnce(&[Parameter<'_>]) -> T) -> T {
    let mut parameters = [Parameter::Int(0); VALUES_MAX];
    for (place, value) in parameters.iter_mut().zip(values) {
        *place = match *value {
            Value::Id(id) => Parameter::Int(id.cast_signed()),
            Value::Number(number) => Parameter::Int(number),
            Value::Text(text) => Parameter::Text(text),
            Value::Ids(_) => unreachable!("no statement of this engine takes an array"),
        };
    }
    take(&parameters[..values.len()])
}
