//! Pages in memory, at addresses that follow from their numbers.
//!
//! After vmcache (Leis, Alhomssi, Ziegler, Loeck, Dietrich: "Virtual-Memory Assisted Buffer
//! Management", SIGMOD 2023): the address space holds the whole volume, page p at its number times
//! [`PAGE_BYTES`], and the memory behind it comes and goes as the buffer says. So a page in memory
//! is found without a table, and read without a latch: a state word is read before and after.
//! Of the paper's kernel module and its shared latches there is nothing here.
//!
//! The buffer knows numbers of pages and their checksums. Transactions, the log and locks are
//! above; before a page is written they are asked through [`WriteBack`] first. The state words (8
//! bytes a page that was ever read, 8 or 16 more with `lru` and `lru-2`) and the batches on their
//! way to disk are not counted against the cap.

mod arrivals;
mod counters;
mod evict;
mod fault;
mod frame_budget;
mod huge;
mod latched;
mod lending;
mod pins;
mod prefetcher;
mod read_ahead;
mod replacement;
mod reservation;
mod stale;
mod state;
#[cfg(test)]
mod tests;
mod write_back;

use std::io;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

pub use self::counters::Counters;
pub use self::latched::Latched;
pub use self::lending::Frames;
pub(crate) use self::pins::Reserve;
pub use self::prefetcher::Prefetcher;
pub use self::write_back::{Occasion, WriteBack};

use self::arrivals::Arrivals;
use self::counters::Events;
use self::fault::beyond;
use self::frame_budget::FrameBudget;
use self::huge::Huge;
use self::read_ahead::ReadAhead;
use self::replacement::Tactic;
use self::reservation::Reservation;
use self::state::{State, Word};
use crate::disk::{Disk, Syncs};
use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::pages::Version;
use crate::sync::{Mutex, let_others_run};
use crate::tactics::Replacement;
use crate::view::View;

/// The smallest cache: what one operation may need at once, a few times over.
const PAGES_MIN: u64 = 16;

/// The file grows to a multiple of so many pages, 256 KiB, because each growth costs a sync.
const GROWTH_PAGES: PageNumber = 64;

/// A run that is read ahead takes at most this part of the cache.
const READ_AHEAD_DIVISOR: usize = 4;

/// The way in which a buffer works; nothing of it can be changed later.
#[derive(Debug, Clone)]
pub struct BufferOptions {
    /// Memory for pages; never exceeded. At least 16 pages' worth.
    pub cache_bytes: u64,
    /// Which page is evicted when another needs its frame.
    pub replacement: Replacement,
    /// Whether the kernel is requested huge pages as long as the whole volume has room.
    pub huge_pages: bool,
    /// At a miss, read the absent pages of the aligned run of so many, and more where one run is
    /// missed after another; 0 and 1 for the page alone. A run takes at most a quarter of the
    /// cache.
    pub read_ahead_pages: u32,
    /// The largest size of the volume: addresses are reserved for so many pages, memory is not.
    pub pages_max: PageNumber,
}

/// The pages of one volume, for all threads. In the order of its fields: what reading a page in
/// memory needs comes first, on one cache line that no thread writes to.
#[repr(C, align(64))]
pub struct Buffer {
    words: Reservation,
    pages: Reservation,
    tactic: Tactic,
    budget: FrameBudget,
    /// Pages that are latched, or pinned by a reader: what may stay so for as long as its user
    /// likes. Written at every latch, so on a line of its own.
    guards: OwnLine<AtomicUsize>,
    /// Pages that readers have pinned.
    pinned: OwnLine<AtomicU64>,
    disk: Arc<dyn Disk>,
    write_back: OnceLock<Weak<dyn WriteBack>>,
    pages_total: AtomicU32,
    /// The number of pages that the volume durably has, as far as that is known.
    growing: Mutex<PageNumber>,
    /// Of the volume, whatever disk it is on.
    syncs: Syncs,
    /// The system has not taken the memory of an evicted page back: the cap cannot be kept.
    memory_retained: AtomicBool,
    pages_max: PageNumber,
    huge: Huge,
    read_ahead: ReadAhead,
    arrivals: Arrivals,
    cache_bytes: u64,
    events: Events,
}

