//! `primitives`: what detecting and logging a change is made of, each alone, beside the table that
//! Rhino's paper has of the same (Saito and Bershad, USENIX 1998).
//!
//! Two kinds of process alternate, since a process has one handler of SIGSEGV: one with a handler
//! that does nothing but open the page, one with lode. Prints the median of the rounds in ns, and
//! what lode adds to the bare fault. The files of the durable commit lie in FOLDER, or in the
//! temporary one: `primitives [FOLDER]`.

#![expect(unsafe_code, reason = "memory protected and opened by hand, to be compared with")]

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::c_void;
use std::hint::black_box;
use std::io::{self, Write, stdout};
use std::process::{Command, ExitCode};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, mem};

use loadstone_measure::clock::now_ns;
use lode::internals::disk::Memory;
use lode::internals::log::difference;
use lode::internals::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use lode::{Database, PageRead, PageWrite, Region, Tactics};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Pages that are stored to in one round: few enough for the mappings of a process.
const PAGES: usize = 2_000;
/// Processes of each kind.
const ROUNDS: usize = 7;
/// Repetitions of what is not done page by page.
const TIMES: u64 = 20_000;
const SYNCS: u64 = 20;
/// The most that lode may take, as a multiple of a bare fault.
const TARGET: f64 = 1.2;

/// The rows printed, in this order: its name, and what the paper measured for UNIX and for SPIN, in
/// us, where it has the same.
const ROWS: [(&str, &str, &str); 20] = [
    ("null call of the system", "2.14", "6.11"),
    ("begin and end, nothing done", "55.4", "26.4"),
    ("commit, read only", "152.3", "29.7"),
    ("commit, 8 bytes, durable", "14,200", "13,328"),
    ("commit, 8 bytes, not synced", "", ""),
    ("read of a page in the cache", "282.4", "55.3"),
    ("read of a page not in the cache", "2,881", "2,272"),
    ("first store to new memory", "", ""),
    ("protect a page", "", ""),
    ("fault by signal, bare", "234.3", ""),
    ("fault by signal, bare, every other", "", ""),
    ("fault by signal, lode", "234.3", ""),
    ("fault by signal, lode, every other", "", ""),
    ("fault in the kernel, bare", "", "68.8"),
    ("fault in the kernel, lode", "", "68.8"),
    ("page copy", "", ""),
    ("page compare, equal", "", ""),
    ("page compare, a word differs", "", ""),
    ("map a page, lode (sigsegv)", "", ""),
    ("commit a stored page, lode (page-diff)", "", ""),
];

type Costs = BTreeMap<String, f64>;

