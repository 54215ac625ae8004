//! `long_texts [COUNT]`: what texts of many commands, and commands of many parts, cost.
//!
//! Each text is run with COUNT (1,000) commands or parts, and with four times as many: printed are
//! the milliseconds of both, the bytes that the program held at most beyond those before, and how
//! many times as long the longer one took. Four is linear.

use std::alloc::{GlobalAlloc, Layout, System};
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loadstone_measure::clock::now_ns;
use lode::internals::disk::Memory;
use lode_query::database::{Database, Outcome as Answer, Statement};
use lode_query::tactics::Tactics;

const COUNT_DEFAULT: usize = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Counts what is held, and the most that was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator that counts")]
// SAFETY: every call is the system's, with what this was called with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(start, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Makes a text of so many commands or parts.
type Make = fn(usize) -> String;

const TEXTS: [(&str, Make); 8] = [
    ("appends of constants", |count| {
        each(count, "", |n| format!("append to r (k = {n}, t = \"text {n}\")\n"))
    }),
    ("targets", |count| listed(count, |n| format!("x{n} = {n}"), "")),
    ("targets that are computed", |count| {
        listed(count, |n| format!("x{n} = r.k + {n}"), " where r.k = 1")
    }),
    ("aggregates with conditions", |count| {
        listed(count, |n| format!("x{n} = count(r.k where r.k = {n})"), "")
    }),
    ("conditions", |count| {
        let terms = (0..count.min(200)).map(|n| format!("r.k != {n}")).collect::<Vec<_>>();
        format!("range of r is r retrieve (r.k) where {}", terms.join(" and "))
    }),
    ("creates", |count| each(count, "", |n| format!("create n{n} (a = i4, b = c12)\n"))),
    ("creates, each with an append", |count| {
        each(count, "", |n| format!("create m{n} (a = i4)\nappend to m{n} (a = {n})\n"))
    }),
    ("blanks", |count| {
        each(1000 * count, "range of r is r delete r where r.k = -1", |_| " ".to_owned())
    }),
];

fn each(count: usize, before: &str, command: impl Fn(usize) -> String) -> String {
    (0..count).fold(before.to_owned(), |text, n| text + &command(n))
}

fn listed(count: usize, target: impl Fn(usize) -> String, behind: &str) -> String {
    let targets: Vec<_> = (0..count).map(target).collect();
    format!("range of r is r retrieve ({}){behind}", targets.join(", "))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(stderr(), "long_texts: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let count = arguments.next().map_or(Ok(COUNT_DEFAULT), |count| count.parse())?;
    let tactics = Tactics::of([("cache", "256MiB"), ("durability", "none")])?;
    let only: Vec<String> = arguments.collect();
    let mut line = String::new();
    write!(line, "{:<30}{:>9}{:>10}{:>10}", "text", "bytes", "ms", "MiB")?;
    writeln!(stdout(), "{line}{:>10}{:>10}{:>10}", "4x: ms", "MiB", "times")?;
    for (name, make) in TEXTS {
        if !only.is_empty() && !only.iter().any(|one| one == name) {
            continue;
        }
        let text = make(count);
        let (ms, mib) = cost(&text, &tactics)?;
        let (longer_ms, longer_mib) = cost(&make(4 * count), &tactics)?;
        let times = longer_ms / ms;
        line = format!("{name:<30}{:>9}{ms:>10.2}{mib:>10.1}", text.len());
        writeln!(stdout(), "{line}{longer_ms:>10.2}{longer_mib:>10.1}{times:>10.1}")?;
    }
    Ok(())
}

/// The milliseconds and the MiB that a text takes on a new database.
fn cost(text: &str, tactics: &Tactics) -> Outcome<(f64, f64)> {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::over(lode::Database::on(volume, log, &tactics.storage)?, tactics);
    database.execute("create r (k = i4, t = c24) append to r (k = 1)", &[])?;
    let held = HELD.load(Ordering::Relaxed);
    MOST.store(held, Ordering::Relaxed);
    let started = now_ns();
    let statement = Statement::new(text)?;
    if let Answer::Rows(mut rows) = database.run(&statement, &[])? {
        while rows.next_tuples()?.is_some() {}
    }
    drop(statement);
    let elapsed_ns = now_ns() - started;
    let most = MOST.load(Ordering::Relaxed) - held;
    Ok((elapsed_ns as f64 / 1e6, most as f64 / f64::from(1 << 20)))
}
