//! Relations as the oracle holds them: typed columns, and the checksum of the whole.

use super::generated::{Generated, value_of};
use crate::answer::{Answer, RowEncoder};
use crate::schema::{Attribute, Kind};
use crate::value::{OwnedValue, Value};
use loadstone_datasets::{Column, Relation, Source};
use std::sync::{Arc, OnceLock};

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
    Kept(Column),
    /// The attribute of that number of a relation that is generated again.
    Again(Arc<Generated>, usize),
    /// The values that a statement made.
    Values(Vec<OwnedValue>),
}

impl Data {
    #[inline]
    pub fn value(&self, row: usize) -> Value<'_> {
        match self {
            Self::Kept(column) => value_of(column, row),
            Self::Again(generated, column) => generated.value(*column, row),
            Self::Values(values) => values[row].borrow(),
        }
    }
}

fn kind_of(column: &Column) -> Kind {
    match column {
        Column::Int16(_) => Kind::Integer { bytes: 2 },
        Column::Int32(_) => Kind::Integer { bytes: 4 },
        Column::Int64(_) | Column::Timestamp(_) => Kind::Integer { bytes: 8 },
        Column::Text { width, .. } => Kind::Text { width: *width },
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
                let kind = kind_of(&column);
                (Attribute { name: name.to_ascii_lowercase(), kind }, Data::Kept(column))
            })
            .unzip();
        Self::new(attributes, columns, rows)
    }

    /// A relation of which nothing is kept before it is wanted.
    pub fn again(source: Arc<dyn Source>) -> Self {
        let attribute = |one: &loadstone_datasets::Attribute| Attribute {
            name: one.name.to_ascii_lowercase(),
            kind: kind_of(&one.kind.column()),
        };
        let attributes: Vec<_> = source.attributes().iter().map(attribute).collect();
        let rows = source.rows() as usize;
        let generated = Arc::new(Generated::new(source));
        let columns =
            (0..attributes.len()).map(|number| Data::Again(Arc::clone(&generated), number));
        Self::new(attributes, columns.collect(), rows)
    }

    /// Keep these attributes of all tuples: a statement looks at each.
    pub fn keep(&self, columns: &[usize]) {
        if let Some(Data::Again(generated, _)) = self.columns.first() {
            generated.keep(columns);
        }
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
            if let Some(Data::Again(generated, _)) = self.columns.first() {
                generated.in_blocks(|block| {
                    for row in 0..block.rows() {
                        for (_, column) in &block.columns {
                            value_of(column, row).encode(&mut bytes);
                        }
                        answer.add(bytes.finish_row());
                    }
                });
                return answer;
            }
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
