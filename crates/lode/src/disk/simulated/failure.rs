//! Calls that fail on demand.

use std::io;

/// A kind of call that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// [`crate::disk::Disk::read`].
    Read,
    /// [`crate::disk::Disk::write`].
    Write,
    /// [`crate::disk::Disk::sync`].
    Sync,
    /// [`crate::disk::Disk::set_len`].
    SetLen,
}

const CALLS: usize = 4;

/// Which call is to fail, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The kind that is counted and fails; `None` for any.
    pub call: Option<Call>,
    /// The number of these calls that still succeed.
    pub after: u64,
    /// Whether all that follow fail, too.
    pub for_ever: bool,
    /// The error of the failing call.
    pub kind: io::ErrorKind,
}

impl Failure {
    /// The n-th call from now, counted from 1, fails once.
    pub const fn nth(call: Option<Call>, nth: u64) -> Self {
        Self { call, after: nth.saturating_sub(1), for_ever: false, kind: io::ErrorKind::Other }
    }

    /// The same, and every such call after it.
    #[must_use]
    pub const fn for_ever(self) -> Self {
        Self { for_ever: true, ..self }
    }

    /// The same with another error.
    #[must_use]
    pub const fn with(self, kind: io::ErrorKind) -> Self {
        Self { kind, ..self }
    }
}

/// The planned failures, and how often each kind of call was made.
#[derive(Default)]
pub(super) struct Failures {
    planned: Vec<Failure>,
    calls: [u64; CALLS],
}

impl Failures {
    pub(super) fn plan(&mut self, failure: Failure) {
        self.planned.push(failure);
    }

    pub(super) fn forget(&mut self) {
        self.planned.clear();
    }

    pub(super) fn calls(&self, call: Option<Call>) -> u64 {
        call.map_or_else(|| self.calls.iter().sum(), |call| self.calls[call as usize])
    }

    /// Count a call, and fail it if that was planned.
    pub(super) fn call(&mut self, call: Call) -> io::Result<()> {
        self.calls[call as usize] += 1;
        let number = self.calls[call as usize];
        let mut failed = None;
        self.planned.retain_mut(|failure| {
            if failure.call.is_some_and(|only| only != call) {
                return true;
            }
            if failure.after > 0 {
                failure.after -= 1;
                return true;
            }
            failed = Some(failure.kind);
            failure.for_ever
        });
        match failed {
            None => Ok(()),
            Some(kind) => {
                Err(io::Error::new(kind, format!("simulated failure of {call:?} number {number}")))
            }
        }
    }
}
