//! The state of the log while it is open, and the failure that ends it.

use std::io;

use super::blocks::BLOCK_BYTES;
use super::header::{Header, Slots};
use super::record::{self, RECORD_BYTES_MAX};
use super::tail::Tail;
use super::{Counters, Lsn, Sizes};
use crate::error::{LodeError, Result};

/// The state that the lock protects.
pub(super) struct State {
    pub header: Header,
    pub slots: Slots,
    pub tail: Tail,
    // The ends of what the disk has been given and of what was synced: both are ends of records.
    pub written: Lsn,
    pub durable: Lsn,
    // Up to this offset the file has room.
    pub file_bytes: u64,
    // Up to this offset all of it has been written, with zeros where nothing else.
    pub filled_bytes: u64,
    // A thread writes or syncs, without holding the lock.
    pub busy: bool,
    // The log was opened: what was read may not be durable, and behind its end there may be records
    // that a crash cut off.
    pub remains: bool,
    failure: Option<Failure>,
    pub counters: Counters,
}

/// The write or sync after which nothing is believed.
struct Failure {
    doing: &'static str,
    kind: io::ErrorKind,
    words: String,
}

impl State {
    pub fn new(header: Header, slots: Slots, sizes: Sizes) -> Self {
        let tail_bytes_max = sizes.tail_bytes_max.max(RECORD_BYTES_MAX + BLOCK_BYTES);
        Self {
            header,
            slots,
            tail: Tail::new(tail_bytes_max, header.first),
            written: header.first,
            durable: header.first,
            file_bytes: 0,
            filled_bytes: 0,
            busy: false,
            remains: false,
            failure: None,
            counters: Counters::default(),
        }
    }

    /// The error that ended the log, if one did.
    pub fn check(&self) -> Result<()> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.error()))
    }

    /// From now on every call answers this.
    pub fn fail(&mut self, doing: &'static str, error: &io::Error) -> LodeError {
        let failure = Failure { doing, kind: error.kind(), words: error.to_string() };
        let error = failure.error();
        self.failure.get_or_insert(failure);
        error
    }

    /// The place where the record at `lsn` ends, or what was written if that is later.
    pub fn end_of(&self, lsn: Lsn) -> Lsn {
        if lsn < self.written {
            return self.written;
        }
        let length = self
            .tail
            .bytes_from(lsn)
            .and_then(record::length)
            .expect("a record that was appended and not written is in the tail");
        Lsn(lsn.0 + length as u64)
    }
}

impl Failure {
    fn error(&self) -> LodeError {
        if matches!(self.kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            let doing = self.doing;
            let why = format!("{doing} failed as the disk is full: free some space there first");
            return LodeError::Reopen { why };
        }
        error_of(
            format!("{}, after which the database must be opened again,", self.doing),
            io::Error::new(self.kind, self.words.clone()),
        )
    }
}

/// A full disk is reported with the log's name.
pub(super) fn error_of(doing: impl Into<String>, error: io::Error) -> LodeError {
    match LodeError::io(doing, error) {
        LodeError::Full { .. } => LodeError::Full { what: "the log" },
        other => other,
    }
}
