//! A program's way to a server of statements.

use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::message::{self, Frame};
use crate::database::Rows;
use crate::error::{QueryError, Result};
use crate::tuple::Layout;

/// A connection, which executes one statement at a time; further ones that begin before its rows
/// are read have a stream of their own.
pub struct Connection {
    path: PathBuf,
    home: Home,
}

/// The place where a stream waits for the next statement.
type Home = Arc<Mutex<Option<Link>>>;

struct Link {
    answers: BufReader<UnixStream>,
    asks: BufWriter<UnixStream>,
}

impl Link {
    fn ask(&mut self, frame: Frame, text: &[u8]) -> io::Result<()> {
        message::send(&mut self.asks, frame, text)?;
        self.asks.flush()
    }

    fn answer(&mut self) -> io::Result<(Frame, Vec<u8>)> {
        let left = || io::Error::new(io::ErrorKind::UnexpectedEof, "it has hung up");
        message::receive(&mut self.answers)?.ok_or_else(left)
    }
}

impl Connection {
    /// Reach the server there, and hear that it is one of statements.
    pub fn to(path: &Path) -> Result<Self> {
        let connection = Self { path: path.to_owned(), home: Home::default() };
        connection.place()?;
        Ok(connection)
    }

    /// As [`Database::query`](crate::database::Database::query).
    pub fn query(&self, text: &str) -> Result<Rows> {
        let mut link = self.ask(Frame::Query, text.as_bytes())?;
        let (frame, bytes) = link.answer().map_err(|error| self.lost(&error))?;
        match frame {
            Frame::Failed => {
                self.put(link);
                Err(message::failed(&bytes))
            }
            Frame::Form => {
                let layout = message::layout(&bytes).map_err(|error| self.lost(&error))?;
                let (path, home) = (self.path.clone(), Arc::clone(&self.home));
                let (mut link, form) = (Some(link), layout.clone());
                Ok(Rows::received(layout, Box::new(move || next(&mut link, &form, &home, &path))))
            }
            _ => Err(self.lost(&message::nonsense())),
        }
    }

    /// As [`Database::execute`](crate::database::Database::execute).
    pub fn execute(&self, text: &str) -> Result<Option<u64>> {
        let mut link = self.ask(Frame::Execute, text.as_bytes())?;
        let (frame, bytes) = link.answer().map_err(|error| self.lost(&error))?;
        self.put(link);
        match frame {
            Frame::Failed => Err(message::failed(&bytes)),
            Frame::End => Ok(bytes.first_chunk().map(|count| u64::from_le_bytes(*count))),
            _ => Err(self.lost(&message::nonsense())),
        }
    }

    /// The process and the thread in which it executes, as the kernel names them: `17/task/18`.
    pub fn place(&self) -> Result<String> {
        self.request("place", "")
    }

    /// Ask the server by name, about a text.
    pub fn request(&self, name: &str, text: &str) -> Result<String> {
        let mut link = self.ask(Frame::Report, format!("{name}\0{text}").as_bytes())?;
        let (frame, bytes) = link.answer().map_err(|error| self.lost(&error))?;
        self.put(link);
        match frame {
            Frame::Failed => Err(message::failed(&bytes)),
            Frame::Reported => {
                String::from_utf8(bytes).map_err(|_| self.lost(&message::nonsense()))
            }
            _ => Err(self.lost(&message::nonsense())),
        }
    }

    fn ask(&self, frame: Frame, text: &[u8]) -> Result<Link> {
        let waiting = self.home.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut link =
            waiting.map_or_else(|| self.dial(), Ok).map_err(|error| self.lost(&error))?;
        match link.ask(frame, text) {
            Ok(()) => Ok(link),
            // A server that turns a client away says so and hangs up: that may be there to be read
            // although nothing can be sent any more.
            Err(error) => Err(match link.answer() {
                Ok((Frame::Failed, bytes)) => message::failed(&bytes),
                _ => self.lost(&error),
            }),
        }
    }

    fn dial(&self) -> io::Result<Link> {
        let stream = UnixStream::connect(&self.path)?;
        let answers = BufReader::with_capacity(64 << 10, stream.try_clone()?);
        Ok(Link { answers, asks: BufWriter::new(stream) })
    }

    fn put(&self, link: Link) {
        put(&self.home, link);
    }

    fn lost(&self, error: &io::Error) -> QueryError {
        lost(&self.path, error)
    }
}

fn put(home: &Home, link: Link) {
    *home.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
}

#[cold]
fn lost(path: &Path, error: &io::Error) -> QueryError {
    let what = format!(
        "the server of statements at {} does not answer ({error}): start it (`loadstone lode serve \
         --statements`), or name its place",
        path.display()
    );
    QueryError::Served { what }
}

/// An answer ends before its rows do.
#[cold]
fn cut(path: &Path, error: &io::Error) -> QueryError {
    let what = format!(
        "the server of statements at {} ended in the middle of its rows ({error}): it has stopped, \
         or the rows were not taken for a minute, after which their locks are given up; run the \
         statement again, and take its rows as they come",
        path.display()
    );
    QueryError::Served { what }
}

/// The next tuples of an answer; a stream whose answer is whole waits for the next statement.
fn next(
    link: &mut Option<Link>,
    form: &Layout,
    home: &Home,
    path: &Path,
) -> Result<Option<Vec<u8>>> {
    let Some(mut waiting) = link.take() else { return Ok(None) };
    let (frame, bytes) = waiting.answer().map_err(|error| cut(path, &error))?;
    match frame {
        Frame::Tuples => {
            message::check_tuples(form, &bytes).map_err(|error| lost(path, &error))?;
            *link = Some(waiting);
            Ok(Some(bytes))
        }
        Frame::End => {
            put(home, waiting);
            Ok(None)
        }
        Frame::Failed => {
            put(home, waiting);
            Err(message::failed(&bytes))
        }
        _ => Err(lost(path, &message::nonsense())),
    }
}