fn main() -> ExitCode {
    let side = env::args().nth(1).unwrap_or_default();
    let outcome = match side.as_str() {
        "--bare" => bare().and_then(|costs| report(&costs)),
        "--lode" => lode_itself().and_then(|costs| report(&costs)),
        folder => alternate(folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be reported.
            let _ = writeln!(io::stderr(), "primitives: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(costs: &Costs) -> Outcome<()> {
    for (name, ns) in costs {
        writeln!(stdout(), "{name}\t{ns}")?;
    }
    Ok(())
}

/// Run both kinds interleaved, and print the medians.
fn alternate(folder: &str) -> Outcome<()> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for side in ["--bare", "--lode"] {
            let mut command = Command::new(env::current_exe()?);
            command.arg(side);
            if !folder.is_empty() {
                command.env("TMPDIR", folder);
            }
            let output = command.output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
            for line in String::from_utf8(output.stdout)?.lines() {
                if let Some((name, ns)) = line.split_once('\t') {
                    found.entry(name.to_owned()).or_default().push(ns.parse()?);
                }
            }
        }
    }
    let mut out = stdout();
    writeln!(out, "{:40} {:>12} {:>14} {:>14}", "", "ns", "UNIX 1998, us", "SPIN 1998, us")?;
    for (name, unix, spin) in ROWS {
        match found.get(name) {
            Some(rounds) => {
                writeln!(out, "{name:40} {:12.0} {unix:>14} {spin:>14}", median(rounds))?;
            }
            None => writeln!(out, "{name:40} {:>12} {unix:>14} {spin:>14}", "not here")?,
        }
    }
    for fault in ["fault by signal", "fault by signal, every other", "fault in the kernel"] {
        let (kind, more) = fault
            .split_once(", ")
            .map_or((fault, String::new()), |(kind, more)| (kind, format!(", {more}")));
        let [lode, bare] = ["lode", "bare"].map(|side| found.get(&format!("{kind}, {side}{more}")));
        let (Some(lode), Some(bare)) = (lode, bare) else {
            writeln!(out, "{fault}: not here")?;
            continue;
        };
        let ratios: Vec<f64> = lode.iter().zip(bare).map(|(lode, bare)| lode / bare).collect();
        let ratio = median(&ratios);
        writeln!(out, "{fault}, lode over bare: {ratio:.3}  target {TARGET}")?;
    }
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Nanoseconds of each of so many repetitions.
fn each(times: u64, mut act: impl FnMut()) -> f64 {
    let start = now_ns();
    for _ in 0..times {
        act();
    }
    (now_ns() - start) as f64 / times as f64
}

/// One store to each page, or to every other.
fn store_to(memory: &mut [u8], step: usize) -> f64 {
    let pages = memory.len() / PAGE_BYTES / step;
    let start = now_ns();
    for page in memory.chunks_exact_mut(PAGE_BYTES).step_by(step) {
        // SAFETY: a byte of the slice; volatile, so that each store is one.
        unsafe { (&raw mut page[Region::DATA.start]).write_volatile(1) };
    }
    (now_ns() - start) as f64 / pages as f64
}

/// The costs that need nothing of lode's.
fn bare() -> Outcome<Costs> {
    let mut costs = Costs::new();
    let mut note = |name: &str, ns: f64| costs.insert(name.to_owned(), ns);
    // SAFETY: a call without an argument.
    let null = || _ = black_box(unsafe { libc::syscall(libc::SYS_getpid) });
    note("null call of the system", each(TIMES, null));
    let memory = mapped()?;
    note("first store to new memory", store_to(memory, 1));
    let start = memory.as_mut_ptr();
    let ns = each(PAGES as u64, || {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let at = NEXT.fetch_add(1, Ordering::Relaxed);
        protect(start.wrapping_add(at * PAGE_BYTES), PAGE_BYTES, libc::PROT_READ);
    });
    note("protect a page", ns);
    install()?;
    note("fault by signal, bare", store_to(memory, 1));
    protect(start, memory.len(), libc::PROT_READ);
    note("fault by signal, bare, every other", store_to(memory, 2));
    if let Some(ns) = kernel_fault()? {
        note("fault in the kernel, bare", ns);
    }
    let mut pages = vec![[1_u8; PAGE_BYTES]; 2 * PAGES];
    let (from, to) = pages.split_at_mut(PAGES);
    let mut pairs = from.iter().zip(to.iter_mut());
    let copy = || {
        if let Some((from, to)) = pairs.next() {
            black_box(&mut *to).copy_from_slice(black_box(from));
        }
    };
    note("page copy", each(PAGES as u64, copy));
    let (from, to) = pages.split_at_mut(PAGES);
    note("page compare, equal", compare(from, to));
    for page in to.iter_mut() {
        page[2_000] = 2;
    }
    note("page compare, a word differs", compare(from, to));
    Ok(costs)
}

fn compare(before: &[PageBytes], after: &[PageBytes]) -> f64 {
    let mut pairs = before.iter().zip(after);
    each(before.len() as u64, || {
        if let Some((before, after)) = pairs.next() {
            black_box(difference(before, after));
        }
    })
}

/// Memory of which no page was touched.
fn mapped() -> Outcome<&'static mut [u8]> {
    let bytes = PAGES * PAGE_BYTES;
    // SAFETY: the kernel chooses the address; the memory stays until the process ends.
    unsafe {
        let start = libc::mmap(
            null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error().into());
        }
        libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
        Ok(std::slice::from_raw_parts_mut(start.cast(), bytes))
    }
}

fn protect(start: *mut u8, bytes: usize, protection: i32) {
    // SAFETY: pages of the memory above, which stays mapped.
    unsafe { libc::mprotect(start.cast::<c_void>(), bytes, protection) };
}

/// The first store to a page that the kernel protects and opens by itself (`userfaultfd` with
/// `UFFD_FEATURE_WP_ASYNC`), by numbers and structures of `linux/userfaultfd.h`; `None` where this
/// machine does not permit it.
fn kernel_fault() -> Outcome<Option<f64>> {
    const API: libc::c_ulong = 0xC018_AA3F;
    const REGISTER: libc::c_ulong = 0xC020_AA00;
    const WRITE_PROTECT: libc::c_ulong = 0xC018_AA06;
    const USER_MODE_ONLY: i32 = 1;
    const FEATURES: u64 = 1 | 1 << 13 | 1 << 15;
    let memory = mapped()?;
    store_to(memory, 1);
    let (start, bytes) = (memory.as_mut_ptr() as u64, memory.len() as u64);
    let mut api = [0xAA_u64, FEATURES, 0];
    let mut register = [start, bytes, 1 << 1, 0];
    let mut protect = [start, bytes, 1];
    // SAFETY: calls with numbers, and with structures of so many words, about the memory above.
    let is_permitted = unsafe {
        let faults = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY) as i32;
        faults >= 0
            && libc::ioctl(faults, API as _, api.as_mut_ptr()) == 0
            && libc::ioctl(faults, REGISTER as _, register.as_mut_ptr()) == 0
            && libc::ioctl(faults, WRITE_PROTECT as _, protect.as_mut_ptr()) == 0
    };
    Ok(is_permitted.then(|| store_to(memory, 1)))
}

