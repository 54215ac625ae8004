//! The rows of OO7's relations, as they are inserted.

use std::ffi::c_int;

use loadstone_datasets::oo7::{Database, texts, tree};

use super::Relational;
use crate::error::ClientError;
use crate::oo7::sql::Query;
use crate::oo7::{Kind, Object, Part};
use crate::sqlite::raw::Statement;

/// A value of a row to insert.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    Id(u32),
    Number(i32),
    Text(&'a str),
}

/// An object's own attributes, and ids behind them.
fn row<'a>(object: &'a Object, ids: &[u32]) -> Vec<Value<'a>> {
    let Object { id, kind, build_date } = object;
    let own = [Value::Id(*id), Value::Text(kind.text()), Value::Number(*build_date)];
    own.into_iter().chain(ids.iter().map(|id| Value::Id(*id))).collect()
}

pub fn fill(statement: &mut Statement, row: &[Value<'_>]) -> Result<(), ClientError> {
    for (place, value) in (1 as c_int..).zip(row) {
        match *value {
            Value::Id(id) => statement.bind(place, id.into())?,
            Value::Number(number) => statement.bind(place, number.into())?,
            Value::Text(text) => statement.bind_text(place, text)?,
        }
    }
    statement.finish()
}

impl Relational {
    /// A composite part with all that is its own.
    pub(super) fn add_composite(
        &mut self,
        database: &Database,
        id: u32,
    ) -> Result<(), ClientError> {
        let mut draws = database.draws();
        let root = database.root_part(id);
        let composite = Object::of(&database.composite(&mut draws, id));
        self.add(
            Query::AddComposite,
            &[
                Value::Id(id),
                Value::Text(composite.kind.text()),
                Value::Number(composite.build_date),
                Value::Id(root),
            ],
        )?;
        let mut text = Vec::new();
        texts::push_document(&mut text, id, database.document_length());
        let text = std::str::from_utf8(&text).expect("documents are made of ASCII");
        let title = texts::document_title(id);
        let document = [Value::Id(id), Value::Text(&title), Value::Id(id), Value::Text(text)];
        self.add(Query::AddDocument, &document)?;
        for part in root..root + database.parts_per_composite {
            let Part { object, x, y, document } = Part::generated(database, &mut draws, part);
            self.add(
                Query::AddPart,
                &[
                    Value::Id(object.id),
                    Value::Text(object.kind.text()),
                    Value::Number(object.build_date),
                    Value::Number(x),
                    Value::Number(y),
                    Value::Id(document),
                    Value::Id(id),
                ],
            )?;
        }
        let first = (root - 1) * database.fan_out;
        for number in first..first + database.parts_per_composite * database.fan_out {
            let made = database.connection(&mut draws, number);
            self.add(
                Query::AddConnection,
                &[
                    Value::Id(made.from),
                    Value::Id(made.to),
                    Value::Text(Kind::of(made.kind).text()),
                    Value::Number(made.length),
                ],
            )?;
        }
        Ok(())
    }

    /// Modules, manuals and assemblies, by statements of the moment.
    pub(super) fn add_tree(&self, database: &Database) -> Result<(), ClientError> {
        let insert = |table: &str, values: &str| {
            self.file.connection().prepare(&format!("insert into {table} values ({values})"))
        };
        let mut modules = insert("module", "?1, ?2, ?3, ?4")?;
        let mut manuals = insert("manual", "?1, ?2, ?3, ?4")?;
        let mut complex = insert("complexassembly", "?1, ?2, ?3, ?4, ?5")?;
        let mut bases = insert("baseassembly", "?1, ?2, ?3, ?4, ?5")?;
        let mut private = insert("componentpriv", "?1, ?2")?;
        let mut shared = insert("componentshar", "?1, ?2")?;
        let mut draws = database.draws();
        for id in 1..=database.modules {
            let module = Object::of(&database.module(&mut draws, id));
            let root = (id - 1) * tree::COMPLEX + 1;
            fill(&mut modules, &row(&module, &[root]))?;
            let mut text = Vec::new();
            texts::push_manual(&mut text, id, database.manual_length());
            let text = std::str::from_utf8(&text).expect("manuals are made of ASCII");
            let title = texts::manual_title(id);
            let length = Value::Id(text.len() as u32);
            let manual = [Value::Id(id), Value::Text(&title), length, Value::Text(text)];
            fill(&mut manuals, &manual)?;
        }
        for id in 1..=database.modules * tree::COMPLEX {
            let made = database.complex_assembly(&mut draws, id);
            let object = Object::of(&made.object);
            fill(&mut complex, &row(&object, &[made.parent.unwrap_or(0), made.module]))?;
        }
        for id in 1..=database.modules * tree::BASE {
            let made = database.base_assembly(&mut draws, id);
            let object = Object::of(&made.object);
            fill(&mut bases, &row(&object, &[made.parent.unwrap_or(0), made.module]))?;
            let [own, others] = database.components(&mut draws, id);
            for composite in own {
                fill(&mut private, &[Value::Id(id), Value::Id(composite)])?;
            }
            for composite in others {
                fill(&mut shared, &[Value::Id(id), Value::Id(composite)])?;
            }
        }
        Ok(())
    }
}
