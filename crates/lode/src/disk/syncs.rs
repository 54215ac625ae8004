//! The syncs of one disk, which never overlap and of which none is believed after a failed one.

use std::io;
use std::sync::PoisonError;

use crate::sync::Mutex;

/// The kernel reports a failed write-back once, takes the pages for clean and drops them, so that
/// another sync would succeed without what was lost (Rebello et al., "Can Applications Recover from
/// fsync Failures?", 2020). One that is under way at the same time would succeed likewise, before
/// anybody has heard of the failure: so each waits for the one before it.
#[derive(Debug, Default)]
pub(crate) struct Syncs {
    has_failed: Mutex<bool>,
}

impl Syncs {
    /// Sync by these means; an error without asking them once a sync has failed.
    pub(crate) fn run(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut has_failed = self.has_failed.lock().unwrap_or_else(PoisonError::into_inner);
        if *has_failed {
            return Err(io::Error::other(
                "an earlier sync failed, and what was written before it may be lost",
            ));
        }
        // A sync that panics has not succeeded either.
        *has_failed = true;
        let synced = sync();
        *has_failed = synced.is_err();
        synced
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex};
    use std::thread;
    use std::time::Duration;

    use super::Syncs;
    use std::io;

    fn failing() -> io::Result<()> {
        Err(io::Error::other("no medium"))
    }

    #[test]
    fn after_a_failed_sync_none_is_asked() {
        let syncs = Syncs::default();
        syncs.run(|| Ok(())).unwrap();
        syncs.run(failing).unwrap_err();
        syncs.run(|| unreachable!("a failed sync was forgotten")).unwrap_err();
    }

    #[test]
    fn a_sync_beside_a_failing_one_is_not_believed() {
        let (syncs, under_way) = (Syncs::default(), AtomicUsize::new(0));
        let (lock, begun) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                syncs.run(|| {
                    under_way.fetch_add(1, Ordering::SeqCst);
                    *lock.lock().unwrap() = true;
                    begun.notify_all();
                    // Time for the other to begin, and to succeed, where nothing holds it back.
                    let guard = lock.lock().unwrap();
                    let is_alone = |_: &mut bool| under_way.load(Ordering::SeqCst) == 1;
                    let wait = Duration::from_millis(50);
                    drop(begun.wait_timeout_while(guard, wait, is_alone).unwrap());
                    failing()
                })
            });
            let guard = begun.wait_while(lock.lock().unwrap(), |has_begun| !*has_begun).unwrap();
            drop(guard);
            let second = syncs.run(|| {
                under_way.fetch_add(1, Ordering::SeqCst);
                begun.notify_all();
                Ok(())
            });
            assert!(second.is_err(), "it began before the failure of the other was known");
            assert!(first.join().unwrap().is_err());
        });
    }
}
