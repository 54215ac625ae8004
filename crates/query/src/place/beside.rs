//! A thread that executes statements for another.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::requests::here;
use crate::database::{Database, Outcome, Rows};
use crate::error::{QueryError, Result};

/// A request to the thread.
enum Asked {
    Query(String),
    Execute(String),
    Place,
}

/// The thread's answer.
enum Answer {
    Outcome(Outcome),
    Place(String),
}

/// A thread that waits for statements and executes each where it is, with the same database and the
/// same caches; what goes over is a pointer. Both sides sleep until they are woken.
pub struct Beside {
    /// One statement at a time.
    way: Mutex<Way>,
    thread: Option<JoinHandle<()>>,
}

struct Way {
    /// None once the thread is to end.
    asks: Option<Sender<Asked>>,
    answers: Receiver<Result<Answer>>,
}

impl Beside {
    /// Start the thread, which has a share of the database until it is dropped.
    pub fn start(database: Arc<Database>) -> Result<Self> {
        let (asks, asked) = channel::<Asked>();
        let (answer, answers) = channel();
        let work = move || {
            while let Ok(asked) = asked.recv() {
                let answered = match asked {
                    Asked::Query(text) => database.query(&text, &[]).map(Outcome::Rows),
                    Asked::Execute(text) => database.execute(&text, &[]).map(Outcome::Changed),
                    Asked::Place => {
                        _ = answer.send(here().map(Answer::Place));
                        continue;
                    }
                };
                _ = answer.send(answered.map(Answer::Outcome));
            }
        };
        let thread = std::thread::Builder::new().name("lode statements".to_owned()).spawn(work);
        let thread = thread.map_err(|error| QueryError::Input {
            what: format!("there is no thread to execute statements: {error}"),
        })?;
        let way = Mutex::new(Way { asks: Some(asks), answers });
        Ok(Self { way, thread: Some(thread) })
    }

    /// As [`Database::query`].
    pub fn query(&self, text: &str) -> Result<Rows> {
        match self.ask(Asked::Query(text.to_owned()))? {
            Answer::Outcome(Outcome::Rows(rows)) => Ok(rows),
            _ => unreachable!("rows were requested"),
        }
    }

    /// As [`Database::execute`].
    pub fn execute(&self, text: &str) -> Result<Option<u64>> {
        match self.ask(Asked::Execute(text.to_owned()))? {
            Answer::Outcome(Outcome::Changed(tuples)) => Ok(tuples),
            _ => unreachable!("no rows were requested"),
        }
    }

    /// The process and the thread in which it executes, as the kernel names them: `17/task/18`.
    pub fn place(&self) -> Result<String> {
        match self.ask(Asked::Place)? {
            Answer::Place(place) => Ok(place),
            Answer::Outcome(_) => unreachable!("its place was requested"),
        }
    }

    fn ask(&self, asked: Asked) -> Result<Answer> {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        let asks = way.asks.as_ref().expect("it is taken when this is dropped");
        let answer = asks.send(asked).ok().and_then(|()| way.answers.recv().ok());
        answer.unwrap_or_else(|| {
            let what = "the thread that executes statements has ended; this is a bug".to_owned();
            Err(QueryError::Input { what })
        })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.way.get_mut().unwrap_or_else(PoisonError::into_inner).asks = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
