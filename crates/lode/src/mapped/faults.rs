//! `detect=sigsegv`: a handler that notes the page of a store and opens it.
//!
//! The handler runs at whatever instruction of the program stored. So it does what a handler may:
//! it loads and stores atomics in memory that is there, and asks the kernel to open a page. It
//! takes no lock, requests no memory, and leaves `errno` as it was. A fault that is none of ours
//! goes to the handler that was there before, as if we were not: Rust's own (for overflown stacks),
//! Python's `faulthandler`, or the system's way of ending the process.
//!
//! The handler stays when the last area has gone. One that another installs over it is respected:
//! the next mapping is refused then, since that other one would see our faults first, and to be
//! both before and behind it could be a circle.

#![expect(unsafe_code, reason = "a signal handler, and memory that it opens")]

use std::fs;
use std::mem;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering, fence};

use super::found::Found;
use crate::error::{LodeError, Result};
use crate::page::PAGE_BYTES;

/// Areas that one process watches at the same time.
const AREAS_MAX: usize = 256;

/// The mappings that a protected page among open ones adds to the process.
const MAPPINGS_OF_A_PAGE: usize = 2;

/// Of the mappings that the system allows, this part may be ours.
const MAPPINGS_DIVISOR: usize = 4;

/// The mappings that Linux allows where it does not say.
const MAPPINGS_DEFAULT: usize = 65_530;

/// The findings about a page.
const CHANGED: u8 = 1;
const PERHAPS: u8 = 2;

/// A watched area as the handler knows it.
struct Slot {
    taken: AtomicBool,
    /// Handlers that look at it now.
    users: AtomicUsize,
    /// The place where its pages begin, 0 for none.
    start: AtomicUsize,
    pages: AtomicUsize,
    /// The finding about each page.
    found: AtomicPtr<AtomicU8>,
    /// Mappings that its open pages have added.
    mappings: AtomicUsize,
}

static SLOTS: [Slot; AREAS_MAX] = [const {
    Slot {
        taken: AtomicBool::new(false),
        users: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        pages: AtomicUsize::new(0),
        found: AtomicPtr::new(null_mut()),
        mappings: AtomicUsize::new(0),
    }
}; AREAS_MAX];

/// No slot behind this one was ever taken.
static SLOTS_USED: AtomicUsize = AtomicUsize::new(0);

/// Mappings that open pages have added, of all areas, and how many there may be.
static MAPPINGS: AtomicUsize = AtomicUsize::new(0);
static MAPPINGS_MAX: AtomicUsize = AtomicUsize::new(0);

/// The handler that was there before: what it is, and whether it takes three arguments.
static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static BEFORE_TAKES_THREE: AtomicBool = AtomicBool::new(false);

/// Install the handler, once in a process, and see that it is the one.
pub(super) fn prepare() -> Result<()> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    if !IS_POSSIBLE {
        let what = "detect=sigsegv requires an x86-64 processor, not this one: choose explicit \
                    or kernel";
        return Err(LodeError::Tactic { what: what.to_owned() });
    }
    let installed = INSTALLED.get_or_init(|| install().map_err(|error| error.to_string()));
    if let Err(how) = installed {
        let what = format!(
            "detect=sigsegv cannot install its signal handler ({how}): choose explicit or kernel"
        );
        return Err(LodeError::Tactic { what });
    }
    if current().is_some_and(|action| action.sa_sigaction == handler()) {
        return Ok(());
    }
    let what = "another handler of SIGSEGV was installed after lode's, and would take its faults: \
                install that one (`faulthandler.enable()` does) before the first database with \
                detect=sigsegv is opened, or choose detect=kernel";
    Err(LodeError::Tactic { what: what.to_owned() })
}

fn handler() -> usize {
    on_fault as *const () as usize
}

