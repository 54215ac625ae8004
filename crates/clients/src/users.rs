//! Concurrent users, whatever they request: threads that begin at one moment, each with a driver
//! of its own.

use std::thread::{self, Scope, ScopedJoinHandle};

use loadstone_measure::clock::now_ns;
use loadstone_measure::work::{Meter, Work};

use crate::error::ClientError;
use crate::pacing::{Begin, Pacing, Queue};

/// Drivers of users: of those that read, and of those that write.
pub struct Drivers<C> {
    pub readers: Vec<C>,
    pub writers: Vec<C>,
}

/// Each user's result, in the order of their drivers; a thread that panicked is an error.
pub struct Ended<R, W> {
    /// From the first thread's beginning to the last one's end.
    pub elapsed_ns: u64,
    /// The cost of it all.
    pub work: Work,
    pub readers: Vec<Result<R, ClientError>>,
    pub writers: Vec<Result<W, ClientError>>,
}

impl<C: Send> Drivers<C> {
    /// Open them all, before the first request.
    pub fn open(
        readers: u32,
        writers: u32,
        another: impl Fn() -> Result<C, ClientError>,
    ) -> Result<Self, ClientError> {
        let open = |count| (0..count).map(|_| another()).collect::<Result<Vec<C>, _>>();
        Ok(Self { readers: open(readers)?, writers: open(writers)? })
    }

    /// Let each loose in a thread of its own. Readers share a queue of starts, and so do writers;
    /// each is given its number among its kind.
    pub fn let_loose<R: Send, W: Send>(
        self,
        engine: &'static str,
        pacing: &Pacing,
        meter: &Meter,
        read: impl Fn(&mut C, u32, &Queue<'_>) -> R + Sync,
        write: impl Fn(&mut C, u32, &Queue<'_>) -> W + Sync,
    ) -> Ended<R, W> {
        let start = Begin::of(self.readers.len() + self.writers.len());
        let (to_read, to_write) = (Queue::new(pacing, &start), Queue::new(pacing, &start));
        let panicked =
            || ClientError::User { engine, message: "it panicked; this is a bug".to_owned() };
        let begun = meter.begin();
        let (readers, writers) = thread::scope(|scope| {
            let readers = begun_each(scope, self.readers, &start, &to_read, &read);
            let writers = begun_each(scope, self.writers, &start, &to_write, &write);
            let readers = readers.into_iter().map(|user| user.join().map_err(|_| panicked()));
            let writers = writers.into_iter().map(|user| user.join().map_err(|_| panicked()));
            (readers.collect(), writers.collect())
        });
        let elapsed_ns = now_ns() - start.begun_ns();
        Ended { elapsed_ns, work: begun.end(), readers, writers }
    }
}

/// A thread for each driver, which begins its requests when all others do.
fn begun_each<'scope, C: Send + 'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    drivers: Vec<C>,
    start: &'scope Begin,
    queue: &'scope Queue<'_>,
    execute: &'scope (impl Fn(&mut C, u32, &Queue<'_>) -> R + Sync),
) -> Vec<ScopedJoinHandle<'scope, R>> {
    let each = (0..).zip(drivers);
    let begun = each.map(|(user, mut driver)| {
        scope.spawn(move || {
            start.together();
            execute(&mut driver, user, queue)
        })
    });
    begun.collect()
}
