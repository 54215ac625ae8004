//! The place where clients come in: how many at once, and what is said to those who cannot.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use super::{Address, Listener, Stream};
use crate::error::{LodeError, Result};
use crate::lock::numbers::NumberMap;
use crate::wire::{Refusal, Reply};

/// Clients' connections at once: below the number of files that a process may open by default.
const CONNECTIONS_MAX: usize = 512;

/// The time for which nobody is let in after the system had nothing left for a connection: a client
/// that connects meanwhile waits, and the others are served.
const PAUSE: Duration = Duration::from_millis(20);

/// The door of a server.
pub(super) struct Door {
    listener: Listener,
    closing: AtomicBool,
    /// Whether the database is left as a crash would leave it.
    abandoning: AtomicBool,
    inside: Mutex<NumberMap<u64, Arc<Stream>>>,
    numbers: AtomicU64,
}

/// The outcome of waiting at the door.
pub(super) enum Came {
    /// A client, under a number.
    Client(u64, Arc<Stream>),
    /// A client that could not be let in, or that has gone.
    Nobody,
    /// Nobody comes any more.
    End(Result<()>),
}

impl Door {
    pub(super) fn new(listener: Listener) -> Self {
        Self {
            listener,
            closing: AtomicBool::new(false),
            abandoning: AtomicBool::new(false),
            inside: Mutex::default(),
            numbers: AtomicU64::new(1),
        }
    }

    pub(super) const fn address(&self) -> &Address {
        self.listener.address()
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        self.listener.shut();
        for stream in self.inside().values() {
            stream.shut();
        }
    }

    /// Close it, and leave the database as a crash would.
    pub(super) fn abandon(&self) {
        self.abandoning.store(true, Ordering::Relaxed);
        self.close();
    }

    pub(super) fn is_abandoning(&self) -> bool {
        self.abandoning.load(Ordering::Relaxed)
    }

    /// Wait for a client. What the system cannot do for one ends the waiting for nobody else.
    pub(super) fn next(&self, spare: &mut Option<File>) -> Came {
        match self.listener.accept() {
            Ok(stream) => self.enter(stream),
            Err(_) if self.is_closing() => Came::End(Ok(())),
            Err(error) if is_the_listeners(&error) => {
                Came::End(Err(LodeError::io("waiting for clients", error)))
            }
            Err(error) if is_want(&error) => {
                self.refuse_for_want(spare, &error);
                Came::Nobody
            }
            Err(_) => Came::Nobody,
        }
    }

    /// There is no descriptor or no memory for a connection. The spare descriptor is given up, so
    /// that a client can be reported; without it the client would wait for as long as that lasts.
    fn refuse_for_want(&self, spare: &mut Option<File>, error: &io::Error) {
        if spare.take().is_some()
            && let Ok(stream) = self.listener.accept()
        {
            let what = format!(
                "cannot take another client ({error}): close some, or give its process more \
                 descriptors (`ulimit -n`), then connect again"
            );
            refuse(&stream, what);
        } else {
            thread::sleep(PAUSE);
        }
        *spare = self::spare();
    }

    /// Note a client, or report it why it must go again.
    fn enter(&self, stream: Stream) -> Came {
        let mut inside = self.inside();
        // Under the lock: either this sees that the door is closing, or who closes it sees this.
        if self.is_closing() {
            return Came::Nobody;
        }
        if inside.len() >= CONNECTIONS_MAX {
            drop(inside);
            let what = format!(
                "serves {CONNECTIONS_MAX} connections, which is its limit, and takes no other: \
                 close some (each thread of a client that runs transactions has one), then connect \
                 again"
            );
            refuse(&stream, what);
            return Came::Nobody;
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let stream = Arc::new(stream);
        inside.insert(number, Arc::clone(&stream));
        Came::Client(number, stream)
    }

    pub(super) fn leave(&self, number: u64) {
        if let Some(stream) = self.inside().remove(&number) {
            stream.shut();
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    fn inside(&self) -> MutexGuard<'_, NumberMap<u64, Arc<Stream>>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Someone who is inside, until dropped.
pub(super) struct Visit<'a>(pub(super) &'a Door, pub(super) u64);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

/// A descriptor to give up when there is no other; `None` where there is none already.
pub(super) fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Report a client why it is not served. Nobody waits for one that does not listen: what does not
/// go at once is not said.
pub(super) fn refuse(stream: &Stream, what: String) {
    let mut frame = Vec::new();
    Reply::Refused(Refusal::other(what)).encode(&mut frame);
    if stream.set_nonblocking().is_ok() {
        // It may have gone.
        let _ = (&*stream).write_all(&frame);
        // Bytes that the client has sent and nobody read would be reported to it as a broken
        // connection.
        let _ = (&*stream).read(&mut [0; 256]);
    }
}

/// Whether the listener itself failed, and not one connection.
fn is_the_listeners(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::OPNOTSUPP))
}

/// Whether the system has nothing left for a connection just now.
fn is_want(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}
