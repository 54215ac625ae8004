//! An export to do, and its limits.

use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use loadstone_datasets::Source;

use crate::error::ExportError;
use crate::format::{Compression, Format};

impl FromStr for Format {
    type Err = ExportError;

    fn from_str(name: &str) -> Result<Self, ExportError> {
        [Self::Csv, Self::Parquet, Self::Arrow]
            .into_iter()
            .find(|each| each.to_string() == name)
            .ok_or_else(|| ExportError::UnknownFormat { name: name.to_owned() })
    }
}

impl FromStr for Compression {
    type Err = ExportError;

    fn from_str(name: &str) -> Result<Self, ExportError> {
        [Self::None, Self::Snappy, Self::Zstd]
            .into_iter()
            .find(|each| each.to_string() == name)
            .ok_or_else(|| ExportError::UnknownCompression { name: name.to_owned() })
    }
}

/// One file to write.
pub struct Request {
    /// The relation.
    pub source: Arc<dyn Source>,
    /// The file's final name.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Its compression, one that the format has.
    pub compression: Compression,
    /// Which part of the relation, from 1.
    pub part: u64,
    /// Into how many parts of nearly equal size the relation is cut.
    pub part_count: u64,
    /// Threads that make pieces; with 1, the calling thread does it all.
    pub threads: usize,
}

impl Request {
    pub(crate) fn check(&self) -> Result<(), ExportError> {
        if self.part < 1 || self.part > self.part_count {
            return Err(ExportError::Part { part: self.part, part_count: self.part_count });
        }
        if self.threads < 1 {
            return Err(ExportError::Threads);
        }
        let allowed = self.format.compressions();
        if allowed.contains(&self.compression) {
            return Ok(());
        }
        Err(ExportError::Compression {
            format: self.format,
            compression: self.compression,
            allowed: allowed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        })
    }

    /// Rows of the part: parts differ by at most one row and lie end to end.
    pub(crate) fn range(&self) -> Range<u64> {
        let rows = u128::from(self.source.rows());
        let cut = |part: u64| (rows * u128::from(part) / u128::from(self.part_count)) as u64;
        cut(self.part - 1)..cut(self.part)
    }
}

/// The result of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Rows in the file.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
}