const _: () = assert!(offset_of!(Buffer, pages) + size_of::<Reservation>() <= LINE_BYTES);

/// Bytes that processors hand to each other at once.
const LINE_BYTES: usize = 64;

/// Places a value on cache lines of its own; two, because processors prefetch the neighbour.
#[repr(align(128))]
struct OwnLine<T>(T);

impl Buffer {
    /// A buffer with nothing in it, for as many pages as the disk has and may get.
    pub fn new(disk: Arc<dyn Disk>, options: &BufferOptions) -> Result<Self> {
        let cache_bytes = options.cache_bytes;
        let pages = (cache_bytes / PAGE_BYTES as u64).min(u64::from(PageNumber::MAX));
        if pages < PAGES_MIN {
            return Err(LodeError::CacheTooSmall { cache_bytes });
        }
        if rustix::param::page_size() != PAGE_BYTES {
            let what = format!("this system's pages are not of {PAGE_BYTES} bytes, as lode needs");
            return Err(LodeError::Tactic { what });
        }
        let pages_max = options.pages_max;
        let bytes = disk.len_bytes().map_err(|error| LodeError::io("measuring it", error))?;
        let pages_total = PageNumber::try_from(bytes / PAGE_BYTES as u64)
            .ok()
            .filter(|&total| total <= pages_max && pages_max > 0)
            .ok_or_else(|| too_long(pages_max))?;
        let budget = FrameBudget::new(pages.min(u64::from(pages_max).max(PAGES_MIN)) as usize);
        let read_ahead_max = (budget.pages_max() / READ_AHEAD_DIVISOR) as PageNumber;
        let read_ahead_pages = options.read_ahead_pages.clamp(1, read_ahead_max);
        let buffer = Self {
            words: Reservation::words(pages_max)?,
            pages: Reservation::pages(pages_max)?,
            tactic: Tactic::new(options.replacement, pages_max)?,
            huge: Huge::new(if options.huge_pages { pages } else { 0 }),
            read_ahead: ReadAhead::new(read_ahead_pages, budget.pages_max()),
            arrivals: Arrivals::new(),
            budget,
            guards: OwnLine(AtomicUsize::new(0)),
            pinned: OwnLine(AtomicU64::new(0)),
            disk,
            write_back: OnceLock::new(),
            pages_total: AtomicU32::new(pages_total),
            growing: Mutex::new(0),
            syncs: Syncs::default(),
            memory_retained: AtomicBool::new(false),
            pages_max,
            cache_bytes,
            events: Events::default(),
        };
        buffer.back_with_huge();
        Ok(buffer)
    }

