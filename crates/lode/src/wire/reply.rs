//! The messages of a server.

use super::bytes::{Fields, put_u32, put_u64};
use super::{FETCH_PAGES_MAX, MAGIC, frame};
use crate::error::LodeError;
use crate::page::{PAGE_BYTES, PageBytes, PageNumber};

mod kind {
    pub(super) const WELCOME: u8 = 129;
    pub(super) const LOCKED: u8 = 130;
    pub(super) const PAGES: u8 = 131;
    pub(super) const GROWN: u8 = 132;
    pub(super) const COMMITTED: u8 = 133;
    pub(super) const REFUSED: u8 = 134;
}

mod stale {
    pub(super) const NOTHING: u32 = 0;
    pub(super) const SOME: u32 = 1;
    pub(super) const ALL: u32 = 2;
    pub(super) const THIS: u32 = 3;
}

mod refusal {
    pub(super) const OTHER: u32 = 0;
    pub(super) const DEADLOCK: u32 = 1;
    pub(super) const ROLLED_BACK: u32 = 2;
    pub(super) const READ_ONLY: u32 = 3;
    pub(super) const FULL: u32 = 4;
    pub(super) const UNCERTAIN: u32 = 5;
    pub(super) const REOPEN: u32 = 6;
    pub(super) const CORRUPT: u32 = 7;
}

/// A reply. A *position* counts commits since the server was started.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a hello that fits.
    Welcome(Welcome),
    /// The lock is had.
    Locked {
        /// Of the last commit.
        position: u64,
        /// Pages that the volume has.
        pages_total: PageNumber,
        /// The client's pages that do not hold any more.
        stale: Stale,
    },
    /// Pages, as they are at a position.
    Pages {
        /// Of the last commit before they were read.
        position: u64,
        /// The first page's number.
        first: PageNumber,
        /// All their bytes.
        bytes: Vec<u8>,
    },
    /// The volume has so many pages.
    Grown {
        /// The number.
        pages_total: PageNumber,
    },
    /// The transaction is committed.
    Committed {
        /// As what.
        position: u64,
    },
    /// It cannot be.
    Refused(Refusal),
}

/// The server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The server's language.
    pub version: u32,
    /// Pages of an extent.
    pub extent_pages: u32,
    /// The volume.
    pub identity: [u8; 16],
    /// The server's life: a number that no other has.
    pub session: u64,
    /// Of the last commit.
    pub position: u64,
    /// Pages that the volume has.
    pub pages_total: PageNumber,
    /// The server's tactics, `name=value&name=value`.
    pub tactics: String,
}

/// The pages of a client's cache that were changed since it knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stale {
    /// Nothing.
    Nothing,
    /// These.
    Some(Vec<PageNumber>),
    /// Nobody knows any more what.
    All,
    /// The page that was locked, and here it is.
    This(Box<PageBytes>),
}

/// An error on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    code: u32,
    what: String,
    how: String,
}

/// Longer texts are cut, so that a refusal always fits a frame.
const TEXT_BYTES_MAX: usize = 4_096;

impl Reply {
    /// Make a frame of it, in place of what `into` holds.
    pub fn encode(&self, into: &mut Vec<u8>) {
        match self {
            Self::Welcome(welcome) => frame(into, kind::WELCOME, |into| welcome.encode(into)),
            Self::Locked { position, pages_total, stale } => {
                frame(into, kind::LOCKED, |into| {
                    put_u64(into, *position);
                    put_u32(into, *pages_total);
                    stale.encode(into);
                });
            }
            Self::Pages { position, first, bytes } => frame(into, kind::PAGES, |into| {
                put_u64(into, *position);
                put_u32(into, *first);
                put_u32(into, (bytes.len() / PAGE_BYTES) as u32);
                into.extend_from_slice(bytes);
            }),
            Self::Grown { pages_total } => {
                frame(into, kind::GROWN, |into| put_u32(into, *pages_total));
            }
            Self::Committed { position } => {
                frame(into, kind::COMMITTED, |into| put_u64(into, *position));
            }
            Self::Refused(refusal) => frame(into, kind::REFUSED, |into| {
                put_u32(into, refusal.code);
                put_u32(into, refusal.what.len() as u32);
                into.extend_from_slice(refusal.what.as_bytes());
                into.extend_from_slice(refusal.how.as_bytes());
            }),
        }
    }

