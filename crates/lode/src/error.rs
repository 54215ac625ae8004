//! What can go wrong in lode.

use std::io;
use std::path::PathBuf;

use crate::page::PageNumber;

/// Something that lode could not do. Whatever it was, what had been committed is still there.
#[derive(Debug, thiserror::Error)]
pub enum LodeError {
    /// The operating system refused.
    #[error("{doing} failed: {source}: {}", advice(source))]
    Io {
        /// What was being done, with the file's name where there is one.
        doing: String,
        /// The system's words.
        source: io::Error,
    },
    /// There is no room left for the volume or the log.
    #[error("no room left for {what}: free some space and run the transaction again")]
    Full {
        /// The volume or the log.
        what: &'static str,
    },
    /// Bytes that are not as they were written.
    #[error("{what} is damaged ({how}): restore the database from a copy")]
    Corrupt {
        /// Which page or record.
        what: String,
        /// How that is seen.
        how: String,
    },
    /// A file that is something else.
    #[error("{path} is no lode database: {how}")]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// How that is seen.
        how: String,
    },
    /// A file of another version of the format.
    #[error("the database has format {found}, this program reads {known}: load it again")]
    Version {
        /// The version in the file.
        found: u32,
        /// The version in this program.
        known: u32,
    },
    /// Another process has the database open.
    #[error("{path} is open in another process: close it there, or serve it with `lode serve`")]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// A write to a database that was opened for reading.
    #[error("the database is open for reading only")]
    ReadOnly,
    /// This transaction was chosen to end a deadlock; it is rolled back.
    #[error("deadlock: this transaction was rolled back, run it again")]
    Deadlock,
    /// A transaction of which an operation failed cannot be committed; it is rolled back.
    #[error("an operation of this transaction failed, so it was rolled back: run it again")]
    RolledBack,
    /// The log could not be synced when a transaction was to be committed.
    #[error(
        "whether this transaction is committed is known when the database is opened again: {why}"
    )]
    Uncertain {
        /// What failed.
        why: String,
    },
    /// Something failed after which memory cannot be trusted; the files can.
    #[error("open the database again, which recovers it: {why}")]
    Reopen {
        /// What failed.
        why: String,
    },
    /// A database that was not closed is opened for reading only.
    #[error("{path} was not closed: open it for writing once, which recovers it")]
    Unrecovered {
        /// The database.
        path: PathBuf,
    },
    /// A transaction needs more pages at once than the cache holds.
    #[error("the cache of {cache_bytes} bytes holds too few pages: give it more with `cache=`")]
    CacheTooSmall {
        /// The cap.
        cache_bytes: u64,
    },
    /// A record, key or object longer than a page can hold.
    #[error("{what} of {bytes} bytes is longer than the {bytes_max} that fit")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest that fits.
        bytes_max: usize,
    },
    /// A record, object or file that is not there.
    #[error("there is no {what}")]
    Missing {
        /// What was asked for.
        what: String,
    },
    /// A name that is taken.
    #[error("there is a {what} already: remove it first, or choose another name")]
    Exists {
        /// What has the name.
        what: String,
    },
    /// A value that a tactic does not have, or two that exclude each other.
    #[error("{what}")]
    Tactic {
        /// What is wrong and what there is.
        what: String,
    },
    /// The page server is gone or said something that it cannot say.
    #[error("the page server {what}")]
    Server {
        /// What happened.
        what: String,
    },
}

/// What to do about an error of the operating system.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "look whether the path is right, or create the database",
        io::ErrorKind::AlreadyExists => "open it, or choose another name",
        io::ErrorKind::PermissionDenied => "let this user read and write it",
        io::ErrorKind::ReadOnlyFilesystem => {
            "open the database for reading only, or make the place writable"
        }
        _ => "what was committed is there again when the disk answers",
    }
}

/// What lode's functions answer.
pub type Result<T, E = LodeError> = std::result::Result<T, E>;

impl LodeError {
    /// An error of the operating system while `doing` something; a full disk is told as such.
    pub fn io(doing: impl Into<String>, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { what: "the database" }
            }
            _ => Self::Io { doing: doing.into(), source },
        }
    }

    /// A damaged page.
    pub fn corrupt_page(page: PageNumber, how: impl Into<String>) -> Self {
        Self::Corrupt { what: format!("page {page}"), how: how.into() }
    }
}
