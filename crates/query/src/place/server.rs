//! A process that executes the statements of others, which reach it through a Unix socket.

use std::fs::{self, Permissions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use lode::LodeError;

use super::message::{self, Frame};
use super::told::told;
use crate::database::{Database, Outcome, Rows};
use crate::error::{QueryError, Result};

/// Only who runs the server may ask it.
const SOCKET_MODE: u32 = 0o600;

/// An answer that is no longer goes into one message.
const MESSAGE_BYTES: usize = 64 << 10;

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
}

impl Server {
    /// Listen there. A socket's file that a killed server left is replaced.
    ///
    /// # Errors
    ///
    /// [`QueryError::Lode`] where another listens, where a file of another kind is, and with what
    /// the system says.
    pub fn start(database: Arc<Database>, path: &Path) -> Result<Self> {
        let doing = || format!("listening at {}", path.display());
        let failed = |source| QueryError::Lode(LodeError::io(doing(), source));
        let listener = listen(path).map_err(failed)?;
        let connections = Mutex::default();
        let is_ending = AtomicBool::new(false);
        let shared = Arc::new(Shared { database, listener, is_ending, connections });
        let accept = {
            let shared = Arc::clone(&shared);
            move || shared.accept()
        };
        let thread = std::thread::Builder::new().name("lode accept".to_owned()).spawn(accept);
        let accepting = Some(thread.map_err(failed)?);
        Ok(Self { path: path.to_owned(), shared, accepting })
    }

    /// Where it listens.
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
            let mut connections = self.list();
            connections.retain(|(_, thread)| !thread.is_finished());
            connections.push((kept, thread));
        }
    }
}

/// Answer one client until it leaves.
fn serve(database: &Database, stream: &UnixStream) -> io::Result<()> {
    let mut asked = BufReader::new(stream);
    let mut answers = BufWriter::with_capacity(MESSAGE_BYTES, stream);
    while let Some((frame, bytes)) = message::receive(&mut asked)? {
        let text = String::from_utf8(bytes).map_err(|_| message::nonsense())?;
        let outcome = match frame {
            Frame::Query => database.query(&text, &[]).map(Outcome::Rows),
            Frame::Execute => database.execute(&text, &[]).map(Outcome::Changed),
            Frame::Tell => {
                let (name, text) = text.split_once('\0').ok_or_else(message::nonsense)?;
                match told(database, name, text) {
                    Ok(told) => message::send(&mut answers, Frame::Told, told.as_bytes())?,
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
