//! The loops.

use std::thread;

use loadstone_measure::clock::now_ns;
use loadstone_measure::tally::Tally;
use loadstone_measure::work::{Meter, Work};

use super::Session;
use crate::pacing::{self, Begin, Pacing, Queue};

/// A statement that a user asks for.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The text.
    pub text: String,
    /// How many rows its answer has.
    pub rows: u64,
}

/// The result of serving concurrent users.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// From the begin of all to the last answer, or to the end of the time if that is later.
    pub elapsed_ns: u64,
    /// The requests that were answered.
    pub tally: Tally,
    /// Those that failed.
    pub failed: u64,
    /// Why the first of them did.
    pub reason: String,
    /// How many rows the first wrong answer had, and should have had. Its user asked no more.
    pub wrong: Option<(u64, u64)>,
    /// The cost of the statements.
    pub work: Work,
}

/// One user's part of it.
#[derive(Default)]
struct Own {
    tally: Tally,
    failed: u64,
    reason: String,
    wrong: Option<(u64, u64)>,
    ended_ns: u64,
}

/// Let users loose, each on its session, on which it has asked each statement once: the first
/// begins with the first statement, the second with the second, and so on, and each goes round.
/// `lasting_ns` is the time that a closed loop is to take, and in which an open one's requests are
/// due.
pub fn run(
    sessions: Vec<Box<dyn Session>>,
    statements: &[Statement],
    pacing: &Pacing,
    lasting_ns: u64,
    meter: &Meter,
) -> Asked {
    let start = Begin::of(sessions.len() + 1);
    let queue = Queue::new(pacing, &start);
    let mut asked = Asked::default();
    let mut ended_ns = 0;
    let begun = thread::scope(|scope| {
        let (start, queue) = (&start, &queue);
        let users = sessions.into_iter().enumerate().map(|(number, mut session)| {
            scope.spawn(move || {
                // Caches are filled; whatever becomes of it, it becomes of it again.
                for each in statements {
                    _ = session.ask(&each.text);
                }
                start.together();
                user(session.as_mut(), statements, number, queue)
            })
        });
        let users = users.collect::<Vec<_>>();
        start.together();
        let begun = meter.begin();
        for thread in users {
            let own = thread.join().unwrap_or_else(|_| Own {
                failed: 1,
                reason: "a user's thread panicked; this is a bug".to_owned(),
                ..Own::default()
            });
            asked.tally.merge(&own.tally);
            asked.failed += own.failed;
            if asked.reason.is_empty() {
                asked.reason = own.reason;
            }
            asked.wrong = asked.wrong.or(own.wrong);
            ended_ns = ended_ns.max(own.ended_ns);
        }
        begun
    });
    let begun_ns = start.begun_ns();
    asked.elapsed_ns = ended_ns.max(begun_ns + lasting_ns) - begun_ns;
    asked.work = begun.end();
    asked
}

fn user(
    session: &mut dyn Session,
    statements: &[Statement],
    first: usize,
    queue: &Queue<'_>,
) -> Own {
    let (mut own, mut has_asked) = (Own::default(), false);
    for statement in statements.iter().cycle().skip(first % statements.len().max(1)) {
        let due_ns = match queue.due_ns(&mut own.tally) {
            Some(due_ns) => due_ns,
            // However late its thread begins, a user of a closed loop asks once.
            None if !has_asked && queue.is_closed() => now_ns(),
            None => break,
        };
        has_asked = true;
        let started_ns = now_ns();
        match session.ask(&statement.text) {
            Ok(rows) => {
                pacing::add(&mut own.tally, due_ns, started_ns);
                own.ended_ns = now_ns();
                if rows != statement.rows {
                    own.wrong = Some((rows, statement.rows));
                    break;
                }
            }
            Err(error) => {
                own.failed += 1;
                if own.reason.is_empty() {
                    own.reason = error.to_string();
                }
            }
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ClientError;

    const LASTING_NS: u64 = 2_000_000;

    /// Answers `rows N` with N rows, and anything else with an error.
    struct Counting;

    impl Session for Counting {
        fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
            let rows = statement.strip_prefix("rows ").and_then(|rows| rows.parse().ok());
            rows.ok_or_else(|| ClientError::engine("counting", "answering", "no rows"))
        }
    }

    fn asked(texts: &[(&str, u64)], users: usize, pacing: &Pacing) -> Asked {
        let sessions = (0..users).map(|_| Box::new(Counting) as Box<dyn Session>).collect();
        let statements: Vec<_> = texts
            .iter()
            .map(|(text, rows)| Statement { text: (*text).to_owned(), rows: *rows })
            .collect();
        run(sessions, &statements, pacing, LASTING_NS, &Meter::new(Vec::new()))
    }

    #[test]
    fn users_ask_until_the_time_is_over() {
        let found =
            asked(&[("rows 1", 1), ("rows 2", 2)], 3, &Pacing::Closed { duration_ns: LASTING_NS });
        assert!(found.tally.completed() >= 3);
        assert!(found.elapsed_ns >= LASTING_NS);
        assert_eq!((found.failed, found.wrong), (0, None));
    }

    #[test]
    fn each_request_that_is_due_is_asked_by_one_of_them() {
        let starts_ns: Vec<u64> = (0..20).map(|at| at * 1_000).collect();
        let pacing = Pacing::Open { starts_ns, duration_ns: 60_000_000_000 };
        assert_eq!(asked(&[("rows 1", 1)], 3, &pacing).tally.completed(), 20);
    }

    #[test]
    fn a_wrong_answer_ends_its_user_and_an_error_is_counted() {
        let closed = Pacing::Closed { duration_ns: LASTING_NS };
        assert_eq!(asked(&[("rows 2", 1)], 1, &closed).wrong, Some((2, 1)));
        let found = asked(&[("no", 1)], 1, &closed);
        assert!(found.failed > 0 && found.reason.contains("no rows"), "{}", found.reason);
        assert_eq!(found.tally.completed(), 0);
    }

    #[test]
    fn users_begin_with_different_statements() {
        let starts_ns = vec![0, 0];
        let pacing = Pacing::Open { starts_ns, duration_ns: 60_000_000_000 };
        let found = asked(&[("rows 1", 1), ("rows 1", 9)], 2, &pacing);
        assert_eq!((found.tally.completed(), found.wrong), (2, Some((1, 9))));
    }
}
