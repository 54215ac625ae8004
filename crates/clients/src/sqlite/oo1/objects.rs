//! `SQLite` as a store of objects: one row for each part, its connections both ways in the value.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::object::{self, CopiedLinks, NOBODY, Object};
use crate::oo1::part::Part;
use crate::oo1::visits::Visits;
use crate::outcome::Sent;
use crate::sqlite::file::{File, not_loaded};
use crate::sqlite::raw::{Connection, ENGINE, Statement};
use crate::tactics::{Address, Tactics};

/// `SQLite` with one row a part. The statements stand before the file, so that they go first.
pub struct Objects {
    statements: Option<Statements>,
    file: File,
    copied: CopiedLinks,
}

#[expect(unsafe_code, reason = "drivers move between threads")]
// SAFETY: the connection and all that was prepared on it are in here, and no method hands one of
// them out: they move together.
unsafe impl Send for Objects {}

/// `build` stands beside the object, since `SQLite` cannot look into it.
const TABLE: &str = "create table object(id integer primary key, build integer not null, \
     value blob not null)";

/// Prepared once, outside every clock.
struct Statements {
    find: Statement,
    range: Statement,
    scan: Statement,
    insert: Statement,
    update: Statement,
    remove: Statement,
    /// The part on whose row `find` stands.
    row: u32,
}

impl Statements {
    fn prepare(connection: &Connection) -> Result<Self, ClientError> {
        Ok(Self {
            find: connection.prepare("select value from object where id = ?1")?,
            range: connection
                .prepare("select id, value from object where build >= ?1 and build < ?2")?,
            scan: connection.prepare("select value from object")?,
            insert: connection.prepare("insert into object values (?1, ?2, ?3)")?,
            update: connection.prepare("update object set build = ?2, value = ?3 where id = ?1")?,
            remove: connection.prepare("delete from object where id = ?1")?,
            row: NOBODY,
        })
    }

    /// Go to an object's row, and stay there until [`Statements::leave`].
    #[inline]
    fn enter(&mut self, id: u32) -> Result<(), ClientError> {
        self.leave();
        self.find.bind(1, id.into())?;
        if !self.find.step()? {
            return Err(Objects::missing(id));
        }
        self.row = id;
        Ok(())
    }

