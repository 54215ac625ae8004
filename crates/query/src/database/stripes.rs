//! Values of which each thread changes one of its own, nearly always: so that threads whose
//! statements take microseconds do not pass a mutex, and the cache lines behind it, to and fro.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// More than the threads that can run at one time on the machines that this is measured on; with
/// more threads than that, some share a value, which is as safe.
const STRIPES: usize = 32;

/// Behind different cache lines, of which processors load two at a time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe<T>(Mutex<T>);

#[derive(Debug, Default)]
pub(super) struct Stripes<T>([Stripe<T>; STRIPES]);

/// The number of a stripe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(usize);

impl Number {
    /// That of this thread.
    pub fn own() -> Self {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static OWN: Cell<Option<usize>> = const { Cell::new(None) };
        }
        Self(OWN.get().unwrap_or_else(|| {
            let number = THREADS.fetch_add(1, Ordering::Relaxed) % STRIPES;
            OWN.set(Some(number));
            number
        }))
    }
}

impl<T> Stripes<T> {
    pub fn locked(&self, number: Number) -> MutexGuard<'_, T> {
        self.0[number.0].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every value, one after the other: what threads change meanwhile may be seen or not.
    pub fn each(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        (0..STRIPES).map(|number| self.locked(Number(number)))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{Number, STRIPES, Stripes};

    #[test]
    fn what_any_number_of_threads_add_is_there() {
        let stripes = Stripes::<u64>::default();
        thread::scope(|scope| {
            for _ in 0..=2 * STRIPES {
                scope.spawn(|| (0..100).for_each(|_| *stripes.locked(Number::own()) += 1));
            }
        });
        assert_eq!(stripes.each().map(|each| *each).sum::<u64>(), (2 * STRIPES as u64 + 1) * 100);
    }

    #[test]
    fn two_threads_do_not_wait_for_each_other() {
        let stripes = Stripes::<u64>::default();
        let own = Number::own();
        let _held = stripes.locked(own);
        let other = thread::scope(|scope| scope.spawn(Number::own).join().unwrap());
        assert!(own.0 == other.0 || stripes.0[other.0].0.try_lock().is_ok());
    }
}
