//! `executors [ROWS [ROUNDS]]`: what a row costs with each executor, and from how many rows on
//! compiling a query pays.
//!
//! Loads tenktup1 of the scaled Wisconsin benchmark with ROWS rows (1,000,000) and with a
//! thousandth of them, and bprime, all in memory. Each text is run ROUNDS (9) times with each
//! executor, alternating; printed are medians. `ns/row` is the slope between the two sizes, of a
//! statement that was run before. `first` and `again` are the times of the small size in us, with
//! a statement that is new and with one that was run before: only a new one is compiled, in the
//! time of the next column. The last columns are the rows at which a new statement is as fast
//! compiled as otherwise: what it costs more at the beginning by what it saves on each row.

mod wisconsin;

use std::env;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use loadstone_measure::clock::now_ns;
use lode_query::database::{Database, Outcome as Answer, Statement};
use lode_query::tactics::Tactics;

use self::wisconsin::{Outcome, loaded};

const ROWS_DEFAULT: u64 = 1_000_000;
const ROUNDS_DEFAULT: usize = 9;
const EXECUTORS: [&str; 4] = ["vectorised", "closures", "interpreted", "compiled"];
const COMPILED: usize = 3;

/// Name and text; `{n}` is the number of rows by a hundred.
const TEXTS: [(&str, &str); 8] = [
    ("count", "retrieve (x = count(t.two))"),
    ("select 1 %", "retrieve (x = count(t.two where t.unique1 < {n}))"),
    ("select 50 %", "retrieve (x = count(t.two where t.two = 0))"),
    ("rows of 1 %", "retrieve (t.all) where t.unique1 < {n}"),
    ("min", "retrieve (x = min(t.unique2))"),
    ("min by 100", "retrieve (x = min(t.unique3 by t.onepercent))"),
    ("sum of 5 terms", "retrieve (x = sum((t.unique1 - t.ten) * 2 + t.unique2 mod 7 - t.four))"),
    ("join with bprime", "retrieve (x = count(t.two where t.unique2 = b.unique2))"),
];

/// One executor's times for one text.
#[expect(clippy::struct_field_names, reason = "the unit stands in each name")]
#[derive(Clone, Copy, Default)]
struct Times {
    first_ns: f64,
    again_ns: f64,
    per_row_ns: f64,
    compile_ns: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(stderr(), "executors: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let rows = arguments.first().map_or(Ok(ROWS_DEFAULT), |rows| rows.parse())?;
    let rounds = arguments.get(1).map_or(Ok(ROUNDS_DEFAULT), |rounds| rounds.parse())?;
    let few = (rows / 1000).max(100);
    let (mut small, mut large) = (database(few)?, database(rows)?);
    writeln!(
        stdout(),
        "{:<18}{:<13}{:>8}{:>10}{:>10}{:>12}{:>15}",
        "text",
        "execution",
        "ns/row",
        "first",
        "again",
        "compile us",
        "compiled pays"
    )?;
    for (name, text) in TEXTS {
        let mut all = [Times::default(); EXECUTORS.len()];
        let (mut first, mut again, mut slope) = (samples(), samples(), samples());
        let mut compile = samples();
        for _ in 0..rounds {
            for at in 0..EXECUTORS.len() {
                (small, large) = (with(small, at)?, with(large, at)?);
                let statement = Statement::new(&text_for(text, few))?;
                first[at].push(elapsed(&small, &statement)?);
                compile[at].push(small.work()?.compile_ns as f64);
                let least = elapsed(&small, &statement)?;
                again[at].push(least);
                let statement = Statement::new(&text_for(text, rows))?;
                elapsed(&large, &statement)?;
                let most = elapsed(&large, &statement)?;
                slope[at].push((most - least) / (rows - few) as f64);
            }
        }
        for (at, times) in all.iter_mut().enumerate() {
            *times = Times {
                first_ns: median(&mut first[at]),
                again_ns: median(&mut again[at]),
                per_row_ns: median(&mut slope[at]),
                compile_ns: median(&mut compile[at]),
            };
        }
        print(name, &all, few)?;
    }
    Ok(())
}

fn samples() -> [Vec<f64>; EXECUTORS.len()] {
    Default::default()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print(name: &str, all: &[Times; EXECUTORS.len()], few: u64) -> Outcome<()> {
    let compiled = all[COMPILED];
    for (execution, times) in EXECUTORS.iter().zip(all) {
        let saved_ns = times.per_row_ns - compiled.per_row_ns;
        // At the small size both have done that many rows already.
        let begun_ns = compiled.first_ns - times.first_ns + saved_ns * few as f64;
        let pays = match () {
            () if *execution == EXECUTORS[COMPILED] => String::new(),
            () if begun_ns <= 0.0 => "at once".to_owned(),
            () if saved_ns <= 0.0 => "never".to_owned(),
            () => format!("{:.0} rows", begun_ns / saved_ns),
        };
        writeln!(
            stdout(),
            "{name:<18}{execution:<13}{:>8.2}{:>10.0}{:>10.0}{:>12.0}{pays:>15}",
            times.per_row_ns,
            times.first_ns / 1e3,
            times.again_ns / 1e3,
            times.compile_ns / 1e3,
        )?;
    }
    Ok(())
}

fn text_for(text: &str, rows: u64) -> String {
    let text = text.replace("{n}", &(rows / 100).to_string());
    format!("range of t is tenktup1 range of b is bprime {text}")
}

/// The time of a statement, its rows taken.
fn elapsed(database: &Database, statement: &Statement) -> Outcome<f64> {
    let started = now_ns();
    let Answer::Rows(mut rows) = database.run(statement, &[])? else {
        return Err("a text that retrieves gives rows".into());
    };
    while let Some(tuples) = rows.next_tuples()? {
        std::hint::black_box(tuples);
    }
    Ok((now_ns() - started) as f64)
}

/// The relations, in memory.
fn database(rows: u64) -> Outcome<Database> {
    let cache = (rows * 300 + (32 << 20)).to_string();
    let tactics = Tactics::of([("cache", cache.as_str())])?;
    loaded(&tactics, rows)
}

/// The same with another executor, and without work done.
fn with(database: Database, executor: usize) -> Outcome<Database> {
    let tactics = Tactics::of([("execution", EXECUTORS[executor])])?;
    Ok(Database::over(database.into_storage(), &tactics))
}
