//! The time that a server waits for what a client has begun to say.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A client's words. Where something is expected, it must have come whole in its time: somebody who
/// sends a byte now and then is not waited for. Sets the stream's timeout only where it reads, and
/// not for what came together.
pub(super) struct Patient<'a> {
    stream: &'a UnixStream,
    deadline: Option<Instant>,
    is_limited: bool,
}

impl<'a> Patient<'a> {
    /// Nothing is expected.
    pub(super) const fn over(stream: &'a UnixStream) -> Self {
        Self { stream, deadline: None, is_limited: false }
    }

    /// From now on, all that is read must come within this time.
    pub(super) fn expect_within(&mut self, patience: Duration) {
        self.deadline = Some(now() + patience);
    }

    /// From now on, the client is silent for as long as it likes.
    pub(super) const fn be_patient(&mut self) {
        self.deadline = None;
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            self.is_limited = true;
        } else if self.is_limited {
            self.stream.set_read_timeout(None)?;
            self.is_limited = false;
        }
        (&*self.stream).read(bytes)
    }
}

#[expect(clippy::disallowed_methods, reason = "a deadline for who is silent measures nothing")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SHORT: Duration = Duration::from_millis(30);

    #[test]
    fn an_expected_page_is_not_awaited_for_ever() {
        let (near, far) = UnixStream::pair().unwrap();
        let mut patient = Patient::over(&near);
        patient.expect_within(SHORT);
        assert!(patient.read(&mut [0; 8]).is_err());
        drop(far);
    }

    #[test]
    fn bytes_now_and_then_do_not_put_the_end_off() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut patient = Patient::over(&near);
        patient.expect_within(SHORT);
        let mut count = 0;
        far.write_all(b"x").unwrap();
        while patient.read(&mut [0; 8]).is_ok() {
            count += 1;
            far.write_all(b"x").unwrap();
        }
        assert!(count > 0);
    }

    #[test]
    fn silence_is_allowed_again_after_it() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut patient = Patient::over(&near);
        patient.expect_within(SHORT);
        far.write_all(b"x").unwrap();
        assert_eq!(patient.read(&mut [0; 8]).unwrap(), 1);
        patient.be_patient();
        far.write_all(b"y").unwrap();
        assert_eq!(patient.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!(near.read_timeout().unwrap(), None);
    }
}
