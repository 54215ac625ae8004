//! The errors of an export.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;
use loadstone_datasets::DatasetError;
use parquet::errors::ParquetError;

use crate::format::{Compression, Format};

/// Why there is no file; nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The relation does not exist at that scale.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Part numbers count from 1.
    #[error("part {part} of {part_count} does not exist; parts are 1 to {part_count}")]
    Part {
        /// The part requested.
        part: u64,
        /// Of how many.
        part_count: u64,
    },
    /// Zero threads.
    #[error("an export needs at least one thread")]
    Threads,
    /// No such format.
    #[error("unknown format '{name}'; there are csv, parquet, arrow")]
    UnknownFormat {
        /// The name given.
        name: String,
    },
    /// No such compression.
    #[error("unknown compression '{name}'; there are none, snappy, zstd")]
    UnknownCompression {
        /// The name given.
        name: String,
    },
    /// The format has no such compression.
    #[error("{format} cannot be compressed with {compression}; it can be with: {allowed}")]
    Compression {
        /// The format.
        format: Format,
        /// The compression requested.
        compression: Compression,
        /// The values that the format has, separated by commas.
        allowed: String,
    },
    /// The temporary file beside the target could not be made or given its final name.
    #[error("cannot create {path}: {source}")]
    Create {
        /// The file's final name.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file could not be written to its end.
    #[error(
        "cannot write {path} beyond {written_bytes} bytes: {source}; the partial file was removed"
    )]
    Write {
        /// The file's final name.
        path: PathBuf,
        /// Bytes that went well.
        written_bytes: u64,
        /// The operating system's error.
        source: io::Error,
    },
    /// Writing failed; [`ExportError::Write`] says where.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The encoder refused; this is an error of ours.
    #[error("the encoder failed: {0}")]
    Encode(String),
    /// The observer broke off.
    #[error("the export was interrupted")]
    Interrupted,
}

impl ExportError {
    /// The operating system's own error, where there is one.
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Create { source, .. } | Self::Write { source, .. } => Some(source),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ParquetError> for ExportError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(other) => Self::Encode(other.to_string()),
            },
            other => Self::Encode(other.to_string()),
        }
    }
}

impl From<ArrowError> for ExportError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::Io(error),
            other => Self::Encode(other.to_string()),
        }
    }
}
