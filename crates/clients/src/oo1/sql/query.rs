//! The statements of OO1 by what they are for, and the SQL that every engine takes.
//!
//! Parameters are numbered; a part's columns come as id, x, y, type.

use crate::oo1::driver::Direction;

/// The tactic `hop`: how the parts at the other ends of connections are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// After their ids, each by a look-up of its own, as in the paper's SQL: a statement for each
    /// part visited.
    Lookup,
    /// With their ids, by a join: a statement for each part expanded.
    Join,
}

/// The purpose of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    Find,
    Forward,
    Reverse,
    Ordered,
    Range,
    Scan,
    Reference,
    Group,
    Insert,
    Connect,
    Update,
    Disconnect,
    Remove,
    FindBatch,
    ForwardLevel,
    ReverseLevel,
    ForwardBatch,
    ReverseBatch,
    Empty,
    Constant,
}

impl Query {
    /// All, in the order of their declaration, which is that of the prepared ones.
    pub const ALL: [Self; 20] = [
        Self::Find,
        Self::Forward,
        Self::Reverse,
        Self::Ordered,
        Self::Range,
        Self::Scan,
        Self::Reference,
        Self::Group,
        Self::Insert,
        Self::Connect,
        Self::Update,
        Self::Disconnect,
        Self::Remove,
        Self::FindBatch,
        Self::ForwardLevel,
        Self::ReverseLevel,
        Self::ForwardBatch,
        Self::ReverseBatch,
        Self::Empty,
        Self::Constant,
    ];

    /// The step from a part along its connections.
    pub const fn step(direction: Direction) -> Self {
        match direction {
            Direction::Forward => Self::Forward,
            Direction::Reverse => Self::Reverse,
        }
    }

    /// The step from all parts of an array.
    pub const fn level(direction: Direction) -> Self {
        match direction {
            Direction::Forward => Self::ForwardLevel,
            Direction::Reverse => Self::ReverseLevel,
        }
    }

    /// A traversal in one statement.
    pub const fn traversal(direction: Direction) -> Self {
        match direction {
            Direction::Forward => Self::ForwardBatch,
            Direction::Reverse => Self::ReverseBatch,
        }
    }

    /// Its SQL where all engines take the same; `None` where types or batches are written
    /// differently.
    pub const fn sql(self, hop: Hop) -> Option<&'static str> {
        match (self, hop) {
            (Self::Forward, Hop::Lookup) => Some("SELECT too FROM connection WHERE frm = $1"),
            (Self::Reverse, Hop::Lookup) => Some("SELECT frm FROM connection WHERE too = $1"),
            (Self::Ordered, Hop::Lookup) => {
                Some("SELECT too FROM connection WHERE frm = $1 ORDER BY length, too")
            }
            _ => self.joined(),
        }
    }

    const fn joined(self) -> Option<&'static str> {
        Some(match self {
            Self::Find => "SELECT id, x, y, type FROM part WHERE id = $1",
            Self::Forward => {
                "SELECT p.id, p.x, p.y, p.type FROM connection c JOIN part p ON p.id = c.too \
                 WHERE c.frm = $1"
            }
            Self::Reverse => {
                "SELECT p.id, p.x, p.y, p.type FROM connection c JOIN part p ON p.id = c.frm \
                 WHERE c.too = $1"
            }
            Self::Ordered => {
                "SELECT p.id, p.x, p.y, p.type FROM connection c JOIN part p ON p.id = c.too \
                 WHERE c.frm = $1 ORDER BY c.length, c.too"
            }
            Self::Range => "SELECT id, x, y, type FROM part WHERE build >= $1 AND build < $2",
            Self::Scan => "SELECT x, y FROM part",
            Self::Reference => {
                "SELECT p.id, p.x, p.y, p.type FROM connection c JOIN part p ON p.id = c.too \
                 WHERE c.frm = $1 AND c.too = $2 LIMIT 1"
            }
            Self::Group => "SELECT too, length, type FROM connection WHERE frm = $1",
            Self::Insert => "INSERT INTO part (id, type, x, y, build) VALUES ($1, $2, $3, $4, $5)",
            Self::Connect => {
                "INSERT INTO connection (frm, too, type, length) \
                 VALUES ($1, $2, $3, $4), ($1, $5, $6, $7), ($1, $8, $9, $10)"
            }
            Self::Disconnect => "DELETE FROM connection WHERE frm BETWEEN $1 AND $2",
            Self::Remove => "DELETE FROM part WHERE id BETWEEN $1 AND $2",
            _ => return None,
        })
    }
}
