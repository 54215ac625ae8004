//! A relation that is too large to be kept: its rows are generated again where an answer wants
//! them, which they allow because each is a pure function of its number.
//!
//! A statement looks at a few attributes of every tuple (its conditions, aggregates and by-lists):
//! those are kept as columns. It looks at the others of the tuples that qualify alone: of these the
//! blocks around them are kept. So memory grows with what the answers look at, which for a
//! retrieve of every attribute of every tuple is the relation.

use crate::value::Value;
use loadstone_datasets::source::empty;
use loadstone_datasets::{Column, Relation, Source, read_range};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Rows that are generated at once: some hundred KiB, so that a single tuple costs a millisecond.
const BLOCK_ROWS: usize = 4_096;

pub(super) struct Generated {
    source: Arc<dyn Source>,
    kept: Vec<OnceLock<Column>>,
    blocks: Vec<OnceLock<Relation>>,
}

impl Generated {
    pub fn new(source: Arc<dyn Source>) -> Self {
        let blocks = source.rows().div_ceil(BLOCK_ROWS as u64);
        Self {
            kept: source.attributes().iter().map(|_| OnceLock::new()).collect(),
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
            source,
        }
    }

    #[inline]
    pub fn value(&self, column: usize, row: usize) -> Value<'_> {
        if let Some(kept) = self.kept[column].get() {
            return value_of(kept, row);
        }
        let first = row / BLOCK_ROWS * BLOCK_ROWS;
        let block = self.blocks[row / BLOCK_ROWS]
            .get_or_init(|| read_range(&self.source, first as u64, BLOCK_ROWS as u64));
        value_of(&block.columns[column].1, row - first)
    }

    /// Keep these attributes of all tuples, generated in one pass.
    pub fn keep(&self, columns: &[usize]) {
        let missing: Vec<_> =
            columns.iter().copied().filter(|column| self.kept[*column].get().is_none()).collect();
        if missing.is_empty() {
            return;
        }
        let rows = self.source.rows() as usize;
        let mut found: Vec<_> =
            missing.iter().map(|column| self.source.attributes()[*column].kind.column()).collect();
        for column in &mut found {
            column.reserve(rows);
        }
        self.in_blocks(|block| {
            for (column, into) in missing.iter().zip(&mut found) {
                into.append(&block.columns[*column].1);
            }
        });
        for (column, values) in missing.into_iter().zip(found) {
            // Another thread may have kept the same meanwhile.
            let _ = self.kept[column].set(values);
        }
    }

    /// Calls `each` with all rows, some at a time, which are not kept.
    pub fn in_blocks(&self, mut each: impl FnMut(&Relation)) {
        let mut cursor = Arc::clone(&self.source).cursor(0);
        let mut block = empty(self.source.as_ref());
        let mut left = self.source.rows() as usize;
        while left > 0 {
            let count = left.min(BLOCK_ROWS);
            block.clear();
            cursor.read(count, &mut block);
            each(&block);
            left -= count;
        }
    }
}

/// The value of a generated column in a row.
#[inline]
pub(super) fn value_of(column: &Column, row: usize) -> Value<'_> {
    match column {
        Column::Int16(values) => Value::Integer(values[row].into()),
        Column::Int32(values) => Value::Integer(values[row].into()),
        Column::Int64(values) | Column::Timestamp(values) => Value::Integer(values[row]),
        Column::Text { width, bytes } => Value::Text(&bytes[row * width..(row + 1) * width]),
    }
}

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generated").field("name", &self.source.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_ROWS, Generated, value_of};
    use loadstone_datasets::{open, read_all};

    const ROWS: usize = 3 * BLOCK_ROWS + 5;

    fn generated() -> Generated {
        Generated::new(open("idm", "1986", "simple", ROWS as u64, 0).expect("in the catalogue"))
    }

    fn blocks_held(generated: &Generated) -> usize {
        generated.blocks.iter().filter(|block| block.get().is_some()).count()
    }

    #[test]
    fn every_value_is_that_of_the_whole_relation() {
        let generated = generated();
        let whole = read_all(&generated.source);
        generated.keep(&[1]);
        for (column, (_, values)) in whole.columns.iter().enumerate() {
            for row in 0..ROWS {
                let expected = value_of(values, row);
                assert_eq!(generated.value(column, row), expected, "{column} of {row}");
            }
        }
    }

    #[test]
    fn a_column_that_is_kept_takes_no_block_and_a_tuple_one() {
        let generated = generated();
        generated.keep(&[0, 1]);
        for row in 0..ROWS {
            generated.value(0, row);
        }
        assert_eq!(blocks_held(&generated), 0);
        generated.value(3, BLOCK_ROWS);
        generated.value(4, 2 * BLOCK_ROWS - 1);
        assert_eq!(blocks_held(&generated), 1);
    }
}
