//! OO1's measures by name, and what running one gives.

use loadstone_measure::work::Work;

use crate::error::ClientError;

/// What a client can be asked to run. The paper's four, those it dropped or recommends, those it
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
        match Self::ALL.iter().find(|(known, _)| *known == name) {
            Some(&(_, measure)) => Ok(measure),
            None => Err(ClientError::Unknown {
                kind: "measure",
                name: name.to_owned(),
                known: Self::ALL.iter().map(|(known, _)| (*known).to_owned()).collect(),
            }),
        }
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

/// What one run of a measure cost and saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Wall-clock time from before the first call to after the last.
    pub elapsed_ns: u64,
    /// The part of it that the commit took; 0 where nothing is committed.
    pub commit_ns: u64,
    /// Parts (group: connections) that reached the null procedure.
    pub visits: u64,
    /// The answer, to be compared with the oracle's.
    pub checksum: u64,
    /// Calls that the loop made into the driver inside the clock, and times that a driver which
    /// walks along links by itself gave it a part.
    pub calls: u64,
    /// What the driver sent to the engine inside the clock; `None` where it speaks no statements.
    pub sent: Option<Sent>,
    /// CPU time and storage traffic inside the clock.
    pub work: Work,
}

/// What a driver sent to its engine, counted where it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Statements executed, those of a transaction's begin and end included.
    pub statements: u64,
    /// Times that the program waited for a server; `None` where there is none.
    pub round_trips: Option<u64>,
}

impl Sent {
    /// What was sent between two readings.
    pub fn since(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        let (before, after) = before.zip(after)?;
        let trips = before.round_trips.zip(after.round_trips);
        Some(Self {
            statements: after.statements - before.statements,
            round_trips: trips.map(|(before, after)| after - before),
        })
    }
}
