//! The time that a server waits for a client: to send what it has begun to send, and to take what
//! is sent to it.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use lode::server::Stream;

/// Bytes given to the system at once, which it takes without looking at the time again.
const PIECE_BYTES: usize = 64 << 10;

/// One direction of a stream. Where something is expected, it must come, or be taken, whole in its
/// time: somebody who sends or takes a byte now and then is not waited for. Sets the stream's
/// timeout only where it reads or writes, and not for what came together.
pub(super) struct Patient<'a> {
    stream: &'a Stream,
    deadline: Option<Instant>,
    is_limited: bool,
}

impl<'a> Patient<'a> {
    /// Nothing is expected.
    pub(super) const fn over(stream: &'a Stream) -> Self {
        Self { stream, deadline: None, is_limited: false }
    }

    /// From now on, all that is read must come within this time, or what is written be taken.
    pub(super) fn expect_within(&mut self, patience: Duration) {
        self.deadline = Some(now() + patience);
    }

    /// From now on, the client is silent for as long as it likes.
    pub(super) const fn be_patient(&mut self) {
        self.deadline = None;
    }

    /// Set the timeout of what follows, where it is another than before.
    fn limit(&mut self, set: fn(&Stream, Option<Duration>) -> io::Result<()>) -> io::Result<()> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            set(self.stream, Some(left))?;
            self.is_limited = true;
        } else if self.is_limited {
            set(self.stream, None)?;
            self.is_limited = false;
        }
        Ok(())
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.limit(Stream::set_read_timeout)?;
        let mut stream = self.stream;
        stream.read(bytes)
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.limit(Stream::set_write_timeout)?;
        let mut stream = self.stream;
        stream.write(&bytes[..bytes.len().min(PIECE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "a deadline for who is silent measures nothing")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    const SHORT: Duration = Duration::from_millis(30);

    fn pair() -> (Stream, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        (Stream::Unix(near), far)
    }

    #[test]
    fn an_expected_page_is_not_awaited_for_ever() {
        let (near, _far) = pair();
        let mut patient = Patient::over(&near);
        patient.expect_within(SHORT);
        assert!(patient.read(&mut [0; 8]).is_err());
    }

    #[test]
    fn bytes_now_and_then_do_not_put_the_end_off() {
        let (near, mut far) = pair();
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
    fn bytes_taken_now_and_then_do_not_put_the_end_off() {
        let (near, mut far) = pair();
        let mut patient = Patient::over(&near);
        patient.expect_within(SHORT);
        let (mut count, piece) = (0, vec![0; PIECE_BYTES]);
        while patient.write(&piece).is_ok() {
            count += 1;
            far.read_exact(&mut [0; 8]).unwrap();
        }
        assert!(count > 0);
    }

    #[test]
    fn silence_is_allowed_again_after_it() {
        let (near, mut far) = pair();
        let mut patient = Patient::over(&near);
        patient.expect_within(SHORT);
        far.write_all(b"x").unwrap();
        assert_eq!(patient.read(&mut [0; 8]).unwrap(), 1);
        patient.be_patient();
        far.write_all(b"y").unwrap();
        assert_eq!(patient.read(&mut [0; 8]).unwrap(), 1);
        let Stream::Unix(near) = near else { unreachable!("it is a socket's") };
        assert_eq!(near.read_timeout().unwrap(), None);
    }
}
