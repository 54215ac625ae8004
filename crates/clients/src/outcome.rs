//! The outcome of a measure, the same for every benchmark.

use loadstone_measure::work::Work;

/// The cost and the visits of one run of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Wall-clock time from before the first call to after the last.
    pub elapsed_ns: u64,
    /// The part of it that the commit took; 0 where nothing is committed.
    pub commit_ns: u64,
    /// The number in the answer: what reached the null procedure, unless a measure counts its own.
    pub visits: u64,
    /// The answer, to be compared with the oracle's.
    pub checksum: u64,
    /// Calls that the loop made into the driver inside the clock, and times that a driver which
    /// walks along links by itself gave it a part.
    pub calls: u64,
    /// Statements that the driver sent, and its round trips, inside the clock; `None` where it
    /// speaks no statements.
    pub sent: Option<Sent>,
    /// Bytes and ranges that the engine appended to its log inside the clock; `None` where nobody
    /// counts it.
    pub logged: Option<Logged>,
    /// CPU time and storage traffic inside the clock.
    pub work: Work,
}

/// The growth of an engine's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logged {
    /// Bytes of records.
    pub bytes: u64,
    /// The number of times that a program said which range it was about to change.
    pub ranges: u64,
}

impl Logged {
    /// The growth between two readings.
    pub fn since(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        let (before, after) = before.zip(after)?;
        Some(Self { bytes: after.bytes - before.bytes, ranges: after.ranges - before.ranges })
    }
}

/// The statements that a driver sent to its engine, and its round trips, counted where they are
/// sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Statements executed, those of a transaction's begin and end included.
    pub statements: u64,
    /// Times that the program waited for a server; `None` where there is none.
    pub round_trips: Option<u64>,
}

impl Sent {
    /// The growth between two readings.
    pub fn since(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        let (before, after) = before.zip(after)?;
        let trips = before.round_trips.zip(after.round_trips);
        Some(Self {
            statements: after.statements - before.statements,
            round_trips: trips.map(|(before, after)| after - before),
        })
    }
}
