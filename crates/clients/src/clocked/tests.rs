//! The order of a driver's calls, and what becomes of an error at each.

use loadstone_measure::clock::now_ns;
use loadstone_measure::work::Meter;

use super::{Transactions, reading, within_transaction, writing};
use crate::error::ClientError;
use crate::outcome::Sent;

/// Keeps the calls that it gets, each one statement, and fails at one of them.
#[derive(Default)]
struct Recorder {
    calls: Vec<&'static str>,
    fails_at: Option<&'static str>,
}

impl Recorder {
    fn failing(fails_at: &'static str) -> Self {
        Self { fails_at: Some(fails_at), ..Self::default() }
    }

    /// Takes some time, as the clock sees it.
    fn call(&mut self, name: &'static str) -> Result<(), ClientError> {
        self.calls.push(name);
        let start_ns = now_ns();
        while now_ns() == start_ns {}
        if self.fails_at == Some(name) { Err(failure(name)) } else { Ok(()) }
    }
}

fn failure(doing: &'static str) -> ClientError {
    ClientError::engine("recorder", doing, "it was reported to")
}

impl Transactions for Recorder {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.call("begin")
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.call("end")
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.call("begin_write")
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.call("commit")
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.calls.push("rollback");
        Err(failure("rollback"))
    }

    fn sent(&self) -> Option<Sent> {
        Some(Sent { statements: self.calls.len() as u64, round_trips: None })
    }
}

fn body(recorder: &mut Recorder) -> Result<u32, ClientError> {
    recorder.call("body").map(|()| 7)
}

#[test]
fn a_reading_is_one_read_transaction_and_counts_what_it_sent() {
    let mut recorder = Recorder { calls: vec!["before"], fails_at: None };
    let (answer, outcome) = reading(&mut recorder, &Meter::default(), body).unwrap();
    assert_eq!(recorder.calls, ["before", "begin", "body", "end"]);
    assert_eq!((answer, outcome.commit_ns), (7, 0));
    assert_eq!(outcome.sent, Some(Sent { statements: 3, round_trips: None }));
}

#[test]
fn a_reading_that_fails_ends_its_transaction_and_reports_the_first_error() {
    for (at, calls) in [
        ("begin", &["begin"][..]),
        ("body", &["begin", "body", "end"]),
        ("end", &["begin", "body", "end"]),
    ] {
        let mut recorder = Recorder::failing(at);
        let error = reading(&mut recorder, &Meter::default(), body).unwrap_err();
        assert_eq!((error, &recorder.calls[..]), (failure(at), calls));
    }
}

#[test]
fn a_writing_is_one_transaction_whose_commit_is_part_of_the_time() {
    let mut recorder = Recorder::default();
    let (answer, outcome) = writing(&mut recorder, &Meter::default(), body).unwrap();
    assert_eq!(recorder.calls, ["begin_write", "body", "commit"]);
    assert_eq!(answer, 7);
    assert!(0 < outcome.commit_ns && outcome.commit_ns < outcome.elapsed_ns, "{outcome:?}");
    assert_eq!(outcome.sent, Some(Sent { statements: 3, round_trips: None }));
}

#[test]
fn a_writing_that_fails_is_rolled_back_and_reports_the_first_error() {
    for (at, calls) in [
        ("begin_write", &["begin_write", "rollback"][..]),
        ("body", &["begin_write", "body", "rollback"]),
        ("commit", &["begin_write", "body", "commit", "rollback"]),
    ] {
        let mut recorder = Recorder::failing(at);
        let error = writing(&mut recorder, &Meter::default(), body).unwrap_err();
        assert_eq!((error, &recorder.calls[..]), (failure(at), calls));
        let mut recorder = Recorder::failing(at);
        let error = within_transaction(&mut recorder, body).unwrap_err();
        assert_eq!((error, &recorder.calls[..]), (failure(at), calls));
    }
}

#[test]
fn an_untimed_write_is_one_transaction_too() {
    let mut recorder = Recorder::default();
    assert_eq!(within_transaction(&mut recorder, body), Ok(7));
    assert_eq!(recorder.calls, ["begin_write", "body", "commit"]);
}