    /// The object on whose row `find` stands, where it lies.
    #[inline]
    fn object(&self) -> Result<Object<'_>, ClientError> {
        Object::of(ENGINE, self.find.bytes(0))
    }

    #[inline]
    fn leave(&mut self) {
        if self.row != NOBODY {
            self.row = NOBODY;
            self.find.reset();
        }
    }

    /// Look at an object where it lies.
    #[inline]
    fn with<T>(&mut self, id: u32, look: impl FnOnce(Object<'_>) -> T) -> Result<T, ClientError> {
        self.enter(id)?;
        let seen = self.object().map(look);
        self.leave();
        seen
    }

    fn insert(&mut self, id: u32, value: &[u8]) -> Result<(), ClientError> {
        write(&mut self.insert, id, value)
    }

    fn change(
        &mut self,
        id: u32,
        change: impl FnOnce(Object<'_>) -> Vec<u8>,
    ) -> Result<(), ClientError> {
        let value = self.with(id, change)?;
        write(&mut self.update, id, &value)
    }
}

fn write(statement: &mut Statement, id: u32, value: &[u8]) -> Result<(), ClientError> {
    statement.bind(1, id.into())?;
    statement.bind(2, Object::of(ENGINE, value)?.build_s())?;
    statement.bind_blob(3, value)?;
    statement.finish()
}

impl Objects {
    /// Open or create a file.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        Self::attach(File::open(address, tactics)?)
    }

    fn attach(file: File) -> Result<Self, ClientError> {
        let connection = file.connection();
        let tables = connection.rows("select name from sqlite_schema where type = 'table'")?;
        let statements = match tables.first() {
            None => None,
            Some(names) if names[0] == "object" => Some(Statements::prepare(connection)?),
            Some(_) => {
                let message = "it has the other design (access); load it again";
                return Err(ClientError::engine(ENGINE, "opening the database", message));
            }
        };
        Ok(Self { statements, file, copied: CopiedLinks::default() })
    }

    /// Append the links of the object that was read last; `false` if that was another.
    #[inline]
    fn append_links(
        &mut self,
        id: u32,
        direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<bool, ClientError> {
        let statements = self.statements.as_ref().ok_or_else(not_loaded)?;
        if statements.row != id {
            return Ok(self.copied.append(id, direction, out));
        }
        statements.object()?.append_links(direction, out);
        Ok(true)
    }

    /// Forget what was read last: it may change from here on.
    fn forget(&mut self) {
        self.copied.forget();
        if let Some(statements) = &mut self.statements {
            statements.leave();
        }
    }

    #[inline]
    fn statements(&mut self) -> Result<&mut Statements, ClientError> {
        self.statements.as_mut().ok_or_else(not_loaded)
    }
}

impl Transactions for Objects {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.file.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.forget();
        self.file.end()
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.forget();
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

impl Driver for Objects {
    const ENGINE: &'static str = ENGINE;

    type Handle = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.copied.forget();
        self.statements = None;
        self.file.replace()?;
        self.file.connection().run(TABLE)?;
        let mut statements = Statements::prepare(self.file.connection())?;
        self.file.begin_write()?;
        object::for_each(database, |id, value| statements.insert(id, value))?;
        self.statements = Some(statements);
        self.file.connection().run("create index object_build on object(build)")?;
        self.file.commit()?;
        self.file.checkpoint()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Self::attach(self.file.another()?)
    }

    #[inline(always)]
    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    #[inline]
    fn read(&mut self, handle: u32) -> Result<Part, ClientError> {
        let Self { statements, file, copied } = self;
        let statements = statements.as_mut().ok_or_else(not_loaded)?;
        statements.enter(handle)?;
        let object = statements.object()?;
        let part = object.part(handle);
        if !file.within() {
            // The row is the end of this call's own transaction, which must not stay open.
            copied.copy(handle, object);
            statements.leave();
        }
        Ok(part)
    }

    #[inline]
    fn links(
        &mut self,
        handle: u32,
        direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        if self.append_links(handle, direction, out)? {
            return Ok(());
        }
        self.read(handle)?;
        self.append_links(handle, direction, out).map(|_| ())
    }

    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
    fn links_in_order(&mut self, handle: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let to = self.statements()?.with(handle, |object| object.to_in_order())?;
        out.extend(to);
        Ok(())
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        let range = &mut self.statements()?.range;
        range.bind(1, build_s.start)?;
        range.bind(2, build_s.end)?;
        while range.step()? {
            visits.part(&Object::of(ENGINE, range.bytes(1))?.part(range.id(0)));
        }
        Ok(())
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        let scan = &mut self.statements()?.scan;
        while scan.step()? {
            let part = Object::of(ENGINE, scan.bytes(0))?.part(0);
            visits.point(part.x, part.y);
        }
        Ok(())
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        let statements = self.statements()?;
        if !statements.with(from, |object| object.to().contains(&to))? {
            return Err(Self::missing(to));
        }
        statements.with(to, |object| object.part(to))
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        self.statements()?
            .with(id, |object| object.links(id).iter().for_each(|link| visits.link(link)))
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        let id = new.part.id;
        let statements = self.statements()?;
        statements.insert(id, &object::encode(&new.part, &new.to, &[]))?;
        new.to.iter().try_for_each(|to| statements.change(to.to, |object| object.with_from(id)))
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        self.statements()?.change(id, |object| object.turned(build_sum_s))
    }

    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        let statements = self.statements()?;
        for id in ids.clone() {
            for to in statements.with(id, |object| object.to())? {
                if !ids.contains(&to) {
                    statements.change(to, |object| object.without_from(&ids))?;
                }
            }
        }
        for id in ids {
            statements.remove.bind(1, id.into())?;
            statements.remove.finish()?;
        }
        Ok(())
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
