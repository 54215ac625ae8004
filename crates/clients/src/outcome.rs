//! What running a measure gives, whatever the benchmark.

use loadstone_measure::work::Work;

/// What one run of a measure cost and saw.
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
    /// What the driver sent to the engine inside the clock; `None` where it speaks no statements.
    pub sent: Option<Sent>,
    /// What the engine appended to its log inside the clock; `None` where nobody counts it.
    pub logged: Option<Logged>,
    /// CPU time and storage traffic inside the clock.
    pub work: Work,
}

/// What an engine appended to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logged {
    /// Bytes of records.
    pub bytes: u64,
    /// How often a program said which range it was about to change.
    pub ranges: u64,
}

impl Logged {
    /// What was appended between two readings.
    pub fn since(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        let (before, after) = before.zip(after)?;
        Some(Self { bytes: after.bytes - before.bytes, ranges: after.ranges - before.ranges })
    }
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
