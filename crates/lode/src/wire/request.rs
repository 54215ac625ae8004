//! The messages of a client.

use super::bytes::{Fields, put_u32, put_u64};
use super::{FETCH_PAGES_MAX, MAGIC, frame};
use crate::lock::Mode;
use crate::log::Runs;
use crate::page::PageNumber;

mod kind {
    pub(super) const HELLO: u8 = 1;
    pub(super) const LOCK: u8 = 2;
    pub(super) const END: u8 = 3;
    pub(super) const FETCH: u8 = 4;
    pub(super) const GROW: u8 = 5;
    pub(super) const CHANGES: u8 = 6;
    pub(super) const COMMIT: u8 = 7;
}

/// Bytes of a change without its runs.
const CHANGE_HEAD_BYTES: usize = 12;

/// A request. Those about a transaction name it by a number that the client chose, the *slot*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// First of all.
    Hello(Hello),
    /// Lock something for a transaction, which begins with its first lock.
    Lock(Lock),
    /// A transaction has ended; its changes that were sent are taken back. Not answered.
    End {
        /// The transaction.
        slot: u32,
    },
    /// Send pages; the client has locked them.
    Fetch {
        /// The first.
        first: PageNumber,
        /// The number, 1 to [`FETCH_PAGES_MAX`].
        count: u32,
    },
    /// Make the volume hold so many pages.
    Grow {
        /// The number.
        pages_total: PageNumber,
    },
    /// Changes of a transaction; more will come. Not answered.
    Changes {
        /// The transaction.
        slot: u32,
        /// They.
        changes: Vec<Change>,
    },
    /// Its last changes: all together count from now on.
    Commit {
        /// The transaction.
        slot: u32,
        /// They.
        changes: Vec<Change>,
    },
}

/// The client that asks, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The client's language.
    pub version: u32,
    /// The volume that it wants, zeros for any.
    pub identity: [u8; 16],
    /// The server's life that it has spoken to before, 0 for none.
    pub session: u64,
}

/// The purpose of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Reading,
    /// It changes pages.
    Writing,
}

/// A lock that a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    /// The transaction.
    pub slot: u32,
    /// The transaction's purpose; the same each time.
    pub access: Access,
    /// The mode. Under `locks=database` what follows from `access`.
    pub mode: Mode,
    /// The page. Of no meaning under `locks=database`.
    pub page: PageNumber,
    /// The commit position up to which the client knows changes: under `locks=database` of all
    /// pages, under `locks=relation` and `locks=page` of this one, 0 if it does not have it.
    pub known: u64,
}

/// A transaction's change of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The page.
    pub page: PageNumber,
    /// Its new bytes.
    pub runs: Runs,
}

impl Change {
    /// Bytes that it takes in a frame.
    pub fn wire_bytes(&self) -> usize {
        CHANGE_HEAD_BYTES + self.runs.as_bytes().len()
    }
}

impl Request {
    /// Make a frame of it, in place of what `into` holds.
    pub fn encode(&self, into: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => frame(into, kind::HELLO, |into| {
                into.extend_from_slice(MAGIC);
                put_u32(into, hello.version);
                put_u32(into, 0);
                into.extend_from_slice(&hello.identity);
                put_u64(into, hello.session);
            }),
            Self::Lock(lock) => frame(into, kind::LOCK, |into| {
                put_u32(into, lock.slot);
                into.extend_from_slice(&[lock.access as u8, lock.mode as u8, 0, 0]);
                put_u32(into, lock.page);
                put_u32(into, 0);
                put_u64(into, lock.known);
            }),
            Self::End { slot } => frame(into, kind::END, |into| put_u32(into, *slot)),
            Self::Fetch { first, count } => frame(into, kind::FETCH, |into| {
                put_u32(into, *first);
                put_u32(into, *count);
            }),
            Self::Grow { pages_total } => {
                frame(into, kind::GROW, |into| put_u32(into, *pages_total));
            }
            Self::Changes { slot, changes } => {
                frame(into, kind::CHANGES, |into| put_changes(into, *slot, changes));
            }
            Self::Commit { slot, changes } => {
                frame(into, kind::COMMIT, |into| put_changes(into, *slot, changes));
            }
        }
    }

    /// The request of that kind with that content, if it is one.
    pub fn decode(kind: u8, content: &[u8]) -> Option<Self> {
        let mut fields = Fields::of(content);
        let request = match kind {
            kind::HELLO => Self::Hello(Hello::decode(&mut fields)?),
            kind::LOCK => Self::Lock(Lock::decode(&mut fields)?),
            kind::END => Self::End { slot: fields.u32()? },
            kind::FETCH => {
                let (first, count) = (fields.u32()?, fields.u32()?);
                if !(1..=FETCH_PAGES_MAX).contains(&count) || first.checked_add(count).is_none() {
                    return None;
                }
                Self::Fetch { first, count }
            }
            kind::GROW => Self::Grow { pages_total: fields.u32()? },
            kind::CHANGES => {
                let (slot, changes) = changes(&mut fields)?;
                Self::Changes { slot, changes }
            }
            kind::COMMIT => {
                let (slot, changes) = changes(&mut fields)?;
                Self::Commit { slot, changes }
            }
            _ => return None,
        };
        fields.end()?;
        Some(request)
    }
}

impl Hello {
    fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        if &fields.array()? != MAGIC {
            return None;
        }
        let version = fields.u32()?;
        fields.zero()?;
        Some(Self { version, identity: fields.array()?, session: fields.u64()? })
    }
}

impl Lock {
    fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        let slot = fields.u32()?;
        let (access, mode) = match fields.array()? {
            [0, 0, 0, 0] => (Access::Reading, Mode::Shared),
            [1, 0, 0, 0] => (Access::Writing, Mode::Shared),
            [1, 1, 0, 0] => (Access::Writing, Mode::Exclusive),
            _ => return None,
        };
        let page = fields.u32()?;
        fields.zero()?;
        Some(Self { slot, access, mode, page, known: fields.u64()? })
    }
}

fn put_changes(into: &mut Vec<u8>, slot: u32, changes: &[Change]) {
    put_u32(into, slot);
    put_u32(into, changes.len() as u32);
    for Change { page, runs } in changes {
        put_u32(into, *page);
        put_u32(into, runs.count());
        put_u32(into, runs.as_bytes().len() as u32);
        into.extend_from_slice(runs.as_bytes());
    }
}

fn changes(fields: &mut Fields<'_>) -> Option<(u32, Vec<Change>)> {
    let (slot, count) = (fields.u32()?, fields.u32()?);
    let mut changes = Vec::new();
    for _ in 0..count {
        let (page, runs, length) = (fields.u32()?, fields.u32()?, fields.u32()? as usize);
        let runs = Runs::decode(runs, fields.bytes(length)?)?;
        if runs.as_bytes().len() != length {
            return None;
        }
        changes.push(Change { page, runs });
    }
    Some((slot, changes))
}
