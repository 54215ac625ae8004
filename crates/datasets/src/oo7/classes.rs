//! OO7's classes as relations. Sets and bags that lead from many to one become attributes; the
//! components of base assemblies, and the connections, are relations of their own.

use std::slice::IterMut;

use super::database::{Assembly, Database, Draws, Object};
use super::{texts, tree};
use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};

const TYPE_WIDTH: usize = 10;

const INT: Width = Width::Int;
const TYPE: Width = Width::Text(TYPE_WIDTH);
const TITLE: Width = Width::Text(texts::TITLE_WIDTH);

/// A class as a relation.
pub(super) struct Class {
    pub(super) name: &'static str,
    declared: &'static [(&'static str, Width)],
    /// The number of objects that a database has.
    pub(super) count: fn(&Database) -> u32,
    /// Append an object, by its number from 0.
    pub(super) push: fn(&Database, &mut Draws, u32, &mut Row<'_>),
}

/// The type of an attribute's values.
#[derive(Clone, Copy)]
enum Width {
    Int,
    Text(usize),
    /// A text whose length follows from the database.
    Grown(fn(&Database) -> usize),
}

impl Class {
    /// Its attributes in a database.
    pub(super) fn attributes(&self, database: &Database) -> Vec<Attribute> {
        let attribute = |(name, width): &(&str, Width)| {
            let kind = match width {
                Width::Int => AttributeType::Int4,
                Width::Text(width) => AttributeType::Char(*width),
                Width::Grown(length) => AttributeType::Char(length(database)),
            };
            Attribute { name: (*name).into(), kind }
        };
        self.declared.iter().map(attribute).collect()
    }
}

/// In the order of section 1 of the specification. `super` of a module's root is 0; `number` counts
/// the components of a base assembly, and the connections of an atomic part, from 1.
pub(super) const CLASSES: [Class; 10] = [
    Class {
        name: "module",
        declared: &[("id", INT), ("type", TYPE), ("builddate", INT), ("root", INT)],
        count: |database| database.modules,
        push: |database, draws, number, row| {
            let object = database.module(draws, number + 1);
            row.object(object);
            row.int(number * tree::COMPLEX + 1);
        },
    },
    Class {
        name: "manual",
        declared: &[
            ("id", INT),
            ("title", TITLE),
            ("textlen", INT),
            ("text", Width::Grown(Database::manual_length)),
        ],
        count: |database| database.modules,
        push: |database, _, number, row| {
            let (id, length) = (number + 1, database.manual_length());
            row.int(id);
            row.title(&texts::manual_title(id));
            row.int(length as u32);
            texts::push_manual(row.text(), id, length);
        },
    },
    Class {
        name: "complexassembly",
        declared: &[
            ("id", INT),
            ("type", TYPE),
            ("builddate", INT),
            ("super", INT),
            ("module", INT),
            ("level", INT),
        ],
        count: |database| database.modules * tree::COMPLEX,
        push: |database, draws, number, row| {
            let assembly = database.complex_assembly(draws, number + 1);
            row.assembly(&assembly);
            row.int(assembly.level);
        },
    },
    Class {
        name: "baseassembly",
        declared: &[
            ("id", INT),
            ("type", TYPE),
            ("builddate", INT),
            ("super", INT),
            ("module", INT),
        ],
        count: |database| database.modules * tree::BASE,
        push: |database, draws, number, row| {
            row.assembly(&database.base_assembly(draws, number + 1));
        },
    },
    Class {
        name: "componentpriv",
        declared: COMPONENT,
        count: component_count,
        push: |database, draws, number, row| push_component(database, draws, number, row, 0),
    },
    Class {
        name: "componentshar",
        declared: COMPONENT,
        count: component_count,
        push: |database, draws, number, row| push_component(database, draws, number, row, 1),
    },
    Class {
        name: "compositepart",
        declared: &[("id", INT), ("type", TYPE), ("builddate", INT), ("rootpart", INT)],
        count: Database::composite_count,
        push: |database, draws, number, row| {
            row.object(database.composite(draws, number + 1));
            row.int(database.root_part(number + 1));
        },
    },
    Class {
        name: "document",
        declared: &[
            ("id", INT),
            ("title", TITLE),
            ("composite", INT),
            ("text", Width::Grown(Database::document_length)),
        ],
        count: Database::composite_count,
        push: |database, _, number, row| {
            let id = number + 1;
            row.int(id);
            row.title(&texts::document_title(id));
            row.int(id);
            texts::push_document(row.text(), id, database.document_length());
        },
    },
    Class {
        name: "atomicpart",
        declared: &[
            ("id", INT),
            ("type", TYPE),
            ("builddate", INT),
            ("x", INT),
            ("y", INT),
            ("docid", INT),
            ("composite", INT),
        ],
        count: Database::part_count,
        push: |database, draws, number, row| {
            let part = database.part(draws, number + 1);
            row.object(part.object);
            row.int(part.x as u32);
            row.int(part.y as u32);
            row.int(part.document);
            row.int(part.composite);
        },
    },
    Class {
        name: "connection",
        declared: &[("frm", INT), ("number", INT), ("too", INT), ("type", TYPE), ("length", INT)],
        count: Database::connection_count,
        push: |database, draws, number, row| {
            let connection = database.connection(draws, number);
            row.int(connection.from);
            row.int(number % database.fan_out + 1);
            row.int(connection.to);
            row.kind(connection.kind);
            row.int(connection.length as u32);
        },
    },
];

