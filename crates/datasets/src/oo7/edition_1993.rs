//! OO7's database as an edition: its scale is the number of atomic parts.

use std::sync::Arc;

use super::classes::{CLASSES, Class, Row};
use super::database::{Database, Draws, edition_name};
use crate::attribute::Attribute;
use crate::columns::Relation;
use crate::edition::{DatasetError, Edition};
use crate::source::{Cursor, Source};

const NAMES: [&str; CLASSES.len()] = {
    let mut names = [""; CLASSES.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = CLASSES[place].name;
        place += 1;
    }
    names
};

/// The edition of 1993 with so many connections from each atomic part.
pub struct Edition1993 {
    /// 3, 6 or 9.
    pub fan_out: u32,
}

impl Edition1993 {
    fn class(&self, relation: &str) -> Result<&'static Class, DatasetError> {
        CLASSES.iter().find(|class| class.name == relation).ok_or_else(|| self.unknown(relation))
    }
}

impl Edition for Edition1993 {
    fn benchmark(&self) -> &'static str {
        "oo7"
    }

    fn name(&self) -> &'static str {
        edition_name(self.fan_out)
    }

    fn relations(&self) -> &'static [&'static str] {
        &NAMES
    }

    /// Of the paper's small size: texts grow with the database.
    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError> {
        let small = Database::new(10_000, self.fan_out, 0)?;
        Ok(self.class(relation)?.attributes(&small))
    }

    fn open(&self, relation: &str, rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError> {
        let class = self.class(relation)?;
        let database = Database::new(rows, self.fan_out, seed)?;
        Ok(Arc::new(Objects { class, attributes: class.attributes(&database), database }))
    }
}

/// The objects of a class.
struct Objects {
    class: &'static Class,
    attributes: Vec<Attribute>,
    database: Database,
}

impl Source for Objects {
    fn name(&self) -> &'static str {
        self.class.name
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        (self.class.count)(&self.database).into()
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        let draws = self.database.draws();
        Box::new(ObjectCursor { objects: self, draws, position: first })
    }
}

struct ObjectCursor {
    objects: Arc<Objects>,
    draws: Draws,
    position: u64,
}

impl Cursor for ObjectCursor {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        let Objects { class, database, .. } = self.objects.as_ref();
        let end = self.position + count as u64;
        for number in self.position..end {
            (class.push)(database, &mut self.draws, number as u32, &mut Row::new(into));
        }
        self.position = end;
    }
}
