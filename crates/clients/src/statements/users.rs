//! The loops.

use std::thread;

use loadstone_measure::clock::now_ns;
use loadstone_measure::tally::Tally;
use loadstone_measure::timeline::{Interval, Own as OwnTime, Timeline};
use loadstone_measure::work::{Meter, Work};

use super::Session;
use super::drawing::{Drawing, Drawn, Shape};
use crate::error::ClientError;
use crate::pacing::{self, Begin, Pacing, Queue};

/// A user's request at a time: one statement, or a script of several, one after another.
#[derive(Debug, Clone)]
pub struct Request {
    /// The texts, in order. Where one fails, the transaction that is open is rolled back.
    pub texts: Vec<String>,
    /// The number of rows that their answers have together; `None` where others may change that
    /// meanwhile, or where it changes data: then it is asked neither for practice nor to be
    /// checked.
    pub rows: Option<u64>,
}

impl Request {
    /// One statement with so many rows.
    #[cfg(test)]
    fn of(text: &str, rows: u64) -> Self {
        Self { texts: vec![text.to_owned()], rows: Some(rows) }
    }

    fn ask(&self, session: &mut dyn Session) -> Result<u64, ClientError> {
        each(session, &self.texts, |session, text| session.ask(text))
    }
}

/// The rows of some texts together; where one fails, the transaction is rolled back.
fn each<T>(
    session: &mut dyn Session,
    texts: &[T],
    ask: impl Fn(&mut dyn Session, &T) -> Result<u64, ClientError>,
) -> Result<u64, ClientError> {
    let mut rows = 0;
    for text in texts {
        match ask(session, text) {
            Ok(more) => rows += more,
            Err(error) => {
                if texts.len() > 1 {
                    // Where it has ended already, there is nothing to roll back.
                    _ = session.ask("ROLLBACK");
                }
                return Err(error);
            }
        }
    }
    Ok(rows)
}

/// The requests of users.
pub struct Requests {
    /// The first ones, whose answers are known.
    pub known: Vec<Request>,
    /// Those after them; without it, users go round the known ones.
    pub drawing: Option<Drawing>,
}

impl Requests {
    /// The known ones, again and again.
    #[cfg(test)]
    const fn round(known: Vec<Request>) -> Self {
        Self { known, drawing: None }
    }
}

/// A user keeps the number of rows of at most so many drawn requests, to be asked again alone.
const KEPT_MAX: usize = 64;
/// A user keeps its first drawn request, and then one of so many.
const KEPT_EACH: u64 = 97;

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
    /// The number of rows that the first wrong answer had, and should have had. Its user asked no
    /// more.
    pub wrong: Option<(u64, u64)>,
    /// The cost of the statements.
    pub work: Work,
    /// The same over time.
    pub intervals: Vec<Interval>,
    /// Answers whose number of rows was compared.
    pub compared: u64,
    /// The number and the rows of some of the requests that were drawn.
    pub kept: Vec<(u64, u64)>,
}

/// One user's part of it.
#[derive(Default)]
struct Own {
    tally: Tally,
    failed: u64,
    reason: String,
    wrong: Option<(u64, u64)>,
    ended_ns: u64,
    compared: u64,
    kept: Vec<(u64, u64)>,
}

