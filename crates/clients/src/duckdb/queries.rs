//! The statements of OO1 in DuckDB's SQL, with the columns of their results.

use super::handles::Column;
use crate::driver::Direction;

/// The tactic `hop`: how the parts at the other ends of connections are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// After their ids, each by a look-up of its own, as in the paper's SQL.
    Lookup,
    /// With their ids, by a join.
    Join,
}

/// What a statement is for.
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

const PART: &[Column] = &[Column::Int, Column::Int, Column::Int, Column::Text];

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

    /// The step from all parts of a list.
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

    /// Its SQL, and the columns of its result.
    pub const fn sql(self, hop: Hop) -> (&'static str, &'static [Column]) {
        const ID: &[Column] = &[Column::Int];
        match (self, hop) {
            (Self::Forward, Hop::Lookup) => ("SELECT too FROM connection WHERE frm = $1", ID),
            (Self::Reverse, Hop::Lookup) => ("SELECT frm FROM connection WHERE too = $1", ID),
            (Self::Ordered, Hop::Lookup) => {
                ("SELECT too FROM connection WHERE frm = $1 ORDER BY length, too", ID)
            }
            _ => (self.statement(), self.columns()),
        }
    }

    const fn columns(self) -> &'static [Column] {
        match self {
            Self::Scan => &[Column::Int, Column::Int],
            Self::Group => &[Column::Int, Column::Int, Column::Text],
            Self::Constant => &[Column::Int],
            Self::Insert
            | Self::Connect
            | Self::Update
            | Self::Disconnect
            | Self::Remove
            | Self::Empty => &[],
            _ => PART,
        }
    }

    const fn statement(self) -> &'static str {
        match self {
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
            Self::Update => {
                "UPDATE part SET x = 99999 - x, y = 99999 - y, \
                 build = TIMESTAMP 'epoch' + ($2::TIMESTAMP - build) WHERE id = $1"
            }
            Self::Disconnect => "DELETE FROM connection WHERE frm BETWEEN $1 AND $2",
            Self::Remove => "DELETE FROM part WHERE id BETWEEN $1 AND $2",
            Self::FindBatch => {
                "SELECT p.id, p.x, p.y, p.type FROM unnest(CAST($1 AS INTEGER[])) AS wanted(id) \
                 JOIN part p ON p.id = wanted.id"
            }
            Self::ForwardLevel => {
                "SELECT p.id, p.x, p.y, p.type FROM unnest(CAST($1 AS INTEGER[])) AS level(id) \
                 JOIN connection c ON c.frm = level.id JOIN part p ON p.id = c.too"
            }
            Self::ReverseLevel => {
                "SELECT p.id, p.x, p.y, p.type FROM unnest(CAST($1 AS INTEGER[])) AS level(id) \
                 JOIN connection c ON c.too = level.id JOIN part p ON p.id = c.frm"
            }
            Self::ForwardBatch => {
                "WITH RECURSIVE visit(id, depth) AS (SELECT $1::INTEGER, 0 UNION ALL \
                 SELECT c.too, v.depth + 1 FROM visit v JOIN connection c ON c.frm = v.id \
                 WHERE v.depth < $2::INTEGER) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
            }
            Self::ReverseBatch => {
                "WITH RECURSIVE visit(id, depth) AS (SELECT $1::INTEGER, 0 UNION ALL \
                 SELECT c.frm, v.depth + 1 FROM visit v JOIN connection c ON c.too = v.id \
                 WHERE v.depth < $2::INTEGER) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
            }
            // There is no statement without words; this one is planned as an empty result.
            Self::Empty => "SELECT 1 WHERE false",
            Self::Constant => "SELECT 1::INTEGER",
        }
    }
}
