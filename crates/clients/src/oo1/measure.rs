//! OO1's measures by name.

use crate::error::{ClientError, named};

/// A measure that a client can run. The paper's four, those it dropped or recommends, those it
/// names as future work, and the rungs of the cost ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// 1,000 random parts by id.
    Lookup,
    /// 3,280 visits along the connections, depth 7.
    Traversal,
    /// The same against the connections; the number of visits varies.
    Reverse,
    /// 100 new parts with three connections each, and one commit.
    Insert,
    /// The parts built in a range of ten days.
    Range,
    /// x and y of all parts.
    Scan,
    /// From 1,000 connections to the part that each leads to.
    Reference,
    /// From 1,000 parts to the three connections of each.
    Group,
    /// x, y and build of 100 parts changed, all indexes maintained, and one commit.
    Update,
    /// The traversal with each part's connections in ascending (length, to).
    Ordered,
    /// The look-up in one call.
    LookupBatch,
    /// The traversal in one call, or one a level.
    TraversalBatch,
    /// The reverse traversal likewise.
    ReverseBatch,
    /// 1,000 calls of the driver that do nothing.
    Nothing,
    /// 1,000 empty statements.
    Empty,
    /// 1,000 constants fetched.
    Constant,
}

impl Measure {
    /// All, in the order in which a report names them.
    pub const ALL: [(&'static str, Self); 16] = [
        ("lookup", Self::Lookup),
        ("traversal", Self::Traversal),
        ("reverse", Self::Reverse),
        ("insert", Self::Insert),
        ("range", Self::Range),
        ("scan", Self::Scan),
        ("reference", Self::Reference),
        ("group", Self::Group),
        ("update", Self::Update),
        ("ordered", Self::Ordered),
        ("lookup-batch", Self::LookupBatch),
        ("traversal-batch", Self::TraversalBatch),
        ("reverse-batch", Self::ReverseBatch),
        ("nothing", Self::Nothing),
        ("empty", Self::Empty),
        ("constant", Self::Constant),
    ];

    /// By name, as in plans and reports.
    pub fn named(name: &str) -> Result<Self, ClientError> {
        named("measure", &Self::ALL, name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(_, measure)| *measure == self);
        entry.expect("every measure is listed").0
    }

    /// Whether it is a rung of the ladder, which sees no part and has no answer.
    pub const fn is_rung(self) -> bool {
        matches!(self, Self::Nothing | Self::Empty | Self::Constant)
    }
}
