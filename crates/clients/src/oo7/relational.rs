//! OO7 over relations, written once for the engines that speak SQL: the statements are those of
//! `sql.rs`, and [`Session`] is what an engine has of its own.

mod graph;
mod reach;
mod session;
mod stored;

use std::ops::RangeInclusive;

use loadstone_datasets::oo7::{Database, tree};

use self::graph::Graph;
pub use self::reach::{Reach, Reached};
pub use self::session::{Columns, Session};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::rows::{self, Value};
use crate::oo7::sql::{CONTENTS, Query, Stored};
use crate::oo7::visits::Visits;
use crate::oo7::{Assembly, Kind, Object, Part};
use crate::outcome::Sent;

/// A complex assembly that was reached: its level describes which class its assemblies are.
#[derive(Debug, Clone, Copy)]
pub struct Complex {
    id: u32,
    level: u32,
}

/// A driver over an engine's relations.
pub struct Relational<S> {
    session: S,
    reach: Reach,
    /// The graph of the composite part entered last, where it is fetched by levels.
    graph: Graph,
}

impl<S: Session> Relational<S> {
    pub fn new(session: S, reach: Reach) -> Self {
        Self { session, reach, graph: Graph::default() }
    }

    /// Apply `read` to the one row that has this id.
    #[inline]
    fn at<T>(
        &mut self,
        query: Query,
        id: u32,
        mut read: impl FnMut(&mut S::Row<'_>) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let mut found = None;
        self.session.one(query, &[Value::Id(id)], |row| {
            found = Some(read(row)?);
            Ok(())
        })?;
        found.ok_or_else(|| Self::missing(id))
    }

    /// The number in the one row that has this id.
    #[inline]
    fn number(&mut self, query: Query, id: u32) -> Result<u32, ClientError> {
        self.at(query, id, |row| Ok(row.id()))
    }

    /// The numbers in all rows for an id.
    #[inline]
    fn numbers(
        &mut self,
        query: Query,
        id: u32,
        mut take: impl FnMut(u32),
    ) -> Result<(), ClientError> {
        self.session.ask(query, &[Value::Id(id)], |row| {
            take(row.id());
            Ok(())
        })
    }

    /// A statement without rows.
    #[inline]
    fn change(&mut self, query: Query, parameters: &[Value<'_>]) -> Result<(), ClientError> {
        self.session.ask(query, parameters, |_| Ok(()))
    }

    /// The assembly with this id, and its parent's.
    fn assembly(
        &mut self,
        query: Query,
        id: u32,
        is_base: bool,
    ) -> Result<(Assembly, u32), ClientError> {
        self.at(query, id, |row| {
            let object = object::<S>(row)?;
            Ok((Assembly { object, is_base }, row.id()))
        })
    }

    fn visit(
        &mut self,
        query: Query,
        parameters: &[Value<'_>],
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        self.session.ask(query, parameters, |row| {
            visits.part(&part::<S>(row)?);
            Ok(())
        })
    }
}

/// The row's next columns as an object.
#[inline]
fn object<S: Session>(row: &mut S::Row<'_>) -> Result<Object, ClientError> {
    let id = row.id();
    let kind = Kind::read(S::ENGINE, row.text())?;
    Ok(Object { id, kind, build_date: row.int() })
}

/// The row's next columns as an atomic part.
#[inline]
fn part<S: Session>(row: &mut S::Row<'_>) -> Result<Part, ClientError> {
    let object = object::<S>(row)?;
    Ok(Part { object, x: row.int(), y: row.int(), document: row.id() })
}

impl<S: Session> Transactions for Relational<S> {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.session.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.graph = Graph::default();
        self.session.end()
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.session.begin_write()
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.graph = Graph::default();
        self.session.commit()
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.graph = Graph::default();
        self.session.rollback()
    }

    fn sent(&self) -> Option<Sent> {
        Some(self.session.sent())
    }
}

impl<S: Session> Driver for Relational<S> {
    const ENGINE: &'static str = S::ENGINE;

    type Complex = Complex;
    type Base = u32;
    type Composite = u32;
    type Part = Reached;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.graph = Graph::default();
        self.session.load(database)
    }

    fn another(&self) -> Result<Self, ClientError> {
        Ok(Self::new(self.session.another()?, self.reach))
    }

    fn isolates(&self) -> bool {
        self.session.isolates()
    }

    fn is_conflict(error: &ClientError) -> bool {
        matches!(error, ClientError::Engine { message, .. } if S::is_conflict(message))
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

    fn shared_components(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.numbers(Query::SharedComponents, of, |id| out.push(id))
    }

    fn root_part(&mut self, of: u32) -> Result<Reached, ClientError> {
        self.graph.clear();
        self.number(Query::RootPart, of).map(Reached::Id)
    }

    #[inline]
    fn identity(&self, part: Reached) -> u64 {
        part.id().into()
    }

    #[inline]
    fn read(&mut self, part: Reached) -> Result<Part, ClientError> {
        match part {
            Reached::Fetched(part) => Ok(part),
            Reached::Id(id) => self.at(Query::Part, id, self::part::<S>),
        }
    }

    #[inline]
    fn connected(&mut self, part: Reached, out: &mut Vec<Reached>) -> Result<(), ClientError> {
        let id = part.id();
        if self.reach.by_levels {
            return self.graph.connected(&mut self.session, self.reach, id, out);
        }
        if !self.reach.joins {
            return self.numbers(Query::Connected, id, |id| out.push(Reached::Id(id)));
        }
        self.session.ask(Query::ConnectedParts, &[Value::Id(id)], |row| {
            out.push(Reached::Fetched(self::part::<S>(row)?));
            Ok(())
        })
    }

    fn find(&mut self, id: u32) -> Result<(Reached, Part), ClientError> {
        self.read(Reached::Id(id)).map(|part| (Reached::Fetched(part), part))
    }

    fn dated(
        &mut self,
        dates: RangeInclusive<i32>,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        let bounds = [Value::Number(*dates.start()), Value::Number(*dates.end())];
        self.visit(Query::Dated, &bounds, visits)
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.visit(Query::Scan, &[], visits)
    }

    fn composite_of(&mut self, part: Reached) -> Result<u32, ClientError> {
        self.number(Query::CompositeOf, part.id())
    }

    fn composite(&mut self, composite: u32) -> Result<Object, ClientError> {
        self.at(Query::Composite, composite, object::<S>)
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
        self.session.ask(Query::Bases, &[], |row| {
            out.push(row.id());
            Ok(())
        })
    }

    fn older_bases(&mut self, visits: &mut Visits) -> Option<Result<(), ClientError>> {
        Some(self.session.ask(Query::Older, &[], |row| {
            visits.assembly(&Assembly { object: object::<S>(row)?, is_base: true });
            Ok(())
        }))
    }

    fn titled(&mut self, title: &str) -> Result<u32, ClientError> {
        let mut found = None;
        self.session.one(Query::Titled, &[Value::Text(title)], |row| {
            found = Some(row.id());
            Ok(())
        })?;
        found.ok_or_else(|| Self::missing(0))
    }

    fn document(&mut self, of: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        self.at(Query::Document, of, |row| {
            see(row.text());
            Ok(())
        })
    }

    fn manual(&mut self, module: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        self.at(Query::Manual, module, |row| {
            see(row.text());
            Ok(())
        })
    }

    fn documents_of_parts(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.session.ask(Query::DocumentsOfParts, &[], |row| {
            visits.pair(row.id(), row.text());
            Ok(())
        })
    }

    #[inline]
    fn swap(&mut self, part: Reached) -> Result<(), ClientError> {
        self.change(Query::Swap, &[Value::Id(part.id())])
    }

    #[inline]
    fn toggle_date(&mut self, part: Reached) -> Result<(), ClientError> {
        self.change(Query::ToggleDate, &[Value::Id(part.id())])
    }

    fn rewrite(&mut self, of: u32, text: &[u8]) -> Result<(), ClientError> {
        let text = std::str::from_utf8(text).expect("documents are made of ASCII");
        self.change(Query::Rewrite, &[Value::Text(text), Value::Id(of)])
    }

    fn insert(
        &mut self,
        database: &Database,
        composite: u32,
        receiver: u32,
    ) -> Result<(), ClientError> {
        let mut draws = database.draws();
        for (stored, query) in [
            (Stored::Composite, Query::AddComposite),
            (Stored::Document, Query::AddDocument),
            (Stored::Part, Query::AddPart),
            (Stored::Connection, Query::AddConnection),
        ] {
            let of = (stored, composite);
            rows::of(database, &mut draws, of, &mut |row| self.change(query, row))?;
        }
        self.change(Query::AddPrivate, &[Value::Id(receiver), Value::Id(composite)])
    }

    fn delete(&mut self, _database: &Database, composite: u32) -> Result<(), ClientError> {
        let composite = [Value::Id(composite)];
        Query::DELETIONS.into_iter().try_for_each(|query| self.change(query, &composite))
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        for (stored, sql) in CONTENTS {
            self.session.stored(stored, sql, |row| stored::add::<S>(contents, stored, row))?;
        }
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.session.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = self.session.terms()?;
        if !self.session.is_loaded()? {
            return Ok(terms);
        }
        self.begin()?;
        let habits = self.found_habits();
        self.end()?;
        for (name, value) in habits? {
            // The session's own reading of a tactic says more than the count of statements sent.
            if !terms.iter().any(|(known, _)| known == name) {
                terms.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(terms)
    }
}
