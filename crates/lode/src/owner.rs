//! Which process something belongs to.
//!
//! `fork` copies memory and shares descriptors. A child that went on with what it inherited would
//! write its old copy of the pages into files that its parent changes, release its parent's lock,
//! or speak on its parent's connection. So each thing of that kind knows its owner, refuses to
//! work in another process, and ends there without doing anything.

#![expect(unsafe_code, reason = "the C library alone can say that a process was forked")]

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{LodeError, Result};

/// The number of forks that lie between this process and the one in which lode was used first:
/// reading it costs a load, where requesting the process's number would be a system call.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The process that made something. Children made by `fork` are others; a process that was started
/// otherwise inherits nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    /// This process.
    pub fn here() -> Self {
        static WATCHED: Once = Once::new();
        // SAFETY: the function is this program's, and does what a handler may do: it counts.
        WATCHED.call_once(|| match unsafe { libc::pthread_atfork(None, None, Some(forked)) } {
            0 => {}
            error => panic!("no memory to note a function of 8 bytes (error {error})"),
        });
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Whether this is that process.
    #[inline]
    pub fn is_here(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.0
    }

    /// # Errors
    ///
    /// [`LodeError::Forked`] in another process, with `what` was inherited.
    #[inline]
    pub fn check(self, what: &'static str) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(LodeError::Forked { what }) }
    }
}

/// Runs in each child before `fork` returns there.
extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// In a child of this process, made by `fork`: whether `act` is true of it.
#[cfg(test)]
pub(crate) fn in_a_child(act: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs `act` and ends; tests give it what takes no lock of another thread's.
    match unsafe { libc::fork() } {
        -1 => panic!("no process to be had"),
        0 => {
            let is_true = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
            // SAFETY: it ends the child at once, without the test's own ending.
            unsafe { libc::_exit(i32::from(!is_true.unwrap_or(false))) }
        }
        child => {
            let mut status = -1;
            // SAFETY: the status is this function's.
            let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
            ended == child && status == 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_another_owner_and_its_child_again() {
        let owner = Owner::here();
        assert!(owner.is_here());
        assert!(in_a_child(|| {
            let own = Owner::here();
            !owner.is_here()
                && own.is_here()
                && matches!(owner.check("it"), Err(LodeError::Forked { what: "it" }))
                && in_a_child(|| !owner.is_here() && !own.is_here())
        }));
        assert!(owner.is_here());
    }
}