/// The process's present action at SIGSEGV.
fn current() -> Option<libc::sigaction> {
    // SAFETY: zeros are a value of this struct of numbers, and the call only fills it.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        (libc::sigaction(libc::SIGSEGV, null(), &raw mut action) == 0).then_some(action)
    }
}

fn install() -> std::io::Result<()> {
    let reported = fs::read_to_string("/proc/sys/vm/max_map_count");
    let allowed = reported.ok().and_then(|text| text.trim().parse().ok());
    MAPPINGS_MAX.store(allowed.unwrap_or(MAPPINGS_DEFAULT) / MAPPINGS_DIVISOR, Ordering::Relaxed);
    let before = current().ok_or_else(std::io::Error::last_os_error)?;
    // Noted before ours is there: a fault in another thread may come at once.
    BEFORE.store(before.sa_sigaction, Ordering::Relaxed);
    BEFORE_TAKES_THREE.store(before.sa_flags & libc::SA_SIGINFO != 0, Ordering::Release);
    // SAFETY: zeros are a value of the struct; the handler is this program's and lasts as long.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler();
        // On the other stack where there is one: the handler before may be there for a stack that
        // has overflown.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        if libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// An area whose pages are protected, and opened as they are stored to. Until it is dropped.
pub(super) struct Watched {
    slot: &'static Slot,
    found: Box<[AtomicU8]>,
}

impl Watched {
    /// Watch so many pages from there, which are about to be protected.
    pub(super) fn new(first: *mut u8, pages: usize) -> Result<Self> {
        prepare()?;
        let found: Box<[AtomicU8]> = (0..pages).map(|_| AtomicU8::new(0)).collect();
        let free = SLOTS.iter().enumerate().find(|(_, slot)| {
            slot.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
        });
        let Some((at, slot)) = free else {
            let what = format!(
                "{AREAS_MAX} areas are mapped with detect=sigsegv, not more: end a transaction"
            );
            return Err(LodeError::Limit { what });
        };
        SLOTS_USED.fetch_max(at + 1, Ordering::Relaxed);
        slot.found.store(found.as_ptr().cast_mut(), Ordering::Relaxed);
        slot.pages.store(pages, Ordering::Relaxed);
        // Last: from now on the handler believes the rest.
        slot.start.store(first as usize, Ordering::SeqCst);
        Ok(Self { slot, found })
    }

    /// The pages that were stored to.
    pub(super) fn found(&self) -> Vec<Found> {
        let found = self.found.iter().map(|one| one.load(Ordering::Acquire)).enumerate();
        found
            .filter(|&(_, what)| what != 0)
            .map(|(at, what)| Found { at, is_sure: what == CHANGED })
            .collect()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.slot.start.store(0, Ordering::SeqCst);
        // A handler in another thread, at a store that should not be, may still look at it.
        while self.slot.users.load(Ordering::SeqCst) != 0 {
            std::hint::spin_loop();
        }
        MAPPINGS.fetch_sub(self.slot.mappings.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        self.slot.taken.store(false, Ordering::Release);
    }
}

/// Runs at every SIGSEGV of the process.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler of this kind a valid `info` and `context`, and `errno` is
    // this thread's.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let is_ours =
            (*info).si_code == SEGV_ACCERR && is_write(context) && open((*info).si_addr() as usize);
        *errno = before;
        if !is_ours {
            pass_on(signal, info, context);
        }
    }
}

/// The address is mapped, and what was tried there is not allowed.
const SEGV_ACCERR: i32 = 2;

#[cfg(target_arch = "x86_64")]
const IS_POSSIBLE: bool = true;
#[cfg(not(target_arch = "x86_64"))]
const IS_POSSIBLE: bool = false;

/// Whether the fault was a store: who jumps into an area, or reads beside it, is not helped.
///
/// # Safety
///
/// It is the context that a handler was given.
#[cfg(target_arch = "x86_64")]
unsafe fn is_write(context: *const libc::c_void) -> bool {
    /// Bit 1 of the processor's word about a page fault.
    const WRITE: i64 = 1 << 1;
    // SAFETY: the caller's promise.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    context.uc_mcontext.gregs[libc::REG_ERR as usize] & WRITE != 0
}

