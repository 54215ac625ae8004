//! Relations as the oracle holds them: typed columns, and the checksum of the whole.

use crate::answer::{Answer, RowEncoder};
use crate::schema::{Attribute, Kind};
use crate::value::{OwnedValue, Value};
use loadstone_datasets::{Column, Relation};
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct Table {
    pub attributes: Vec<Attribute>,
    pub columns: Vec<Data>,
    pub rows: usize,
    contents: OnceLock<Answer>,
}

/// The values of one attribute.
#[derive(Debug)]
pub(super) enum Data {
    /// As generated, in the width of the paper's type.
    Generated(Column),
    /// The values that a statement made.
    Values(Vec<OwnedValue>),
}

impl Data {
    #[inline]
    pub fn value(&self, row: usize) -> Value<'_> {
        match self {
            Self::Generated(Column::Int16(values)) => Value::Integer(values[row].into()),
            Self::Generated(Column::Int32(values)) => Value::Integer(values[row].into()),
            Self::Generated(Column::Int64(values) | Column::Timestamp(values)) => {
                Value::Integer(values[row])
            }
            Self::Generated(Column::Text { width, bytes }) => {
                Value::Text(&bytes[row * width..(row + 1) * width])
            }
            Self::Values(values) => values[row].borrow(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Generated(Column::Int16(_)) => Kind::Integer { bytes: 2 },
            Self::Generated(Column::Int32(_)) => Kind::Integer { bytes: 4 },
            Self::Generated(Column::Int64(_) | Column::Timestamp(_)) | Self::Values(_) => {
                Kind::Integer { bytes: 8 }
            }
            Self::Generated(Column::Text { width, .. }) => Kind::Text { width: *width },
        }
    }
}

impl Table {
    pub fn new(attributes: Vec<Attribute>, columns: Vec<Data>, rows: usize) -> Self {
        Self { attributes, columns, rows, contents: OnceLock::new() }
    }

    pub fn of(relation: Relation) -> Self {
        let rows = relation.rows();
        let (attributes, columns) = relation
            .columns
            .into_iter()
            .map(|(name, column)| {
                let data = Data::Generated(column);
                (Attribute { name: name.to_ascii_lowercase(), kind: data.kind() }, data)
            })
            .unzip();
        Self::new(attributes, columns, rows)
    }

    pub fn empty(attributes: Vec<Attribute>) -> Self {
        let columns = attributes.iter().map(|_| Data::Values(Vec::new())).collect();
        Self::new(attributes, columns, 0)
    }

    /// Rows and checksum of the whole relation, computed once.
    pub fn contents(&self) -> Answer {
        *self.contents.get_or_init(|| {
            let mut answer = Answer::default();
            let mut bytes = RowEncoder::default();
            for row in 0..self.rows {
                answer.add(self.row_checksum(row, &mut bytes));
            }
            answer
        })
    }

    pub fn row_checksum(&self, row: usize, bytes: &mut RowEncoder) -> u64 {
        for column in &self.columns {
            column.value(row).encode(bytes);
        }
        bytes.finish_row()
    }
}
