//! A process that executes the statements of others, which reach it through a Unix socket.

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use lode::LodeError;
use lode::internals::wire;

use super::message::{self, Frame};
use super::patience::Patient;
use super::requests::answer;
use crate::database::{Database, Outcome, Rows};
use crate::error::{QueryError, Result};

/// Only who runs the server may ask it.
const SOCKET_MODE: u32 = 0o600;

/// An answer that is no longer goes into one message.
const MESSAGE_BYTES: usize = 64 << 10;

/// Clients' connections at once, as many as a page server has.
const CONNECTIONS_MAX: usize = 512;

/// A client that has connected asks something within this time; else it is no client of ours.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);

/// A frame ends within this time after it has begun. Between statements a client is silent for as
/// long as it likes.
const FRAME_PATIENCE: Duration = Duration::from_mins(1);

/// A server at work, each of whose connections is a thread.
pub struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    database: Arc<Database>,
    listener: UnixListener,
    is_ending: AtomicBool,
    connections: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
    connections_max: usize,
}

impl Server {
    /// Listen there. A socket's file that a killed server left is replaced.
    ///
    /// # Errors
    ///
    /// [`QueryError::Lode`] where another listens, where a file of another kind is, and with what
    /// the system says.
    pub fn start(database: Arc<Database>, path: &Path) -> Result<Self> {
        Self::start_for(database, path, CONNECTIONS_MAX)
    }

    /// Listen there, for so many connections at once.
    pub(super) fn start_for(
        database: Arc<Database>,
        path: &Path,
        connections_max: usize,
    ) -> Result<Self> {
        let doing = || format!("listening at {}", path.display());
        let failed = |source| QueryError::Lode(LodeError::io(doing(), source));
        let listener = listen(path).map_err(failed)?;
        let connections = Mutex::default();
        let is_ending = AtomicBool::new(false);
        let shared =
            Arc::new(Shared { database, listener, is_ending, connections, connections_max });
        let accept = {
            let shared = Arc::clone(&shared);
            move || shared.accept()
        };
        let thread = std::thread::Builder::new().name("lode accept".to_owned()).spawn(accept);
        let accepting = Some(thread.map_err(failed)?);
        Ok(Self { path: path.to_owned(), shared, accepting })
    }

    /// The place where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    /// End the statements that run, and send all clients away.
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        // Its thread waits for a client, and is woken so.
        if let Ok(listener) = self.shared.listener.try_clone() {
            _ = UnixStream::from(OwnedFd::from(listener)).shutdown(Shutdown::Both);
        }
        _ = fs::remove_file(&self.path);
        if let Some(thread) = self.accepting.take() {
            _ = thread.join();
        }
        let connections = std::mem::take(&mut *self.shared.list());
        for (stream, _) in &connections {
            _ = stream.shutdown(Shutdown::Both);
        }
        self.shared.database.cancel();
        for (_, thread) in connections {
            _ = thread.join();
        }
    }
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_left(path) => {
            fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        other => other,
    }?;
    fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))?;
    Ok(listener)
}

/// Whether it is a socket at which nobody listens any more.
fn is_left(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket())
        && UnixStream::connect(path)
            .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

impl Shared {
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<(UnixStream, JoinHandle<()>)>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.is_ending.load(Ordering::SeqCst) {
                return;
            }
            let mut connections = self.list();
            connections.retain(|(_, thread)| !thread.is_finished());
            if connections.len() >= self.connections_max {
                drop(connections);
                refuse(&stream, self.connections_max);
                continue;
            }
            let database = Arc::clone(&self.database);
            let Ok(kept) = stream.try_clone() else { continue };
            let serve = move || {
                // A client that leaves in the middle wants no error; one that sent nonsense sees
                // the end, although the list has the stream, too.
                _ = serve(&database, &stream);
                _ = stream.shutdown(Shutdown::Both);
            };
            let thread = std::thread::Builder::new().name("lode client".to_owned()).spawn(serve);
            let Ok(thread) = thread else { continue };
            connections.push((kept, thread));
        }
    }
}

/// Report a client why it is not served. Nobody waits for one that does not listen.
fn refuse(stream: &UnixStream, connections_max: usize) {
    let what = format!(
        "serves {connections_max} connections, which is its limit, and takes no other: close some, \
         then connect again"
    );
    let mut frame = Vec::new();
    let failure = message::failure(&QueryError::Served { what });
    if message::send(&mut frame, Frame::Failed, &failure).is_ok()
        && stream.set_nonblocking(true).is_ok()
    {
        // It may have gone.
        _ = (&*stream).write_all(&frame);
        // What it has said already and nobody read would be reported to it as a broken connection.
        _ = (&*stream).read(&mut [0; 256]);
    }
}

/// Report a client that wants pages, in its own language, that here are none.
fn refuse_pages(mut stream: &UnixStream) -> io::Result<()> {
    let what = "executes statements and gives no pages: ask it by `Connection` in place of \
                `connect`, or have pages served (`loadstone lode serve` without `--statements`)";
    let mut frame = Vec::new();
    wire::Reply::Refused(wire::Refusal::other(what.to_owned())).encode(&mut frame);
    stream.write_all(&frame)
}

/// Answer one client until it leaves.
fn serve(database: &Database, stream: &UnixStream) -> io::Result<()> {
    let mut asked = BufReader::new(Patient::over(stream));
    let mut answers = BufWriter::with_capacity(MESSAGE_BYTES, stream);
    asked.get_mut().expect_within(HELLO_PATIENCE);
    if wire::is_hello(asked.fill_buf()?) {
        return refuse_pages(stream);
    }
    while !asked.fill_buf()?.is_empty() {
        asked.get_mut().expect_within(FRAME_PATIENCE);
        let Some((frame, bytes)) = message::receive(&mut asked)? else { break };
        asked.get_mut().be_patient();
        let text = String::from_utf8(bytes).map_err(|_| message::nonsense())?;
        let outcome = match frame {
            Frame::Query => database.query(&text, &[]).map(Outcome::Rows),
            Frame::Execute => database.execute(&text, &[]).map(Outcome::Changed),
            Frame::Report => {
                let (name, text) = text.split_once('\0').ok_or_else(message::nonsense)?;
                match answer(database, name, text) {
                    Ok(answer) => {
                        message::send(&mut answers, Frame::Reported, answer.as_bytes())?;
                    }
                    Err(error) => fail(&mut answers, &error)?,
                }
                answers.flush()?;
                continue;
            }
            _ => return Err(message::nonsense()),
        };
        match outcome {
            Ok(Outcome::Rows(rows)) => send_rows(&mut answers, rows)?,
            Ok(Outcome::Changed(tuples)) => {
                let count = tuples.map(u64::to_le_bytes);
                let bytes = count.as_ref().map_or(&[][..], |count| &count[..]);
                message::send(&mut answers, Frame::End, bytes)?;
            }
            Err(error) => fail(&mut answers, &error)?,
        }
        answers.flush()?;
    }
    Ok(())
}

fn fail(answers: &mut impl Write, error: &QueryError) -> io::Result<()> {
    message::send(answers, Frame::Failed, &message::failure(error))
}

fn send_rows(answers: &mut impl Write, mut rows: Rows) -> io::Result<()> {
    message::send(answers, Frame::Form, &message::form(rows.layout()))?;
    loop {
        match rows.next_tuples() {
            Ok(Some(tuples)) => message::send(answers, Frame::Tuples, &tuples)?,
            Ok(None) => return message::send(answers, Frame::End, &[]),
            Err(error) => return fail(answers, &error),
        }
    }
}