const COMPONENT: &[(&str, Width)] = &[("assembly", INT), ("number", INT), ("composite", INT)];

fn component_count(database: &Database) -> u32 {
    database.modules * tree::BASE * tree::COMPONENTS
}

/// Component `number` of all: `bag` is 0 for private ones, 1 for shared ones.
fn push_component(
    database: &Database,
    draws: &mut Draws,
    number: u32,
    row: &mut Row<'_>,
    bag: usize,
) {
    let (assembly, place) = (number / tree::COMPONENTS + 1, number % tree::COMPONENTS);
    row.int(assembly);
    row.int(place + 1);
    row.int(database.components(draws, assembly)[bag][place as usize]);
}

/// Takes the values of an object, attribute by attribute.
pub(super) struct Row<'a> {
    columns: IterMut<'a, (String, Column)>,
}

impl<'a> Row<'a> {
    pub(super) fn new(into: &'a mut Relation) -> Self {
        Self { columns: into.columns.iter_mut() }
    }

    fn next(&mut self) -> &'a mut Column {
        &mut self.columns.next().expect("as many values as the class declares").1
    }

    fn int(&mut self, value: u32) {
        let Column::Int32(values) = self.next() else { unreachable!("declared as a text") };
        values.push(value as i32);
    }

    fn text(&mut self) -> &'a mut Vec<u8> {
        let Column::Text { bytes, .. } = self.next() else { unreachable!("declared as a number") };
        bytes
    }

    fn kind(&mut self, kind: u8) {
        let bytes = self.text();
        bytes.extend_from_slice(b"type00");
        bytes.extend_from_slice(&[b'0' + kind, b' ', b' ', b' ']);
    }

    fn title(&mut self, title: &str) {
        let bytes = self.text();
        bytes.extend_from_slice(title.as_bytes());
        bytes.resize(bytes.len() + texts::TITLE_WIDTH - title.len(), b' ');
    }

    fn object(&mut self, object: Object) {
        self.int(object.id);
        self.kind(object.kind);
        self.int(object.build_date as u32);
    }

    fn assembly(&mut self, assembly: &Assembly) {
        self.object(assembly.object);
        self.int(assembly.parent.unwrap_or(0));
        self.int(assembly.module);
    }
}
