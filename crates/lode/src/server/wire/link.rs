//! Frames over a stream.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::{HEAD_BYTES, Reply, Request, decode_reply, decode_request, frame_bytes};
use crate::server::Stream;

/// Read from the system at once: a few small frames, or what a large one begins with.
const READ_BYTES: usize = 16 * 1024;

/// One end of a conversation.
pub struct Link {
    stream: Arc<Stream>,
    incoming: Vec<u8>,
    /// The part of `incoming` that was read and not yet taken.
    start: usize,
    end: usize,
    outgoing: Vec<u8>,
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
            sent_bytes: 0,
            received_bytes: 0,
        }
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

    /// What the client says next, `None` when it has left.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`] for what is no request; nothing behind it can be understood.
    pub fn receive_request(&mut self) -> io::Result<Option<Request>> {
        self.receive(decode_request)
    }

    /// What the server says next, `None` when it has left; errors as for a request.
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
        self.received_bytes += length as u64;
        Ok(Some(said))
    }

    /// Have at least so many bytes; `false` where the stream ends before.
    fn fill(&mut self, count: usize) -> io::Result<bool> {
        if self.incoming.len() - self.start < count {
            self.incoming.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            let length = self.incoming.len().max(count).max(READ_BYTES);
            self.incoming.resize(length, 0);
        }
        while self.end - self.start < count {
            match (&*self.stream).read(&mut self.incoming[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
