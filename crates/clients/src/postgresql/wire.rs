//! Frames over a socket: one `send`, one sleep, and as few `recv` as the kernel allows, in buffers
//! that are kept. What the frames mean is said in `session.rs` and `statement.rs`.
//!
//! No runtime and no task: a look-up costs its client three system calls (send, poll, recv), one
//! sleep, and a copy of some hundred bytes.

use std::io;
use std::net::TcpStream;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use bytes::BytesMut;
use postgres_protocol::message::backend::{
    ERROR_RESPONSE_TAG, Header, Message, NOTICE_RESPONSE_TAG, NOTIFICATION_RESPONSE_TAG,
    PARAMETER_STATUS_TAG,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use thiserror::Error;

use super::address::{Server, Transport};

/// The most that one `recv` may bring: a whole level of a traversal in few calls.
const INPUT_BYTES: usize = 64 << 10;

/// A frame's tag and the four bytes of its length.
const HEADER_BYTES: usize = 5;

/// Why a conversation with the server ended, or why a statement did.
#[derive(Debug, Error)]
pub enum WireError {
    /// The socket failed, or the server closed it.
    #[error("{0}; the server's log has the cause, if it still runs")]
    Socket(#[from] io::Error),
    /// The server refused; the connection is still usable unless it said so.
    #[error("{message} (SQLSTATE {code})")]
    Server {
        /// Five characters of the manual's appendix A.
        code: String,
        /// The server's words, with its detail and hint where it gave them.
        message: String,
    },
    /// The server said what this program does not understand.
    #[error("unexpected from the server: {0}")]
    Protocol(String),
}

/// One frame from the server: its tag, and where its body lies (see [`Wire::body`]).
#[derive(Clone, Debug)]
pub struct Frame {
    /// The tag of the protocol's message.
    pub tag: u8,
    body: Range<usize>,
}

/// A connected socket with its two buffers.
#[derive(Debug)]
pub struct Wire {
    socket: OwnedFd,
    /// The bytes that the next [`Wire::flush`] sends.
    pub output: BytesMut,
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// Statements put into `output` so far: what is executed, not what is only prepared.
    pub statements: u64,
    /// Times that `output` was sent, after each of which the program waits.
    pub sends: u64,
}

impl Wire {
    /// Connect, without a word to the server yet.
    pub fn connect(address: &Server) -> io::Result<Self> {
        let socket = match &address.transport {
            Transport::Socket { folder } => {
                let path = folder.join(format!(".s.PGSQL.{}", address.port));
                UnixStream::connect(path)?.into()
            }
            Transport::Tcp { host } => {
                let stream = TcpStream::connect((host.as_str(), address.port))?;
                // A look-up is one small packet: Nagle's algorithm would hold the next one back.
                stream.set_nodelay(true)?;
                stream.into()
            }
        };
        Ok(Self {
            socket,
            output: BytesMut::with_capacity(INPUT_BYTES),
            input: vec![0; INPUT_BYTES],
            start: 0,
            end: 0,
            statements: 0,
            sends: 0,
        })
    }

    /// Send all that was written to `output`.
    pub fn flush(&mut self) -> Result<(), WireError> {
        self.sends += 1;
        let mut sent = 0;
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        while sent < self.output.len() {
            match send(&self.socket, &self.output[sent..], flags) {
                Ok(bytes) => sent += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.make_way()?,
                Err(_) => {
                    self.output.clear();
                    return Err(self.last_words());
                }
            }
        }
        self.output.clear();
        Ok(())
    }

    /// The next frame that belongs to the conversation; notices, and settings reported, are passed
    /// over. An error of the server's is a frame like any other here.
    pub fn receive(&mut self) -> Result<Frame, WireError> {
        loop {
            let frame = self.next_frame()?;
            if !matches!(
                frame.tag,
                NOTICE_RESPONSE_TAG | NOTIFICATION_RESPONSE_TAG | PARAMETER_STATUS_TAG
            ) {
                return Ok(frame);
            }
        }
    }

    /// The body of the frame received last. A later `receive` moves what lies in the buffer.
    pub fn body(&self, frame: &Frame) -> &[u8] {
        &self.input[frame.body.clone()]
    }

    /// The frame received last as the protocol crate reads it: for the rare ones, since it copies.
    pub fn message(&self, frame: &Frame) -> Result<Message, WireError> {
        let whole = frame.body.start - HEADER_BYTES..frame.body.end;
        let mut bytes = BytesMut::from(&self.input[whole]);
        Message::parse(&mut bytes)?
            .ok_or_else(|| WireError::Protocol("a frame without an end".into()))
    }

    /// The server's error in the frame received last.
    pub fn error(&self, frame: &Frame) -> WireError {
        use fallible_iterator::FallibleIterator;
        let Ok(Message::ErrorResponse(body)) = self.message(frame) else {
            return WireError::Protocol(format!("message '{}'", char::from(frame.tag)));
        };
        let (mut code, mut message) = (String::new(), String::new());
        let mut fields = body.fields();
        while let Ok(Some(field)) = fields.next() {
            let value = String::from_utf8_lossy(field.value_bytes());
            match field.type_() {
                b'C' => code = value.into_owned(),
                b'M' => message.insert_str(0, &value),
                b'D' | b'H' => message = format!("{message}; {value}"),
                _ => {}
            }
        }
        WireError::Server { code, message }
    }

    #[inline]
    fn next_frame(&mut self) -> Result<Frame, WireError> {
        loop {
            let waiting = &self.input[self.start..self.end];
            let needed = match Header::parse(waiting)? {
                Some(header) => {
                    let bytes = 1 + header.len().cast_unsigned() as usize;
                    if waiting.len() >= bytes {
                        let body = self.start + HEADER_BYTES..self.start + bytes;
                        self.start = body.end;
                        return Ok(Frame { tag: header.tag(), body });
                    }
                    bytes
                }
                None => HEADER_BYTES,
            };
            self.fill(needed)?;
        }
    }

    /// Read what there is, so that a frame of `needed` bytes has room.
    fn fill(&mut self, needed: usize) -> Result<(), WireError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start + needed > self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if needed > self.input.len() {
            self.input.resize(needed.next_power_of_two(), 0);
        }
        loop {
            // A thread that sleeps in `recv` on a Unix socket is woken twice for each call: by the
            // answer, and before it when the server takes the question out (the kernel reports
            // room to write to the same queue of sleepers). `poll` names what it waits for.
            let mut watched = [PollFd::new(&self.socket, PollFlags::IN)];
            match poll(&mut watched, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            match recv(&self.socket, &mut self.input[self.end..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => {
                    let closed = io::Error::new(
                        io::ErrorKind::ConnectionAborted,
                        "the server closed the connection",
                    );
                    return Err(closed.into());
                }
                Ok((_, bytes)) => {
                    self.end += bytes;
                    return Ok(());
                }
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    /// Wait until more can be sent. In a long pipeline the server may be waiting just then for us
    /// to take its answers: whatever it has sent is taken in, or both would wait for ever.
    fn make_way(&mut self) -> Result<(), WireError> {
        let mut watched = [PollFd::new(&self.socket, PollFlags::IN | PollFlags::OUT)];
        match poll(&mut watched, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        if watched[0].revents().contains(PollFlags::IN) {
            let waiting = self.end - self.start;
            self.fill(waiting + INPUT_BYTES)?;
        }
        Ok(())
    }

    /// Why the socket takes nothing any more: what the server said before it closed, else what
    /// reading says.
    fn last_words(&mut self) -> WireError {
        loop {
            match self.receive() {
                Ok(frame) if frame.tag == ERROR_RESPONSE_TAG => return self.error(&frame),
                Ok(_) => {}
                Err(error) => return error,
            }
        }
    }
}
