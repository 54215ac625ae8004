//! `scan_bandwidth FOLDER [MIB [ROUNDS]]`: how much of the disk's bandwidth a scan reaches.
//!
//! Makes a database of MIB (512) in FOLDER, unless one of an earlier run is there, and reads it
//! ROUNDS (5) times each way, alternating, cold every time: plainly, past the operating system's
//! cache, one request of 1 MiB at a time and eight at once; and as a scan of its heap by lode under
//! `disk=direct`, with `readahead` on and off (an eighth of it). Prints the median of each in MB/s,
//! and what part of the plain reading with eight requests that is. The files stay, for the next
//! run.

use std::env;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Write, stdout};
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};

use io_uring::{IoUring, opcode, types};
use loadstone_measure::clock::now_ns;
use loadstone_measure::eviction::evict;
use loadstone_measure::idle_states::IdleStates;
use lode::internals::heap::Heap;
use lode::internals::named;
use lode::{Database, LodeError, Tactics};

const MIB_DEFAULT: u64 = 512;
const ROUNDS_DEFAULT: usize = 5;

const REQUEST_BYTES: usize = 1 << 20;
const DEPTH_MAX: usize = 8;
/// With its tag and its slot, so many of these fill a page: a scan reads them, and nothing else.
const RECORD_BYTES: usize = 992;

const RECORDS_PER_PAGE: u64 = 4;

/// The most pages that a scan may read beyond its records, with an eighth of them: the root, what
/// was read ahead behind them, and what was read ahead and was evicted before it was read.
const PAGES_BESIDE_MAX: u64 = 2048;
const RECORDS_PER_MIB: u64 = RECORDS_PER_PAGE * 256;

/// Page by page a scan takes so long that a part of the heap must do.
const WITHOUT_DIVISOR: u64 = 8;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A way to read the whole database: its bytes.
type Way<'a> = (&'a str, Box<dyn Fn() -> Outcome<Reading> + 'a>);