    /// Read a page. `inspect` is called again if the page changed or was evicted meanwhile.
    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    pub fn read<R>(&self, page: PageNumber, mut inspect: impl FnMut(View<'_>) -> R) -> Result<R> {
        match self.read_once(page, &mut inspect) {
            Some((seen, _)) => Ok(seen),
            None => self.read_slow(page, &mut inspect).map(|(seen, _)| seen),
        }
    }

    /// Read a page once, if it can be read now; `None` if that was not possible or was disturbed.
    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    pub fn try_read<R>(
        &self,
        page: PageNumber,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        let state = self.state(page)?;
        let mut before = state.load();
        if !before.is_open() {
            before = self.open_second_chance(page)?;
        }
        let seen = inspect(self.view(page));
        if state.is_as(before) { Some(seen) } else { None }
    }

    /// Read a page and learn the version that it had then.
    #[inline]
    pub fn read_with_version<R>(
        &self,
        page: PageNumber,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Result<(R, Version)> {
        match self.read_once(page, &mut inspect) {
            Some((seen, word)) => Ok((seen, word.version())),
            None => self.read_slow(page, &mut inspect).map(|(seen, word)| (seen, word.version())),
        }
    }

    /// Read a page only if it is in memory and has that version.
    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    pub fn try_read_version<R>(
        &self,
        page: PageNumber,
        version: Version,
        mut inspect: impl FnMut(View<'_>) -> R,
    ) -> Option<R> {
        let state = self.state(page)?;
        let mut before = state.load();
        if !before.is_open_with(version) {
            before = self.open_version(page, version)?;
        }
        let seen = inspect(self.view(page));
        if state.is_as(before) { Some(seen) } else { None }
    }

    /// The fast way: nothing is written, nobody is called.
    #[expect(clippy::inline_always, reason = "what is read should stay in registers")]
    #[inline(always)]
    fn read_once<R>(
        &self,
        page: PageNumber,
        inspect: &mut impl FnMut(View<'_>) -> R,
    ) -> Option<(R, Word)> {
        let state = self.state(page)?;
        let before = state.load();
        if !before.is_open() {
            return None;
        }
        let seen = inspect(self.view(page));
        if state.is_as(before) { Some((seen, before)) } else { None }
    }

    /// Prefetch what lies at an offset of a page into the processor's caches. It does
    /// nothing where that is not in memory, or no such page is.
    #[inline]
    pub fn prefetch(&self, page: PageNumber, at: usize) {
        self.pages.prefetch(page, at);
    }

    /// Have a page's extent brought that will be read soon, by the threads that read ahead. It does
    /// nothing where there are none, or the page is in memory or none of the volume's.
    pub fn expect(&self, page: PageNumber) {
        let is_absent = self.state(page).is_some_and(|state| state.load().is_evicted());
        if is_absent && self.read_ahead.is_on() {
            let pages_total = self.pages_total();
            if page < pages_total {
                self.read_ahead.expect(page, pages_total);
            }
        }
    }

    /// Count that a walk has prefetched so many records: once a walk, because to count each would
    /// cost more than it.
    pub fn note_prefetches(&self, count: u64) {
        self.events.prefetches.add(count as usize);
    }

    /// Latch a page, to read it or change it alone. Waits while another has it latched; so a thread
    /// that holds one and wants another must follow an order that all follow.
    ///
    /// [`LodeError::Pinned`] where a reader has it pinned: transactions keep the locks of what they
    /// have pinned, so who may change the page has pinned it itself, and would wait for itself.
    pub fn latch(&self, page: PageNumber) -> Result<Latched<'_>> {
        let state = self.state(page).ok_or_else(|| beyond(page))?;
        let mut wait = Wait::new(self);
        loop {
            let word = state.load();
            if word.is_evicted() {
                self.fault(page)?;
            } else if state.latch(word, self.tactic.is_clock()) {
                self.tactic.used(page);
                return Ok(Latched::take(self, page));
            } else if word.has_readers() {
                return Err(LodeError::Pinned { page });
            } else if !word.is_readable() || word.is_pinned() {
                wait.once_for(page);
            }
        }
    }

    /// Make the volume hold at least that many pages; new ones are zeros. The new length is durable
    /// before anything can name the pages, so that a volume without them is known to have been cut.
    /// [`LodeError::Limit`] beyond what was reserved.
    pub fn grow(&self, pages_total: PageNumber) -> Result<()> {
        let mut pages_durable = self.growing.lock().expect("nothing panics under this lock");
        if pages_total > self.pages_max {
            return Err(too_long(self.pages_max));
        }
        if pages_total > *pages_durable {
            // Also where the file is as long already: a killed process may have grown it.
            let growing = self.grow_disk(pages_total);
            let pages_there =
                growing.map_err(|error| LodeError::io("growing the volume", error))?;
            self.sync_disk("growing the volume")?;
            *pages_durable = pages_there;
        }
        self.pages_total.fetch_max(pages_total, Ordering::Release);
        self.back_with_huge();
        Ok(())
    }

    /// Make the file hold at least that many pages, and some more if there is room; how many it
    /// holds then.
    fn grow_disk(&self, pages_total: PageNumber) -> io::Result<PageNumber> {
        let len_bytes = |pages: PageNumber| u64::from(pages) * PAGE_BYTES as u64;
        let there_bytes = self.disk.len_bytes()?;
        if there_bytes >= len_bytes(pages_total) {
            return Ok((there_bytes / PAGE_BYTES as u64).min(self.pages_max.into()) as PageNumber);
        }
        let more = pages_total.next_multiple_of(GROWTH_PAGES).min(self.pages_max);
        match self.disk.set_len(len_bytes(more)) {
            Ok(()) => Ok(more),
            Err(_) => self.disk.set_len(len_bytes(pages_total)).map(|()| pages_total),
        }
    }

    /// The number of pages that the volume has.
    pub fn pages_total(&self) -> PageNumber {
        self.pages_total.load(Ordering::Acquire)
    }

    /// The counters since the buffer was made. Hits are not counted.
    pub fn counters(&self) -> Counters {
        Counters {
            pages_resident: self.budget.pages_in_use() as u64,
            pages_resident_max: self.budget.pages_max() as u64,
            pages_lent: self.budget.lent.load(Ordering::Relaxed) as u64,
            pages_lent_max: self.budget.lent_max.load(Ordering::Relaxed) as u64,
            pages_huge: u64::from(self.huge.backed.load(Ordering::Relaxed)),
            ..self.events.so_far()
        }
    }

    /// The state of a page within the reservation.
    #[inline]
    fn state(&self, page: PageNumber) -> Option<State<'_>> {
        self.words.as_words().get(page as usize).map(State)
    }

    /// The state of a page that is known to have one.
    fn state_of(&self, page: PageNumber) -> State<'_> {
        State(&self.words.as_words()[page as usize])
    }

    /// The bytes of a page that has a state.
    #[inline]
    fn view(&self, page: PageNumber) -> View<'_> {
        debug_assert!(page < self.pages_max, "a reader has found a state word");
        // SAFETY: the reservation has as many pages as there are state words, starts at a multiple
        // of the page size and lives as long as `self`. Who changes the page has latched it and
        // does so through a `PageMut`, or is the kernel.
        #[expect(unsafe_code, reason = "a page in memory is read where it lies")]
        unsafe {
            View::at(self.pages.page(page))
        }
    }
}

