//! When the requests of concurrent users begin, whatever these request.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use loadstone_measure::clock::now_ns;
use loadstone_measure::tally::Tally;

/// The time before a request is due at which a thread stops sleeping: a timer wakes it tens of us
/// late.
const WAKE_EARLY_NS: u64 = 200_000;

/// When requests begin.
#[derive(Debug, Clone)]
pub enum Pacing {
    /// The next as soon as the last is answered, for that long.
    Closed {
        /// Length of the run.
        duration_ns: u64,
    },
    /// When they are due, whatever became of the last: offsets in ns, ascending. The readers share
    /// them, and so do the writers; each takes the next that nobody has.
    Open {
        /// When each is due, from the beginning of the run.
        starts_ns: Vec<u64>,
        /// After this nothing more is begun, and what was due is skipped.
        duration_ns: u64,
    },
}

/// The moment at which all users begin.
#[derive(Debug)]
pub struct Begin {
    ready: Barrier,
    begun_ns: AtomicU64,
}

impl Begin {
    /// Of that number of users.
    pub fn of(users: usize) -> Self {
        Self { ready: Barrier::new(users), begun_ns: AtomicU64::new(0) }
    }

    /// Wait until all are here.
    pub fn together(&self) {
        if self.ready.wait().is_leader() {
            self.begun_ns.store(now_ns(), Ordering::Relaxed);
        }
        self.ready.wait();
    }

    /// When that was.
    pub fn begun_ns(&self) -> u64 {
        self.begun_ns.load(Ordering::Relaxed)
    }
}

/// One kind of users' place in the list of starts.
pub struct Queue<'a> {
    pacing: &'a Pacing,
    begin: &'a Begin,
    next: AtomicUsize,
}

impl<'a> Queue<'a> {
    /// From the first start on.
    pub const fn new(pacing: &'a Pacing, begin: &'a Begin) -> Self {
        Self { pacing, begin, next: AtomicUsize::new(0) }
    }

    /// Whether the next request is due when the last is answered.
    pub const fn is_closed(&self) -> bool {
        matches!(self.pacing, Pacing::Closed { .. })
    }

    /// Wait until the next request is due and answer when it was; `None` at the end.
    pub fn due_ns(&self, tally: &mut Tally) -> Option<u64> {
        let begin_ns = self.begin.begun_ns();
        match self.pacing {
            Pacing::Closed { duration_ns } => {
                let now = now_ns();
                (now < begin_ns + duration_ns).then_some(now)
            }
            Pacing::Open { starts_ns, duration_ns } => loop {
                let due_ns = begin_ns + starts_ns.get(self.next.fetch_add(1, Ordering::Relaxed))?;
                wait_until(due_ns);
                if now_ns() < begin_ns + duration_ns {
                    return Some(due_ns);
                }
                tally.skip();
            },
        }
    }
}

fn wait_until(due_ns: u64) {
    loop {
        let left_ns = due_ns.saturating_sub(now_ns());
        if left_ns == 0 {
            return;
        }
        if left_ns > WAKE_EARLY_NS {
            thread::sleep(Duration::from_nanos(left_ns - WAKE_EARLY_NS));
        } else {
            // Other users may need this processor.
            thread::yield_now();
        }
    }
}

/// Count a request that has just been answered.
pub fn add(tally: &mut Tally, due_ns: u64, started_ns: u64) {
    add_ended(tally, due_ns, started_ns, now_ns());
}

/// Count a request that was answered at `ended_ns`.
pub fn add_ended(tally: &mut Tally, due_ns: u64, started_ns: u64, ended_ns: u64) {
    // A closed loop's request is due when the thread is free for it, which is just before.
    tally.add(due_ns, started_ns, ended_ns).expect("the clock never runs backwards");
}