/// The bytes read, and the time it took.
struct Reading {
    bytes: u64,
    elapsed_ns: u64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(io::stderr(), "scan_bandwidth: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = arguments.first().ok_or("wanted is FOLDER, and MIB and ROUNDS if you like")?;
    let mib = arguments.get(1).map_or(Ok(MIB_DEFAULT), |mib| mib.parse())?;
    let rounds = arguments.get(2).map_or(Ok(ROUNDS_DEFAULT), |rounds| rounds.parse())?;
    let path = Path::new(folder).join(format!("scan-{mib}-mib.lode"));
    if !path.exists() {
        fill(&path, mib)?;
    }
    let idle_states = IdleStates::disable();
    if !idle_states.held() {
        writeln!(stdout(), "processors may sleep: {}", idle_states.reason())?;
    }
    let ways: [Way<'_>; 4] = [
        ("plain, 8 at once", Box::new(|| plain(&path, DEPTH_MAX))),
        ("plain, 1 at once", Box::new(|| plain(&path, 1))),
        ("lode, readahead=on", Box::new(|| scan(&path, "on", mib))),
        ("lode, readahead=off", Box::new(|| scan(&path, "off", mib / WITHOUT_DIVISOR))),
    ];
    let mut rates = [(); 4].map(|()| Vec::with_capacity(rounds));
    for round in 0..rounds {
        // Another first each time: a rented disk may be fast as long as little was asked of it.
        for at in (0..ways.len()).map(|at| (at + round) % ways.len()) {
            evict(&path)?;
            let reading = ways[at].1()?;
            rates[at].push(reading.bytes as f64 * 1e3 / reading.elapsed_ns as f64);
        }
    }
    let medians = rates.map(|mut rates| {
        rates.sort_unstable_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    for ((name, _), median) in ways.iter().zip(medians) {
        writeln!(stdout(), "{name:<20} {median:>7.0} MB/s {:>6.2}", median / medians[0])?;
    }
    Ok(())
}

/// A database with a heap of so many MiB and nothing else.
fn fill(path: &Path, mib: u64) -> Result<(), LodeError> {
    let tactics = Tactics::of([("durability", "none"), ("disk", "direct")])?;
    let database = Database::create(path, &tactics)?;
    let mut next = 0;
    while next < mib * RECORDS_PER_MIB {
        let mut writing = database.writing();
        let heap: Heap = named::find_or_create(&mut writing, "records")?;
        for number in next..next + RECORDS_PER_MIB {
            heap.insert(&mut writing, &[number as u8; RECORD_BYTES], None)?;
        }
        next += RECORDS_PER_MIB;
        writing.commit()?;
    }
    database.close()
}

/// The first so many MiB of the heap, record by record; the opening is not in the time.
fn scan(path: &Path, read_ahead: &str, mib: u64) -> Outcome<Reading> {
    let tactics = Tactics::of([("disk", "direct"), ("readahead", read_ahead)])?;
    let database = Database::open_read_only(path, &tactics)?;
    let reading = database.reading();
    let heap: Heap = named::find(&reading, "records")?;
    let before = database.counters()?.buffer.pages_read;
    let start_ns = now_ns();
    let (mut records, records_max) = (0, mib * RECORDS_PER_MIB);
    let _: ControlFlow<()> = heap.scan(&reading, |_, record| {
        records += u64::from(record.len() == RECORD_BYTES);
        Ok(if records < records_max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let elapsed_ns = now_ns() - start_ns;
    let pages = database.counters()?.buffer.pages_read - before;
    let expected = records_max / RECORDS_PER_PAGE;
    let pages_max = expected + expected / 8 + PAGES_BESIDE_MAX;
    if records != records_max || !(expected..pages_max).contains(&pages) {
        let what = format!("a scan of {records} records read {pages} pages and not {expected}");
        return Err(what.into());
    }
    Ok(Reading {
        bytes: records / RECORDS_PER_PAGE * lode::internals::page::PAGE_BYTES as u64,
        elapsed_ns,
    })
}

/// The file from end to end, `depth` requests in the queue at any time.
fn plain(path: &Path, depth: usize) -> Outcome<Reading> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)?;
    let requests = file.metadata()?.len() / REQUEST_BYTES as u64;
    BUFFERS[..depth].iter().for_each(Buffer::touch);
    let mut ring = IoUring::new(depth as u32)?;
    let start_ns = now_ns();
    let mut idle: Vec<usize> = (0..depth).collect();
    let (mut asked, mut answered) = (0, 0);
    while answered < requests {
        while asked < requests
            && let Some(buffer) = idle.pop()
        {
            ask(&mut ring, &file, asked, buffer)?;
            asked += 1;
        }
        ring.submit_and_wait(1)?;
        for entry in ring.completion() {
            if usize::try_from(entry.result()) != Ok(REQUEST_BYTES) {
                return Err(format!("a request answered {}", entry.result()).into());
            }
            idle.push(entry.user_data() as usize);
            answered += 1;
        }
    }
    Ok(Reading { bytes: requests * REQUEST_BYTES as u64, elapsed_ns: now_ns() - start_ns })
}

/// Request a part of the file, by its number.
fn ask(ring: &mut IoUring, file: &File, part: u64, buffer: usize) -> Outcome<()> {
    let into = BUFFERS[buffer].0.as_ptr().cast::<u8>().cast_mut();
    let read = opcode::Read::new(types::Fd(file.as_raw_fd()), into, REQUEST_BYTES as u32);
    let entry = read.offset(part * REQUEST_BYTES as u64).build().user_data(buffer as u64);
    // SAFETY: the room is there for ever, and made to be changed by the threads that share it.
    #[expect(unsafe_code, reason = "the kernel is handed an address to write to")]
    unsafe {
        ring.submission().push(&entry)?;
    }
    Ok(())
}

/// Memory for a request, as direct reads want it.
#[repr(align(4096))]
struct Buffer([AtomicU8; REQUEST_BYTES]);

/// Never freed, whatever becomes of a request.
static BUFFERS: [Buffer; DEPTH_MAX] =
    [const { Buffer([const { AtomicU8::new(0) }; REQUEST_BYTES]) }; DEPTH_MAX];

impl Buffer {
    /// Let it have memory, so that this is not in the time.
    fn touch(&self) {
        self.0
            .iter()
            .step_by(lode::internals::page::PAGE_BYTES)
            .for_each(|byte| byte.store(1, Ordering::Relaxed));
    }
}
