//! OO7 on `SQLite`: a table for each class, prepared statements, an index for each way in which a
//! reference is followed.

mod rows;

use std::ops::RangeInclusive;

use loadstone_datasets::oo7::{Database, tree};

use self::rows::{Value, fill};
use super::file::{File, not_loaded};
use super::raw::{Connection, ENGINE, Statement};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::sql::{CONTENTS, Complex, INDEXES, Query, Stored, TABLES};
use crate::oo7::visits::{Letters, Visits};
use crate::oo7::{Assembly, Kind, Object, Part};
use crate::outcome::Sent;
use crate::tactics::{Address, Tactics};

/// The statements stand before the file, so that they go first.
pub struct Relational {
    /// By the place of their [`Query`]; empty until there is a database.
    statements: Vec<Statement>,
    file: File,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: the connection and all that was prepared on it are in here, and no method hands one of
// them out: they move together.
unsafe impl Send for Relational {}

impl Relational {
    /// Open or create.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let file = File::open(address, tactics)?;
        let loaded = "select name from sqlite_schema where name = 'atomicpart'";
        let is_loaded = !file.connection().value(loaded)?.is_empty();
        let statements = if is_loaded { prepare(file.connection())? } else { Vec::new() };
        Ok(Self { statements, file })
    }

    #[inline]
    fn statement(&mut self, query: Query) -> Result<&mut Statement, ClientError> {
        self.statements.get_mut(query as usize).ok_or_else(not_loaded)
    }

    /// The statement at the one row that has this id.
    #[inline]
    fn at(&mut self, query: Query, id: u32) -> Result<&mut Statement, ClientError> {
        let statement = self.statement(query)?;
        statement.bind(1, id.into())?;
        if statement.step()? { Ok(statement) } else { Err(Self::missing(id)) }
    }

    /// The number in the one row that has this id.
    #[inline]
    fn number(&mut self, query: Query, id: u32) -> Result<u32, ClientError> {
        let statement = self.at(query, id)?;
        let number = statement.id(0);
        statement.reset();
        Ok(number)
    }

    /// The numbers in all rows for an id.
    #[inline]
    fn numbers(
        &mut self,
        query: Query,
        id: u32,
        mut take: impl FnMut(u32),
    ) -> Result<(), ClientError> {
        let statement = self.statement(query)?;
        statement.bind(1, id.into())?;
        while statement.step()? {
            take(statement.id(0));
        }
        Ok(())
    }

    /// Run a statement on one id.
    #[inline]
    fn change(&mut self, query: Query, id: u32) -> Result<(), ClientError> {
        let statement = self.statement(query)?;
        statement.bind(1, id.into())?;
        statement.finish()
    }

    /// The assembly with this id, and its parent's.
    fn assembly(
        &mut self,
        query: Query,
        id: u32,
        is_base: bool,
    ) -> Result<(Assembly, u32), ClientError> {
        let statement = self.at(query, id)?;
        let object = object(statement);
        let parent = statement.id(3);
        statement.reset();
        Ok((Assembly { object: object?, is_base }, parent))
    }

    fn text(
        &mut self,
        query: Query,
        id: u32,
        mut see: impl FnMut(&[u8]),
    ) -> Result<(), ClientError> {
        let statement = self.at(query, id)?;
        see(statement.text(0));
        statement.reset();
        Ok(())
    }

    /// Insert a row: numbers and texts in their places.
    fn add(&mut self, query: Query, row: &[Value<'_>]) -> Result<(), ClientError> {
        fill(self.statement(query)?, row)
    }
}

fn prepare(connection: &Connection) -> Result<Vec<Statement>, ClientError> {
    Query::ALL.into_iter().map(|query| connection.prepare(query.sql())).collect()
}

/// The row's first columns as an object.
#[inline]
fn object(statement: &Statement) -> Result<Object, ClientError> {
    let kind = Kind::read(ENGINE, statement.text(1))?;
    Ok(Object { id: statement.id(0), kind, build_date: statement.short(2) })
}

/// The row's first columns as an atomic part.
#[inline]
fn part(statement: &Statement) -> Result<Part, ClientError> {
    let object = object(statement)?;
    let (x, y) = (statement.short(3), statement.short(4));
    Ok(Part { object, x, y, document: statement.id(5) })
}

/// All rows as atomic parts.
fn visit(statement: &mut Statement, visits: &mut Visits) -> Result<(), ClientError> {
    while statement.step()? {
        visits.part(&part(statement)?);
    }
    Ok(())
}

/// A row of what is stored.
fn store(contents: &mut Contents, stored: Stored, row: &Statement) -> Result<(), ClientError> {
    let letters = |place| Letters::default().and(row.text(place));
    let assembly = |is_base| Ok::<_, ClientError>(Assembly { object: object(row)?, is_base });
    match stored {
        Stored::Module => contents.module(&object(row)?, row.id(3)),
        Stored::Manual => contents.manual(row.id(0), row.text(1), letters(2)),
        Stored::Complex => contents.assembly(&assembly(false)?, row.id(3), row.id(4)),
        Stored::Base => contents.assembly(&assembly(true)?, row.id(3), row.id(4)),
        Stored::Private => contents.component(row.id(0), row.id(1), true),
        Stored::Shared => contents.component(row.id(0), row.id(1), false),
        Stored::Composite => contents.composite(&object(row)?, row.id(3)),
        Stored::Document => contents.document(row.id(0), row.text(1), letters(2)),
        Stored::Part => contents.part(&part(row)?, row.id(6)),
        Stored::Connection => {
            let kind = Kind::read(ENGINE, row.text(2))?;
            contents.connection(row.id(0), row.id(1), kind, row.short(3));
        }
    }
    Ok(())
}

impl Transactions for Relational {
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

