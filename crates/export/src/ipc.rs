//! Relations as Arrow IPC files.

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::SchemaRef;
use loadstone_datasets::{Cursor, Source, source};
use std::sync::Arc;

use crate::arrow;
use crate::error::ExportError;
use crate::format::Compression;
use crate::pieces::{Job, Maker};
use crate::target::Target;

/// One record batch: readers map or decompress it as a whole.
const PIECE_ROWS: u64 = 65_536;

pub(crate) fn write(job: &mut Job<'_>, target: &mut Target) -> Result<(), ExportError> {
    let source = &job.request.source;
    let schema = arrow::schema(source.as_ref());
    let compression = match job.request.compression {
        Compression::Zstd => Some(CompressionType::ZSTD),
        _ => None,
    };
    let options = IpcWriteOptions::default().try_with_compression(compression)?;
    let mut writer = FileWriter::try_new_with_options(target, &schema, options)?;
    job.run(
        PIECE_ROWS,
        || Batcher { source: Arc::clone(source), schema: Arc::clone(&schema) },
        |batch| match batch.take() {
            Some(batch) => Ok(writer.write(&batch)?),
            None => Ok(()),
        },
    )?;
    Ok(writer.finish()?)
}

struct Batcher {
    source: Arc<dyn Source>,
    schema: SchemaRef,
}

impl Maker for Batcher {
    type Piece = Option<RecordBatch>;

    fn make(
        &mut self,
        cursor: &mut dyn Cursor,
        rows: usize,
        piece: &mut Self::Piece,
    ) -> Result<(), ExportError> {
        let mut relation = source::empty(self.source.as_ref());
        cursor.read(rows, &mut relation);
        *piece = Some(arrow::batch(&self.schema, relation)?);
        Ok(())
    }
}
