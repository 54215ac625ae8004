//! A process that executes the statements of others, which reach it through a Unix socket.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use lode::LodeError;
use lode::internals::door::{self, CONNECTIONS_MAX, Door};
use lode::internals::wire;
use lode::server::{Address, Listener, Stream};

use super::message::{self, FRAME_BYTES_MAX, Frame};
use super::patience::Patient;
use super::requests::answer;
use crate::database::{Database, Outcome, Rows};
use crate::error::{QueryError, Result};

/// An answer that is no longer goes into one message.
const MESSAGE_BYTES: usize = 64 << 10;

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub connections_max: usize,
    /// A client that has connected asks something within this time; else it is no client of ours.
    pub hello: Duration,
    /// A frame that has begun ends within this time, whichever side sends it: the statement of a
    /// client that does not read its rows would keep its locks. Between statements a client is
    /// silent for as long as it likes.
    pub frame: Duration,
}

pub(super) const LIMITS: Limits = Limits {
    connections_max: CONNECTIONS_MAX,
    hello: Duration::from_secs(10),
    frame: Duration::from_mins(1),
};

/// A server at work, each of whose connections is a thread.
pub struct Server {
    door: Arc<Door>,
    accepting: Option<JoinHandle<Result<(), LodeError>>>,
}

impl Server {
    /// Listen there. A socket's file that a killed server left is replaced.
    ///
    /// # Errors
    ///
    /// [`QueryError::Lode`] where another listens, where a file of another kind is, and with what
    /// the system says.
    pub fn start(database: Arc<Database>, path: &Path) -> Result<Self> {
        Self::start_within(database, path, LIMITS)
    }

    /// Listen there, within these limits.
    pub(super) fn start_within(
        database: Arc<Database>,
        path: &Path,
        limits: Limits,
    ) -> Result<Self> {
        let listener = Listener::bind(&Address::Unix(path.to_owned()))?;
        let door = Arc::new(Door::new(listener, limits.connections_max, refusal));
        let serve = move |stream: &Arc<Stream>| {
            let caller = database.caller();
            // A client that leaves in the middle wants no error, and nothing of its statement.
            door::watched(stream, || caller.leave(), || _ = serve(&database, stream, limits));
        };
        let let_in = {
            let door = Arc::clone(&door);
            move || door.let_in(serve)
        };
        let thread = std::thread::Builder::new().name("lode accept".to_owned()).spawn(let_in);
        let accepting = Some(thread.map_err(|source| LodeError::io("starting to serve", source))?);
        Ok(Self { door, accepting })
    }
}

impl Drop for Server {
    /// End the statements that run, and send all clients away.
    fn drop(&mut self) {
        self.door.close();
        if let Some(thread) = self.accepting.take() {
            _ = thread.join();
        }
    }
}

/// Words for a client that is not served.
fn refusal(what: &str) -> Vec<u8> {
    let what = format!("the server of statements {what}");
    let mut frame = Vec::new();
    message::send(&mut frame, Frame::Failed, &message::failure(&QueryError::Served { what }))
        .expect("a refusal is a short frame, and memory takes all");
    frame
}

/// Report a client that wants pages, in its own language, that here are none.
fn refuse_pages(mut stream: &Stream) -> io::Result<()> {
    let what = "executes statements and gives no pages: ask it by `Connection` in place of \
                `connect`, or have pages served (`loadstone lode serve` without `--statements`)";
    let mut frame = Vec::new();
    wire::Reply::Refused(wire::Refusal::other(what.to_owned())).encode(&mut frame);
    stream.write_all(&frame)
}

/// Answer one client until it leaves.
fn serve(database: &Database, stream: &Stream, limits: Limits) -> io::Result<()> {
    let mut asked = BufReader::new(Patient::over(stream));
    let mut answers = Answers::over(stream, limits.frame);
    asked.get_mut().expect_within(limits.hello);
    if wire::is_hello(asked.fill_buf()?) {
        return refuse_pages(stream);
    }
    while !asked.fill_buf()?.is_empty() {
        asked.get_mut().expect_within(limits.frame);
        let Some((frame, length)) = message::head(&mut asked)? else { break };
        let bytes_max = database.text_bytes_max().min(FRAME_BYTES_MAX.into());
        if u64::from(length) > bytes_max {
            message::skip(&mut asked, length)?;
            asked.get_mut().be_patient();
            answers.fail(&database.too_long(length.into()))?;
            answers.flush()?;
            continue;
        }
        let bytes = message::content(&mut asked, length)?;
        asked.get_mut().be_patient();
        let text = String::from_utf8(bytes).map_err(|_| message::nonsense())?;
        let outcome = match frame {
            Frame::Query => database.query(&text, &[]).map(Outcome::Rows),
            Frame::Execute => database.execute(&text, &[]).map(Outcome::Changed),
            Frame::Report => {
                let (name, text) = text.split_once('\0').ok_or_else(message::nonsense)?;
                match answer(database, name, text) {
                    Ok(answer) => answers.send(Frame::Reported, answer.as_bytes())?,
                    Err(error) => answers.fail(&error)?,
                }
                answers.flush()?;
                continue;
            }
            _ => return Err(message::nonsense()),
        };
        match outcome {
            Ok(Outcome::Rows(rows)) => answers.send_rows(rows)?,
            Ok(Outcome::Changed(tuples)) => {
                let count = tuples.map(u64::to_le_bytes);
                answers.send(Frame::End, count.as_ref().map_or(&[][..], |count| &count[..]))?;
            }
            Err(error) => answers.fail(&error)?,
        }
        answers.flush()?;
    }
    Ok(())
}

/// The way of answers to a client, each of whose frames it takes within a time.
struct Answers<'a> {
    stream: BufWriter<Patient<'a>>,
    patience: Duration,
}

impl<'a> Answers<'a> {
    fn over(stream: &'a Stream, patience: Duration) -> Self {
        Self { stream: BufWriter::with_capacity(MESSAGE_BYTES, Patient::over(stream)), patience }
    }

    fn send(&mut self, frame: Frame, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().expect_within(self.patience);
        message::send(&mut self.stream, frame, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }

    fn fail(&mut self, error: &QueryError) -> io::Result<()> {
        self.send(Frame::Failed, &message::failure(error))
    }

    fn send_rows(&mut self, mut rows: Rows) -> io::Result<()> {
        self.send(Frame::Form, &message::form(rows.layout()))?;
        loop {
            match rows.next_tuples() {
                Ok(Some(tuples)) => self.send(Frame::Tuples, &tuples)?,
                Ok(None) => return self.send(Frame::End, &[]),
                Err(error) => return self.fail(&error),
            }
        }
    }
}