    fn sent(&self) -> Option<Sent> {
        Some(self.file.sent())
    }
}

impl Driver for Relational {
    const ENGINE: &'static str = ENGINE;

    type Complex = Complex;
    type Base = u32;
    type Composite = u32;
    type Part = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.statements.clear();
        self.file.replace()?;
        for (table, columns) in TABLES {
            self.file.connection().run(&format!("create table {table}({columns})"))?;
        }
        self.statements = prepare(self.file.connection())?;
        self.file.begin_write()?;
        self.add_tree(database)?;
        for id in 1..=database.composite_count() {
            self.add_composite(database, id)?;
        }
        for (name, columns) in INDEXES {
            self.file.connection().run(&format!("create index {name} on {columns}"))?;
        }
        self.file.commit()?;
        self.file.checkpoint()
    }

    fn design_root(&mut self, module: u32) -> Result<Complex, ClientError> {
        Ok(Complex { id: self.number(Query::Root, module)?, level: 1 })
    }

    fn subassemblies(
        &mut self,
        of: Complex,
        complex: &mut Vec<Complex>,
        bases: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        let level = of.level + 1;
        if level == tree::LEVELS {
            return self.numbers(Query::BasesBelow, of.id, |id| bases.push(id));
        }
        self.numbers(Query::ComplexBelow, of.id, |id| complex.push(Complex { id, level }))
    }

    fn components(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.numbers(Query::Components, of, |id| out.push(id))
    }

    fn root_part(&mut self, of: u32) -> Result<u32, ClientError> {
        self.number(Query::RootPart, of)
    }

    #[inline]
    fn part_id(&mut self, part: u32) -> Result<u32, ClientError> {
        Ok(part)
    }

    #[inline]
    fn read(&mut self, id: u32) -> Result<Part, ClientError> {
        let statement = self.at(Query::Part, id)?;
        let found = part(statement);
        statement.reset();
        found
    }

    #[inline]
    fn connected(&mut self, part: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.numbers(Query::Connected, part, |id| out.push(id))
    }

    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    fn dated(
        &mut self,
        dates: RangeInclusive<i32>,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        let statement = self.statement(Query::Dated)?;
        statement.bind(1, (*dates.start()).into())?;
        statement.bind(2, (*dates.end()).into())?;
        visit(statement, visits)
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        visit(self.statement(Query::Scan)?, visits)
    }

    fn composite_of(&mut self, part: u32) -> Result<u32, ClientError> {
        self.number(Query::CompositeOf, part)
    }

    fn composite(&mut self, composite: u32) -> Result<Object, ClientError> {
        let statement = self.at(Query::Composite, composite)?;
        let found = object(statement);
        statement.reset();
        found
    }

    fn users(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.numbers(Query::Users, of, |id| out.push(id))
    }

    fn base(&mut self, base: u32) -> Result<(Assembly, Complex), ClientError> {
        let (assembly, id) = self.assembly(Query::Base, base, true)?;
        Ok((assembly, Complex { id, level: tree::LEVELS - 1 }))
    }

    fn complex(&mut self, complex: Complex) -> Result<(Assembly, Option<Complex>), ClientError> {
        let (assembly, id) = self.assembly(Query::Complex, complex.id, false)?;
        let parent = (complex.level > 1).then_some(Complex { id, level: complex.level - 1 });
        Ok((assembly, parent))
    }

    fn bases(&mut self, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let statement = self.statement(Query::Bases)?;
        while statement.step()? {
            out.push(statement.id(0));
        }
        Ok(())
    }

    fn older_bases(&mut self, visits: &mut Visits) -> Option<Result<(), ClientError>> {
        Some(self.statement(Query::Older).and_then(|statement| {
            while statement.step()? {
                visits.assembly(&Assembly { object: object(statement)?, is_base: true });
            }
            Ok(())
        }))
    }

    fn titled(&mut self, title: &str) -> Result<u32, ClientError> {
        let statement = self.statement(Query::Titled)?;
        statement.bind_text(1, title)?;
        let found = statement.step()?.then(|| statement.id(0));
        statement.reset();
        found.ok_or_else(|| Self::missing(0))
    }

    fn document(&mut self, of: u32, see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        self.text(Query::Document, of, see)
    }

    fn manual(&mut self, module: u32, see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        self.text(Query::Manual, module, see)
    }

    fn documents_of_parts(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        let statement = self.statement(Query::DocumentsOfParts)?;
        while statement.step()? {
            visits.pair(statement.id(0), statement.text(1));
        }
        Ok(())
    }

    #[inline]
    fn swap(&mut self, part: u32) -> Result<(), ClientError> {
        self.change(Query::Swap, part)
    }

    #[inline]
    fn toggle_date(&mut self, part: u32) -> Result<(), ClientError> {
        self.change(Query::ToggleDate, part)
    }

    fn rewrite(&mut self, of: u32, text: &[u8]) -> Result<(), ClientError> {
        let text = std::str::from_utf8(text).expect("documents are made of ASCII");
        self.add(Query::Rewrite, &[Value::Text(text), Value::Id(of)])
    }

    fn insert(
        &mut self,
        database: &Database,
        composite: u32,
        receiver: u32,
    ) -> Result<(), ClientError> {
        self.add_composite(database, composite)?;
        self.add(Query::AddPrivate, &[Value::Id(receiver), Value::Id(composite)])
    }

    fn delete(&mut self, _database: &Database, composite: u32) -> Result<(), ClientError> {
        Query::DELETIONS.into_iter().try_for_each(|query| self.change(query, composite))
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        for (stored, text) in CONTENTS {
            let mut statement = self.file.connection().prepare(text)?;
            while statement.step()? {
                store(contents, stored, &statement)?;
            }
        }
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(self.file.size_bytes())
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.file.terms()
    }
}
