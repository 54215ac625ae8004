//! A loop over time: the requests that ended in each interval, and how long they had taken. What a
//! figure of the whole loop averages away, as a pause for a checkpoint, stands in its interval.
//!
//! A thread counts for itself, and adds its interval to the common ones when it comes into another:
//! so no request waits for a lock, and memory grows with the intervals and not with the users.

use std::sync::{Mutex, PoisonError};

use hdrhistogram::Histogram;

const DIGITS: u8 = 3;
/// A request that ends later is counted in the last of these.
const INTERVALS_MAX: usize = 2_000;

/// The requests that ended in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Requests that were answered in it.
    pub completed: u64,
    /// Those that failed in it.
    pub failed: u64,
    /// The latency that half of them did not exceed; 0 where there is none.
    pub median_ns: u64,
    /// The same of 99 %.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

#[derive(Debug, Clone)]
struct Counted {
    failed: u64,
    latency: Histogram<u64>,
}

impl Counted {
    fn new() -> Self {
        Self { failed: 0, latency: Histogram::new(DIGITS).expect("three digits are allowed") }
    }

    fn add(&mut self, latency_ns: u64) {
        self.latency.record(latency_ns).expect("it resizes itself up to any u64");
    }

    fn is_empty(&self) -> bool {
        self.failed == 0 && self.latency.is_empty()
    }
}

/// The intervals of one loop, for all of its threads.
#[derive(Debug)]
pub struct Timeline {
    interval_ns: u64,
    intervals: Mutex<Vec<Counted>>,
}

impl Timeline {
    /// Intervals of that length, the first from the loop's begin on.
    pub fn new(interval_ns: u64) -> Self {
        Self { interval_ns: interval_ns.max(1), intervals: Mutex::default() }
    }

    /// One thread's part of it.
    pub fn own(&self) -> Own<'_> {
        Own { timeline: self, at: 0, counted: Counted::new() }
    }

    /// All intervals, up to the last in which a request ended.
    pub fn intervals(&self) -> Vec<Interval> {
        let counted = self.intervals.lock().unwrap_or_else(PoisonError::into_inner);
        let each = counted.iter().map(|one| Interval {
            completed: one.latency.len(),
            failed: one.failed,
            median_ns: one.latency.value_at_percentile(50.0),
            p99_ns: one.latency.value_at_percentile(99.0),
            max_ns: one.latency.max(),
        });
        each.collect()
    }

    /// Count a request at once, for a program whose threads wait for each other anyway: one that
    /// took `latency_ns`, or that failed.
    pub fn add(&self, ended_ns: u64, latency_ns: Option<u64>) {
        self.change(self.at(ended_ns), |counted| match latency_ns {
            Some(latency_ns) => counted.add(latency_ns),
            None => counted.failed += 1,
        });
    }

    fn change(&self, at: usize, change: impl FnOnce(&mut Counted)) {
        let mut all = self.intervals.lock().unwrap_or_else(PoisonError::into_inner);
        while all.len() <= at {
            all.push(Counted::new());
        }
        change(&mut all[at]);
    }

    fn at(&self, ended_ns: u64) -> usize {
        let at = usize::try_from(ended_ns / self.interval_ns).unwrap_or(usize::MAX);
        at.min(INTERVALS_MAX - 1)
    }
}

/// A thread's count; what it has is added when it moves to another interval, or is dropped.
#[derive(Debug)]
pub struct Own<'a> {
    timeline: &'a Timeline,
    at: usize,
    counted: Counted,
}

impl Own<'_> {
    /// A request ended so long after the loop's begin, and took so long.
    pub fn add(&mut self, ended_ns: u64, latency_ns: u64) {
        self.move_to(ended_ns);
        self.counted.add(latency_ns);
    }

    /// A request failed so long after the loop's begin.
    pub fn fail(&mut self, ended_ns: u64) {
        self.move_to(ended_ns);
        self.counted.failed += 1;
    }

    fn move_to(&mut self, ended_ns: u64) {
        let at = self.timeline.at(ended_ns);
        if at != self.at {
            self.flush();
            self.at = at;
        }
    }

    fn flush(&mut self) {
        if !self.counted.is_empty() {
            self.timeline.change(self.at, |all| {
                all.failed += self.counted.failed;
                all.latency.add(&self.counted.latency).expect("it resizes itself up to any u64");
            });
            self.counted.failed = 0;
            self.counted.latency.reset();
        }
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::{INTERVALS_MAX, Interval, Timeline};

    #[test]
    fn a_request_is_counted_in_the_interval_in_which_it_ends() {
        let timeline = Timeline::new(100);
        let mut own = timeline.own();
        own.add(99, 7);
        own.add(100, 9);
        own.fail(350);
        drop(own);
        let one = |ns| Interval { completed: 1, median_ns: ns, p99_ns: ns, max_ns: ns, failed: 0 };
        let failed = Interval { failed: 1, ..Interval::default() };
        assert_eq!(timeline.intervals(), [one(7), one(9), Interval::default(), failed]);
    }

    #[test]
    fn threads_add_up_and_one_that_ends_much_later_takes_no_memory() {
        let timeline = Timeline::new(100);
        for _ in 0..3 {
            timeline.own().add(50, 10);
        }
        timeline.add(50, Some(10));
        timeline.own().add(u64::MAX, 30);
        let found = timeline.intervals();
        assert_eq!((found.len(), found[0].completed), (INTERVALS_MAX, 4));
        assert_eq!(found[INTERVALS_MAX - 1].max_ns, 30);
    }
}
