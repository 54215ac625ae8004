//! Where clients of any server come in. It limits how many are served at once, tells the others why
//! they are not, survives running out of descriptors, and notices when a client hangs up.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::{Address, Listener, Stream};
use crate::error::{LodeError, Result};
use crate::lock::numbers::NumberMap;

/// Clients' connections at once: below the number of files that a process may open by default.
pub const CONNECTIONS_MAX: usize = 512;

/// The time for which nobody is let in after the system had nothing left for a connection: a client
/// that connects meanwhile waits, and the others are served.
const PAUSE: Duration = Duration::from_millis(20);

/// The door of a server.
pub struct Door {
    listener: Listener,
    connections_max: usize,
    /// Words for a client that is not served, in its language.
    refusal: fn(&str) -> Vec<u8>,
    closing: AtomicBool,
    /// Whether the database is left as a crash would leave it.
    abandoning: AtomicBool,
    inside: Mutex<NumberMap<u64, Arc<Stream>>>,
    numbers: AtomicU64,
}

/// The outcome of waiting at the door.
enum Came {
    /// A client, under a number.
    Client(u64, Arc<Stream>),
    /// A client that could not be let in, or that has gone.
    Nobody,
    /// Nobody comes any more.
    End(Result<()>),
}

impl Door {
    /// Clients are awaited there, so many at once. `refusal` encodes words for one that must go.
    pub fn new(listener: Listener, connections_max: usize, refusal: fn(&str) -> Vec<u8>) -> Self {
        Self {
            listener,
            connections_max,
            refusal,
            closing: AtomicBool::new(false),
            abandoning: AtomicBool::new(false),
            inside: Mutex::default(),
            numbers: AtomicU64::new(1),
        }
    }

    /// The place where it listens.
    pub const fn address(&self) -> &Address {
        self.listener.address()
    }

    /// Let nobody in any more, and send all away who are inside.
    pub fn close(&self) {
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

    /// Let clients in, and have each served by a thread of its own, until the door is closed and
    /// all have gone.
    ///
    /// # Errors
    ///
    /// The system's error of listening.
    pub fn let_in(
        self: &Arc<Self>,
        serve: impl Fn(&Arc<Stream>) + Clone + Send + 'static,
    ) -> Result<()> {
        let mut threads: Vec<JoinHandle<()>> = Vec::new();
        let mut spare = spare();
        let outcome = loop {
            let (number, stream) = match self.next(&mut spare) {
                Came::Client(number, stream) => (number, stream),
                Came::Nobody => continue,
                Came::End(outcome) => break outcome,
            };
            threads.retain(|thread| !thread.is_finished());
            let (door, serve, visitor) = (Arc::clone(self), serve.clone(), Arc::clone(&stream));
            let thread = thread::Builder::new().name("lode-client".to_owned()).spawn(move || {
                let _visit = Visit(&door, number);
                serve(&visitor);
            });
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let what = format!("has no thread for another client ({error})");
                    self.refuse(&stream, &what);
                    self.leave(number);
                }
            }
        };
        self.close();
        for thread in threads {
            // A panic there was one client's.
            let _ = thread.join();
        }
        outcome
    }

    /// Wait for a client. What the system cannot do for one ends the waiting for nobody else.
    fn next(&self, spare: &mut Option<File>) -> Came {
        match self.listener.accept() {
            Ok(stream) => self.enter(stream),
            Err(_) if self.is_closing() => Came::End(Ok(())),
            Err(error) if is_the_listeners(&error) => {
                Came::End(Err(LodeError::io("waiting for clients", error)))
            }
            Err(error) if is_want(&error) => self.enter_in_want(spare, &error),
            Err(_) => Came::Nobody,
        }
    }

    /// There is no descriptor or no memory for a connection. The spare descriptor is given up, so
    /// that a client can be reported; without it the client would wait for as long as that lasts.
    fn enter_in_want(&self, spare: &mut Option<File>, error: &io::Error) -> Came {
        if spare.take().is_some()
            && let Ok(stream) = self.listener.accept()
        {
            *spare = self::spare();
            if spare.is_some() {
                // Until a client came, some have come free.
                return self.enter(stream);
            }
            let what = format!(
                "cannot take another client ({error}): close some, or give its process more \
                 descriptors (`ulimit -n`), then connect again"
            );
            self.refuse(&stream, &what);
        } else {
            thread::sleep(PAUSE);
        }
        *spare = self::spare();
        Came::Nobody
    }

    /// Note a client, or report it why it must go again.
    fn enter(&self, stream: Stream) -> Came {
        let mut inside = self.inside();
        // Under the lock: either this sees that the door is closing, or who closes it sees this.
        if self.is_closing() {
            return Came::Nobody;
        }
        if inside.len() >= self.connections_max {
            drop(inside);
            let what = format!(
                "serves {} connections, which is its limit, and takes no other: close some (each \
                 thread of a client may have one), then connect again",
                self.connections_max
            );
            self.refuse(&stream, &what);
            return Came::Nobody;
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let stream = Arc::new(stream);
        inside.insert(number, Arc::clone(&stream));
        Came::Client(number, stream)
    }

    fn leave(&self, number: u64) {
        if let Some(stream) = self.inside().remove(&number) {
            stream.shut();
        }
    }

    /// Report a client why it is not served. Nobody waits for one that does not listen: what does
    /// not go at once is not said.
    fn refuse(&self, stream: &Stream, what: &str) {
        if stream.set_nonblocking().is_ok() {
            // It may have gone.
            let mut stream = stream;
            let _ = stream.write_all(&(self.refusal)(what));
            // Bytes that the client has sent and nobody read would be reported to it as a broken
            // connection.
            let _ = stream.read(&mut [0; 256]);
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
struct Visit<'a>(&'a Door, u64);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

/// Serve a client by `serve`; another thread calls `gone` when it hangs up, or is served. The
/// client is sent away then, also by a panic. Nothing is done where there is no other thread.
pub fn watched(stream: &Stream, gone: impl FnOnce() + Send, serve: impl FnOnce()) {
    thread::scope(|scope| {
        // Wakes who watches.
        let _shutting = Shutting(stream);
        let watch = || {
            // Without `IN`: what the client says is not for this thread, and does not wake it.
            let mut hanging_up = [PollFd::new(stream, PollFlags::RDHUP)];
            while matches!(poll(&mut hanging_up, None), Ok(0) | Err(Errno::INTR)) {}
            gone();
        };
        let watching = thread::Builder::new().name("lode-watch".to_owned());
        if watching.spawn_scoped(scope, watch).is_ok() {
            serve();
        }
    });
}

/// A stream that ends when this is dropped.
struct Shutting<'a>(&'a Stream);

impl Drop for Shutting<'_> {
    fn drop(&mut self) {
        self.0.shut();
    }
}

/// A descriptor to give up when there is no other; `None` where there is none already.
fn spare() -> Option<File> {
    File::open("/dev/null").ok()
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
