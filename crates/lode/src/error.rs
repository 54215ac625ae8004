//! The errors of lode.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::page_number::PageNumber;

/// Something that lode could not do. Whatever it was, what had been committed is still there.
#[derive(Debug, thiserror::Error)]
pub enum LodeError {
    /// The operating system refused.
    #[error("{doing} failed: {source}: {}", advice(source))]
    Io {
        /// The attempted action, with the file's name where there is one.
        doing: String,
        /// The system's words.
        source: io::Error,
    },
    /// There is no room left for the volume or the log.
    #[error(
        "no room left on the disk for {what}: free some space there, then do it again; nothing \
         that was committed is lost"
    )]
    Full {
        /// The volume or the log.
        what: &'static str,
    },
    /// More than lode's files can hold, however large the disk.
    #[error("{what}")]
    Limit {
        /// The limit that is reached, and what to do.
        what: String,
    },
    /// Bytes that are not as they were written.
    #[error("{what} is damaged ({how}): restore the database from a backup")]
    Corrupt {
        /// Which page or record.
        what: String,
        /// The way in which that is seen.
        how: String,
    },
    /// A file that is something else.
    #[error("{path} is no lode database: {how}")]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// The way in which that is seen.
        how: String,
    },
    /// The volume and the log that are there are not the two files of one database.
    #[error("{what}")]
    Files {
        /// Which is missing or another's, and what to do.
        what: String,
    },
    /// A file of another version of the format.
    #[error(
        "the database has format {found}, this program reads {known}: load it again with this \
         program, or open it with the one that wrote it"
    )]
    Version {
        /// The version in the file.
        found: u32,
        /// The version in this program.
        known: u32,
    },
    /// Somebody has the database open: another process, or this one already.
    #[error(
        "{path} is open already, in another process or in this one: close it there, or have it \
         served (`loadstone lode serve`) and connect to it"
    )]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// A transaction of the database has not ended.
    #[error("a transaction of the database has not ended: end it first")]
    Busy,
    /// An object inherited by `fork` belongs to the process that forked.
    #[error(
        "{what} belongs to the process that this one was forked from: connect here to a server of \
         the database (`loadstone lode serve` and Database.serve are one)"
    )]
    Forked {
        /// The database or the connection.
        what: &'static str,
    },
    /// A write in a transaction, or to a database, that is for reading.
    #[error(
        "a read-only transaction, or one of a database opened read-only, cannot write: open the \
         database for writing, and begin a transaction that writes"
    )]
    ReadOnly,
    /// This transaction was chosen to end a deadlock; it is rolled back.
    #[error("deadlock: this transaction was rolled back, run it again")]
    Deadlock,
    /// Another thread had this transaction end.
    #[error(
        "this transaction was ended from outside and rolled back: run it again if it is wanted"
    )]
    Interrupted,
    /// A transaction of which an operation failed cannot be committed; it is rolled back.
    #[error(
        "an operation of this transaction failed, so it was rolled back: do what that operation's \
         error says, then run the transaction again"
    )]
    RolledBack,
    /// The log could not be synced when a transaction was to be committed.
    #[error(
        "whether this transaction is committed is known when the database is opened again: {why}"
    )]
    Uncertain {
        /// The failure.
        why: String,
    },
    /// Something failed after which memory cannot be trusted; the files can.
    #[error("open the database again, which recovers it: {why}")]
    Reopen {
        /// The failure.
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
    /// Too many pages are pinned at once: half of the cache is for others.
    #[error(
        "{pages_max} pages are pinned, half of the cache of {cache_bytes} bytes: unpin some, or \
         give it more with `cache=`"
    )]
    PinsFull {
        /// As many as may be.
        pages_max: usize,
        /// The cap.
        cache_bytes: u64,
    },
    /// A page is to be changed that is pinned to be read.
    #[error("page {page} is pinned: unpin it before its transaction changes it")]
    Pinned {
        /// The page.
        page: PageNumber,
    },
    /// Pages that are mapped as memory do not allow what was asked, or what was stored there.
    #[error("{what}")]
    Mapping {
        /// Why, and what to do.
        what: String,
    },
    /// A record, key or object longer than a page can hold.
    #[error("{what} of {bytes} bytes is longer than the {bytes_max} that fit")]
    TooLong {
        /// The kind of value.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest that fits.
        bytes_max: usize,
    },
    /// A record, object or file that is not there.
    #[error("there is no {what}")]
    Missing {
        /// The thing requested.
        what: String,
    },
    /// A name that is taken.
    #[error("there is a {what} already: remove it first, or choose another name")]
    Exists {
        /// The thing that has the name.
        what: String,
    },
    /// A value that a tactic does not have, or two that exclude each other.
    #[error("{what}")]
    Tactic {
        /// The error, and the values that exist.
        what: String,
    },
    /// The copies of a mirrored database do not allow what was asked.
    #[error("{what}")]
    Mirror {
        /// Why, and what to do.
        what: String,
    },
    /// The page server is gone or said something that it cannot say.
    #[error("the page server {what}")]
    Server {
        /// The server's failure.
        what: String,
    },
}

const BEYOND: &str = "it lies beyond the end of the volume";

/// Advice about an error of the operating system.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "look whether the path is right, or create the database",
        io::ErrorKind::AlreadyExists => "open it, or choose another name",
        io::ErrorKind::NotADirectory => "what stands before the last `/` must be a folder",
        io::ErrorKind::InvalidFilename => "choose a shorter name",
        io::ErrorKind::InvalidInput => "choose another name or address",
        io::ErrorKind::AddrNotAvailable => "choose an address of this machine",
        io::ErrorKind::OutOfMemory => "free some memory, or choose a smaller `cache=`",
        io::ErrorKind::FileTooLarge => "let this process write larger files (`ulimit -f`)",
        io::ErrorKind::PermissionDenied => "let this user read and write it",
        io::ErrorKind::ReadOnlyFilesystem => {
            "open the database for reading only, or make the place writable"
        }
        _ => match Errno::from_io_error(source) {
            Some(Errno::MFILE | Errno::NFILE) => {
                "close files and connections, or let the process have more of them (`ulimit -n`)"
            }
            Some(Errno::AGAIN) => "let the user have more threads (`ulimit -u`)",
            Some(Errno::LOOP) => "the path's symbolic links lead in a circle: mend them",
            Some(Errno::NOLCK | Errno::OPNOTSUPP) => "put the database on a local file system",
            _ => {
                "what was committed is in the files: look what the system's log (`dmesg`) says of \
                 the device, then open the database again"
            }
        },
    }
}

/// The result of lode's functions.
pub type Result<T, E = LodeError> = std::result::Result<T, E>;

impl LodeError {
    /// An error of the operating system while `doing` something; a full disk is reported as such.
    pub fn io(doing: impl Into<String>, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { what: "the database" }
            }
            // A disk of our own may have put lode's error into one of the system's.
            _ => match source.downcast::<Self>() {
                Ok(reported) => reported,
                Err(source) => Self::Io { doing: doing.into(), source },
            },
        }
    }

    /// A page that the volume does not have.
    pub(crate) fn beyond(page: PageNumber) -> Self {
        Self::corrupt_page(page, BEYOND)
    }

    /// Whether this says that the volume does not have that page.
    pub(crate) fn is_beyond(&self, page: PageNumber) -> bool {
        let Self::Corrupt { what, how } = self else { return false };
        how == BEYOND && *what == format!("page {page}")
    }

    /// A damaged page.
    pub fn corrupt_page(page: PageNumber, how: impl Into<String>) -> Self {
        Self::Corrupt { what: format!("page {page}"), how: how.into() }
    }
}
