//! The statements of OO1, by what they are for. Parameters are numbered; a part's columns come as
//! id, x, y, type.

use crate::driver::Direction;

/// The tactic `statement`: how a statement reaches the server, and how much one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Parsed once, called by name; a batch traversal is one recursive query.
    Prepared,
    /// The whole text at each call; a batch traversal is one recursive query.
    Text,
    /// PL/pgSQL functions in the server, called by prepared statements; a batch is one call.
    Procedure,
    /// As prepared; in a batch all look-ups (of a level) are sent before an answer is read.
    Pipeline,
    /// As prepared; in a batch traversal one statement takes a level as an array.
    Batch,
}

/// The tactic `hop`: how the parts at the other ends of connections are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// After their ids, each by a look-up of its own, as in the paper's SQL: a statement for each
    /// part visited.
    Lookup,
    /// With their ids, by a join: a statement for each part expanded.
    Join,
}

/// What a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

    /// Its SQL.
    pub const fn sql(self, style: Style, hop: Hop) -> &'static str {
        match (style, hop) {
            (Style::Procedure, Hop::Lookup) => match self {
                Self::Forward => "SELECT * FROM oo1_forward_ids($1)",
                Self::Reverse => "SELECT * FROM oo1_reverse_ids($1)",
                Self::Ordered => "SELECT too FROM connection WHERE frm = $1 ORDER BY length, too",
                _ => self.sql(Style::Procedure, Hop::Join),
            },
            (Style::Procedure, Hop::Join) => match self {
                Self::Find => "SELECT * FROM oo1_part($1)",
                Self::Forward => "SELECT * FROM oo1_forward($1)",
                Self::Reverse => "SELECT * FROM oo1_reverse($1)",
                Self::FindBatch => "SELECT * FROM oo1_parts($1)",
                Self::ForwardBatch => "SELECT * FROM oo1_traverse_forward($1, $2)",
                Self::ReverseBatch => "SELECT * FROM oo1_traverse_reverse($1, $2)",
                _ => self.statement(),
            },
            (_, Hop::Lookup) => match self {
                Self::Forward => "SELECT too FROM connection WHERE frm = $1",
                Self::Reverse => "SELECT frm FROM connection WHERE too = $1",
                Self::Ordered => "SELECT too FROM connection WHERE frm = $1 ORDER BY length, too",
                _ => self.statement(),
            },
            _ => self.statement(),
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
                 build = timestamp 'epoch' + ($2::timestamp - build) WHERE id = $1"
            }
            Self::Disconnect => "DELETE FROM connection WHERE frm BETWEEN $1 AND $2",
            Self::Remove => "DELETE FROM part WHERE id BETWEEN $1 AND $2",
            Self::FindBatch => {
                "SELECT p.id, p.x, p.y, p.type FROM unnest($1::int4[]) AS wanted(id) \
                 JOIN part p ON p.id = wanted.id"
            }
            Self::ForwardLevel => {
                "SELECT p.id, p.x, p.y, p.type FROM unnest($1::int4[]) AS level(id) \
                 JOIN connection c ON c.frm = level.id JOIN part p ON p.id = c.too"
            }
            Self::ReverseLevel => {
                "SELECT p.id, p.x, p.y, p.type FROM unnest($1::int4[]) AS level(id) \
                 JOIN connection c ON c.too = level.id JOIN part p ON p.id = c.frm"
            }
            Self::ForwardBatch => {
                "WITH RECURSIVE visit(id, depth) AS (SELECT $1::int4, 0 UNION ALL \
                 SELECT c.too, v.depth + 1 FROM visit v JOIN connection c ON c.frm = v.id \
                 WHERE v.depth < $2::int4) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
            }
            Self::ReverseBatch => {
                "WITH RECURSIVE visit(id, depth) AS (SELECT $1::int4, 0 UNION ALL \
                 SELECT c.frm, v.depth + 1 FROM visit v JOIN connection c ON c.too = v.id \
                 WHERE v.depth < $2::int4) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
            }
            Self::Empty => "",
            Self::Constant => "SELECT 1::int4",
        }
    }
}
