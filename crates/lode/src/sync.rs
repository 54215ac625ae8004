//! The places where threads meet: mutexes, condition variables, and the moments in between at which
//! another thread may be faster.
//!
//! These are the standard library's. In this crate's own tests they are those of
//! [`crate::simulation`], which behave the same outside a simulation; within one they let a seed
//! decide who goes on. Locks that only protect a value, and under which nobody meets another, need
//! not come from here.

#[cfg(not(test))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(test))]
pub(crate) use std::thread::ThreadId;

#[cfg(test)]
pub(crate) use crate::simulation::primitives::{
    Condvar, Mutex, MutexGuard, ThreadId, let_others_run, point, thread_id,
};

/// A moment at which another thread may be faster.
#[cfg(not(test))]
#[inline]
pub(crate) const fn point() {}

/// The thread that asks.
#[cfg(not(test))]
pub(crate) fn thread_id() -> ThreadId {
    std::thread::current().id()
}

/// A thread waits in a loop for what another will do: it spins in the first rounds, and
/// lets others run in later ones.
#[cfg(not(test))]
pub(crate) fn let_others_run(spins: bool) {
    if spins {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}