/// A wait for another thread: it spins a little, then lets others run.
struct Wait<'a> {
    buffer: &'a Buffer,
    rounds: u32,
}

/// Longer than a page is latched for a change that is under way on another processor.
const SPINS_MAX: u32 = 64;

impl<'a> Wait<'a> {
    const fn new(buffer: &'a Buffer) -> Self {
        Self { buffer, rounds: 0 }
    }

    fn once(&mut self) {
        if self.rounds == 0 {
            self.buffer.events.latch_waits.add(1);
        }
        let spins = self.rounds < SPINS_MAX;
        self.rounds += u32::from(spins);
        let_others_run(spins);
    }

    /// The same for who wants that page; where another reads it from disk, and it did not come
    /// while this thread spun, return when that has ended.
    fn once_for(&mut self, page: PageNumber) {
        self.once();
        let is_coming = || self.buffer.state_of(page).load().is_coming();
        if self.rounds == SPINS_MAX && is_coming() {
            self.buffer.arrivals.wait(page, is_coming);
        }
    }
}

fn too_long(pages_max: PageNumber) -> LodeError {
    let mib = (u64::from(pages_max) * PAGE_BYTES as u64) >> 20;
    let what = format!("a volume holds {mib} MiB, not more: put the rest into another database");
    LodeError::Limit { what }
}