/// Elsewhere no handler is installed.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn is_write(_context: *const libc::c_void) -> bool {
    false
}

/// Note that a page was stored to, and open it. Whether the address is in a watched area.
fn open(address: usize) -> bool {
    let used = SLOTS_USED.load(Ordering::Relaxed).min(AREAS_MAX);
    SLOTS[..used].iter().any(|slot| {
        let start = slot.start.load(Ordering::Relaxed);
        if start == 0 || address < start {
            return false;
        }
        slot.users.fetch_add(1, Ordering::SeqCst);
        // Once more: it may have gone before we were counted.
        let start = slot.start.load(Ordering::SeqCst);
        let pages = slot.pages.load(Ordering::Relaxed);
        let is_within = start != 0 && (start..start + pages * PAGE_BYTES).contains(&address);
        let is_open = is_within && open_in(slot, start, pages, (address - start) / PAGE_BYTES);
        slot.users.fetch_sub(1, Ordering::SeqCst);
        is_open
    })
}

/// The same in its area. All of that is opened where this is one mapping too many.
fn open_in(slot: &Slot, start: usize, pages: usize, at: usize) -> bool {
    let found = slot.found.load(Ordering::Relaxed);
    // SAFETY: the area has as many of these as pages, until nobody uses the slot.
    let found = unsafe { std::slice::from_raw_parts(found, pages) };
    found[at].store(CHANGED, Ordering::Relaxed);
    fence(Ordering::Release);
    let mappings = MAPPINGS.fetch_add(MAPPINGS_OF_A_PAGE, Ordering::Relaxed);
    slot.mappings.fetch_add(MAPPINGS_OF_A_PAGE, Ordering::Relaxed);
    if mappings < MAPPINGS_MAX.load(Ordering::Relaxed)
        && make_writable(start + at * PAGE_BYTES, PAGE_BYTES)
    {
        return true;
    }
    for one in found {
        one.compare_exchange(0, PERHAPS, Ordering::Relaxed, Ordering::Relaxed).ok();
    }
    fence(Ordering::Release);
    // One protection for all pages: that takes no more mappings, and gives some back.
    make_writable(start, pages * PAGE_BYTES)
}

fn make_writable(start: usize, bytes: usize) -> bool {
    let open = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: pages of an area, of which the program knows that it may store there.
    unsafe { libc::mprotect(start as *mut libc::c_void, bytes, open) == 0 }
}

/// Let the handler that was there before have it.
///
/// # Safety
///
/// The arguments are those that a handler was given.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    type Three = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
    type One = extern "C" fn(i32);
    let takes_three = BEFORE_TAKES_THREE.load(Ordering::Acquire);
    let before = BEFORE.load(Ordering::Relaxed);
    // SAFETY: what stands there was a handler of that kind before ours was installed, or one of
    // the two words for none.
    unsafe {
        // A fault cannot be ignored: the kernel ends who tries. A signal that somebody sent can.
        let is_sent = (*info).si_code <= 0;
        match before {
            libc::SIG_IGN if is_sent => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                let mut action: libc::sigaction = mem::zeroed();
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(libc::SIGSEGV, &raw const action, null_mut());
                // A fault comes again when the store is tried again; what was sent does not.
                if is_sent {
                    libc::raise(signal);
                }
            }
            _ if takes_three => {
                mem::transmute::<usize, Three>(before)(signal, info, context);
            }
            _ => mem::transmute::<usize, One>(before)(signal),
        }
    }
}

/// Have room for so many mappings from now on, for a test; answers how many there were.
#[cfg(test)]
pub(crate) fn set_mappings_max(max: usize) -> usize {
    MAPPINGS_MAX.swap(max, Ordering::Relaxed)
}
