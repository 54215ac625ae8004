//! `latency [ROWS [RUNS]]`: how long one short statement takes, from the call to its rows.
//!
//! A relation of ROWS (100,000) tuples in memory, clustered on one attribute and with an index on
//! another. Each statement is run RUNS (20,000) times, with another key each time; printed are the
//! median and the 90th percentile in us. `text` is given as text each time, `prepared` was read
//! once; `into Arrow` also makes a batch of its row.

use std::env;
use std::error::Error;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use loadstone_measure::clock::now_ns;
use lode::internals::disk::Memory;
use lode_query::database::{Database, Outcome as Answer, Statement};
use lode_query::execution::Parameter;
use lode_query::tactics::Tactics;

const ROWS_DEFAULT: i64 = 100_000;
const RUNS_DEFAULT: usize = 20_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Does something with one key, and shows how many tuples it was.
type Act<'a> = dyn Fn(i64) -> Outcome<usize> + 'a;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(stderr(), "latency: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let rows = arguments.first().map_or(Ok(ROWS_DEFAULT), |rows| rows.parse())?;
    let runs = arguments.get(1).map_or(Ok(RUNS_DEFAULT), |runs| runs.parse())?;
    writeln!(stdout(), "{:<14}{:<34}{:>9}{:>9}", "execution", "statement", "median", "p90")?;
    let mut storage = Some(loaded(rows)?);
    for execution in ["vectorised", "closures", "interpreted", "compiled"] {
        let tactics = Tactics::of([("execution", execution)])?;
        let database = Database::over(storage.take().ok_or("the storage is kept")?, &tactics);
        measure(&database, execution, rows, runs)?;
        storage = Some(database.into_storage());
    }
    Ok(())
}

fn measure(database: &Database, execution: &str, rows: i64, runs: usize) -> Outcome<()> {
    let look_up = "range of p is part retrieve (p.all) where p.number = $1";
    let statement = Statement::new(look_up)?;
    let by_key = |key: i64| {
        let text = format!("range of p is part retrieve (p.all) where p.id = {key}");
        taken(database, &Statement::new(&text)?, None)
    };
    let prepared = |key| taken(database, &statement, Some(key));
    let as_text = |key| {
        let rows = database.query(look_up, &[Parameter::Integer(key)])?;
        Ok(rows.map(|batch| batch.map_or(0, |batch| batch.num_rows())).sum())
    };
    let into_arrow = |key| {
        let Answer::Rows(rows) = database.run(&statement, &[Parameter::Integer(key)])? else {
            return Err("a text that retrieves gives rows".into());
        };
        Ok(rows.map(|batch| batch.map_or(0, |batch| batch.num_rows())).sum())
    };
    let replace = Statement::new("range of p is part replace p (x = p.x + 1) where p.id = $1")?;
    let changed = |key| match database.run(&replace, &[Parameter::Integer(key)])? {
        Answer::Changed(Some(tuples)) => Ok(tuples as usize),
        _ => Err("a replace changes".into()),
    };
    let each: [(&str, &Act<'_>); 5] = [
        ("prepared, by an index", &prepared),
        ("prepared, by an index, into Arrow", &into_arrow),
        ("text with a value, by an index", &as_text),
        ("a new text each time, by its key", &by_key),
        ("prepared replace, by its key", &changed),
    ];
    for (name, act) in each {
        let mut times = Vec::with_capacity(runs);
        for run in 0..runs {
            let key = (run as i64).wrapping_mul(7_919).rem_euclid(rows);
            let started = now_ns();
            let found = act(key)?;
            times.push(now_ns() - started);
            if found != 1 {
                return Err(format!("{name}: {found} tuples have the key {key}").into());
            }
        }
        times.sort_unstable();
        let at = |part: usize| times[runs * part / 10] as f64 / 1e3;
        writeln!(stdout(), "{execution:<14}{name:<34}{:>9.2}{:>9.2}", at(5), at(9))?;
    }
    Ok(())
}

/// The tuples that a prepared look-up gives.
fn taken(database: &Database, statement: &Statement, key: Option<i64>) -> Outcome<usize> {
    let parameters: Vec<Parameter> = key.map(Parameter::Integer).into_iter().collect();
    let Answer::Rows(mut rows) = database.run(statement, &parameters)? else {
        return Err("a text that retrieves gives rows".into());
    };
    let bytes = rows.layout().bytes;
    let mut tuples = 0;
    while let Some(some) = rows.next_tuples()? {
        tuples += some.len() / bytes;
    }
    Ok(tuples)
}

/// OO1's parts, and some relations beside them as a database has them.
fn loaded(rows: i64) -> Outcome<lode::Database> {
    let tactics = Tactics::of([("cache", "256MiB"), ("durability", "none")])?;
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::over(lode::Database::on(volume, log, &tactics.storage)?, &tactics);
    for other in 0..4 {
        let text = format!("create other{other} (a = i4, b = i4, c = f8, d = c52, e = c52)");
        database.execute(&text, &[])?;
    }
    database.execute("create digit (n = i4)", &[])?;
    for digit in 0..10 {
        database.execute("append to digit (n = $1)", &[Parameter::Integer(digit)])?;
    }
    let number = "a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n";
    let text = format!(
        "range of a is digit range of b is digit range of c is digit range of d is digit
         range of e is digit
         create part (id = i4, number = i4, type = c10, x = i4, y = i4, build = i4)
         append to part (id = {number}, number = {number}, type = \"type0\", x = a.n, y = b.n,
           build = 7) where {number} < {rows}
         modify part to btree on id
         index on part is partnumber (number)"
    );
    database.execute(&text, &[])?;
    database.settle(&["part"])?;
    Ok(database.into_storage())
}