/// Let users loose, each on its session, on which it has requested each known answer once: the
/// first begins with the first request, the second with the second, and so on, and each goes round.
/// Where requests are drawn, those of user u of U have the numbers u, u + U, u + 2 U and so on.
/// `lasting_ns` is the time that a closed loop is to take, and in which an open one's requests are
/// due; `interval_ns` the length of the intervals of its figures over time.
pub fn run(
    sessions: Vec<Box<dyn Session>>,
    requests: &Requests,
    pacing: &Pacing,
    lasting_ns: u64,
    interval_ns: u64,
    meter: &Meter,
) -> Asked {
    let start = Begin::of(sessions.len() + 1);
    let queue = Queue::new(pacing, &start);
    let timeline = Timeline::new(interval_ns);
    let count = sessions.len() as u64;
    let mut asked = Asked::default();
    let mut ended_ns = 0;
    thread::scope(|scope| {
        let (start, queue, timeline) = (&start, &queue, &timeline);
        let users = sessions.into_iter().enumerate().map(|(number, mut session)| {
            scope.spawn(move || {
                // Caches are filled; whatever becomes of it, it becomes of it again.
                for each in requests.known.iter().filter(|each| each.rows.is_some()) {
                    _ = each.ask(session.as_mut());
                }
                start.together();
                let place = Place { number: number as u64, count, begun_ns: start.begun_ns() };
                user(session.as_mut(), requests, &place, queue, timeline.own())
            })
        });
        let users = users.collect::<Vec<_>>();
        start.together();
        let begun = meter.begin();
        let ended: Vec<_> = users.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // Before the tallies are put together, which takes milliseconds for each user.
        asked.work = begun.end();
        for own in ended {
            let own = own.unwrap_or_else(|_| Own {
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
            asked.compared += own.compared;
            asked.kept.extend(own.kept);
            ended_ns = ended_ns.max(own.ended_ns);
        }
    });
    let begun_ns = start.begun_ns();
    asked.elapsed_ns = ended_ns.max(begun_ns + lasting_ns) - begun_ns;
    asked.intervals = timeline.intervals();
    asked
}

/// A user among all of them.
struct Place {
    number: u64,
    count: u64,
    begun_ns: u64,
}

/// A request of a user's: one that is known, or one that was drawn.
enum Next<'a> {
    Known(&'a Request),
    Drawn(u64, &'a Shape),
}

impl Requests {
    /// The request of that number, with its literals in `drawn`. A drawn one may have no value.
    fn next(&self, number: u64, drawn: &mut Drawn) -> Result<Next<'_>, ClientError> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match &self.drawing {
            Some(drawing) if at >= self.known.len() => {
                let request = drawing.request(number, drawn);
                let next = request.map(|shape| Next::Drawn(number, shape));
                next.map_err(|error| ClientError::engine("the client", "drawing a value", error))
            }
            _ => Ok(Next::Known(&self.known[at % self.known.len().max(1)])),
        }
    }
}

fn user(
    session: &mut dyn Session,
    requests: &Requests,
    place: &Place,
    queue: &Queue<'_>,
    mut time: OwnTime<'_>,
) -> Own {
    let (mut own, mut has_asked) = (Own::default(), false);
    let step = if requests.drawing.is_some() { place.count } else { 1 };
    let mut drawn = Drawn::default();
    for done in 0.. {
        let due_ns = match queue.due_ns(&mut own.tally) {
            Some(due_ns) => due_ns,
            // However late its thread begins, a user of a closed loop asks once.
            None if !has_asked && queue.is_closed() => now_ns(),
            None => break,
        };
        has_asked = true;
        let next = requests.next(place.number + done * step, &mut drawn);
        let started_ns = now_ns();
        let answered = match &next {
            Ok(Next::Known(request)) => request.ask(session),
            Ok(Next::Drawn(_, shape)) => {
                let literals = drawn.literals();
                each(session, &shape.texts, |session, text| session.ask_with(text, literals))
            }
            Err(error) => Err(error.clone()),
        };
        match answered {
            Ok(rows) => {
                own.ended_ns = now_ns();
                pacing::add_ended(&mut own.tally, due_ns, started_ns, own.ended_ns);
                // Of a closed loop nothing is due before it begins.
                let from_ns = if queue.is_closed() { started_ns } else { due_ns.min(started_ns) };
                time.add(own.ended_ns - place.begun_ns, own.ended_ns - from_ns);
                if !own.compare(&next, rows) {
                    break;
                }
            }
            Err(error) => {
                time.fail(now_ns() - place.begun_ns);
                own.failed += 1;
                if own.reason.is_empty() {
                    own.reason = error.to_string();
                }
            }
        }
    }
    own
}

impl Own {
    /// Whether the number of rows is right, as far as it is known.
    fn compare(&mut self, next: &Result<Next<'_>, ClientError>, rows: u64) -> bool {
        match next {
            Ok(Next::Known(request)) => {
                self.compared += u64::from(request.rows.is_some());
                self.wrong =
                    request.rows.filter(|expected| *expected != rows).map(|right| (rows, right));
                self.wrong.is_none()
            }
            Ok(Next::Drawn(number, ..)) => {
                if self.kept.len() < KEPT_MAX && (self.kept.is_empty() || number % KEPT_EACH == 0) {
                    self.kept.push((*number, rows));
                }
                true
            }
            Err(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::{Draw, Template};
    use super::*;

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
        let known = texts.iter().map(|(text, rows)| Request::of(text, *rows)).collect();
        let requests = Requests::round(known);
        run(sessions, &requests, pacing, LASTING_NS, 1_000, &Meter::new(Vec::new()))
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

    /// Keeps what it is asked.
    struct Listening(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

    impl Session for Listening {
        fn ask(&mut self, statement: &str) -> Result<u64, ClientError> {
            self.0.lock().unwrap().push(statement.to_owned());
            Counting.ask(statement)
        }
    }

    #[test]
    fn a_script_is_asked_for_in_order_once_and_rolled_back_where_it_fails() {
        let heard = std::sync::Arc::default();
        let session = Box::new(Listening(std::sync::Arc::clone(&heard)));
        let pacing = Pacing::Open { starts_ns: vec![0], duration_ns: 60_000_000_000 };
        let texts = ["rows 1", "no", "rows 2"].map(str::to_owned).to_vec();
        let script = Request { texts, rows: None };
        let script = Requests::round(vec![script]);
        let found = run(vec![session], &script, &pacing, 0, 1, &Meter::new(Vec::new()));
        assert_eq!((found.failed, found.tally.completed()), (1, 0));
        assert_eq!(*heard.lock().unwrap(), ["rows 1", "no", "ROLLBACK"]);
    }

    #[test]
    fn the_rows_of_a_script_are_those_of_all_its_statements() {
        let texts = ["rows 1", "rows 2"].map(str::to_owned).to_vec();
        let pacing = Pacing::Open { starts_ns: vec![0], duration_ns: 60_000_000_000 };
        let asked = |rows| {
            let script = Request { texts: texts.clone(), rows };
            let script = Requests::round(vec![script]);
            run(vec![Box::new(Counting)], &script, &pacing, 0, 1, &Meter::new(Vec::new())).wrong
        };
        assert_eq!(asked(Some(3)), None);
        assert_eq!(asked(Some(2)), Some((3, 2)));
        assert_eq!(asked(None), None);
    }

    #[test]
    fn users_begin_with_different_statements() {
        let starts_ns = vec![0, 0];
        let pacing = Pacing::Open { starts_ns, duration_ns: 60_000_000_000 };
        let found = asked(&[("rows 1", 1), ("rows 1", 9)], 2, &pacing);
        assert_eq!((found.tally.completed(), found.wrong), (2, Some((1, 9))));
    }

    #[test]
    fn what_is_drawn_follows_the_known_requests_and_no_two_users_draw_the_same() {
        let heard = std::sync::Arc::<std::sync::Mutex<Vec<String>>>::default();
        // No number of a drawn request: they are less than a hundred.
        let known = "rows 1000";
        let text = Template::new(vec!["rows ".to_owned(), String::new()], vec![0]).unwrap();
        let shape = Shape {
            weight: 1,
            draws: vec![Draw::Sequence { first: 0, step: 1 }],
            literals: vec![Vec::new()],
            texts: vec![text],
        };
        let drawing = Drawing::new(1, vec![shape]);
        let requests = Requests { known: vec![Request::of(known, 1_000)], drawing };
        let sessions = (0..2)
            .map(|_| Box::new(Listening(std::sync::Arc::clone(&heard))) as Box<dyn Session>)
            .collect();
        let starts_ns = vec![0; 20];
        let pacing = Pacing::Open { starts_ns, duration_ns: 60_000_000_000 };
        let found = run(sessions, &requests, &pacing, 0, 1 << 40, &Meter::new(Vec::new()));
        let heard = heard.lock().unwrap();
        let drawn: std::collections::HashSet<_> =
            heard.iter().filter(|text| *text != known).collect();
        // Two are practice, and one at most is the known one.
        assert!(drawn.len() >= heard.len() - 3 && heard.len() == 22, "{heard:?}");
        assert!(found.compared <= 1 && found.tally.completed() == 20);
        assert!(found.kept.iter().all(|(number, rows)| number == rows) && !found.kept.is_empty());
        let counted: u64 = found.intervals.iter().map(|interval| interval.completed).sum();
        assert_eq!(counted, 20);
    }
}
