//! Statements of which each shows, in a relation of the same database and the same transaction, as
//! the how many-th it came: so that what is found afterwards, or read in between, can be held to
//! the oracle, which makes them again in that order.

use std::fmt::Write;

use loadstone_quel::{Answer, Oracle};
use lode_query::QueryError;
use lode_query::database::{Database, Outcome, Rows, Statement};
use lode_query::tuple::{Value, read};

use crate::outcome::answer_of;
use crate::random::Random;

/// The question asked while others change it: the number of statements so far, and what they left.
pub const QUESTION: &str = "range of a is accounts range of j is journal
    retrieve (n = count(j.n), tuples = count(a.k), total = sum(a.v), most = max(a.v),
        ones = count(a.k where a.k < 5), distinct = countu(a.t))";

/// The relations before the first statement.
pub fn setup(structure: &str) -> String {
    let mut text = "create accounts (k = i4, v = i8, t = c8, pad = c300)
        create journal (n = i4, what = i4)\n"
        .to_owned();
    for k in 0..30 {
        let (v, t) = (100 + k, k % 7);
        _ = writeln!(text, "append to accounts (k = {k}, v = {v}, t = \"t{t}\")");
    }
    match structure {
        "indexed" => text + "modify accounts to isam on k index on accounts is i (t)",
        "hash" => text + "modify accounts to hash on k index on accounts is i (v)",
        _ => text,
    }
}

/// The statement of a number, with its entry in the journal.
pub fn statement(number: u64) -> String {
    let mut random = Random::new(number);
    let (key, amount) = (random.below(34), random.below(50));
    let change = match random.below(8) {
        0 | 1 => format!("replace a (v = a.v + {amount}) where a.k = {key}"),
        2 => format!("replace a (v = a.v - {amount}, t = \"u{amount}\") where a.k < {}", key / 4),
        3 => format!("replace a (k = {}) where a.k = {key}", random.below(34)),
        4 => format!("append to accounts (k = {key}, v = max(a.v) + 1, t = \"n\")"),
        5 => format!("append to accounts (a.all) where a.k = {key} and count(a.k) < 60"),
        6 => format!("delete a where a.k = {key} and a.v < {}", 100 + 2 * amount),
        _ => format!(
            "replace a (v = b.v) where a.k = {key} and b.k = min(b.k) and b.v = min(b.v where \
             b.k = min(b.k))"
        ),
    };
    format!(
        "range of a is accounts range of b is accounts range of j is journal\n{change}\n\
         append to journal (n = count(j.n) + 1, what = {number})"
    )
}

/// The oracle's answer.
pub struct Expected {
    oracle: Oracle,
    setup: String,
}

impl Expected {
    /// After that beginning.
    pub fn after(setup: &str) -> Self {
        Self { oracle: Oracle::new(), setup: setup.to_owned() }
    }

    /// The answer to a question after these statements.
    pub fn answer(&self, numbers: &[u64], question: &str) -> Answer {
        let made: Vec<String> = numbers.iter().map(|&number| statement(number)).collect();
        let text = format!("{}\n{}\n{question}", self.setup, made.join("\n"));
        self.oracle.answer(&text).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// All tuples of a relation.
pub fn all_of(relation: &str) -> String {
    format!("range of t is {relation} retrieve (t.all)")
}

/// Ask until the answer is no victim of a deadlock.
pub fn ask(database: &Database, question: &str) -> Answer {
    until_done(|| answer_of(database.query(question, &[])?))
}

/// The numbers of the statements that are in the journal, in their order.
pub fn numbers(database: &Database) -> Vec<u64> {
    let integers = |mut rows: Rows| -> Result<Vec<(i64, i64)>, QueryError> {
        let (layout, mut pairs) = (rows.layout().clone(), Vec::new());
        while let Some(tuples) = rows.next_tuples()? {
            for tuple in tuples.chunks_exact(layout.bytes) {
                let of = |at: usize| match read(tuple, &layout.fields[at]) {
                    Value::Integer(value) => value,
                    other => panic!("{other:?} is no number"),
                };
                pairs.push((of(0), of(1)));
            }
        }
        Ok(pairs)
    };
    let mut pairs = until_done(|| integers(database.query(&all_of("journal"), &[])?));
    pairs.sort_unstable();
    let places: Vec<i64> = pairs.iter().map(|(n, _)| *n).collect();
    let expected: Vec<i64> = (1..=pairs.len() as i64).collect();
    assert_eq!(places, expected, "the statements had no order");
    pairs.into_iter().map(|(_, what)| what as u64).collect()
}

/// Run a statement until it is no victim of a deadlock.
pub fn run(database: &Database, text: &str) -> u64 {
    let statement = Statement::new(text).unwrap();
    until_done(|| match database.run(&statement, &[])? {
        Outcome::Changed(count) => Ok(count.unwrap_or(0)),
        Outcome::Rows(_) => panic!("it gives no rows"),
    })
}

fn until_done<T>(mut act: impl FnMut() -> Result<T, QueryError>) -> T {
    loop {
        match act() {
            Ok(done) => return done,
            Err(QueryError::Lode(lode::LodeError::Deadlock)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
