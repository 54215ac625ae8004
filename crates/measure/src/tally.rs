//! The requests of one loop: how long they took, how late they began, how many never did. Latency
//! counts from when a request was due, so that those which had to wait for a stalled engine
//! describe it (Tene's "coordinated omission").

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

/// A percentile is reported to 0.1 %.
const DIGITS: u8 = 3;

/// A request that began later than this after it was due was late. Above what a timer needs to
/// wake a thread, below what a user would call a pause.
pub const LATE_NS: u64 = 1_000_000;

/// Why a request cannot be counted, or a percentile not be reported.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TallyError {
    /// The clock would have run backwards.
    #[error("a request ended at {ended_ns} ns, before it started at {started_ns} ns")]
    Backwards {
        /// When it was begun.
        started_ns: u64,
        /// When it ended.
        ended_ns: u64,
    },
    /// Not a percentage.
    #[error("percentile {0} is not between 0 and 100: give for example 99.9")]
    Percentile(f64),
}

/// Requests counted by their times in ns. Memory grows with the range of times, not their number.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    latency: Histogram<u64>,
    lag: Histogram<u64>,
    service: Histogram<u64>,
    late: u64,
    skipped: u64,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new() -> Self {
        let empty = || Histogram::new(DIGITS).expect("three digits are allowed");
        Self { latency: empty(), lag: empty(), service: empty(), late: 0, skipped: 0 }
    }

    /// Count one request. One that began before it was due had its latency count from its start.
    pub fn add(
        &mut self,
        intended_ns: u64,
        started_ns: u64,
        ended_ns: u64,
    ) -> Result<(), TallyError> {
        let Some(service_ns) = ended_ns.checked_sub(started_ns) else {
            return Err(TallyError::Backwards { started_ns, ended_ns });
        };
        let lag_ns = started_ns.saturating_sub(intended_ns);
        for (histogram, value_ns) in [
            (&mut self.latency, lag_ns + service_ns),
            (&mut self.lag, lag_ns),
            (&mut self.service, service_ns),
        ] {
            histogram.record(value_ns).expect("it resizes itself up to any u64");
        }
        self.late += u64::from(lag_ns > LATE_NS);
        Ok(())
    }

    /// Count a request that was due and never begun.
    pub const fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Add what another tally counted.
    pub fn merge(&mut self, other: &Self) {
        for (own, theirs) in [
            (&mut self.latency, &other.latency),
            (&mut self.lag, &other.lag),
            (&mut self.service, &other.service),
        ] {
            own.add(theirs).expect("it resizes itself up to any u64");
        }
        self.late += other.late;
        self.skipped += other.skipped;
    }

    /// The latency in ns that `percentile` % of requests did not exceed; `None` if there are none.
    pub fn latency_ns(&self, percentile: f64) -> Result<Option<u64>, TallyError> {
        at(&self.latency, percentile)
    }

    /// The same of the lag: from when a request was due to when it was begun.
    pub fn lag_ns(&self, percentile: f64) -> Result<Option<u64>, TallyError> {
        at(&self.lag, percentile)
    }

    /// The same of the time from actual start to end: what a closed loop would have reported.
    pub fn service_ns(&self, percentile: f64) -> Result<Option<u64>, TallyError> {
        at(&self.service, percentile)
    }

    /// Requests that ended.
    pub fn completed(&self) -> u64 {
        self.latency.len()
    }

    /// Requests that began more than `LATE_NS` after they were due.
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Requests that were due and never begun.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The latencies in `HdrHistogram`'s V2 deflate format, which its readers in any language know.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.latency, &mut bytes)
            .expect("counts stay below 2^63 and memory takes any number of bytes");
        bytes
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

fn at(histogram: &Histogram<u64>, percentile: f64) -> Result<Option<u64>, TallyError> {
    if !(0.0..=100.0).contains(&percentile) {
        return Err(TallyError::Percentile(percentile));
    }
    Ok((!histogram.is_empty()).then(|| histogram.value_at_percentile(percentile)))
}
