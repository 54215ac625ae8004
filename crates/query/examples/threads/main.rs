//! `threads [ROWS [ROUNDS [THREADS]]]`: what several threads buy.
//!
//! Loads tenktup1 of the scaled Wisconsin benchmark with ROWS rows (1,000,000), and bprime with a
//! tenth of them, all in memory. Each text is run ROUNDS (9) times by one thread and by THREADS
//! (2), alternating; printed are the least and the median of the times in ms, the processor's
//! time, and how many times faster the least and the median have become. The tuples that other
//! threads took are counted. Before them stands what the machine itself lets threads gain.

mod ceiling;
#[path = "../wisconsin/mod.rs"]
mod wisconsin;

use std::env;
use std::io::{Write, stderr, stdout};
use std::process::{ExitCode, id};

use loadstone_measure::clock::now_ns;
use loadstone_measure::counters::cpu_ns;
use lode_query::database::{Database, Outcome as Answer, Statement};
use lode_query::tactics::Tactics;

use self::wisconsin::{Outcome, loaded};

const ROWS_DEFAULT: usize = 1_000_000;
const ROUNDS_DEFAULT: usize = 9;
const THREADS_DEFAULT: usize = 2;

/// Name and text; `{n}` is the number of rows by a hundred.
const TEXTS: [(&str, &str); 12] = [
    ("count", "retrieve (x = count(t.two))"),
    ("select 1 %, count", "retrieve (x = count(t.two where t.unique1 < {n}))"),
    ("rows of 1 %", "retrieve (t.all) where t.unique1 < {n}"),
    ("rows of 50 %", "retrieve (t.unique1, t.string4) where t.two = 0"),
    ("sum of 5 terms", "retrieve (x = sum((t.unique1 - t.ten) * 2 + t.unique2 mod 7 - t.four))"),
    ("min by 100", "retrieve (x = min(t.unique3 by t.onepercent))"),
    ("count by 10^6", "retrieve (x = any(t.two by t.unique1))"),
    ("join, count", "retrieve (x = count(t.two where t.unique2 = b.unique2))"),
    ("join, rows", "retrieve (t.all, b.unique1) where t.unique2 = b.unique2"),
    ("join with all, count", "retrieve (x = count(t.two where t.unique2 = u.unique1))"),
    ("join by merge, count", "retrieve (x = count(t.two where t.unique2 = b.unique2))"),
    ("select 10 %, into", "retrieve into r (t.all) where t.unique1 mod 10 = 0"),
];

/// Of one text and one number of threads.
#[derive(Default)]
struct Samples {
    wall_ns: Vec<f64>,
    cpu_ns: Vec<f64>,
    tuples_beside: u64,
}

impl Samples {
    fn add(&mut self, (wall_ns, cpu_ns): (f64, f64)) {
        self.wall_ns.push(wall_ns);
        self.cpu_ns.push(cpu_ns);
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(stderr(), "threads: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<usize> =
        env::args().skip(1).map(|one| one.parse()).collect::<Result<_, _>>()?;
    let of = |at: usize, default| arguments.get(at).copied().unwrap_or(default);
    let (rows, rounds) = (of(0, ROWS_DEFAULT), of(1, ROUNDS_DEFAULT));
    let threads = of(2, THREADS_DEFAULT);
    writeln!(
        stdout(),
        "{:<22}{:>8}{:>9}{:>9}{:>9}{:>16}{:>14}{:>9}{:>9}",
        "text",
        "threads",
        "least ms",
        "median",
        "cpu ms",
        "tuples beside",
        "",
        "least",
        "median"
    )?;
    let memory = ceiling::Memory::new();
    for (name, kind) in ceiling::KINDS {
        let mut samples = [Samples::default(), Samples::default()];
        for _ in 0..rounds {
            for (samples, threads) in samples.iter_mut().zip([1, threads]) {
                samples.add(ceiling::elapsed(kind, &memory, threads)?);
            }
        }
        print(name, &mut samples, threads)?;
    }
    drop(memory);
    let mut database = database(rows)?;
    for (name, text) in TEXTS {
        let text = text.replace("{n}", &(rows / 100).to_string());
        let declared = "range of t is tenktup1 range of u is tenktup1 range of b is bprime";
        let statement = Statement::new(&format!("{declared} {text}"))?;
        let join = if name.contains("merge") { "merge" } else { "auto" };
        let mut samples = [Samples::default(), Samples::default()];
        // The first round is not counted.
        for round in 0..=rounds {
            for (samples, threads) in samples.iter_mut().zip([1, threads]) {
                let threads = threads.to_string();
                let tactics = Tactics::of([("parallelism", threads.as_str()), ("join", join)])?;
                database = Database::over(database.into_storage(), &tactics);
                let times = elapsed(&database, &statement)?;
                if round > 0 {
                    samples.add(times);
                }
                samples.tuples_beside = database.work()?.tuples_beside;
            }
        }
        print(name, &mut samples, threads)?;
    }
    Ok(())
}

fn print(name: &str, samples: &mut [Samples; 2], threads: usize) -> Outcome<()> {
    let [alone, several] = samples.each_mut().map(|one| {
        (least(&one.wall_ns), median(&mut one.wall_ns), median(&mut one.cpu_ns), one.tuples_beside)
    });
    let ms = |ns: f64| ns / 1e6;
    for (threads, (least, median, cpu, beside)) in [(1, alone), (threads, several)] {
        write!(
            stdout(),
            "{:<22}{threads:>8}{:>9.2}{:>9.2}{:>9.2}{beside:>16}",
            if threads == 1 { name } else { "" },
            ms(least),
            ms(median),
            ms(cpu),
        )?;
        if threads > 1 {
            let (by_least, by_median) = (alone.0 / least, alone.1 / median);
            write!(stdout(), "{:>14}{by_least:>8.2}x{by_median:>8.2}x", "faster")?;
        }
        writeln!(stdout())?;
    }
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The time of a statement, its rows taken, and the processor's.
fn elapsed(database: &Database, statement: &Statement) -> Outcome<(f64, f64)> {
    let cpu = || cpu_ns(id()).ok_or("the kernel shows no processor time");
    let (started, cpu_before) = (now_ns(), cpu()?);
    if let Answer::Rows(mut rows) = database.run(statement, &[])? {
        while let Some(tuples) = rows.next_tuples()? {
            std::hint::black_box(tuples);
        }
    }
    Ok(((now_ns() - started) as f64, (cpu()? - cpu_before) as f64))
}

/// The relations, in memory.
fn database(rows: usize) -> Outcome<Database> {
    let cache = (rows as u64 * 800 + (64 << 20)).to_string();
    let tactics = Tactics::of([("cache", cache.as_str())])?;
    loaded(&tactics, rows as u64)
}
