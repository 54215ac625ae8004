//! File formats, and how each can be compressed.

use std::fmt;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180 text with a header line, lines ended by `\n`.
    Csv,
    /// Apache Parquet, row groups of 122,880 rows.
    Parquet,
    /// Arrow IPC file (Feather version 2).
    Arrow,
}

/// The way in which blocks of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Snappy; Parquet only.
    Snappy,
    /// Zstandard level 1; Parquet and Arrow.
    Zstd,
}

impl Format {
    /// The compressions that the format has.
    pub(crate) fn compressions(self) -> &'static [Compression] {
        match self {
            Self::Csv => &[Compression::None],
            Self::Parquet => &[Compression::None, Compression::Snappy, Compression::Zstd],
            Self::Arrow => &[Compression::None, Compression::Zstd],
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Snappy => "snappy",
            Self::Zstd => "zstd",
        })
    }
}
