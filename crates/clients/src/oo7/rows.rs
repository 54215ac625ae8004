//! The rows of OO7's relations as they are inserted, for every engine that has relations.

use loadstone_datasets::oo7::database::Draws;
use loadstone_datasets::oo7::{Database, texts, tree};

use crate::error::ClientError;
use crate::oo7::sql::Stored;
use crate::oo7::{Kind, Object, Part};

/// A value of a row, or a parameter of a statement.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// An object's id, or another number that is never negative.
    Id(u32),
    /// A date, a coordinate, a length.
    Number(i32),
    /// A type, a title, a text.
    Text(&'a str),
    /// Of the engines that have arrays.
    Ids(&'a [i32]),
}

/// A function that takes a row.
pub type Take<'t> = &'t mut dyn FnMut(&[Value<'_>]) -> Result<(), ClientError>;

/// The number of objects that a relation's rows are made for, each with an id from 1: the object
/// itself, or the one that the rows belong to.
pub fn owners(database: &Database, stored: Stored) -> u32 {
    match stored {
        Stored::Module | Stored::Manual => database.modules,
        Stored::Complex => database.modules * tree::COMPLEX,
        Stored::Base | Stored::Private | Stored::Shared => database.modules * tree::BASE,
        Stored::Composite | Stored::Document | Stored::Part | Stored::Connection => {
            database.composite_count()
        }
    }
}

/// The rows of a relation that one of its [`owners`] has, in the order of their ids.
pub fn of(
    database: &Database,
    draws: &mut Draws,
    (stored, owner): (Stored, u32),
    take: Take<'_>,
) -> Result<(), ClientError> {
    let id = owner;
    match stored {
        Stored::Module => {
            let root = (id - 1) * tree::COMPLEX + 1;
            take(&object(&Object::of(&database.module(draws, id)), [Value::Id(root)]))
        }
        Stored::Manual => manual(database, id, take),
        Stored::Complex => {
            let made = database.complex_assembly(draws, id);
            let above = [made.parent.unwrap_or(0), made.module].map(Value::Id);
            take(&object(&Object::of(&made.object), above))
        }
        Stored::Base => {
            let made = database.base_assembly(draws, id);
            let above = [made.parent.unwrap_or(0), made.module].map(Value::Id);
            take(&object(&Object::of(&made.object), above))
        }
        Stored::Private | Stored::Shared => {
            let [private, shared] = database.components(draws, id);
            let used = if stored == Stored::Private { private } else { shared };
            used.into_iter().try_for_each(|composite| take(&[Value::Id(id), Value::Id(composite)]))
        }
        Stored::Composite => {
            let root = Value::Id(database.root_part(id));
            take(&object(&Object::of(&database.composite(draws, id)), [root]))
        }
        Stored::Document => document(database, id, take),
        Stored::Part => parts(database, draws, id, take),
        Stored::Connection => connections(database, draws, id, take),
    }
}

/// An object's own attributes, and what its class has besides.
fn object<'a, const MORE: usize>(object: &'a Object, more: [Value<'a>; MORE]) -> Vec<Value<'a>> {
    let Object { id, kind, build_date } = object;
    let own = [Value::Id(*id), Value::Text(kind.text()), Value::Number(*build_date)];
    own.into_iter().chain(more).collect()
}

fn manual(database: &Database, id: u32, take: Take<'_>) -> Result<(), ClientError> {
    let mut text = Vec::new();
    texts::push_manual(&mut text, id, database.manual_length());
    let text = std::str::from_utf8(&text).expect("manuals are made of ASCII");
    let title = texts::manual_title(id);
    let length = Value::Id(text.len() as u32);
    take(&[Value::Id(id), Value::Text(&title), length, Value::Text(text)])
}

fn document(database: &Database, id: u32, take: Take<'_>) -> Result<(), ClientError> {
    let mut text = Vec::new();
    texts::push_document(&mut text, id, database.document_length());
    let text = std::str::from_utf8(&text).expect("documents are made of ASCII");
    let title = texts::document_title(id);
    take(&[Value::Id(id), Value::Text(&title), Value::Id(id), Value::Text(text)])
}

fn parts(
    database: &Database,
    draws: &mut Draws,
    composite: u32,
    take: Take<'_>,
) -> Result<(), ClientError> {
    let root = database.root_part(composite);
    for id in root..root + database.parts_per_composite {
        let Part { object: own, x, y, document } = Part::generated(database, draws, id);
        let more = [Value::Number(x), Value::Number(y), Value::Id(document), Value::Id(composite)];
        take(&object(&own, more))?;
    }
    Ok(())
}

fn connections(
    database: &Database,
    draws: &mut Draws,
    composite: u32,
    take: Take<'_>,
) -> Result<(), ClientError> {
    let first = (database.root_part(composite) - 1) * database.fan_out;
    for number in first..first + database.parts_per_composite * database.fan_out {
        let made = database.connection(draws, number);
        let (from, to) = (Value::Id(made.from), Value::Id(made.to));
        let kind = Kind::of(made.kind);
        take(&[from, to, Value::Text(kind.text()), Value::Number(made.length)])?;
    }
    Ok(())
}
