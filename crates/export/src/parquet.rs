//! Relations as Parquet files, one row group a piece.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use arrow_schema::{SchemaRef, TimeUnit};
use loadstone_datasets::{Column, Cursor, Source, read_range, source};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::arrow;
use crate::error::ExportError;
use crate::format::Compression;
use crate::pieces::{Job, Maker};
use crate::target::Target;

/// A row group of the size that `DuckDB`'s own tables use.
const PIECE_ROWS: u64 = 122_880;

/// Rows generated at a time: encoded while still in the cache, and in vectors small enough that the
/// allocator keeps them, which saves a third of the system time.
const BATCH_ROWS: usize = 2_048;

/// First rows of a relation, looked at to choose the encodings.
const SAMPLE_ROWS: u64 = 4_096;

pub(crate) fn write(job: &mut Job<'_>, target: &mut Target) -> Result<(), ExportError> {
    let source = &job.request.source;
    // Parquet has no timestamps in seconds; written so, they would be read as plain integers.
    let schema = arrow::schema_in(source.as_ref(), TimeUnit::Millisecond);
    let properties = properties(source, job.request.compression);
    let writer = ArrowWriter::try_new(target, Arc::clone(&schema), Some(properties))?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    job.run(
        PIECE_ROWS,
        || Encoder { source: Arc::clone(source), schema: Arc::clone(&schema), factory: &factory },
        |chunks| {
            let mut group = file.next_row_group()?;
            for chunk in chunks.drain(..) {
                chunk.append_to_row_group(&mut group)?;
            }
            group.close()?;
            Ok(())
        },
    )?;
    file.close()?;
    Ok(())
}

/// Dictionaries for attributes whose values repeat; the others would only pay for one. The choice
/// rests on the relation's beginning, so that it is the same in every part.
fn properties(source: &Arc<dyn Source>, compression: Compression) -> WriterProperties {
    let codec = match compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Snappy => Codec::SNAPPY,
        Compression::Zstd => Codec::ZSTD(ZstdLevel::default()),
    };
    let sample = read_range(source, 0, SAMPLE_ROWS);
    // Minima and maxima of each row group serve its readers; of each page they would cost as much
    // again, comparing every string twice.
    let mut builder = WriterProperties::builder()
        .set_compression(codec)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for (name, column) in sample.columns {
        let repeats = distinct(&column) * 4 <= column.rows();
        builder = builder.set_column_dictionary_enabled(ColumnPath::from(name), repeats);
    }
    builder.build()
}

fn distinct(column: &Column) -> usize {
    fn count<T: Eq + Hash>(values: impl Iterator<Item = T>) -> usize {
        values.collect::<HashSet<_>>().len()
    }
    match column {
        Column::Int16(values) => count(values.iter()),
        Column::Int32(values) => count(values.iter()),
        Column::Int64(values) | Column::Timestamp(values) => count(values.iter()),
        Column::Text { width, bytes } => count(bytes.chunks(*width)),
    }
}

struct Encoder<'a> {
    source: Arc<dyn Source>,
    schema: SchemaRef,
    factory: &'a ArrowRowGroupWriterFactory,
}

impl Maker for Encoder<'_> {
    type Piece = Vec<ArrowColumnChunk>;

    fn make(
        &mut self,
        cursor: &mut dyn Cursor,
        rows: usize,
        piece: &mut Self::Piece,
    ) -> Result<(), ExportError> {
        let mut writers = self.factory.create_column_writers(0)?;
        for first in (0..rows).step_by(BATCH_ROWS) {
            let mut relation = source::empty(self.source.as_ref());
            cursor.read(BATCH_ROWS.min(rows - first), &mut relation);
            let batch = arrow::batch(&self.schema, relation)?;
            for ((field, array), writer) in
                self.schema.fields().iter().zip(batch.columns()).zip(&mut writers)
            {
                for leaf in compute_leaves(field, array)? {
                    writer.write(&leaf)?;
                }
            }
        }
        piece.clear();
        for writer in writers {
            piece.push(writer.close()?);
        }
        Ok(())
    }
}
