//! `kernels [ROWS [ROUNDS [TACTICS...]]]`: what a row costs in the query engine's inner loops.
//!
//! Loads tenktup1 of the scaled Wisconsin benchmark with ROWS rows (1,000,000) and bprime with a
//! tenth of them, both in memory. Each text is run ROUNDS (9) times with each set of TACTICS
//! (`simd=off`, `simd=on`; join with `&` what goes together), alternating, after one run that
//! nobody times; printed are medians: milliseconds that elapsed, CPU time in ns for each row of
//! tenktup1, which other programs disturb less, and the least of it. A text with `into` makes a
//! relation, without a sync, which is removed outside the time. Only texts are run whose name has
//! what the environment variable ONLY says.

mod wisconsin;

use std::env;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use loadstone_measure::clock::now_ns;
use loadstone_measure::work::Meter;
use lode_query::database::{Database, Outcome as Answer, Statement};
use lode_query::tactics::Tactics;

use self::wisconsin::{Outcome, loaded};

const ROWS_DEFAULT: u64 = 1_000_000;
const ROUNDS_DEFAULT: usize = 9;
const TACTICS_DEFAULT: [&str; 1] = [""];

/// Name and text; `{n}` is a hundredth of the rows.
const TEXTS: [(&str, &str); 15] = [
    ("count", "retrieve (x = count(t.two))"),
    ("select 1 %, count", "retrieve (x = count(t.two where t.unique1 < {n}))"),
    ("select 50 %, count", "retrieve (x = count(t.two where t.two = 0))"),
    ("select 1 %, rows", "retrieve (t.all) where t.unique1 < {n}"),
    ("select 1 %, into", "retrieve into r (t.all) where t.unique1 < {n}"),
    ("join, count", "retrieve (x = count(t.two where t.unique2 = b.unique2))"),
    ("join, into", "retrieve into r (t.all, u = b.unique1) where t.unique2 = b.unique2"),
    ("join, all into", "retrieve into r (t.all, b.all) where t.unique2 = b.unique2"),
    ("min", "retrieve (x = min(t.unique2))"),
    ("sum", "retrieve (x = sum(t.unique2))"),
    ("min by 100", "retrieve (x = min(t.unique3 by t.onepercent))"),
    ("sum by 100", "retrieve (x = sum(t.unique3 by t.onepercent))"),
    ("min by 100 hashed", "retrieve (x = min(t.unique3 by t.onepercent, t.two))"),
    (
        "duplicates, 400",
        "retrieve unique (t.two, t.four, t.ten, t.twenty, t.onepercent, t.string4)",
    ),
    (
        "duplicates, none",
        "retrieve unique into r (t.two, t.four, t.ten, t.twenty, t.onepercent, t.tenpercent, \
         t.twentypercent, t.fiftypercent, t.unique3, t.evenonepercent, t.oddonepercent, \
         t.stringu1, t.stringu2, t.string4)",
    ),
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(stderr(), "kernels: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let rows = arguments.first().map_or(Ok(ROWS_DEFAULT), |rows| rows.parse())?;
    let rounds = arguments.get(1).map_or(Ok(ROUNDS_DEFAULT), |rounds| rounds.parse())?;
    let named: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    let tactics = if named.is_empty() { &TACTICS_DEFAULT[..] } else { &named };
    let only = env::var("ONLY").unwrap_or_default();
    let mut database = database(rows)?;
    for (name, text) in TEXTS.iter().filter(|(name, _)| name.contains(&only)) {
        let text = text.replace("{n}", &(rows / 100).to_string());
        let text = format!("range of t is tenktup1 range of b is bprime {text}");
        let mut samples = vec![Vec::new(); tactics.len()];
        for round in 0..=rounds {
            for (tactics, samples) in tactics.iter().zip(&mut samples) {
                let tactics: Tactics = tactics.parse()?;
                database = Database::over(database.into_storage(), &tactics);
                let sample = times_ns(&database, &text)?;
                samples.extend((round > 0).then_some(sample));
            }
        }
        for (tactics, samples) in tactics.iter().zip(&mut samples) {
            let (mut elapsed, mut cpu): (Vec<_>, Vec<_>) = samples.iter().copied().unzip();
            elapsed.sort_unstable_by(f64::total_cmp);
            cpu.sort_unstable_by(f64::total_cmp);
            let (elapsed_ms, rows) = (elapsed[elapsed.len() / 2] / 1e6, rows as f64);
            let (cpu_ns, least_ns) = (cpu[cpu.len() / 2] / rows, cpu[0] / rows);
            writeln!(
                stdout(),
                "{name:<20}{tactics:<24}{elapsed_ms:>9.2} ms{cpu_ns:>9.2} ns/row\
                 {least_ns:>9.2} at least"
            )?;
        }
    }
    Ok(())
}

/// The time of a statement, its rows taken, and its CPU time.
fn times_ns(database: &Database, text: &str) -> Outcome<(f64, f64)> {
    let statement = Statement::new(text)?;
    let (started, begun) = (now_ns(), Meter::default().begin());
    if let Answer::Rows(mut rows) = database.run(&statement, &[])? {
        while let Some(tuples) = rows.next_tuples()? {
            std::hint::black_box(tuples);
        }
    }
    let cpu_ns = begun.end().client_cpu_ns.ok_or("there is no clock of CPU time")?;
    let elapsed_ns = now_ns() - started;
    if text.contains("into r ") {
        database.run(&Statement::new("destroy r")?, &[])?;
    }
    Ok((elapsed_ns as f64, cpu_ns as f64))
}

/// The relations, in memory.
fn database(rows: u64) -> Outcome<Database> {
    let cache = (rows * 1600 + (64 << 20)).to_string();
    // All rows are in memory, and a log that is not synced costs least.
    let mut tactics = Tactics::of([("cache", cache.as_str()), ("durability", "none")])?;
    if let Ok(pages) = env::var("HUGEPAGES") {
        tactics.set("hugepages", &pages)?;
    }
    loaded(&tactics, rows)
}
