//! `SQLite` with relations: part and connection, as in the paper's SQL appendix.
//!
//! Two designs: rowid tables with two indexes on connection, or connection clustered by the part
//! that it leaves. Both find connections from either end in an index that holds both ids.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Connection as Row, Database, NewPart, Part as PartRow};

use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::visits::Visits;
use crate::outcome::Sent;
use crate::sqlite::file::{File, not_loaded};
use crate::sqlite::raw::{Connection, ENGINE, Statement};
use crate::tactics::{Address, Tactics};

/// The way in which connections lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Design {
    Rowid,
    Clustered,
}

/// `SQLite` with relations. The statements stand before the file, so that they go first.
pub struct Relational {
    statements: Option<Statements>,
    file: File,
    design: Design,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: the connection and all that was prepared on it are in here, and no method hands one of
// them out: they move together.
unsafe impl Send for Relational {}

const PART: &str = "create table part(id integer primary key, type text not null, \
     x integer not null, y integer not null, build integer not null)";

const ROWID: &str = "create table connection(frm integer not null, place integer not null, \
     too integer not null, type text not null, length integer not null)";

/// `place` makes the key unique: a connection may be repeated.
const CLUSTERED: &str = "create table connection(frm integer not null, place integer not null, \
     too integer not null, type text not null, length integer not null, \
     primary key (frm, place)) without rowid";

const INDEXES: &str = "create index connection_too on connection(too, frm); \
     create index part_build on part(build)";

const INDEX_FRM: &str = "create index connection_frm on connection(frm, too)";

/// Prepared once, outside every clock.
struct Statements {
    find: Statement,
    to: Statement,
    from: Statement,
    to_in_order: Statement,
    range: Statement,
    scan: Statement,
    reference: Statement,
    group: Statement,
    insert_part: Statement,
    insert_connection: Statement,
    update: Statement,
    remove_parts: Statement,
    remove_connections: Statement,
    find_batch: Statement,
    walk_forward: Statement,
    walk_reverse: Statement,
}

impl Statements {
    fn prepare(connection: &Connection) -> Result<Self, ClientError> {
        let prepare = |text: &str| connection.prepare(text);
        let walk = |near: &str, far: &str| {
            connection.prepare(&format!(
                "with recursive walk(id, depth) as (select ?1, 0 union all \
                 select {far}, depth + 1 from walk cross join connection on {near} = walk.id \
                 where depth < ?2) \
                 select part.id, type, x, y from walk cross join part on part.id = walk.id"
            ))
        };
        Ok(Self {
            find: prepare("select id, type, x, y from part where id = ?1")?,
            to: prepare("select too from connection where frm = ?1")?,
            from: prepare("select frm from connection where too = ?1")?,
            to_in_order: prepare("select too from connection where frm = ?1 order by length, too")?,
            range: prepare("select id, type, x, y from part where build >= ?1 and build < ?2")?,
            scan: prepare("select x, y from part")?,
            reference: prepare(
                "select part.id, part.type, x, y from connection cross join part \
                 on part.id = too where frm = ?1 and too = ?2 limit 1",
            )?,
            group: prepare("select too, type, length from connection where frm = ?1")?,
            insert_part: prepare("insert into part values (?1, ?2, ?3, ?4, ?5)")?,
            insert_connection: prepare("insert into connection values (?1, ?2, ?3, ?4, ?5)")?,
            update: prepare(
                "update part set x = 99999 - x, y = 99999 - y, build = ?2 - build where id = ?1",
            )?,
            remove_parts: prepare("delete from part where id between ?1 and ?2")?,
            remove_connections: prepare("delete from connection where frm between ?1 and ?2")?,
            find_batch: prepare(
                "select part.id, part.type, x, y from json_each(?1) as wanted \
                 cross join part on part.id = wanted.value",
            )?,
            walk_forward: walk("frm", "too")?,
            walk_reverse: walk("too", "frm")?,
        })
    }

    fn add_part(&mut self, row: &PartRow) -> Result<(), ClientError> {
        let insert = &mut self.insert_part;
        insert.bind(1, row.id.into())?;
        insert.bind_text(2, Kind::of(row.kind).text())?;
        insert.bind(3, row.x.into())?;
        insert.bind(4, row.y.into())?;
        insert.bind(5, row.build_s)?;
        insert.finish()
    }

    fn add_connection(&mut self, place: usize, row: &Row) -> Result<(), ClientError> {
        let insert = &mut self.insert_connection;
        insert.bind(1, row.from.into())?;
        insert.bind(2, place as i64)?;
        insert.bind(3, row.to.into())?;
        insert.bind_text(4, Kind::of(row.kind).text())?;
        insert.bind(5, row.length.into())?;
        insert.finish()
    }
}

/// The row's id, type, x and y as program variables.
#[inline]
fn part(statement: &Statement) -> Result<Part, ClientError> {
    let id = statement.id(0);
    let kind = Kind::read(ENGINE, statement.bytes(1))?;
    Ok(Part { id, kind, x: statement.short(2), y: statement.short(3) })
}

/// All rows as parts.
fn visit(statement: &mut Statement, visits: &mut Visits) -> Result<(), ClientError> {
    while statement.step()? {
        visits.part(&part(statement)?);
    }
    Ok(())
}

/// All rows as handles.
#[inline]
fn append(statement: &mut Statement, id: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
    statement.bind(1, id.into())?;
    while statement.step()? {
        out.push(statement.id(0));
    }
    Ok(())
}

impl Relational {
    /// Rowid tables with indexes.
    pub fn open_rowid(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        Self::attach(File::open(address, tactics)?, Design::Rowid)
    }

