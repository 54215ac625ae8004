//! The file being written: under a temporary name beside its final one until it is complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::ExportError;

/// Removes its temporary file when dropped unfinished.
pub(crate) struct Target {
    file: NamedTempFile<File>,
    path: PathBuf,
    written_bytes: u64,
}

impl Target {
    pub(crate) fn create(path: &Path) -> Result<Self, ExportError> {
        let failed = |source| ExportError::Create { path: path.to_owned(), source };
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidFilename.into()));
        };
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".partial")
            // The crate's own way of opening gives mode 0600, which would outlive the rename, and
            // errors that repeat the temporary name, which means nothing to the reader.
            .make_in(folder, |path| File::create_new(path))
            .map_err(failed)?;
        Ok(Self { file, path: path.to_owned(), written_bytes: 0 })
    }

    /// Say where a failed write happened.
    pub(crate) fn explain(&self, error: ExportError) -> ExportError {
        match error {
            ExportError::Io(source) => ExportError::Write {
                path: self.path.clone(),
                written_bytes: self.written_bytes,
                source,
            },
            other => other,
        }
    }

    /// Give the file its name; returns its size. The data may still be in the page cache only:
    /// the name promises a whole file after a crash of this process, not of the machine.
    pub(crate) fn finish(self) -> Result<u64, ExportError> {
        let Self { file, path, written_bytes } = self;
        match file.persist(&path) {
            Ok(_) => Ok(written_bytes),
            Err(error) => Err(ExportError::Create { path, source: error.error }),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.as_file_mut().write(bytes)?;
        self.written_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}
