//! Relations as Arrow record batches: the column vectors become Arrow buffers without a copy.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int16Array, Int32Array, Int64Array, RecordBatch, RecordBatchReader, StringArray,
    TimestampMillisecondArray, TimestampSecondArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use loadstone_datasets::{AttributeType, Column, Cursor, Relation, Source, source};

/// The Arrow schema of a relation: no nulls, `char(N)` as Utf8, timestamps in seconds.
pub fn schema(source: &dyn Source) -> SchemaRef {
    schema_in(source, TimeUnit::Second)
}

/// The same with timestamps in seconds or milliseconds, for which [`batch`] has arrays.
pub(crate) fn schema_in(source: &dyn Source, unit: TimeUnit) -> SchemaRef {
    let field = |name: &str, kind| {
        let kind = match kind {
            AttributeType::Int2 => DataType::Int16,
            AttributeType::Int4 => DataType::Int32,
            AttributeType::Int8 => DataType::Int64,
            AttributeType::Char(_) => DataType::Utf8,
            AttributeType::Timestamp => DataType::Timestamp(unit, None),
        };
        Field::new(name, kind, false)
    };
    let attributes = source.attributes().iter();
    Arc::new(Schema::new(attributes.map(|each| field(&each.name, each.kind)).collect::<Vec<_>>()))
}

/// The rows of `relation`, whose columns are those of `schema`.
pub fn batch(schema: &SchemaRef, relation: Relation) -> Result<RecordBatch, ArrowError> {
    let columns = relation.columns.into_iter().zip(schema.fields());
    let arrays = columns.map(|((_, column), field)| array(column, field.data_type()));
    RecordBatch::try_new(Arc::clone(schema), arrays.collect::<Result<_, _>>()?)
}

fn array(column: Column, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Int16(values) => Arc::new(Int16Array::new(values.into(), None)),
        Column::Int32(values) => Arc::new(Int32Array::new(values.into(), None)),
        Column::Int64(values) => Arc::new(Int64Array::new(values.into(), None)),
        Column::Text { width, bytes } => {
            if bytes.chunks_exact(width).any(|text| text.ends_with(b" ")) {
                let texts = bytes.chunks_exact(width).map(|text| str::from_utf8(trimmed(text)));
                let texts = texts.collect::<Result<Vec<_>, _>>();
                let texts = texts.map_err(|error| ArrowError::ParseError(error.to_string()))?;
                return Ok(Arc::new(StringArray::from_iter_values(texts)));
            }
            let ends: Vec<i32> = (0..=bytes.len()).step_by(width).map(|end| end as i32).collect();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), None)?)
        }
        Column::Timestamp(mut values) => {
            if *kind == DataType::Timestamp(TimeUnit::Millisecond, None) {
                for value in &mut values {
                    *value *= 1_000;
                }
                Arc::new(TimestampMillisecondArray::new(values.into(), None))
            } else {
                Arc::new(TimestampSecondArray::new(values.into(), None))
            }
        }
    })
}

/// A text without the blanks that follow it.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|byte| **byte == b' ').count();
    &text[..text.len() - blanks]
}

/// Rows of a relation as batches, each made when it is requested.
pub struct Batches {
    source: Arc<dyn Source>,
    schema: SchemaRef,
    cursor: Option<Box<dyn Cursor>>,
    next: u64,
    end: u64,
    batch_rows: u64,
}

impl Batches {
    /// Rows `first .. first + count`, cut at the relation's end, `batch_rows` at a time.
    pub fn new(source: Arc<dyn Source>, first: u64, count: u64, batch_rows: u64) -> Self {
        let next = first.min(source.rows());
        let end = next + count.min(source.rows() - next);
        let schema = schema(source.as_ref());
        let batch_rows = batch_rows.clamp(1, batch_rows_max(source.as_ref()));
        Self { source, schema, cursor: None, next, end, batch_rows }
    }
}

/// A Utf8 array has four-byte offsets.
fn batch_rows_max(source: &dyn Source) -> u64 {
    let widths = source.attributes().iter().map(|each| each.kind.width_bytes());
    i32::MAX as u64 / widths.max().unwrap_or(1).max(1) as u64
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.batch_rows.min(self.end - self.next);
        if count == 0 {
            return None;
        }
        let source = &self.source;
        let cursor = self.cursor.get_or_insert_with(|| Arc::clone(source).cursor(self.next));
        let mut rows = source::empty(source.as_ref());
        cursor.read(count as usize, &mut rows);
        self.next += count;
        Some(batch(&self.schema, rows))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
