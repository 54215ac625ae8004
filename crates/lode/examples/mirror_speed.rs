//! The price of writing two copies, and the gain of reading either: commits, a load, a scan by one
//! thread and two scans at once, with `mirror=` off, first, nearer and idle, past the system's
//! cache.
//!
//! ```sh
//! cargo run --release -p lode --example mirror_speed FOLDER SECOND_FOLDER MIB ROUNDS
//! ```
//!
//! The second copy lies in the second folder, which is on another device where there is one. Each
//! round does everything once under each value, another first each time. Printed are medians, and
//! their ratios to `off`: commits by time, all else by rate, so that above 1 is the price of a
//! commit and the gain of the others.

use std::env;
use std::fs;
use std::io::{self, Write, stdout};
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use loadstone_measure::clock::now_ns;
use lode::internals::named;
use lode::{Database, Heap, LodeError, Tactics};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const VALUES: [&str; 4] = ["off", "first", "nearer", "idle"];
const MIB_DEFAULT: usize = 64;
const ROUNDS_DEFAULT: usize = 5;
const COMMITS: usize = 100;
const RECORD_BYTES: usize = 1_000;
const RECORDS_PER_MIB: usize = 1 << 20 >> 10;

/// The relations, of which each user scans one.
const NAMES: [&str; 2] = ["one", "other"];

/// The measures: microseconds a commit, and MB/s of the others.
const MEASURES: [&str; 4] = ["commit us", "load MB/s", "scan MB/s", "two scans MB/s"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(io::stderr(), "mirror_speed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [first, second, rest @ ..] = &arguments[..] else {
        return Err("wanted are FOLDER and SECOND_FOLDER, and MIB and ROUNDS if you like".into());
    };
    let mib = rest.first().map_or(Ok(MIB_DEFAULT), |mib| mib.parse())?;
    let rounds: usize = rest.get(1).map_or(Ok(ROUNDS_DEFAULT), |rounds| rounds.parse())?;
    let mut measured = VALUES.map(|_| MEASURES.map(|_| Vec::with_capacity(rounds)));
    for round in 0..rounds {
        for at in (0..VALUES.len()).map(|at| (at + round) % VALUES.len()) {
            let place = Place::new(Path::new(first), Path::new(second))?;
            let found = measure(&place.path, VALUES[at], mib)?;
            for (all, one) in measured[at].iter_mut().zip(found) {
                all.push(one);
            }
        }
    }
    let medians = measured.map(|one| {
        one.map(|mut all| {
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2]
        })
    });
    for (measure, name) in MEASURES.iter().enumerate() {
        write!(stdout(), "{name:<15}")?;
        for (value, found) in VALUES.iter().zip(&medians) {
            let ratio = found[measure] / medians[0][measure];
            write!(stdout(), "  {value} {:.0} ({ratio:.2})", found[measure])?;
        }
        writeln!(stdout())?;
    }
    Ok(())
}

/// The place where a database lies, and its second copy; removed when this goes.
struct Place {
    path: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn new(first: &Path, second: &Path) -> io::Result<Self> {
        let path = first.join("mirror_speed.lode");
        let folder = second.join("mirror_speed-second");
        let place = Self { path, folder };
        place.remove();
        fs::create_dir(&place.folder)?;
        symlink(place.folder.canonicalize()?, place.link())?;
        Ok(place)
    }

    fn link(&self) -> PathBuf {
        self.path.with_file_name("mirror_speed.lode-mirror")
    }

    /// Files that are not there need not be removed.
    fn remove(&self) {
        for end in ["", "-log", "-state", "-mirror"] {
            let _ = fs::remove_file(self.path.with_file_name(format!("mirror_speed.lode{end}")));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.remove();
    }
}

fn measure(path: &Path, value: &str, mib: usize) -> Outcome<[f64; MEASURES.len()]> {
    let pairs = [("mirror", value), ("disk", "direct"), ("readahead", "on"), ("bulk", "unlogged")];
    let tactics = Tactics::of(pairs)?;
    let database = Database::create(path, &tactics)?;
    let load_ns = timed(|| load(&database, mib))?;
    let commit_ns = timed(|| commit(&database))?;
    database.close()?;
    let database = Database::open(path, &tactics)?;
    if value != "off" && database.tactics_in_force().mirror != tactics.mirror {
        return Err("the copies are not in step".into());
    }
    let one_ns = timed(|| scan(&database, NAMES[0]))?;
    database.forget()?;
    let both_ns = timed(|| {
        thread::scope(|scope| {
            let users = NAMES.map(|name| scope.spawn(|| scan(&database, name)));
            users.into_iter().try_for_each(|user| user.join().expect("a scan does not panic"))
        })
    })?;
    database.close()?;
    let rate = |mib: usize, ns: f64| (mib << 20) as f64 * 1e3 / ns;
    Ok([
        commit_ns / COMMITS as f64 / 1e3,
        rate(mib, load_ns),
        rate(mib / 2, one_ns),
        rate(mib, both_ns),
    ])
}

fn timed(act: impl FnOnce() -> Result<(), LodeError>) -> Result<f64, LodeError> {
    let start_ns = now_ns();
    act()?;
    Ok((now_ns() - start_ns) as f64)
}

/// Half of it to each relation, each in one transaction: a page goes to its place once.
fn load(database: &Database, mib: usize) -> Result<(), LodeError> {
    for name in NAMES {
        let mut writing = database.writing();
        let heap: Heap = named::find_or_create(&mut writing, name)?;
        let mut appender = heap.appender();
        for number in 0..mib / 2 * RECORDS_PER_MIB {
            appender.append(&mut writing, &[number as u8; RECORD_BYTES])?;
        }
        appender.finish(&mut writing)?;
        writing.commit()?;
    }
    Ok(())
}

/// Transactions of one small record, each durable by itself.
fn commit(database: &Database) -> Result<(), LodeError> {
    for _ in 0..COMMITS {
        let mut writing = database.writing();
        let heap: Heap = named::find_or_create(&mut writing, "small")?;
        heap.insert(&mut writing, &[7; 100], None)?;
        writing.commit()?;
    }
    Ok(())
}

fn scan(database: &Database, name: &str) -> Result<(), LodeError> {
    let reading = database.reading();
    let heap: Heap = named::find(&reading, name)?;
    let mut bytes = 0;
    let _: ControlFlow<()> = heap.scan(&reading, |_, record| {
        bytes += record.len();
        Ok(ControlFlow::Continue(()))
    })?;
    assert!(bytes > 0, "there are records");
    Ok(())
}
