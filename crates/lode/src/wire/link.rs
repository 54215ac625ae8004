//! Frames over a stream.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{HEAD_BYTES, Reply, Request, Stream, decode_reply, decode_request, frame_bytes};

/// Read from the system at once: a few small frames, or what a large one begins with.
const READ_BYTES: usize = 16 * 1024;

/// The longest wait before it reads the time.
const STEP: Duration = Duration::from_secs(1);

/// One end of a conversation.
pub struct Link {
    stream: Arc<Stream>,
    incoming: Vec<u8>,
    /// The part of `incoming` that was read and not yet taken.
    start: usize,
    end: usize,
    outgoing: Vec<u8>,
    /// The time that a frame may take that has begun, where that is limited.
    patience: Option<Duration>,
    /// When the frame must be there that is waited for.
    deadline: Option<Instant>,
    sent_bytes: u64,
    received_bytes: u64,
}

impl Link {
    /// Nothing was said yet.
    pub const fn over(stream: Arc<Stream>) -> Self {
        Self {
            stream,
            incoming: Vec::new(),
            start: 0,
            end: 0,
            outgoing: Vec::new(),
            patience: None,
            deadline: None,
            sent_bytes: 0,
            received_bytes: 0,
        }
    }

    /// From now on a frame that has begun must be whole within this time: somebody who stops
    /// halfway, or sends a byte now and then, is not waited for.
    #[must_use]
    pub fn impatient(mut self, patience: Duration) -> Self {
        // Where it fails, the other end has gone, which the next reading shows.
        let _ = self.stream.set_read_timeout(Some(patience.min(STEP)));
        self.patience = Some(patience);
        self
    }

    /// The next frame must be whole within this time, also if nothing of it has come.
    pub fn expect_within(&mut self, patience: Duration) {
        self.deadline = Some(soon(patience));
    }

    /// Bytes sent and received since this was asked last.
    pub const fn take_traffic(&mut self) -> (u64, u64) {
        let traffic = (self.sent_bytes, self.received_bytes);
        (self.sent_bytes, self.received_bytes) = (0, 0);
        traffic
    }

    /// Say something to a server.
    pub fn send_request(&mut self, request: &Request) -> io::Result<()> {
        request.encode(&mut self.outgoing);
        self.send()
    }

    /// Say something to a client.
    pub fn send_reply(&mut self, reply: &Reply) -> io::Result<()> {
        reply.encode(&mut self.outgoing);
        self.send()
    }

    /// The client's next message, `None` when it has left.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] for what is no request; nothing behind it can be understood.
    pub fn receive_request(&mut self) -> io::Result<Option<Request>> {
        self.receive(decode_request)
    }

    /// The server's next message, `None` when it has left; errors as for a request.
    pub fn receive_reply(&mut self) -> io::Result<Option<Reply>> {
        self.receive(decode_reply)
    }

    fn send(&mut self) -> io::Result<()> {
        self.sent_bytes += self.outgoing.len() as u64;
        (&*self.stream).write_all(&self.outgoing)
    }

    fn receive<T>(&mut self, decode: fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
        if !self.fill(HEAD_BYTES)? {
            return Ok(None);
        }
        let nonsense = || io::Error::new(io::ErrorKind::InvalidData, "this is no frame of lode's");
        let length = frame_bytes(&self.incoming[self.start..]).ok_or_else(nonsense)?;
        if !self.fill(length)? {
            return Ok(None);
        }
        let said = decode(&self.incoming[self.start..][..length]).ok_or_else(nonsense)?;
        self.start += length;
        self.deadline = None;
        self.received_bytes += length as u64;
        Ok(Some(said))
    }

    /// Have at least so many bytes; `false` where the stream ends before. Takes memory for twice
    /// what has come, and not for what is said to come.
    fn fill(&mut self, count: usize) -> io::Result<bool> {
        if self.incoming.len() - self.start < count {
            self.incoming.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end - self.start < count {
            if self.end == self.incoming.len() {
                let length = (2 * self.end).clamp(READ_BYTES, READ_BYTES.max(count));
                self.incoming.resize(length.max(self.end + 1), 0);
            }
            match (&*self.stream).read(&mut self.incoming[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if self.end - self.start < count {
                self.check_time()?;
            }
        }
        Ok(true)
    }

    /// A part of a frame is here, or nothing yet.
    fn check_time(&mut self) -> io::Result<()> {
        let Some(patience) = self.patience else { return Ok(()) };
        if self.deadline.is_none() && self.end > self.start {
            self.deadline = Some(soon(patience));
        }
        match self.deadline {
            Some(deadline) if deadline <= soon(Duration::ZERO) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the rest of a frame did not come"))
            }
            _ => Ok(()),
        }
    }
}

/// The moment that is so far away.
#[expect(clippy::disallowed_methods, reason = "a deadline for who is silent measures nothing")]
fn soon(patience: Duration) -> Instant {
    Instant::now() + patience
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::wire::FRAME_BYTES_MAX;

    fn pair() -> (UnixStream, Link) {
        let (there, here) = UnixStream::pair().unwrap();
        (there, Link::over(Arc::new(Stream::Unix(here))).impatient(Duration::from_millis(1)))
    }

    /// The head of the longest frame.
    fn head() -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[8..12].copy_from_slice(&(FRAME_BYTES_MAX as u32).to_le_bytes());
        head
    }

    #[test]
    fn the_rest_of_a_frame_is_not_awaited_for_ever() {
        for sent in [&head()[..1], &head()] {
            let (mut there, mut link) = pair();
            there.write_all(sent).unwrap();
            assert_eq!(link.receive_request().unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
    }

    #[test]
    fn a_hello_is_not_awaited_for_ever() {
        let (_there, mut link) = pair();
        link.expect_within(Duration::from_millis(1));
        assert_eq!(link.receive_request().unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    /// Nothing of a frame is here: that there was nothing to read is no reason to leave.
    #[test]
    fn a_client_may_be_silent_between_frames() {
        let (mut there, mut link) = pair();
        let mut frame = Vec::new();
        Request::End { slot: 1 }.encode(&mut frame);
        there.write_all(&frame).unwrap();
        assert!(matches!(link.receive_request(), Ok(Some(Request::End { slot: 1 }))));
        (0..3).for_each(|_| link.check_time().unwrap());
        there.write_all(&frame).unwrap();
        assert!(matches!(link.receive_request(), Ok(Some(Request::End { slot: 1 }))));
    }

    #[test]
    fn memory_is_taken_for_what_came_and_not_for_what_is_said_to_come() {
        let (mut there, mut link) = pair();
        there.write_all(&head()).unwrap();
        link.receive_request().unwrap_err();
        assert!(link.incoming.len() <= READ_BYTES, "{}", link.incoming.len());
    }
}