    /// Connections clustered with the part that they leave.
    pub fn open_clustered(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        Self::attach(File::open(address, tactics)?, Design::Clustered)
    }

    fn attach(file: File, design: Design) -> Result<Self, ClientError> {
        let tables = "select sql from sqlite_schema where name = 'connection'";
        let created = file.connection().value(tables)?;
        if created.is_empty() {
            return Ok(Self { statements: None, file, design });
        }
        let clustered = created.contains("without rowid");
        if clustered != (design == Design::Clustered) {
            let message = "it has the other design (access); load it again";
            return Err(ClientError::engine(ENGINE, "opening the database", message));
        }
        let statements = Some(Statements::prepare(file.connection())?);
        Ok(Self { statements, file, design })
    }

    #[inline]
    fn statements(&mut self) -> Result<&mut Statements, ClientError> {
        self.statements.as_mut().ok_or_else(not_loaded)
    }
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

    type Handle = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.statements = None;
        self.file.replace()?;
        let connection = self.file.connection();
        let clustered = self.design == Design::Clustered;
        connection.run(&format!("{PART}; {}", if clustered { CLUSTERED } else { ROWID }))?;
        self.statements = Some(Statements::prepare(connection)?);
        self.file.begin_write()?;
        let statements = self.statements.as_mut().ok_or_else(not_loaded)?;
        for row in database.part_range(1..database.parts + 1) {
            statements.add_part(&row)?;
        }
        let rows = database.connection_range(0..database.connection_count());
        for (number, row) in rows.enumerate() {
            statements.add_connection(number % 3, &row)?;
        }
        if !clustered {
            self.file.connection().run(INDEX_FRM)?;
        }
        self.file.connection().run(INDEXES)?;
        self.file.commit()?;
        self.file.checkpoint()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Self::attach(self.file.another()?, self.design)
    }

    #[inline(always)]
    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    #[inline(always)]
    fn read(&mut self, handle: u32) -> Result<Part, ClientError> {
        let find = &mut self.statements()?.find;
        find.bind(1, handle.into())?;
        if !find.step()? {
            return Err(Self::missing(handle));
        }
        let found = part(find);
        find.reset();
        found
    }

    #[inline]
    fn links(
        &mut self,
        handle: u32,
        direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        let statements = self.statements()?;
        match direction {
            Direction::Forward => append(&mut statements.to, handle, out),
            Direction::Reverse => append(&mut statements.from, handle, out),
        }
    }

    fn links_in_order(&mut self, handle: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        append(&mut self.statements()?.to_in_order, handle, out)
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        let range = &mut self.statements()?.range;
        range.bind(1, build_s.start)?;
        range.bind(2, build_s.end)?;
        visit(range, visits)
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        let scan = &mut self.statements()?.scan;
        while scan.step()? {
            visits.point(scan.short(0), scan.short(1));
        }
        Ok(())
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        let reference = &mut self.statements()?.reference;
        reference.bind(1, from.into())?;
        reference.bind(2, to.into())?;
        if !reference.step()? {
            return Err(Self::missing(to));
        }
        let found = part(reference);
        reference.reset();
        found
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        let group = &mut self.statements()?.group;
        group.bind(1, id.into())?;
        while group.step()? {
            let kind = Kind::read(ENGINE, group.bytes(1))?;
            visits.link(&Link { from: id, to: group.id(0), length: group.short(2), kind });
        }
        Ok(())
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        let statements = self.statements()?;
        statements.add_part(&new.part)?;
        let mut places = new.to.iter().enumerate();
        places.try_for_each(|(place, row)| statements.add_connection(place, row))
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        let update = &mut self.statements()?.update;
        update.bind(1, id.into())?;
        update.bind(2, build_sum_s)?;
        update.finish()
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        let statements = self.statements()?;
        for remove in [&mut statements.remove_connections, &mut statements.remove_parts] {
            remove.bind(1, (*ids.start()).into())?;
            remove.bind(2, (*ids.end()).into())?;
            remove.finish()?;
        }
        Ok(())
    }

    fn find_batch(&mut self, ids: &[u32], visits: &mut Visits) -> Result<(), ClientError> {
        let wanted = format!("{ids:?}");
        let find = &mut self.statements()?.find_batch;
        find.bind_text(1, &wanted)?;
        visit(find, visits)
    }

    fn traverse_batch(
        &mut self,
        start: u32,
        depth: u32,
        direction: Direction,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        let statements = self.statements()?;
        let walk = match direction {
            Direction::Forward => &mut statements.walk_forward,
            Direction::Reverse => &mut statements.walk_reverse,
        };
        walk.bind(1, start.into())?;
        walk.bind(2, depth.into())?;
        visit(walk, visits)
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    fn empty(&mut self) -> Result<(), ClientError> {
        self.file.empty()
    }

    fn constant(&mut self) -> Result<i32, ClientError> {
        self.file.constant()
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(self.file.size_bytes())
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.file.terms()
    }
}
