//! The two files of a database, or of a copy of one: made, opened, removed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{BufferedFile, DirectFile, Disk};
use crate::error::{LodeError, Result};
use crate::superblock::Superblock;
use crate::tactics::Opening;

/// The two files.
pub(crate) struct Files {
    pub(crate) volume: Arc<dyn Disk>,
    pub(crate) log: Arc<dyn Disk>,
}

fn create_file(path: &Path, opening: Opening) -> Result<Arc<dyn Disk>> {
    Ok(match opening {
        Opening::Buffered => Arc::new(BufferedFile::create(path)?),
        Opening::Direct => Arc::new(DirectFile::create(path)?),
    })
}

/// A file that is there.
pub(crate) fn open_file(path: &Path, opening: Opening) -> Result<Arc<dyn Disk>> {
    Ok(match opening {
        Opening::Buffered => Arc::new(BufferedFile::open(path)?),
        Opening::Direct => Arc::new(DirectFile::open(path)?),
    })
}

/// The same, only to read it.
pub(crate) fn open_file_read_only(path: &Path, opening: Opening) -> Result<Arc<dyn Disk>> {
    Ok(match opening {
        Opening::Buffered => Arc::new(BufferedFile::open_read_only(path)?),
        Opening::Direct => Arc::new(DirectFile::open_read_only(path)?),
    })
}

/// The two files of a database that is yet to be written.
pub(crate) fn create_files(path: &Path) -> Result<Files> {
    Files::create(path, Opening::Buffered)
}

/// Remove them again.
pub(crate) fn remove_files(path: &Path) {
    remove(path);
    remove(&log_path(path));
}

/// Remove a file that was just created. Who learns why it is not wanted need not learn that it
/// could not be removed either.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

impl Files {
    /// Two new files, or none.
    pub(crate) fn create(path: &Path, opening: Opening) -> Result<Self> {
        let volume = create_file(path, opening).map_err(|error| not_created(path, error))?;
        let log_path = log_path(path);
        let log = create_file(&log_path, opening)
            .inspect_err(|_| remove(path))
            .map_err(|error| log_not_created(path, &log_path, error))?;
        Ok(Self { volume, log })
    }

    /// The volume of that name, and its log.
    pub(crate) fn open(path: &Path, open: impl Fn(&Path) -> Result<Arc<dyn Disk>>) -> Result<Self> {
        let volume = open(path)?;
        let log_path = log_path_of(path);
        match open(&log_path) {
            Ok(log) => Ok(Self { volume, log }),
            Err(LodeError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                // A file that is no volume has no log.
                Superblock::open(&*volume, path, false)?;
                let what = format!(
                    "the log {} is not there, without which {} is half a database: put it back \
                     beside it, or restore both files from a backup",
                    log_path.display(),
                    path.display()
                );
                Err(LodeError::Files { what })
            }
            Err(error) => Err(error),
        }
    }
}

/// The place where the log lies of a volume that is there: beside it. Where the volume was named by
/// a symbolic link with no log beside it, beside what the link leads to.
fn log_path_of(path: &Path) -> PathBuf {
    let beside = log_path(path);
    if beside.exists() {
        return beside;
    }
    let led = path.canonicalize().map(|led| log_path(&led));
    led.ok().filter(|led| led.exists()).unwrap_or(beside)
}

/// Why the volume could not be made, and what helps.
fn not_created(path: &Path, error: LodeError) -> LodeError {
    let LodeError::Io { source, .. } = &error else { return error };
    let name = path.display();
    let what = match source.kind() {
        io::ErrorKind::NotFound => format!("{name} cannot be made: make its folder first"),
        io::ErrorKind::AlreadyExists if !path.exists() => {
            format!("{name} is a symbolic link that leads nowhere: remove it, or choose another")
        }
        _ => return error,
    };
    LodeError::Files { what }
}

/// The same of the log, while there was no volume.
fn log_not_created(path: &Path, log_path: &Path, error: LodeError) -> LodeError {
    match &error {
        LodeError::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            let (path, log_path) = (path.display(), log_path.display());
            let what = format!(
                "the log {log_path} is there, its volume {path} is not: put the volume back beside \
                 it; if nobody needs what was in it, remove the log"
            );
            LodeError::Files { what }
        }
        _ => error,
    }
}

/// The log of a volume.
pub(crate) fn log_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push("-log");
    PathBuf::from(name)
}
