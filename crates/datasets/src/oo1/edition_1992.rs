//! Relations part and connection, in the columns of the paper's SQL appendix.

use std::sync::Arc;

use super::database::{Connections, Database, Parts, edition_name};
use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};
use crate::edition::{DatasetError, Edition};
use crate::source::{Cursor, Source};

const TYPE_WIDTH: usize = "part-type0".len();

const PART: [(&str, AttributeType); 5] = [
    ("id", AttributeType::Int4),
    ("type", AttributeType::Char(TYPE_WIDTH)),
    ("x", AttributeType::Int4),
    ("y", AttributeType::Int4),
    ("build", AttributeType::Timestamp),
];

const CONNECTION: [(&str, AttributeType); 4] = [
    ("frm", AttributeType::Int4),
    ("too", AttributeType::Int4),
    ("type", AttributeType::Char(TYPE_WIDTH)),
    ("length", AttributeType::Int4),
];

/// The edition of 1992, as published and as in its Table VI.
pub struct Edition1992 {
    /// See [`Database::locality`].
    pub locality: bool,
}

impl Edition for Edition1992 {
    fn benchmark(&self) -> &'static str {
        "oo1"
    }

    fn name(&self) -> &'static str {
        edition_name(self.locality)
    }

    fn relations(&self) -> &'static [&'static str] {
        &["part", "connection"]
    }

    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError> {
        let attributes = match relation {
            "part" => PART.as_slice(),
            "connection" => &CONNECTION,
            _ => return Err(self.unknown(relation)),
        };
        let attribute = |(name, kind): &(&str, _)| Attribute { name: (*name).into(), kind: *kind };
        Ok(attributes.iter().map(attribute).collect())
    }

    /// `rows` is the number of parts; connection has three times as many.
    fn open(&self, relation: &str, rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError> {
        let attributes = self.attributes(relation)?;
        let database = Database::new(rows, seed, self.locality)?;
        Ok(if relation == "part" {
            Arc::new(PartSource { database, attributes })
        } else {
            Arc::new(ConnectionSource { database, attributes })
        })
    }
}

struct PartSource {
    database: Database,
    attributes: Vec<Attribute>,
}

impl Source for PartSource {
    fn name(&self) -> &'static str {
        "part"
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        self.database.parts.into()
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        let end = self.database.parts + 1;
        Box::new(PartCursor { parts: self.database.part_range(first as u32 + 1..end) })
    }
}

struct PartCursor {
    parts: Parts,
}

impl Cursor for PartCursor {
    fn position(&self) -> u64 {
        u64::from(self.parts.next_id()) - 1
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        let [
            (_, Column::Int32(ids)),
            (_, Column::Text { bytes: types, .. }),
            (_, Column::Int32(xs)),
            (_, Column::Int32(ys)),
            (_, Column::Timestamp(builds)),
        ] = into.columns.as_mut_slice()
        else {
            unreachable!("the columns are those of PART")
        };
        for part in self.parts.by_ref().take(count) {
            ids.push(part.id as i32);
            types.extend_from_slice(&type_text(part.kind));
            xs.push(part.x);
            ys.push(part.y);
            builds.push(part.build_s);
        }
    }
}

struct ConnectionSource {
    database: Database,
    attributes: Vec<Attribute>,
}

impl Source for ConnectionSource {
    fn name(&self) -> &'static str {
        "connection"
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        self.database.connection_count().into()
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        let end = self.database.connection_count();
        let connections = self.database.connection_range(first as u32..end);
        Box::new(ConnectionCursor { connections })
    }
}

struct ConnectionCursor {
    connections: Connections,
}

impl Cursor for ConnectionCursor {
    fn position(&self) -> u64 {
        self.connections.next_number().into()
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        let [
            (_, Column::Int32(froms)),
            (_, Column::Int32(tos)),
            (_, Column::Text { bytes: types, .. }),
            (_, Column::Int32(lengths)),
        ] = into.columns.as_mut_slice()
        else {
            unreachable!("the columns are those of CONNECTION")
        };
        for connection in self.connections.by_ref().take(count) {
            froms.push(connection.from as i32);
            tos.push(connection.to as i32);
            types.extend_from_slice(&type_text(connection.kind));
            lengths.push(connection.length);
        }
    }
}

fn type_text(kind: u8) -> [u8; TYPE_WIDTH] {
    let mut text = *b"part-type0";
    text[TYPE_WIDTH - 1] += kind;
    text
}