    /// The reply of that kind with that content, if it is one.
    pub fn decode(kind: u8, content: &[u8]) -> Option<Self> {
        let mut fields = Fields::of(content);
        let reply = match kind {
            kind::WELCOME => Self::Welcome(Welcome::decode(&mut fields)?),
            kind::LOCKED => Self::Locked {
                position: fields.u64()?,
                pages_total: fields.u32()?,
                stale: Stale::decode(&mut fields)?,
            },
            kind::PAGES => {
                let (position, first, count) = (fields.u64()?, fields.u32()?, fields.u32()?);
                if !(1..=FETCH_PAGES_MAX).contains(&count) {
                    return None;
                }
                let bytes = fields.bytes(count as usize * PAGE_BYTES)?.to_vec();
                Self::Pages { position, first, bytes }
            }
            kind::GROWN => Self::Grown { pages_total: fields.u32()? },
            kind::COMMITTED => Self::Committed { position: fields.u64()? },
            kind::REFUSED => {
                let (code, length) = (fields.u32()?, fields.u32()? as usize);
                let what = fields.text(length)?;
                let how = String::from_utf8(fields.rest().to_vec()).ok()?;
                Self::Refused(Refusal { code, what, how })
            }
            _ => return None,
        };
        fields.end()?;
        Some(reply)
    }
}

impl Welcome {
    fn encode(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(MAGIC);
        put_u32(into, self.version);
        put_u32(into, self.extent_pages);
        into.extend_from_slice(&self.identity);
        put_u64(into, self.session);
        put_u64(into, self.position);
        put_u32(into, self.pages_total);
        into.extend_from_slice(self.tactics.as_bytes());
    }

    fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        if &fields.array()? != MAGIC {
            return None;
        }
        Some(Self {
            version: fields.u32()?,
            extent_pages: fields.u32()?,
            identity: fields.array()?,
            session: fields.u64()?,
            position: fields.u64()?,
            pages_total: fields.u32()?,
            tactics: String::from_utf8(fields.rest().to_vec()).ok()?,
        })
    }
}

impl Stale {
    fn encode(&self, into: &mut Vec<u8>) {
        match self {
            Self::Nothing => put_u32(into, stale::NOTHING),
            Self::Some(pages) => {
                put_u32(into, stale::SOME);
                for &page in pages {
                    put_u32(into, page);
                }
            }
            Self::All => put_u32(into, stale::ALL),
            Self::This(bytes) => {
                put_u32(into, stale::THIS);
                into.extend_from_slice(&bytes[..]);
            }
        }
    }

    fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        Some(match fields.u32()? {
            stale::NOTHING => Self::Nothing,
            stale::SOME => {
                let (numbers, rest) = fields.rest().as_chunks();
                if !rest.is_empty() {
                    return None;
                }
                Self::Some(numbers.iter().map(|&number| u32::from_le_bytes(number)).collect())
            }
            stale::ALL => Self::All,
            stale::THIS => Self::This(Box::new(fields.array()?)),
            _ => return None,
        })
    }
}

impl Refusal {
    /// Some other reason, in words that go on after "the page server".
    pub fn other(what: impl Into<String>) -> Self {
        Self { code: refusal::OTHER, what: what.into(), how: String::new() }
    }
}

impl From<&LodeError> for Refusal {
    fn from(error: &LodeError) -> Self {
        let mut how = String::new();
        let (code, mut what) = match error {
            LodeError::Deadlock => (refusal::DEADLOCK, String::new()),
            LodeError::RolledBack => (refusal::ROLLED_BACK, String::new()),
            LodeError::ReadOnly => (refusal::READ_ONLY, String::new()),
            LodeError::Full { .. } => (refusal::FULL, String::new()),
            LodeError::Uncertain { why } => (refusal::UNCERTAIN, why.clone()),
            LodeError::Reopen { why } => (refusal::REOPEN, why.clone()),
            LodeError::Corrupt { what, how: seen } => {
                how.clone_from(seen);
                (refusal::CORRUPT, what.clone())
            }
            LodeError::Server { what } => (refusal::OTHER, what.clone()),
            other => (refusal::OTHER, format!("says: {other}")),
        };
        cut(&mut what);
        cut(&mut how);
        Self { code, what, how }
    }
}

impl From<Refusal> for LodeError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, what, how } = refusal;
        match code {
            refusal::DEADLOCK => Self::Deadlock,
            refusal::ROLLED_BACK => Self::RolledBack,
            refusal::READ_ONLY => Self::ReadOnly,
            refusal::FULL => Self::Full { what: "the page server's files" },
            refusal::UNCERTAIN => Self::Uncertain { why: what },
            refusal::REOPEN => Self::Server {
                what: format!("has to be started again, which recovers its database: {what}"),
            },
            refusal::CORRUPT => Self::Corrupt { what, how },
            _ => Self::Server { what },
        }
    }
}

fn cut(text: &mut String) {
    let mut length = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
}