/// The least that a handler does: open the page.
extern "C" fn open(_: i32, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel gives a valid `info`.
    let address = unsafe { (*info).si_addr() } as usize;
    let page = (address & !(PAGE_BYTES - 1)) as *mut u8;
    protect(page, PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE);
}

fn install() -> io::Result<()> {
    // SAFETY: zeros are a value of the struct, and the handler is this program's.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = open as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        match libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn in_memory(tactics: &str) -> Outcome<(Database, Vec<PageNumber>)> {
    let tactics: Tactics = tactics.parse()?;
    let database = Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics)?;
    let pages = filled(&database)?;
    Ok((database, pages))
}

fn filled(database: &Database) -> Outcome<Vec<PageNumber>> {
    let mut writing = database.writing();
    let region = writing.region("primitives")?;
    region.extend(&mut writing, PAGES)?;
    let pages = region.pages(&writing)?;
    writing.commit()?;
    Ok(pages)
}

/// The same with lode.
fn lode_itself() -> Outcome<Costs> {
    let mut costs = Costs::new();
    transactions(&mut costs)?;
    for (detect, name, every_other) in [
        ("sigsegv", "fault by signal, lode", "fault by signal, lode, every other"),
        ("kernel", "fault in the kernel, lode", ""),
    ] {
        let text = format!("detect={detect}&durability=none&checkpoint=1GiB");
        // A way that this machine lacks has no row.
        let Ok((database, pages)) = in_memory(&text) else { continue };
        let mut writing = database.writing();
        let start = now_ns();
        let mapping = writing.map(&pages)?;
        let map_ns = (now_ns() - start) as f64 / PAGES as f64;
        costs.insert(name.to_owned(), store_to(writing.memory(mapping)?, 1));
        let start = now_ns();
        writing.commit()?;
        if !every_other.is_empty() {
            let commit_ns = (now_ns() - start) as f64 / PAGES as f64;
            costs.insert("commit a stored page, lode (page-diff)".to_owned(), commit_ns);
            costs.insert("map a page, lode (sigsegv)".to_owned(), map_ns);
            let mut writing = database.writing();
            let mapping = writing.map(&pages)?;
            costs.insert(every_other.to_owned(), store_to(writing.memory(mapping)?, 2));
        }
    }
    Ok(costs)
}

fn transactions(costs: &mut Costs) -> Outcome<()> {
    let (database, pages) = in_memory("durability=none&checkpoint=1GiB")?;
    let mut note = |name: &str, ns: f64| costs.insert(name.to_owned(), ns);
    note("begin and end, nothing done", each(TIMES, || drop(black_box(database.writing()))));
    let mut failed = Ok(());
    let mut keep = |outcome: Result<(), lode::LodeError>| {
        if let Err(error) = outcome {
            failed = Err(error);
        }
    };
    let read_only = each(TIMES, || {
        let writing = database.writing();
        keep(writing.read(pages[0], |view| _ = black_box(view.u64(40))));
        keep(writing.commit());
    });
    note("commit, read only", read_only);
    note("commit, 8 bytes, not synced", each(TIMES, || keep(change(&database, pages[0]))));
    let reading = database.reading();
    let mut next = pages.iter().cycle();
    let read = |page| reading.read(page, |view| _ = black_box(view.u64(40)));
    let warm = each(TIMES, || keep(next.next().map_or(Ok(()), |&page| read(page))));
    note("read of a page in the cache", warm);
    drop(reading);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("primitives.lode");
    let database = Database::create(&path, &"durability=full".parse()?)?;
    let pages = filled(&database)?;
    database.forget()?;
    let reading = database.reading();
    let cold = pages.iter().step_by(64);
    let count = cold.len() as u64;
    let mut cold = cold.copied();
    let read = |page| reading.read(page, |view| _ = black_box(view.u64(40)));
    let cold = each(count, || keep(cold.next().map_or(Ok(()), read)));
    note("read of a page not in the cache", cold);
    drop(reading);
    note("commit, 8 bytes, durable", each(SYNCS, || keep(change(&database, pages[0]))));
    failed?;
    Ok(())
}

/// A transaction of 8 bytes.
fn change(database: &Database, page: PageNumber) -> Result<(), lode::LodeError> {
    let mut writing = database.writing();
    writing
        .write(page, |bytes| bytes.put_u64(40, page::u64_at(bytes, 40) ^ 0x0101_0101_0101_0101))?;
    writing.commit()
}
